// A node's program that runs a message handler through the consumer of jobs/, with its inbox. In a
// scenario without a broker, the same events come as requests.
#pragma once

#include <string>
#include <utility>

#include "jobs/consumer.h"
#include "scenarios/handler.h"

namespace fencepost::scenarios {

// "visibility_ms", the rest as the consumer has it. The queue is called as the job.
inline jobs::ConsumerOptions consumer_options(const ProgramSetting& setting) {
    jobs::ConsumerOptions options;
    options.queue = setting.due.front().job;
    options.visibility = std::chrono::milliseconds{setting.parameters.at("visibility_ms")};
    return options;
}

// A request as a message: told apart by the client's id.
inline jobs::broker::Message message_of(const Request& request, const ProgramSetting& setting) {
    return {.queue = setting.due.front().job,
            .event_id = request.id,
            .body = request.body,
            .receipt = {}};
}

class ConsumerProgram : public Program {
public:
    ConsumerProgram(const ProgramSetting& setting, jobs::MessageHandler handler)
        : setting_(setting),
          has_broker_(setting.ports.broker != nullptr),
          consumer_(setting.ports, consumer_options(setting), std::move(handler)) {}

    void start() override {
        if (has_broker_) consumer_.start();
    }
    std::string handle(const jobs::Fire&) override { return "it waits for messages"; }
    std::string answer(const Request& request) override {
        const jobs::Handled handled = consumer_.handle(message_of(request, setting_));
        return handled == jobs::Handled::Unfinished ? std::string{} : std::string(name_of(handled));
    }
    void stop() override { consumer_.stop(); }

private:
    ProgramSetting setting_;
    bool has_broker_;
    jobs::Consumer consumer_;
};

}  // namespace fencepost::scenarios
