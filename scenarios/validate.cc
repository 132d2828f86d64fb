#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "scenarios/nearest.h"
#include "scenarios/reduced.h"
#include "scenarios/scenario.h"
#include "scenarios/validation.h"

namespace fencepost::scenarios {
namespace {

using sim::PlanError;

constexpr std::size_t kMostFaultsOfAPlan = 9'999;  // that Kernel::arm takes

void validate_point(const std::string& place, const sim::Fault& fault, const Scenario& scenario) {
    const auto address = sim::parse_address(fault.at);
    if (!address) {
        throw PlanError(place, fmt::format("\"{}\" is not a fault point", fault.at));
    }
    const auto is_pattern = [](std::string_view text) { return text.find('*') != text.npos; };
    std::vector<std::string> callers = scenario.nodes;
    if (scenario.requests) callers.emplace_back(kClient);
    if (!is_pattern(address->node)) require_known(place, "node", address->node, callers);
    if (!is_pattern(address->operation)) {
        require_known(place, "operation", address->operation, known_operations());
    }
}

// Redis and the database can be struck wherever they are of no use, too.
std::vector<std::string> servers_of(const Scenario& scenario) {
    std::vector<std::string> servers{"database", "redis"};
    for (const std::string& server : scenario.servers) {
        if (std::ranges::find(servers, server) == servers.end()) servers.push_back(server);
    }
    return servers;
}

}  // namespace

void unknown(const std::string& place, std::string_view what, std::string_view name,
             const std::vector<std::string>& known) {
    throw PlanError(place, fmt::format("unknown {} \"{}\"{}; known are {}", what, name,
                                       did_you_mean(name, known), fmt::join(known, ", ")));
}

void require_known(const std::string& place, std::string_view what, std::string_view name,
                   const std::vector<std::string>& known) {
    if (std::ranges::find(known, name) == known.end()) unknown(place, what, name, known);
}

std::string unknown_scenario(std::string_view name) {
    const auto known = names_of(all_scenarios());
    return fmt::format(
        "unknown scenario \"{}\"{}; known are {}; one of your own comes with --scenarios FILE",
        name, did_you_mean(name, known), fmt::join(known, ", "));
}

std::string unknown_handler(std::string_view name) {
    return fmt::format(
        "unknown handler \"{}\"{}; \"list handlers\" shows those that there are, and one of your "
        "own comes with --handlers LIBRARY",
        name, did_you_mean(name, names_of(all_handlers())));
}

void validate_fault(const std::string& place, const sim::Fault& fault, const Scenario& scenario) {
    const std::vector<std::string> servers = servers_of(scenario);
    const std::vector<std::string> parties = parties_of(scenario);
    const sim::FaultKindInfo& info = sim::info_of(fault.kind);
    if (!fault.at_time) validate_point(place + ".at", fault, scenario);
    if (!fault.from.empty()) {
        const std::string where = fault.one_way ? place + ".from" : place + ".between";
        require_known(where, "party", fault.from, parties);
        require_known(fault.one_way ? place + ".to" : where, "party", fault.to, parties);
    }
    if (!fault.party.empty()) {
        if ((info.needs & sim::kServer) != 0) {
            require_known(place + ".server", "server", fault.party, servers);
        } else if ((info.needs & sim::kOf) != 0) {
            require_known(place + ".of", "node or server", fault.party, parties);
        } else {
            require_known(place + ".node", "node", fault.party, scenario.nodes);
        }
    }
    if (fault.kind == sim::FaultKind::Deploy) {
        if (!needs(scenario, Ability::TwoVersions)) {
            throw PlanError(place + ".do",
                            fmt::format("the nodes of {} run one version only", scenario.name));
        }
        if (*fault.version > 2) {
            throw PlanError(place + ".version", "there are the versions 1 and 2");
        }
    }
    if (fault.kind == sim::FaultKind::Cancel) {
        if (!needs(scenario, Ability::Batches)) {
            throw PlanError(place + ".do",
                            fmt::format("nothing of {} can be cancelled", scenario.name));
        }
        std::vector<std::string> units;
        for (const DueWork& work : scenario.due) units.push_back(work.unit());
        require_known(place + ".unit", "unit", fault.unit, units);
    }
    if (fault.kind == sim::FaultKind::SaveSchedule) {
        if (!scenario.scheduler.editable) {
            throw PlanError(place + ".do",
                            fmt::format("no schedule of {} can be saved", scenario.name));
        }
        require_known(place + ".job", "job", fault.job, jobs_of(scenario));
    }
    const bool redis_only = fault.kind == sim::FaultKind::Failover ||
                            fault.kind == sim::FaultKind::Evict || !fault.keep.empty();
    if (redis_only && fault.party != "redis") {
        throw PlanError(place + ".server",
                        fmt::format("\"{}\"{} is for the server \"redis\" alone", info.name,
                                    fault.keep.empty() ? "" : " with \"keep\""));
    }
    const bool of_node = std::ranges::find(scenario.nodes, fault.party) != scenario.nodes.end();
    if (fault.kind == sim::FaultKind::ClockDrift && !of_node) {
        throw PlanError(place + ".of", fmt::format("only the clock of a node drifts ({})",
                                                   fmt::join(scenario.nodes, ", ")));
    }
    if (fault.kind == sim::FaultKind::ClockJump && !of_node && fault.party != "redis" &&
        fault.party != "database") {
        throw PlanError(place + ".of",
                        fmt::format("nothing goes by the wall clock of \"{}\"", fault.party));
    }
    if (info.family == sim::FaultFamily::Broker && !scenario.has_server("broker")) {
        throw PlanError(place + ".do", fmt::format("\"{}\" needs a broker, and {} has none",
                                                   info.name, scenario.name));
    }
}

bool needs(const Scenario& scenario, Ability ability) {
    return std::ranges::find(scenario.needs, ability) != scenario.needs.end();
}

std::vector<std::string> parties_of(const Scenario& scenario) {
    std::vector<std::string> parties = scenario.nodes;
    for (std::string& server : servers_of(scenario)) parties.push_back(std::move(server));
    if (scenario.requests) parties.emplace_back(kClient);
    return parties;
}

std::vector<std::string> jobs_of(const Scenario& scenario) {
    std::vector<std::string> jobs;
    for (const model::ScheduledJob& job : scenario.jobs) jobs.push_back(job.tenant + "/" + job.job);
    return jobs;
}

std::optional<std::string> obstacle(const Scenario& scenario, const HandlerSpec& handler) {
    if (handler.trigger != scenario.trigger) {
        return fmt::format("{} is set to work by {}, and {} is about {}", handler.name,
                           name_of(handler.trigger), scenario.name, name_of(scenario.trigger));
    }
    for (const Ability need : scenario.needs) {
        if (std::ranges::find(handler.abilities, need) != handler.abilities.end()) continue;
        // Who brings a handler may have forgotten to say what it can do.
        const std::string hint =
            is_built_in(handler.name)
                ? ""
                : fmt::format("; if it has, say Ability::{} in its abilities", word_of(need));
        return fmt::format("{} is about {}, which {} does not have{}", scenario.name, name_of(need),
                           handler.name, hint);
    }
    if (std::ranges::find(handler.abilities, Ability::Outside) != handler.abilities.end() &&
        !scenario.has_server("gateway")) {
        return fmt::format("{} is made for {}, and {} has no gateway", handler.name,
                           name_of(Ability::Outside), scenario.name);
    }
    return std::nullopt;
}

void validate(const sim::Plan& plan) {
    const Scenario* scenario = find_scenario(plan.scenario);
    if (scenario == nullptr) throw PlanError("scenario", unknown_scenario(plan.scenario));
    const HandlerSpec* handler = find_handler(plan.handler);
    if (handler == nullptr) throw PlanError("handler", unknown_handler(plan.handler));
    if (const auto reason = obstacle(*scenario, *handler)) {
        throw PlanError(fmt::format("handler: {} cannot take part in {}, because {}", plan.handler,
                                    plan.scenario, *reason));
    }
    std::vector<std::string> parameters;
    for (const auto& [name, value] : scenario->parameters.all()) parameters.push_back(name);
    for (const auto& [name, value] : plan.parameters) {
        require_known("parameters." + name, "parameter", name, parameters);
        if (value < 1 || value > kMostParameter) {
            throw PlanError(
                fmt::format("parameters.{}: {} is out of range; give a number from 1 to {}", name,
                            value, kMostParameter));
        }
    }
    // What was left out cannot be struck.
    std::optional<Scenario> less;
    if (!plan.parameters.empty()) {
        less = reduced(*scenario, plan.parameters);
        scenario = &*less;
    }
    if (plan.faults.size() > kMostFaultsOfAPlan) {
        throw PlanError("faults", fmt::format("{} are too many; a plan has at most {}",
                                              plan.faults.size(), kMostFaultsOfAPlan));
    }
    for (std::size_t i = 0; i < plan.faults.size(); ++i) {
        validate_fault(fmt::format("faults[{}]", i), plan.faults[i], *scenario);
    }
}

const std::vector<std::string>& known_operations() {
    static const std::vector<std::string> kOperations{"db.connect",
                                                      "db.begin",
                                                      "db.commit",
                                                      "db.rollback",
                                                      "db.query",
                                                      "db.execute",
                                                      "db.savepoint",
                                                      "db.rollback-to",
                                                      "db.release",
                                                      "db.ddl",
                                                      "redis.lease-acquire",
                                                      "redis.lease-renew",
                                                      "redis.lease-release",
                                                      "redis.cache-warm",
                                                      "redis.set",
                                                      "redis.get",
                                                      "redis.del",
                                                      "redis.exists",
                                                      "redis.incr",
                                                      "redis.pexpire",
                                                      "redis.psetex",
                                                      "redis.pttl",
                                                      "redis.time",
                                                      "redis.hset",
                                                      "redis.hget",
                                                      "broker.publish",
                                                      "broker.receive",
                                                      "broker.acknowledge",
                                                      "broker.extend",
                                                      "gateway.submit",
                                                      "gateway.look-up",
                                                      "gateway.refund",
                                                      "client.request"};
    return kOperations;
}

}  // namespace fencepost::scenarios
