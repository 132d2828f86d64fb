// A node's program that takes messages and hands them to a function, with no inbox around it: the
// form of the planted mistakes about messages.
#pragma once

#include <functional>
#include <memory>
#include <utility>

#include "scenarios/handlers/consumer_program.h"

namespace fencepost::scenarios {

class PlainConsumer : public Program {
public:
    using Body = std::function<void(const jobs::broker::Message&, const jobs::Ports&)>;
    enum class Acknowledge : std::uint8_t { AfterTheBody, BeforeTheBody };

    PlainConsumer(const ProgramSetting& setting, Acknowledge when, Body body)
        : setting_(setting), ports_(setting.ports), when_(when), body_(std::move(body)) {}

    void start() override {
        if (ports_.broker == nullptr) return;
        task_ = ports_.tasks.spawn("consumer", [this](jobs::StopSignal& stop) {
            while (!stop.requested()) {
                if (!take_one() && stop.wait_for(std::chrono::seconds{1})) return;
            }
        });
    }
    std::string handle(const jobs::Fire&) override { return "it waits for messages"; }
    std::string answer(const Request& request) override {
        try {
            body_(message_of(request, setting_), ports_);
            return "done";
        } catch (const jobs::AttemptError&) {
            return {};
        }
    }
    void stop() override {
        if (task_ == nullptr) return;
        task_->request_stop();
        task_->join();
    }

private:
    static constexpr int kAttempts = 30;
    static constexpr std::chrono::seconds kBetweenAttempts{2};

    bool take_one() {
        try {
            const jobs::ConsumerOptions options = consumer_options(setting_);
            const auto message = ports_.broker->receive(options.queue, options.visibility);
            if (!message) return false;
            const auto work = ports_.tasks.spawn_work(
                message->event_id, [this, &message](jobs::StopSignal&) { deliver(*message); });
            work->join();
            return true;
        } catch (const jobs::AttemptError&) {
            return false;
        }
    }

    void deliver(const jobs::broker::Message& message) {
        if (when_ == Acknowledge::BeforeTheBody) acknowledge(message);
        for (int attempt = 1; attempt <= kAttempts; ++attempt) {
            try {
                body_(message, ports_);
                break;
            } catch (const jobs::AttemptError&) {
                if (attempt == kAttempts) return;
                ports_.clock.sleep_for(kBetweenAttempts);
            }
        }
        if (when_ == Acknowledge::AfterTheBody) acknowledge(message);
    }

    void acknowledge(const jobs::broker::Message& message) {
        try {
            ports_.broker->acknowledge(message);
        } catch (const jobs::AttemptError&) {
            // It comes again.
        }
    }

    ProgramSetting setting_;
    jobs::Ports ports_;
    Acknowledge when_;
    Body body_;
    std::unique_ptr<jobs::Task> task_;
};

}  // namespace fencepost::scenarios
