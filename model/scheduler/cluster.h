// The scheduler as the world sees it: one for all nodes of a run. It knows the jobs, arms the
// scheduler's faults, and tells from outside whether everything due has been done.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "jobs/ports/sql.h"
#include "model/scheduler/definitions.h"
#include "model/scheduler/scheduled_job.h"
#include "sim/node.h"

namespace fencepost::model {

class SchedulerNode;
struct HeldTrigger;

class SchedulerCluster {
public:
    SchedulerCluster(SchedulerOptions options, std::vector<ScheduledJob> jobs);

    // Forgets the nodes, faults and edits of the last run.
    void reset();

    [[nodiscard]] const SchedulerOptions& options() const { return options_; }
    [[nodiscard]] const std::vector<ScheduledJob>& jobs() const { return definitions_.jobs(); }
    [[nodiscard]] Definitions& definitions() { return definitions_; }
    [[nodiscard]] const Definitions& definitions() const { return definitions_; }
    // "daily-reconcile@2026-03-02T18:00:00Z", after "acme:" where there are several tenants.
    [[nodiscard]] std::string name_of(const ScheduledJob& job, sim::Time scheduled) const;

    // The instant as that node's scheduler writes it; empty when its zone is not set.
    [[nodiscard]] std::string text_of(sim::Time scheduled, std::string_view node) const;

    // --- faults. Each waits for the next fire that it can strike; `fault` is its index in the
    // plan, which is reported to the kernel as having taken effect then.

    // The next fire that a node gets is handed to `node` as well, under a fire instance id of its
    // own. If `node` gets it itself, or is down, another node is handed it; failing that, the same
    // node runs it twice. The second run is in no job store: nobody recovers it.
    void refire_next(const sim::Node& node, std::optional<std::uint32_t> fault = {});
    // The next fire that `node` gets reaches its job so much later.
    void delay_next_fire(const sim::Node& node, sim::Duration by,
                         std::optional<std::uint32_t> fault = {});

    // --- the end of a run

    // Reads the committed state of the shared database.
    using CommittedQuery = std::function<jobs::sql::Result(std::string_view statement)>;

    // What keeps the scheduler from being done with everything due up to then, one line each;
    // empty when it is. `query` is not called when there is no cluster.
    [[nodiscard]] std::vector<std::string> open_work(sim::Time until,
                                                     const CommittedQuery& query) const;
    // The same as open_work() being empty; asks the database only if the nodes themselves are idle.
    [[nodiscard]] bool idle(sim::Time until, const CommittedQuery& query) const;

private:
    friend class SchedulerNode;
    struct Armed {
        const sim::Node* node;
        sim::Duration by;
        std::optional<std::uint32_t> fault;
    };

    void join(SchedulerNode& node) { nodes_.push_back(&node); }
    void leave(SchedulerNode& node) { std::erase(nodes_, &node); }
    // A node has fired: does what armed faults ask for. How late its job is to get it.
    sim::Duration handed_out(SchedulerNode& node, const HeldTrigger& fired);
    SchedulerNode* second_node_for(const sim::Node& wanted, SchedulerNode& firing) const;
    [[nodiscard]] std::vector<std::string> open_in_store(sim::Time until,
                                                         const CommittedQuery& query) const;

    SchedulerOptions options_;
    Definitions definitions_;
    bool several_tenants_ = false;
    std::map<std::string, CronTimeZone, std::less<>> zones_;  // by node
    std::vector<SchedulerNode*> nodes_;                       // in the order of their starts
    std::vector<Armed> refires_;
    std::vector<Armed> delays_;
};

}  // namespace fencepost::model
