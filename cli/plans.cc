#include "cli/plans.h"

#include "cli/command_error.h"
#include "cli/files.h"
#include "cli/names.h"
#include "scenarios/scenario.h"

namespace fencepost::cli {

namespace {

scenarios::Failure read_any(const std::string& file) {
    const std::string text = read_file(file);
    try {
        scenarios::Failure failure = scenarios::failure_from_json(text);
        if (failure.plan.handler.empty()) failure.plan.handler = kUsualHandler;
        return failure;
    } catch (const sim::PlanError& error) {
        throw CommandError(file + ": " + error.what());
    }
}

}  // namespace

sim::Plan read_plan(const std::string& file) {
    return read_any(file).plan;
}

scenarios::Failure read_failure(const std::string& file) {
    scenarios::Failure failure = read_any(file);
    validate_plan(failure.plan, file);
    return failure;
}

void validate_plan(const sim::Plan& plan, const std::string& file) {
    try {
        scenarios::validate(plan);
    } catch (const sim::PlanError& error) {
        throw CommandError(file + ": " + error.what());
    }
}

}  // namespace fencepost::cli
