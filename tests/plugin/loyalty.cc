// A plug-in as users write one: loyalty points that expire each night, once as it should be and
// with three plausible mistakes.
#include <fencepost/plugin.h>

#include "jobs/instant_text.h"

namespace {

using namespace fencepost::jobs;

constexpr const char* kSchema = R"(
CREATE TABLE member (
    id BIGINT PRIMARY KEY,
    points BIGINT NOT NULL,
    fencing_token BIGINT NOT NULL
);
CREATE TABLE expiry (
    business_key TEXT PRIMARY KEY,
    member BIGINT NOT NULL,
    night TEXT NOT NULL,
    points BIGINT NOT NULL
);
INSERT INTO member VALUES (1, 120, 0), (2, 75, 0), (3, 310, 0);
)";

// The same without the unique key.
constexpr const char* kLooseSchema = R"(
CREATE TABLE member (id BIGINT PRIMARY KEY, points BIGINT NOT NULL);
CREATE TABLE expiry (
    id BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    member BIGINT NOT NULL,
    night TEXT NOT NULL,
    points BIGINT NOT NULL
);
INSERT INTO member VALUES (1, 120), (2, 75), (3, 310);
)";

struct Member {
    std::int64_t id = 0;
    std::int64_t points = 0;
};

std::vector<Member> members_after(sql::Session& db, std::int64_t last) {
    const auto rows =
        db.execute("SELECT id, points FROM member WHERE id > $1 ORDER BY id LIMIT 2", last);
    std::vector<Member> members;
    for (std::size_t row = 0; row < rows.rows(); ++row) {
        members.push_back({.id = rows.integer(row, 0), .points = rows.integer(row, 1)});
    }
    return members;
}

Outcome expire_points(JobContext& job) {
    const std::int64_t last = job.checkpoint() ? job.checkpoint()->number() : 0;
    const std::vector<Member> members = members_after(job.db(), last);
    if (members.empty()) return Outcome::succeeded();
    const std::string night = utc_day(job.fire().scheduled_fire_time);
    job.commit(Checkpoint::at(members.back().id), [&](sql::Transaction& tx) {
        for (const Member& member : members) {
            tx.execute(
                "INSERT INTO expiry (business_key, member, night, points) VALUES ($1, $2, $3, 10)",
                job.effect_key(member.id), member.id, night);
            tx.execute("UPDATE member SET points = points - 10, fencing_token = $2 WHERE id = $1",
                       member.id, job.token().value);
        }
    });
    return Outcome::more();
}

// Looks first: two that look at the same time both find nothing.
std::string look_first(const Fire& fire, const Ports& ports) {
    const auto session = ports.database.connect();
    const std::string night = utc_day(fire.scheduled_fire_time);
    for (std::int64_t member = 1; member <= 3; ++member) {
        const auto there = session->execute(
            "SELECT id FROM expiry WHERE member = $1 AND night = $2", member, night);
        if (!there.empty()) continue;
        session->execute("INSERT INTO expiry (member, night, points) VALUES ($1, $2, 10)", member,
                         night);
    }
    return "done";
}

// The night is the one in which it runs: over midnight it is another one.
std::string night_of_the_clock(const Fire&, const Ports& ports) {
    const auto session = ports.database.connect();
    const std::string night = utc_text(ports.clock.wall_now());
    for (std::int64_t member = 1; member <= 3; ++member) {
        session->execute(
            "INSERT INTO expiry (business_key, member, night, points) VALUES ($1, $2, $3, 10) "
            "ON CONFLICT DO NOTHING",
            std::to_string(member) + "@" + night, member, night);
    }
    return "done";
}

// A checker of one's own.
fencepost::Judgement judge_batches(const fencepost::Reading& reading) {
    constexpr std::size_t kMost = 2;
    if (reading.commits().empty()) return fencepost::checkers::unknown("nothing was committed");
    fencepost::checkers::Findings findings;
    for (const auto& commit : reading.commits()) {
        if (commit.effects.size() <= kMost) continue;
        const auto& last = commit.effects.back();
        findings.add(last.source.record, reading.effect_key(last.after),
                     reading.effect_text(last.after) + " is one too many for its commit, by " +
                         reading.who_and_when(last.source.record) + ".");
    }
    if (!findings.empty()) return std::move(findings).failed();
    return fencepost::checkers::passed("no commit had more than two effects");
}

// Everything at once.
Outcome expire_all_at_once(JobContext& job) {
    if (job.checkpoint()) return Outcome::succeeded();
    job.commit(Checkpoint::at(3), [&](sql::Transaction& tx) {
        for (std::int64_t member = 1; member <= 3; ++member) {
            tx.execute(
                "INSERT INTO expiry (business_key, member, night, points) VALUES ($1, $2, $3, 10)",
                job.effect_key(member), member, utc_day(job.fire().scheduled_fire_time));
        }
    });
    return Outcome::succeeded();
}

}  // namespace

FENCEPOST_PLUGIN(registry) {
    registry.add(fencepost::Checker{.name = "small-batches",
                                    .invariant = "A commit has at most two effects.",
                                    .judge = &judge_batches});

    fencepost::HandlerSpec right = fencepost::gated("expire-points", expire_points, kSchema);
    right.lesson = "Lets ten points of every member expire, once a night.";
    right.source = std::source_location::current();
    right.effects = {{.table = "expiry", .identity = {"member", "night"}, .key = "business_key"}};
    fencepost::HandlerSpec large = fencepost::gated("all-at-once", expire_all_at_once, kSchema);
    large.effects = right.effects;
    registry.add(std::move(large));
    registry.add(std::move(right));

    fencepost::HandlerSpec looks = fencepost::ungated("look-first", look_first, kLooseSchema);
    looks.effects = {{.table = "expiry", .identity = {"member", "night"}}};
    registry.add(std::move(looks));

    fencepost::HandlerSpec clock = fencepost::ungated("clock-key", night_of_the_clock, kSchema);
    clock.effects = {{.table = "expiry", .identity = {"member", "night"}}};
    registry.add(std::move(clock));
}
