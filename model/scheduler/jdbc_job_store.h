// One node's side of a clustered job store as Quartz 2.3.2 keeps it in a shared database
// (JobStoreSupport): acquire, fire, complete, check-in, failure detection, recovery, misfires.
//
// Its known weaknesses come with it. A trigger's state is all that fire() asks for: neither who
// acquired it nor for which fire. Completion unblocks the job whoever runs it. A node that was
// declared dead and is not goes on with what it had in memory.
#pragma once

#include <string>
#include <vector>

#include "jobs/ports/ports.h"
#include "model/scheduler/definitions.h"
#include "model/scheduler/job_store.h"
#include "model/scheduler/session_pool.h"

namespace fencepost::model {

class JdbcJobStore final : public JobStore {
public:
    // `options` and `definitions` outlive the store.
    JdbcJobStore(const jobs::Ports& ports, std::string instance, const SchedulerOptions& options,
                 Definitions& definitions);

    std::vector<HeldTrigger> acquire(sim::Time no_later_than, std::uint32_t count) override;
    FireResult fire(std::vector<HeldTrigger> held) override;
    void release(const HeldTrigger& held) override;
    void complete(const HeldTrigger& fired) override;
    std::string new_fire_instance_id() override { return ids_.next(); }
    void close() override { closed_ = true; }

    // An instance that was found dead, and how many of its fires will be run again.
    struct Recovered {
        std::string instance;
        std::uint32_t fires = 0;
    };
    // Says that this node lives and looks for others that do not; what the dead ones held is
    // recovered in one transaction. The first time, rows of an earlier process with this node's
    // instance id and rows of nobody count as dead ones'. Throws jobs::AttemptError.
    std::vector<Recovered> check_in();
    // How long to sleep until the next check-in, by this node's own wall clock.
    [[nodiscard]] sim::Duration until_next_check_in();

    struct Misfires {
        std::uint32_t handled = 0;
        bool more = false;
    };
    // Reschedules up to 20 triggers that misfired. Throws jobs::AttemptError.
    Misfires handle_misfires();

    [[nodiscard]] const std::string& instance() const { return instance_; }

private:
    sim::Time now() { return clock_->wall_now(); }
    void lock(PooledConnection& connection, std::string_view name);
    void acquire_from(const jobs::sql::Result& due, sim::Time no_later_than,
                      PooledConnection& connection, bool& in_transaction,
                      std::vector<HeldTrigger>& acquired);
    // What the trigger does by its definition; null when the store knows none.
    const ScheduledJob* definition_of(const jobs::sql::Result& due, std::size_t row,
                                      HeldTrigger& trigger) const;
    // Reads the job of a held trigger as it is now; false when there is none any more.
    bool load_job(PooledConnection& connection, HeldTrigger& held);
    bool fire_one(PooledConnection& connection, HeldTrigger& held);
    std::vector<std::string> find_failed(PooledConnection& connection);
    std::vector<std::string> check_in_and_find_failed(PooledConnection& connection);
    std::vector<Recovered> recover(PooledConnection& connection,
                                   const std::vector<std::string>& failed);
    std::uint32_t recover_fires(PooledConnection& connection, const std::string& instance,
                                std::int64_t& recovery_id);
    // Whether the fires of an acquire() or fire() whose COMMIT was not answered are in the store.
    bool any_recorded(std::span<const HeldTrigger> held, std::string_view state);

    // Runs `attempt` until it throws no jobs::AttemptError; false when the store was closed first.
    template <typename Attempt>
    bool until_it_works(Attempt attempt);

    jobs::Clock* clock_;
    SessionPool sessions_;
    std::string instance_;
    const SchedulerOptions* options_;
    Definitions* definitions_;
    FireInstanceIds ids_;
    sim::Time last_check_in_;
    bool first_check_in_ = true;
    bool closed_ = false;
};

template <typename Attempt>
bool JdbcJobStore::until_it_works(Attempt attempt) {
    for (;;) {
        try {
            attempt();
            return true;
        } catch (const jobs::AttemptError&) {
            if (closed_) return false;
        }
        clock_->sleep_for(options_->db_retry);
        if (closed_) return false;
    }
}

}  // namespace fencepost::model
