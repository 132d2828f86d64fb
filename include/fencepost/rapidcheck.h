// Fencepost in RapidCheck: generators of plans, clusters, timetables and workloads, which shrink.
//
//     RC_GTEST_PROP(InvoicesTest, SurviveEveryPlan, ()) {
//         static const fencepost::kit::PlanSpace space{"holder-leaves", invoices()};
//         fencepost::rapidcheck::holds(space, *fencepost::rapidcheck::plans(space));
//     }
//
// What is reported is the least plan: the one that `fencepost shrink` leads to, where an invariant
// breaks. It is in the failure file that the message names, with the command that shows it again.
// For properties of one's own see kit::PlanSpace::run(); they shrink by one fault, duration or
// count at a time. Everything runs in this process: see kit/plan_space.h.
#pragma once

#include <rapidcheck.h>

#include <cstdint>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "kit/plan_space.h"
#include "kit/worlds.h"
#include "sim/plan.h"

namespace fencepost::kit {

inline void showValue(const DrawnPlan& drawn, std::ostream& out) {
    out << sim::to_json(drawn.plan);
}

inline void showValue(const Cluster& cluster, std::ostream& out) {
    out << text_of(cluster);
}

inline void showValue(const Timetable& timetable, std::ostream& out) {
    out << text_of(timetable);
}

inline void showValue(const Workload& workload, std::ostream& out) {
    out << text_of(workload);
}

}  // namespace fencepost::kit

namespace fencepost::rapidcheck {

// A generator of what `draw` makes of a seed, which shrinks to what `smaller` gives.
template <typename Draw, typename Smaller>
auto drawn(Draw draw, Smaller smaller) {
    using Value = decltype(draw(std::uint64_t{}));
    return rc::Gen<Value>([draw = std::move(draw), smaller = std::move(smaller)](
                              const rc::Random& random, int /*size*/) {
        // Seeds that people can read and type.
        constexpr unsigned kDropped = 32;
        const std::uint64_t seed = rc::Random(random).next() >> kDropped;
        return rc::shrinkable::shrinkRecur(draw(seed), [smaller](const Value& value) {
            return rc::seq::fromContainer(smaller(value));
        });
    });
}

// Plans of the scenario and handler, as a sweep draws them. The space must outlive the generator.
inline rc::Gen<kit::DrawnPlan> plans(const kit::PlanSpace& space) {
    return drawn([&space](std::uint64_t seed) { return space.draw(seed); },
                 [&space](const kit::DrawnPlan& plan) { return space.smaller(plan); });
}

// Nodes and the options of their scheduler, other than those of the scenario; towards those.
inline rc::Gen<kit::Cluster> clusters(const kit::WorldSpace& space) {
    return drawn([&space](std::uint64_t seed) { return space.draw_cluster(seed); },
                 [&space](const kit::Cluster& cluster) { return space.smaller(cluster); });
}

// When the scenario's job falls due; towards the single instant of the scenario.
inline rc::Gen<kit::Timetable> timetables(const kit::WorldSpace& space) {
    return drawn([&space](std::uint64_t seed) { return space.draw_timetable(seed); },
                 [&space](const kit::Timetable& timetable) { return space.smaller(timetable); });
}

// How much there is to do: the scenario's counting parameters; towards 1 each.
inline rc::Gen<kit::Workload> workloads(const kit::WorldSpace& space) {
    return drawn([&space](std::uint64_t seed) { return space.draw_workload(seed); },
                 [&space](const kit::Workload& workload) { return space.smaller(workload); });
}

// The property that every invariant holds under the plan: fails the case with what broke.
inline void holds(const kit::PlanSpace& space, const kit::DrawnPlan& plan) {
    if (const auto broken = space.broken_by(plan)) RC_FAIL(broken->text);
}

}  // namespace fencepost::rapidcheck
