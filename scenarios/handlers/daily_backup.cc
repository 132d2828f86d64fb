#include "scenarios/handlers/daily_backup.h"

#include <fmt/format.h>

#include "jobs/instant_text.h"
#include "scenarios/handlers/ledger.h"

namespace fencepost::scenarios {

namespace backup {

std::string schema() {
    return R"(
CREATE TABLE document (
    tenant TEXT NOT NULL,
    number BIGINT NOT NULL,
    bytes BIGINT NOT NULL,
    PRIMARY KEY (tenant, number)
);
CREATE TABLE backup (
    business_key TEXT PRIMARY KEY,
    tenant TEXT NOT NULL,
    planned TEXT NOT NULL,
    documents BIGINT NOT NULL,
    bytes BIGINT NOT NULL,
    fencing_token BIGINT NOT NULL
);
)";
}

std::string seed_rows(const Parameters& parameters) {
    std::string rows;
    std::int64_t bytes = 1000;
    for (const std::string_view tenant : {"acme", "globex"}) {
        for (std::int64_t number = 1; number <= parameters.at("accounts"); ++number) {
            bytes += 13;
            rows +=
                fmt::format("INSERT INTO document VALUES ('{}', {}, {});\n", tenant, number, bytes);
        }
    }
    return rows;
}

checkers::EffectTable expected_records(const std::vector<DueWork>& due) {
    checkers::EffectTable table{.table = "backup",
                                .identity = {"tenant", "planned"},
                                .expected = {},
                                .key = "business_key",
                                .tenant = "tenant"};
    for (const DueWork& work : due) {
        table.expected.push_back({.unit = work.unit(),
                                  .identity = {work.tenant, jobs::utc_text(work.scheduled)},
                                  .position = 1});
    }
    return table;
}

Content content_of(jobs::sql::Session& db, std::string_view tenant) {
    const auto rows = db.execute("SELECT bytes FROM document WHERE tenant = $1", tenant);
    Content content;
    for (std::size_t row = 0; row < rows.rows(); ++row) {
        ++content.documents;
        content.bytes += rows.integer(row, 0);
    }
    return content;
}

}  // namespace backup

namespace {

jobs::Outcome back_up(jobs::JobContext& job) {
    if (job.checkpoint()) return jobs::Outcome::succeeded();
    const auto [documents, bytes] = backup::content_of(job.db(), job.fire().tenant);
    job.progress(1, 1);
    job.commit(jobs::Checkpoint::at(1), [&](jobs::sql::Transaction& tx) {
        tx.execute(backup::kInsert, job.key().text(), job.fire().tenant,
                   jobs::utc_text(job.fire().scheduled_fire_time), documents, bytes,
                   job.token().value);
    });
    return jobs::Outcome::succeeded();
}

}  // namespace

HandlerSpec daily_backup_handler() {
    return {
        .name = "daily-backup",
        .lesson =
            "Writes one backup record a tenant and planned instant, whenever and however often it "
            "is fired.",
        .source = std::source_location::current(),
        .abilities = {Ability::Tenants, Ability::Instants},
        .schema = [](const Parameters& parameters) -> std::vector<std::string> {
            return {std::string(jobs::claim_schema()), backup::schema(),
                    backup::seed_rows(parameters)};
        },
        .expectations =
            [](const Parameters&, const std::vector<DueWork>& due) {
                return checkers::Expectations{.effects = {backup::expected_records(due)},
                                              .fenced = {{.table = "backup",
                                                          .identity = {"tenant", "planned"},
                                                          .token = "fencing_token"}},
                                              .claims = worker_claims(),
                                              .lease_prefix = "lease:"};
            },
        .program = [](const ProgramSetting& setting) -> std::unique_ptr<Program> {
            return std::make_unique<PlannedProgram>(setting, back_up);
        },
        .open_work = open_claims,
    };
}

}  // namespace fencepost::scenarios
