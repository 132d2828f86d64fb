// A scenario is a value: who takes part, what falls due, which faults may strike, what must hold.
#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/scheduler/scheduled_job.h"
#include "scenarios/handler.h"
#include "sim/plan.h"

namespace fencepost::scenarios {

// An SQL file, by the name that the scenario's own file calls it.
struct SqlScript {
    std::string name;  // "schema.sql"
    std::string text;
    bool operator==(const SqlScript&) const = default;
};

// What an author says must hold of the committed state: a query that must find no rows.
struct SqlInvariant {
    std::string name;
    std::string query;    // SELECT or WITH … SELECT
    std::string message;  // one sentence, for who sees it broken
    bool operator==(const SqlInvariant&) const = default;
};

struct Scenario {
    std::string name;   // "same-instant"
    int condition = 0;  // of the acceptance checklist; 0: of none
    std::string title;  // "the same scheduled job due on both nodes at once"
    std::string claim;  // one sentence that must hold whatever happens

    // The reference handlers that take part when none is asked for.
    std::vector<std::string> handlers{"reconcile"};
    Trigger trigger = Trigger::Fires;
    std::vector<Ability> needs{};

    std::vector<std::string> nodes{"A", "B"};
    // The servers that take part and that faults may strike. Redis and the database are there
    // anyway; the broker and the gateway only where they are named.
    std::vector<std::string> servers{"redis", "database"};
    // Acts fall due as requests of a client (the first one to all nodes at once) rather than as
    // messages in a queue called by the job.
    bool requests = false;
    std::int64_t gateway_limit = 1'000'000;  // of one charge; above it the gateway declines
    model::SchedulerOptions scheduler;
    std::vector<model::ScheduledJob> jobs;
    std::vector<DueWork> due;
    sim::Time start;
    Parameters parameters;

    // What operators do in every run, in any order: faults of the families Node and Operator, at
    // times. They are the scenario's and no plan's; all of them come before the end of the faults.
    std::vector<sim::Fault> script{};
    // Of the program that every node runs in the end, where there are two: the roll-out is finished
    // when everything is healed.
    std::int64_t last_version = 1;
    // For Trigger::StartUp: "start_ups" in the parameters says how often each node must come
    // through its start-up; whoever has is started again until then. The nodes begin at one
    // instant.

    // What random plans draw from, and how many faults at most.
    std::vector<sim::FaultFamily> families;
    int most_faults = 3;

    // Tables of effects beside those that the handler names: judged by what an undisturbed run
    // leaves in them.
    std::vector<checkers::EffectTable> effects{};

    std::vector<std::string> probes;    // states that a sweep must reach at least once
    std::vector<std::string> checkers;  // the checkers that judge a run

    // Faults end, and everything is healed, this long after the start at the latest; what is due
    // must be done this long after that.
    sim::Duration healed_after = std::chrono::seconds{90};
    sim::Duration settle_bound = std::chrono::minutes{5};
    // How often the end of the work is looked for.
    sim::Duration check_interval = std::chrono::milliseconds{250};

    // Scripts that run after the handler's own, tables first.
    std::vector<SqlScript> schema{};
    std::vector<SqlScript> seed{};
    // Looked at in the seeded state, after every commit, and once more at the end of the run.
    std::vector<SqlInvariant> always{};
    // Looked at once, at the end of the run.
    std::vector<SqlInvariant> finally{};

    bool operator==(const Scenario&) const = default;

    [[nodiscard]] bool has_server(std::string_view server) const {
        return std::ranges::find(servers, server) != servers.end();
    }
};

// In the order of the conditions that they are about.
const std::vector<Scenario>& all_scenarios();
// "the same scheduled job due on both at once": what the acceptance checklist calls a condition.
std::string_view condition_title(int condition);
const Scenario* find_scenario(std::string_view name);
// Makes another scenario known, in place of the one of that name if there is one; before any run.
void put_scenario(Scenario scenario);

// The parties that faults may strike or cut off: nodes, servers, and the client where there is one.
std::vector<std::string> parties_of(const Scenario& scenario);
inline constexpr std::string_view kClient = "client";
// Its jobs as plans name them, "acme/daily-reconcile", in the order of scenario.jobs.
std::vector<std::string> jobs_of(const Scenario& scenario);

// Where operators sit: a node beside those of the scenario, which no fault strikes.
inline constexpr std::string_view kOperatorNode = "operator";
bool needs(const Scenario& scenario, Ability ability);

// Why the handler cannot take part in the scenario, in half a sentence that goes on after "because
// "; nothing when it can.
std::optional<std::string> obstacle(const Scenario& scenario, const HandlerSpec& handler);

// Checks that the scenario makes sense: that every name in it exists, that what it says of one
// thing fits what it says of others. Throws sim::PlanError with the place in its file and what
// would be right. Looks at no SQL.
void validate(const Scenario& scenario);

// Checks that every name in the plan exists in the scenario it names: handler, parameters, nodes,
// servers, operations. Throws sim::PlanError with the place and what would be right.
void validate(const sim::Plan& plan);

// The names of operations that fault points have ("db.commit", "redis.lease-acquire", …).
const std::vector<std::string>& known_operations();

}  // namespace fencepost::scenarios
