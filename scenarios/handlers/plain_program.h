// A node's program that hands fires to a function, with no worker and no gates around it: the form
// of most planted mistakes.
#pragma once

#include <functional>
#include <string>
#include <utility>

#include "scenarios/handler.h"

namespace fencepost::scenarios {

class PlainProgram : public Program {
public:
    // The text says what became of the fire.
    using Body =
        std::function<std::string(const jobs::Fire&, const jobs::Ports&, const Parameters&)>;

    PlainProgram(const jobs::Ports& ports, Parameters parameters, Body body)
        : ports_(ports), parameters_(std::move(parameters)), body_(std::move(body)) {}

    std::string handle(const jobs::Fire& fire) override {
        for (int attempt = 1; attempt < kAttempts; ++attempt) {
            try {
                return body_(fire, ports_, parameters_);
            } catch (const jobs::AttemptError&) {
                ports_.clock.sleep_for(kBetweenAttempts);
            }
        }
        return body_(fire, ports_, parameters_);
    }

private:
    static constexpr int kAttempts = 30;
    static constexpr std::chrono::seconds kBetweenAttempts{2};

    jobs::Ports ports_;
    Parameters parameters_;
    Body body_;
};

}  // namespace fencepost::scenarios
