#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "checkers/checker.h"
#include "model/database/sql_text.h"
#include "scenarios/probes.h"
#include "scenarios/validation.h"
#include "sim/name.h"

namespace fencepost::scenarios {
namespace {

using sim::Duration;
using sim::PlanError;
using sim::Time;

constexpr std::size_t kMostNodes = 16;
constexpr int kMostFaults = 20;
constexpr int kConditions = 10;
constexpr Duration kShortestInterval = std::chrono::milliseconds{1};
const std::vector<std::string> kServers{"redis", "database", "broker", "gateway"};

[[noreturn]] void fail(const std::string& place, const std::string& sentence) {
    throw PlanError(place, sentence);
}

std::string element(std::string_view list, std::size_t index) {
    return fmt::format("{}[{}]", list, index);
}

void validate_name(const std::string& place, const std::string& name) {
    if (!sim::is_name(name)) fail(place, std::string{sim::kNameRule});
}

template <typename Things, typename NameOf>
void require_distinct(std::string_view list, const Things& things, NameOf name_of,
                      std::string_view what) {
    std::set<std::string> seen;
    for (std::size_t i = 0; i < things.size(); ++i) {
        const std::string name = name_of(things[i]);
        if (seen.insert(name).second) continue;
        fail(element(list, i), fmt::format("the {} \"{}\" stands here twice", what, name));
    }
}

void validate_parties(const Scenario& scenario) {
    const auto itself = [](const std::string& name) { return name; };
    if (scenario.nodes.empty()) fail("nodes", "at least one is expected here");
    if (scenario.nodes.size() > kMostNodes) {
        fail("nodes", fmt::format("there are at most {} nodes", kMostNodes));
    }
    std::vector<std::string> taken = kServers;
    taken.insert(taken.end(), {std::string(kClient), std::string(kOperatorNode), "world"});
    for (std::size_t i = 0; i < scenario.nodes.size(); ++i) {
        validate_name(element("nodes", i), scenario.nodes[i]);
        if (std::ranges::find(taken, scenario.nodes[i]) == taken.end()) continue;
        fail(element("nodes", i), fmt::format("\"{}\" is the name of another party; call nodes "
                                              "\"A\" and \"B\", for example",
                                              scenario.nodes[i]));
    }
    require_distinct("nodes", scenario.nodes, itself, "node");
    for (std::size_t i = 0; i < scenario.servers.size(); ++i) {
        require_known(element("servers", i), "server", scenario.servers[i], kServers);
    }
    require_distinct("servers", scenario.servers, itself, "server");
}

// Other parameters may be times in milliseconds.
void validate_counts(const Scenario& scenario) {
    for (const std::string_view name : {"accounts", "batch", "start_ups"}) {
        const std::int64_t value = scenario.parameters.value_or(name, 0);
        if (value <= kMostParameter) continue;
        fail(fmt::format("parameters.{}", name),
             fmt::format("{} is out of range; give a number up to {}", value, kMostParameter));
    }
}

void validate_trigger(const Scenario& scenario) {
    const bool messages = scenario.trigger == Trigger::Messages;
    if (scenario.requests && !messages) {
        fail("requests", "requests are of the trigger \"messages\"");
    }
    if (messages && !scenario.requests && !scenario.has_server("broker")) {
        fail("servers", "messages need the server \"broker\"; or set \"requests\" to true");
    }
    if (scenario.trigger == Trigger::StartUp && scenario.parameters.value_or("start_ups", 0) < 1) {
        fail("parameters",
             "\"start_ups\" is missing: how often each node must come through its start-up");
    }
    if (scenario.trigger == Trigger::Fires && scenario.jobs.empty()) {
        fail("jobs", "at least one job is needed, for the trigger is \"fires\"");
    }
}

void validate_handlers(const Scenario& scenario) {
    if (scenario.handlers.empty()) fail("handlers", "at least one is expected here");
    for (std::size_t i = 0; i < scenario.handlers.size(); ++i) {
        const std::string place = element("handlers", i);
        const HandlerSpec* handler = find_handler(scenario.handlers[i]);
        if (handler == nullptr) fail(place, unknown_handler(scenario.handlers[i]));
        if (const auto reason = obstacle(scenario, *handler)) {
            fail(place, fmt::format("{} cannot take part, because {}", handler->name, *reason));
        }
    }
}

void validate_scheduler(const Scenario& scenario) {
    const model::SchedulerOptions& options = scenario.scheduler;
    for (const model::NodeZone& each : options.zones) {
        require_known("scheduler.zones", "node", each.node, scenario.nodes);
        if (model::CronTimeZone::find(each.zone)) continue;
        fail("scheduler.zones." + each.node,
             fmt::format("the system knows no time zone \"{}\"; one is called as \"Europe/Berlin\"",
                         each.zone));
    }
    if (options.editable && options.mode != model::SchedulerMode::Clustered) {
        fail("scheduler.editable", "schedules can be edited where the mode is \"clustered\"");
    }
    const auto identity = [](const model::ScheduledJob& job) {
        return fmt::format("{}/{}", job.group_name(), job.trigger_name());
    };
    for (std::size_t i = 0; i < scenario.jobs.size(); ++i) {
        const model::ScheduledJob& job = scenario.jobs[i];
        const std::string place = element("jobs", i);
        validate_name(place + ".tenant", job.tenant);
        validate_name(place + ".job", job.job);
        validate_name(place + ".trigger", job.trigger_name());
        validate_name(place + ".group", job.group_name());
        const bool edited =
            job.priority != model::ScheduledJob{.schedule = job.schedule}.priority ||
            !job.parameters.empty();
        if (edited && !options.editable) {
            fail(place, "\"priority\" and \"parameters\" need \"editable\": true of the scheduler");
        }
    }
    require_distinct("jobs", scenario.jobs, identity, "trigger");
}

bool is_scheduled(const Scenario& scenario, const DueWork& work) {
    return std::ranges::any_of(scenario.jobs, [&](const model::ScheduledJob& job) {
        return job.tenant == work.tenant && job.job == work.job &&
               job.schedule.next_after(Time{work.scheduled} - Duration{1}) == Time{work.scheduled};
    });
}

void validate_due(const Scenario& scenario) {
    const Time end = scenario.start + scenario.healed_after;
    for (std::size_t i = 0; i < scenario.due.size(); ++i) {
        const DueWork& work = scenario.due[i];
        const std::string place = element("due", i);
        validate_name(place + ".tenant", work.tenant);
        validate_name(place + ".job", work.job);
        if (Time{work.scheduled} < scenario.start) {
            fail(place + ".at", fmt::format("nothing is due before the run begins, at {}",
                                            sim::to_text(scenario.start)));
        }
        if (Time{work.scheduled} >= end) {
            fail(place + ".at", fmt::format("all that is due is due before everything is healed, "
                                            "at {} (\"start\" and \"healed_after\")",
                                            sim::to_text(end)));
        }
        if (scenario.trigger == Trigger::Fires && !is_scheduled(scenario, work)) {
            fail(place,
                 fmt::format("no schedule of {}/{} is due at that instant", work.tenant, work.job));
        }
        if (scenario.trigger != Trigger::Fires && work.id.empty()) {
            fail(place, "\"id\" is missing, which names the act");
        }
    }
    if (scenario.due.empty()) fail("due", "nothing is due in the run, so nothing can be judged");
    require_distinct(
        "due", scenario.due, [](const DueWork& work) { return work.unit(); }, "act");
}

void validate_script(const Scenario& scenario) {
    const Time end = scenario.start + scenario.healed_after;
    for (std::size_t i = 0; i < scenario.script.size(); ++i) {
        const sim::Fault& act = scenario.script[i];
        const std::string place = element("script", i);
        const sim::FaultFamily family = sim::info_of(act.kind).family;
        if (family != sim::FaultFamily::Node && family != sim::FaultFamily::Operator) {
            fail(place + ".do", "what happens in every run is of the families node and operator");
        }
        if (!act.at_time) fail(place, "what happens in every run happens at a time: \"at_time\"");
        if (*act.at_time < scenario.start || *act.at_time >= end) {
            fail(place + ".at_time", fmt::format("that is not within the run's time for faults, "
                                                 "from {} to {}",
                                                 sim::to_text(scenario.start), sim::to_text(end)));
        }
        validate_fault(place, act, scenario);
    }
}

void validate_search(const Scenario& scenario) {
    require_distinct(
        "families", scenario.families,
        [](sim::FaultFamily family) { return std::string(name_of(family)); }, "family");
    for (std::size_t i = 0; i < scenario.families.size(); ++i) {
        if (scenario.families[i] != sim::FaultFamily::Broker || scenario.has_server("broker")) {
            continue;
        }
        fail(element("families", i), "the family broker needs the server \"broker\"");
    }
    if (scenario.most_faults < 0 || scenario.most_faults > kMostFaults) {
        fail("most_faults", fmt::format("a number from 0 to {} is expected here", kMostFaults));
    }
    for (const auto& [place, duration] :
         {std::pair{"check_interval", scenario.check_interval},
          std::pair{"scheduler.idle_wait", scenario.scheduler.idle_wait},
          std::pair{"scheduler.check_in", scenario.scheduler.check_in},
          std::pair{"scheduler.db_retry", scenario.scheduler.db_retry}}) {
        if (duration < kShortestInterval) fail(place, "a duration from 1ms on is expected here");
    }
}

void validate_judgement(const Scenario& scenario) {
    for (std::size_t i = 0; i < scenario.probes.size(); ++i) {
        if (find_probe(scenario.probes[i]) != nullptr) continue;
        unknown(element("probes", i), "probe", scenario.probes[i], names_of(all_probes()));
    }
    for (std::size_t i = 0; i < scenario.checkers.size(); ++i) {
        if (checkers::find_checker(scenario.checkers[i]) != nullptr) continue;
        unknown(element("checkers", i), "checker", scenario.checkers[i],
                names_of(checkers::all_checkers()));
    }
    if (scenario.checkers.empty()) fail("checkers", "at least one is expected here");
}

// One statement that reads, by its text alone.
void validate_query(const std::string& place, const std::string& query) {
    const auto statements = model::database::split_script(query);
    const model::database::Tokens tokens =
        model::database::tokenize(statements.size() == 1 ? statements.front() : "");
    if (tokens.failure ||
        model::database::read_statement(tokens).kind != model::StatementKind::Query) {
        fail(place, "one query is expected here: SELECT …, or WITH … SELECT …, without FOR UPDATE");
    }
    const auto statement = model::database::read_statement(tokens);
    if (statement.failure) fail(place, statement.failure->message);
    if (statement.advisory_lock) fail(place, "a query that must find no rows takes no locks");
    if (statement.parameter_count > 0) fail(place, "the query has parameters that nobody gives it");
}

void validate_invariants(const Scenario& scenario) {
    std::vector<std::string> names;
    for (const auto& [list, invariants] :
         {std::pair{"always", &scenario.always}, std::pair{"finally", &scenario.finally}}) {
        for (std::size_t i = 0; i < invariants->size(); ++i) {
            const SqlInvariant& invariant = (*invariants)[i];
            const std::string place = element(list, i);
            validate_query(place + ".query", invariant.query);
            if (std::ranges::find(names, invariant.name) != names.end()) {
                fail(place + ".name",
                     fmt::format("the invariant \"{}\" is there twice", invariant.name));
            }
            names.push_back(invariant.name);
        }
    }
    const bool judged =
        std::ranges::find(scenario.checkers, "invariants") != scenario.checkers.end();
    if (!names.empty() && !judged) {
        fail("checkers", "\"invariants\" is missing, which judges by \"always\" and \"finally\"");
    }
}

}  // namespace

void validate(const Scenario& scenario) {
    validate_name("name", scenario.name);
    if (scenario.condition < 0 || scenario.condition > kConditions) {
        fail("condition", fmt::format("the checklist has the conditions 1 to {}; 0 is none of them",
                                      kConditions));
    }
    if (scenario.last_version > 2) fail("last_version", "there are the versions 1 and 2");
    validate_parties(scenario);
    validate_trigger(scenario);
    validate_counts(scenario);
    validate_handlers(scenario);
    validate_scheduler(scenario);
    validate_search(scenario);
    validate_due(scenario);
    validate_script(scenario);
    validate_judgement(scenario);
    validate_invariants(scenario);
}

}  // namespace fencepost::scenarios
