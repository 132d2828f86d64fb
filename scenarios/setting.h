// What every run of one scenario with one handler and one set of parameters has in common.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "checkers/checker.h"
#include "model/database/image.h"
#include "model/scheduler/cluster.h"
#include "scenarios/scenario.h"
#include "sim/plan.h"

namespace fencepost::scenarios {

struct Setting {
    // Its own: another may be put in the place of that one while this lives.
    std::shared_ptr<const Scenario> scenario;
    HandlerSpec handler;
    Parameters parameters;
    std::vector<std::string> scripts;
    model::DatabaseImage image = model::DatabaseImage::empty();
    model::SchedulerCluster cluster;
    checkers::Expectations expectations;
    std::string open_work;
    std::vector<const checkers::Checker*> checkers;
    sim::Time last_due{};

    // Of the plan's scenario, handler and parameters. Throws sim::PlanError: for what validate()
    // refuses, a schema that the database refuses, and effect tables that it
    // does not have. What is wrong with the scenario's own SQL is said with its place.
    explicit Setting(const sim::Plan& plan);
    // Of a scenario that is valid; of it, what the parameters leave (scenarios/reduced.h).
    Setting(const Scenario& of, const HandlerSpec& with, Parameters values);

    // The nodes that run the program.
    [[nodiscard]] std::span<const std::string> nodes() const;
    [[nodiscard]] bool runs_on(std::string_view node) const;

    [[nodiscard]] std::string body_of(const DueWork& work) const {
        return handler.body ? handler.body(work) : work.id;
    }

    // Whether effects are expected that only an undisturbed run can tell.
    [[nodiscard]] bool has_to_learn() const;
    // The same of what a start-up leaves.
    [[nodiscard]] bool has_to_learn_start_up() const;
};

}  // namespace fencepost::scenarios
