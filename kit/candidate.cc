#include "kit/candidate.h"

#include <fmt/format.h>

#include <stdexcept>
#include <utility>

#include "scenarios/nearest.h"

namespace fencepost::kit {
namespace {

std::string made_known(scenarios::HandlerSpec handler) {
    std::string name = handler.name;
    scenarios::put_handler(std::move(handler));
    return name;
}

std::string known(std::string name) {
    if (scenarios::find_handler(name) != nullptr) return name;
    std::vector<std::string> names;
    for (const scenarios::HandlerSpec& handler : scenarios::all_handlers())
        names.push_back(handler.name);
    throw std::invalid_argument(
        fmt::format("unknown handler \"{}\"{}; give the test its HandlerSpec, or put_handler() it",
                    name, scenarios::did_you_mean(name, names)));
}

}  // namespace

Candidate::Candidate(std::string name, TrialOptions options)
    : name_(known(std::move(name))), options_(std::move(options)) {}

Candidate::Candidate(const char* name, TrialOptions options)
    : Candidate(std::string(name), std::move(options)) {}

Candidate::Candidate(scenarios::HandlerSpec handler, TrialOptions options)
    : name_(made_known(std::move(handler))), options_(std::move(options)) {}

const scenarios::HandlerSpec& Candidate::handler() const {
    return *scenarios::find_handler(name_);
}

}  // namespace fencepost::kit
