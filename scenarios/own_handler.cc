#include "scenarios/own_handler.h"

#include <utility>

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
        .program = [body = std::move(body)](const ProgramSetting& setting)
            -> std::unique_ptr<Program> { return std::make_unique<PlannedProgram>(setting, body); },
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

}  // namespace fencepost::scenarios
