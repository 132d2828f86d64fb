#include "scenarios/own_handler.h"

#include <algorithm>
#include <utility>

#include "scenarios/handlers/consumer_program.h"
#include "scenarios/handlers/worker_program.h"

namespace fencepost::scenarios {
namespace {

class FireProgram : public Program {
public:
    FireProgram(const jobs::Ports& ports, FireBody body) : ports_(ports), body_(std::move(body)) {}

    std::string handle(const jobs::Fire& fire) override { return body_(fire, ports_); }

private:
    const jobs::Ports& ports_;
    FireBody body_;
};

class StartingProgram : public Program {
public:
    StartingProgram(const jobs::Ports& ports, StartUpBody body)
        : ports_(ports), body_(std::move(body)) {}

    void start_up() override { body_(ports_); }
    std::string handle(const jobs::Fire&) override { return "nothing to do"; }

private:
    const jobs::Ports& ports_;
    StartUpBody body_;
};

// A scenario that is about what happens in the midst of long work has its batches lie apart.
jobs::Handler stretched(const jobs::Handler& body, const Parameters& parameters) {
    const std::chrono::milliseconds between{parameters.value_or("batch_delay_ms", 0)};
    if (between == between.zero()) return body;
    return [body, between](jobs::JobContext& job) {
        jobs::Outcome outcome = body(job);
        if (outcome.kind() != jobs::Outcome::Kind::More) return outcome;
        return jobs::Outcome::more(std::max<jobs::Duration>(outcome.delay(), between));
    };
}

}  // namespace

HandlerSpec gated(std::string name, jobs::Handler body, std::string schema) {
    return {
        .name = std::move(name),
        .schema = [schema = std::move(schema)](const Parameters&) -> std::vector<std::string> {
            return {std::string(jobs::claim_schema()), schema};
        },
        .expectations =
            [](const Parameters&, const std::vector<DueWork>&) {
                return checkers::Expectations{
                    .effects = {}, .claims = worker_claims(), .lease_prefix = "lease:"};
            },
        .program =
            [body = std::move(body)](const ProgramSetting& setting) -> std::unique_ptr<Program> {
            return std::make_unique<PlannedProgram>(setting, stretched(body, setting.parameters));
        },
        .open_work = open_claims,
    };
}

HandlerSpec ungated(std::string name, FireBody body, std::string schema) {
    return {
        .name = std::move(name),
        .schema = [schema = std::move(schema)](const Parameters&) -> std::vector<std::string> {
            return {schema};
        },
        .program =
            [body = std::move(body)](const ProgramSetting& setting) -> std::unique_ptr<Program> {
            return std::make_unique<FireProgram>(setting.ports, body);
        },
    };
}

HandlerSpec consumer(std::string name, jobs::MessageHandler body, std::string schema) {
    return {
        .name = std::move(name),
        .trigger = Trigger::Messages,
        .schema = [schema = std::move(schema)](const Parameters&) -> std::vector<std::string> {
            return {std::string(jobs::inbox_schema()), schema};
        },
        .program =
            [body = std::move(body)](const ProgramSetting& setting) -> std::unique_ptr<Program> {
            return std::make_unique<ConsumerProgram>(setting, body);
        },
    };
}

HandlerSpec start_up(std::string name, StartUpBody body) {
    return {
        .name = std::move(name),
        .trigger = Trigger::StartUp,
        .program =
            [body = std::move(body)](const ProgramSetting& setting) -> std::unique_ptr<Program> {
            return std::make_unique<StartingProgram>(setting.ports, body);
        },
    };
}

}  // namespace fencepost::scenarios
