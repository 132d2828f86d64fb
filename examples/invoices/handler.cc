#include "handler.h"

#include <memory>
#include <string>
#include <vector>

#include "invoice_run.h"
#include "scenarios/handlers/worker_program.h"

namespace invoices {
namespace {

namespace jobs = fencepost::jobs;
namespace scenarios = fencepost::scenarios;

std::string first_rows(const scenarios::Parameters& parameters) {
    std::string rows;
    for (const std::string tenant : {"acme", "globex"}) {
        rows += "INSERT INTO numbering VALUES ('" + tenant + "', 1000, 0);\n";
        for (std::int64_t id = 1; id <= parameters.at("accounts"); ++id)
            rows += "INSERT INTO customer VALUES ('" + tenant + "', " + std::to_string(id) +
                    ", 4900);\n";
    }
    return rows;
}

}  // namespace

scenarios::HandlerSpec invoice_run_handler() {
    return {
        .name = "invoice-run",
        .lesson = "Writes one invoice a customer and month.",
        .source = std::source_location::current(),
        .abilities = {scenarios::Ability::Tenants},
        .schema = [](const scenarios::Parameters& parameters) -> std::vector<std::string> {
            return {std::string(jobs::claim_schema()), kSchema, first_rows(parameters)};
        },
        .expectations =
            [](const scenarios::Parameters&, const std::vector<scenarios::DueWork>&) {
                return fencepost::checkers::Expectations{.fenced = {{.table = "numbering",
                                                                     .identity = {"tenant"},
                                                                     .token = "fencing_token"}},
                                                         .claims = scenarios::worker_claims(),
                                                         .lease_prefix = "lease:"};
            },
        // What must be there once for each customer and month; an undisturbed run says which.
        .effects = {{.table = "invoice",
                     .identity = {"tenant", "customer", "month"},
                     .key = "business_key",
                     .tenant = "tenant"}},
        .program =
            [](const scenarios::ProgramSetting& setting) -> std::unique_ptr<scenarios::Program> {
            return std::make_unique<scenarios::WorkerProgram>(
                setting, [delay = scenarios::batches_of(setting.parameters).delay](
                             jobs::JobContext& job) { return write_invoice(job, delay); });
        },
        .open_work = scenarios::open_claims,
    };
}

}  // namespace invoices
