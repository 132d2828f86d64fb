#include "handler.h"

#include <memory>
#include <string>
#include <vector>

#include "expire_points.h"
#include "jobs/instant_text.h"
#include "scenarios/handlers/worker_program.h"
#include "scenarios/own_handler.h"

namespace loyalty {
namespace {

namespace jobs = fencepost::jobs;
namespace scenarios = fencepost::scenarios;

// As many members as the scenario has accounts, under the same numbers for both of its tenants.
std::string first_members(const scenarios::Parameters& parameters) {
    std::string rows;
    for (const std::string tenant : {"acme", "globex"}) {
        for (std::int64_t id = 1; id <= parameters.at("accounts"); ++id)
            rows += "INSERT INTO member VALUES ('" + tenant + "', " + std::to_string(id) +
                    ", 100, 0);\n";
    }
    return rows;
}

// What must be there once for each member and night; an undisturbed run says which.
fencepost::checkers::EffectTable expiries() {
    return {.table = "expiry",
            .identity = {"tenant", "member", "night"},
            .key = "business_key",
            .tenant = "tenant"};
}

std::string look_first(const jobs::Fire& fire, const jobs::Ports& ports) {
    const auto session = ports.database.connect();
    const std::string night = jobs::utc_day(fire.scheduled_fire_time);
    const auto members =
        session->execute("SELECT id FROM member WHERE tenant = $1 ORDER BY id", fire.tenant);
    for (std::size_t row = 0; row < members.rows(); ++row) {
        const std::int64_t member = members.integer(row, 0);
        const auto there = session->execute(
            "SELECT points FROM expiry WHERE tenant = $1 AND member = $2 AND night = $3",
            fire.tenant, member, night);
        if (!there.empty()) continue;
        session->execute(
            "INSERT INTO expiry (business_key, tenant, member, night, points) "
            "VALUES ($1, $2, $3, $4, 10)",
            fire.fire_instance_id + "/" + std::to_string(member), fire.tenant, member, night);
    }
    return "done";
}

}  // namespace

scenarios::HandlerSpec expire_points_handler() {
    return {
        .name = "expire-points",
        .lesson = "Lets points of every member expire, once a night.",
        .source = std::source_location::current(),
        .abilities = {scenarios::Ability::Tenants},
        .schema = [](const scenarios::Parameters& parameters) -> std::vector<std::string> {
            return {std::string(jobs::claim_schema()), kSchema, first_members(parameters)};
        },
        .expectations =
            [](const scenarios::Parameters&, const std::vector<scenarios::DueWork>&) {
                return fencepost::checkers::Expectations{.fenced = {{.table = "member",
                                                                     .identity = {"tenant", "id"},
                                                                     .token = "fencing_token"}},
                                                         .claims = scenarios::worker_claims(),
                                                         .lease_prefix = "lease:"};
            },
        .effects = {expiries()},
        .program =
            [](const scenarios::ProgramSetting& setting) -> std::unique_ptr<scenarios::Program> {
            const scenarios::Batches batches = scenarios::batches_of(setting.parameters);
            return std::make_unique<scenarios::WorkerProgram>(
                setting, [batches](jobs::JobContext& job) {
                    return expire_points(job, batches.size, batches.delay);
                });
        },
        .open_work = scenarios::open_claims,
    };
}

scenarios::HandlerSpec look_first_handler() {
    scenarios::HandlerSpec handler = scenarios::ungated("look-first", look_first, kSchema);
    handler.source = std::source_location::current();
    handler.abilities = {scenarios::Ability::Tenants};
    handler.schema = [](const scenarios::Parameters& parameters) -> std::vector<std::string> {
        return {kSchema, first_members(parameters)};
    };
    handler.effects = {expiries()};
    return handler;
}

}  // namespace loyalty
