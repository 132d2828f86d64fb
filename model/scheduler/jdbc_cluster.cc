// The clustered job store's check-ins: who lives, who failed, and what becomes of a failed node's
// fires (JobStoreSupport: doCheckin, findFailedInstances, clusterRecover).
#include <algorithm>

#include "model/scheduler/jdbc_definitions.h"
#include "model/scheduler/jdbc_job_store.h"
#include "model/scheduler/jdbc_schema.h"
#include "model/scheduler/jdbc_statements.h"
#include "model/scheduler/jdbc_time.h"

namespace fencepost::model {

using jobs::sql::Result;
using sim::Duration;
using sim::Time;
using namespace jdbc;

Duration JdbcJobStore::until_next_check_in() {
    const Duration rest = options_->check_in - (now() - last_check_in_);
    return rest > Duration::zero() ? rest : std::chrono::milliseconds{100};
}

std::vector<JdbcJobStore::Recovered> JdbcJobStore::check_in() {
    PooledConnection connection{sessions_};
    // An ordinary check-in takes no lock and ends before recovery takes any.
    if (!first_check_in_ && check_in_and_find_failed(connection).empty()) return {};
    auto recovered = connection.transaction([&] {
        lock(connection, kStateAccess);
        const auto failed =
            first_check_in_ ? check_in_and_find_failed(connection) : find_failed(connection);
        return failed.empty() ? std::vector<Recovered>{} : recover(connection, failed);
    });
    first_check_in_ = false;
    return recovered;
}

std::vector<std::string> JdbcJobStore::check_in_and_find_failed(PooledConnection& connection) {
    auto failed = find_failed(connection);
    last_check_in_ = now();
    const auto interval = std::chrono::duration_cast<std::chrono::milliseconds>(options_->check_in);
    connection.execute(kCheckIn, instance_, milliseconds(last_check_in_), interval.count());
    return failed;
}

std::vector<std::string> JdbcJobStore::find_failed(PooledConnection& connection) {
    std::vector<std::string> failed;
    std::vector<std::string> known;
    const Result states = connection.execute(kSchedulerStates);
    for (std::size_t row = 0; row < states.rows(); ++row) {
        const std::string& instance = states.text(row, 0);
        known.push_back(instance);
        if (instance == instance_) {
            if (first_check_in_) failed.push_back(instance);
            continue;
        }
        const Duration interval = std::chrono::milliseconds{states.integer(row, 2)};
        const Duration silence = std::max(interval, now() - last_check_in_);
        const Time limit =
            from_milliseconds(states.integer(row, 1)) + silence + options_->check_in_margin;
        if (limit < now()) failed.push_back(instance);
    }
    if (!first_check_in_) return failed;
    const Result firing = connection.execute(kFiringInstances);
    for (std::size_t row = 0; row < firing.rows(); ++row) {
        const std::string& instance = firing.text(row, 0);
        if (std::ranges::find(known, instance) == known.end()) failed.push_back(instance);
    }
    return failed;
}

std::vector<JdbcJobStore::Recovered> JdbcJobStore::recover(PooledConnection& connection,
                                                           const std::vector<std::string>& failed) {
    lock(connection, kTriggerAccess);
    std::vector<Recovered> recovered;
    std::int64_t recovery_id = milliseconds(now());
    for (const std::string& instance : failed) {
        recovered.push_back({instance, recover_fires(connection, instance, recovery_id)});
        if (instance != instance_) connection.execute(kDeleteState, instance);
    }
    return recovered;
}

std::uint32_t JdbcJobStore::recover_fires(PooledConnection& connection, const std::string& instance,
                                          std::int64_t& recovery_id) {
    const Result fires =
        connection.execute(options_->editable ? kFiredOfEditable : kFiredOf, instance);
    if (fires.empty()) return 0;
    std::uint32_t run_again = 0;
    for (std::size_t row = 0; row < fires.rows(); ++row) {
        if (fires.text(row, 2) == "ACQUIRED") {
            connection.execute(kFreeAcquired, fires.text(row, 0), fires.text(row, 1));
            continue;
        }
        const std::string& job_group = fires.text(row, 4);
        const std::string& job_name = fires.text(row, 5);
        const bool requests_recovery = fires.integer(row, 7) != 0;
        if (requests_recovery && !connection.execute(kJobExists, job_group, job_name).empty()) {
            const std::string name = "recover_" + instance + "_" + std::to_string(recovery_id++);
            connection.execute(kInsertRecovery, kRecoveryGroup, name, job_group, job_name,
                               fires.integer(row, 3));
            if (options_->editable) {
                store_recovery_definition(connection, name,
                                          {.trigger_group = fires.text(row, 0),
                                           .trigger_name = fires.text(row, 1),
                                           .job_group = job_group,
                                           .job_name = job_name,
                                           .fired_ms = fires.integer(row, 8),
                                           .scheduled_ms = fires.integer(row, 3)});
            }
            ++run_again;
        }
        if (fires.integer(row, 6) != 0) connection.execute(kUnblockJob, job_group, job_name);
    }
    connection.execute(kDeleteFiredOf, instance);
    // A trigger that was over and only waited for the dead node's run has nothing left to do.
    for (std::size_t row = 0; row < fires.rows(); ++row) {
        const std::string& group = fires.text(row, 0);
        const std::string& name = fires.text(row, 1);
        if (fires.text(row, 2) == "ACQUIRED") continue;
        if (!connection.execute(kFiredOfTrigger, group, name).empty()) continue;
        const Result over = connection.execute(kDeleteIfComplete, group, name);
        if (options_->editable && over.affected() > 0) {
            connection.execute(kDeleteDefinition, group, name);
        }
    }
    return run_again;
}

}  // namespace fencepost::model
