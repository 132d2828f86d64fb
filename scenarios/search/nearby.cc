#include "scenarios/search/nearby.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace fencepost::scenarios {
namespace {

// The ordinal of a fault's point; nullopt when it has no point, or one that is any call.
std::optional<int> ordinal_of(const sim::Fault& fault) {
    const auto address = sim::parse_address(fault.at);
    if (!address) return std::nullopt;
    int ordinal = 0;
    const std::string_view digits = address->ordinal;
    const char* const end = digits.data() + digits.size();
    const auto [stop, error] = std::from_chars(digits.data(), end, ordinal);
    if (error != std::errc{} || stop != end) return std::nullopt;
    return ordinal;
}

// Whether the fault's point could be moved by `by`.
bool move(sim::Fault& fault, int by) {
    const auto ordinal = ordinal_of(fault);
    if (!ordinal || *ordinal + by < 1) return false;
    fault.at = fmt::format("{}/{}", fault.at.substr(0, fault.at.rfind('/')), *ordinal + by);
    return true;
}

std::string call_of(const sim::Fault& fault) {
    const auto address = sim::parse_address(fault.at);
    if (!address) return fault.at;
    return fmt::format("{}#{} {}/{}", address->node, address->incarnation, address->operation,
                       address->ordinal);
}

// The plan whose points are of whichever node comes to them first.
sim::Plan on_any_node(sim::Plan plan) {
    for (sim::Fault& fault : plan.faults) {
        if (const auto address = sim::parse_address(fault.at))
            fault.at = "*" + fault.at.substr(address->node.size());
    }
    return plan;
}

}  // namespace

std::vector<sim::Plan> nearby_plans(const sim::Plan& plan) {
    std::vector<sim::Plan> plans;
    const auto add = [&](const sim::Plan& moved) {
        if (moved != plan && std::ranges::find(plans, moved) == plans.end()) plans.push_back(moved);
    };
    const sim::Plan any_node = on_any_node(plan);
    add(any_node);
    for (int distance = 1; distance <= kFurthestMove; ++distance) {
        for (const sim::Plan& base : {plan, any_node}) {
            for (const int by : {distance, -distance}) {
                sim::Plan together = base;
                for (sim::Fault& fault : together.faults) move(fault, by);
                add(together);
            }
            for (std::size_t i = 0; i < base.faults.size(); ++i) {
                for (const int by : {distance, -distance}) {
                    sim::Plan alone = base;
                    if (move(alone.faults[i], by)) add(alone);
                }
            }
        }
    }
    return plans;
}

std::string moves_between(const sim::Plan& before, const sim::Plan& after) {
    std::string text;
    for (std::size_t i = 0; i < std::min(before.faults.size(), after.faults.size()); ++i) {
        if (before.faults[i].at == after.faults[i].at) continue;
        text += fmt::format("{}{} is now {}", text.empty() ? "" : ", ", call_of(before.faults[i]),
                            call_of(after.faults[i]));
    }
    return text;
}

NearbyReplay replay_nearby(const Failure& failure, const RunPlan& run) {
    const auto replayed = [&](const sim::Plan& plan, bool moved) {
        RunResult result = run(plan, {});
        const Replay replay = compare(failure, result);
        return NearbyReplay{
            .plan = plan, .replay = replay, .result = std::move(result), .moved = moved};
    };
    NearbyReplay own = replayed(failure.plan, false);
    if (failure.is_bare_plan() || own.replay.reproduced()) return own;
    for (const sim::Plan& plan : nearby_plans(failure.plan)) {
        NearbyReplay nearby = replayed(plan, true);
        if (nearby.replay.reproduced()) return nearby;
    }
    return own;
}

}  // namespace fencepost::scenarios
