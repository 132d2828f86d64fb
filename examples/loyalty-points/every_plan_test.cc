// Goal: the same for RapidCheck, which looks for plans, workloads and worlds that break it.
#include <fencepost/rapidcheck.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "handler.h"

namespace loyalty {
namespace {

using fencepost::kit::PlanSpace;
using fencepost::kit::WorldSpace;
namespace property = fencepost::rapidcheck;

RC_GTEST_PROP(EveryPlanTest, PointsExpireOnce, ()) {
    static const PlanSpace space{"holder-leaves", expire_points_handler()};
    property::holds(space, *property::plans(space));
}

RC_GTEST_PROP(EveryPlanTest, PointsExpireOnceInLargerClusters, ()) {
    static const WorldSpace worlds{"same-instant"};
    const std::string world =
        worlds.put(*property::clusters(worlds), *property::timetables(worlds));
    const PlanSpace space{world, expire_points_handler(),
                          (*property::workloads(worlds)).parameters};
    property::holds(space, *property::plans(space));
}

}  // namespace
}  // namespace loyalty
