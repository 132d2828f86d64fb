#include "expire_points.h"

#include <string>
#include <vector>

#include "jobs/instant_text.h"

namespace loyalty {

using fencepost::jobs::Checkpoint;
using fencepost::jobs::Fenced;
using fencepost::jobs::JobContext;
using fencepost::jobs::Outcome;

namespace sql = fencepost::jobs::sql;

Outcome expire_points(JobContext& job, std::int64_t batch, fencepost::jobs::Duration delay) {
    const std::string& tenant = job.fire().tenant;
    const std::int64_t last = job.checkpoint() ? job.checkpoint()->number() : 0;
    const auto members =
        job.db().execute("SELECT id FROM member WHERE tenant = $1 AND id > $2 ORDER BY id LIMIT $3",
                         tenant, last, batch);
    if (members.empty()) return Outcome::succeeded();

    const std::string night = fencepost::jobs::utc_day(job.fire().scheduled_fire_time);
    const std::int64_t next = members.integer(members.rows() - 1, 0);
    job.commit(Checkpoint::at(next), [&](sql::Transaction& tx) {
        for (std::size_t row = 0; row < members.rows(); ++row) {
            const std::int64_t member = members.integer(row, 0);
            tx.execute(
                "INSERT INTO expiry (business_key, tenant, member, night, points) "
                "VALUES ($1, $2, $3, $4, 10)",
                job.effect_key(member), tenant, member, night);
            const auto changed = tx.execute(
                "UPDATE member SET points = points - 10, fencing_token = $3 "
                "WHERE tenant = $1 AND id = $2 AND fencing_token <= $3",
                tenant, member, job.token().value);
            if (changed.affected() != 1) throw Fenced("a newer holder has been at this member");
        }
    });
    return Outcome::more(delay);
}

}  // namespace loyalty
