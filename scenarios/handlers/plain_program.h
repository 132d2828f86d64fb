// Node's programs that hand fires to a function, with no worker and no gates around it: the form of
// most planted mistakes.
#pragma once

#include <functional>
#include <memory>
#include <set>
#include <string>
#include <utility>

#include "jobs/business_key.h"
#include "scenarios/handler.h"
#include "scenarios/handlers/worker_program.h"

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

// One that also begins again what fell due and was not finished, by itself or by a process before
// it: the body must bear that.
class RecoveringProgram : public PlainProgram {
public:
    RecoveringProgram(const ProgramSetting& setting, Body body)
        : PlainProgram(setting.ports, setting.parameters, std::move(body)),
          ports_(setting.ports),
          agenda_(agenda_of(setting.due)) {}

    void start() override {
        recovery_ = ports_.tasks.spawn("recovery", [this](jobs::StopSignal& stop) {
            while (!stop.wait_for(kBetweenLooks)) begin_again();
        });
    }
    std::string handle(const jobs::Fire& fire) override {
        const std::string key = jobs::BusinessKey::of(fire).text();
        begun_.insert(key);
        try {
            return PlainProgram::handle(fire);
        } catch (const jobs::AttemptError&) {
            begun_.erase(key);
            throw;
        }
    }
    void stop() override {
        recovery_->request_stop();
        recovery_->join();
    }

private:
    static constexpr std::chrono::seconds kBetweenLooks{5};
    static constexpr std::chrono::seconds kLate{10};

    void begin_again() {
        for (const jobs::Fire& fire : agenda_({}, ports_.clock.wall_now() - kLate)) {
            if (begun_.contains(jobs::BusinessKey::of(fire).text())) continue;
            try {
                handle(fire);
            } catch (const jobs::AttemptError&) {
                // The next look begins it again.
            }
        }
    }

    jobs::Ports ports_;
    jobs::Agenda agenda_;
    std::set<std::string> begun_;  // by this process, and not given up
    std::unique_ptr<jobs::Task> recovery_;
};

}  // namespace fencepost::scenarios
