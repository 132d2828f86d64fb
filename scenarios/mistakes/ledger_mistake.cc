#include "scenarios/mistakes/ledger_mistake.h"

#include <fmt/format.h>

#include <limits>

namespace fencepost::scenarios {

namespace {

std::string days_without_lines(const std::vector<DueWork>& due) {
    std::string query;
    for (const DueWork& work : due) {
        if (!query.empty()) query += " UNION ALL ";
        query += fmt::format(
            "SELECT 'nobody has written the lines of {0}, {1}' WHERE NOT EXISTS "
            "(SELECT account FROM ledger WHERE tenant = '{0}' AND business_day = '{1}')",
            work.tenant, jobs::utc_day(work.scheduled));
    }
    return query;
}

}  // namespace

HandlerSpec ledger_mistake(std::string name, std::string lesson, std::vector<std::string> breaks,
                           const Gates& gates, PlainProgram::Body body,
                           std::source_location source) {
    HandlerSpec spec;
    spec.source = source;
    spec.name = std::move(name);
    spec.lesson = std::move(lesson);
    spec.breaks = std::move(breaks);
    spec.abilities = {Ability::Tenants};
    spec.schema = [gates](const Parameters& parameters) {
        std::vector<std::string> scripts;
        if (gates.claims) scripts.emplace_back(jobs::claim_schema());
        scripts.push_back(ledger::schema(gates.line_keys));
        scripts.push_back(ledger::seed_rows(parameters));
        return scripts;
    };
    spec.expectations = [gates](const Parameters& parameters, const std::vector<DueWork>& due) {
        checkers::Expectations expectations;
        expectations.effects.push_back(ledger::expected_lines(parameters, due));
        if (gates.fence) expectations.fenced.push_back(ledger::fenced_summary());
        if (gates.claims) expectations.claims = worker_claims();
        if (gates.claims && !gates.checkpoint) expectations.claims->checkpoint.clear();
        if (gates.lease) expectations.lease_prefix = "lease:";
        return expectations;
    };
    spec.program = [recovery = gates.recovery, body = std::move(body)](
                       const ProgramSetting& setting) -> std::unique_ptr<Program> {
        if (recovery) return std::make_unique<RecoveringProgram>(setting, body);
        return std::make_unique<PlainProgram>(setting.ports, setting.parameters, body);
    };
    if (gates.recovery) {
        spec.open_work = days_without_lines;
    } else if (gates.claims) {
        spec.open_work = [](const std::vector<DueWork>&) { return unfinished_claims(); };
    }
    return spec;
}

HandlerSpec job_mistake(std::string name, std::string lesson, std::vector<std::string> breaks,
                        Gates gates, JobBody body, std::source_location source) {
    gates.claims = gates.lease = true;
    HandlerSpec spec = ledger_mistake(std::move(name), std::move(lesson), std::move(breaks), gates,
                                      nullptr, source);
    spec.program =
        [body = std::move(body)](const ProgramSetting& setting) -> std::unique_ptr<Program> {
        return std::make_unique<WorkerProgram>(
            setting, [body, setting](jobs::JobContext& job) { return body(job, setting); });
    };
    spec.open_work = open_claims;
    return spec;
}

std::unique_ptr<jobs::Lease> wait_for_lease(jobs::Leases& leases, const jobs::Ports& ports,
                                            const jobs::Fire& fire) {
    constexpr std::chrono::milliseconds kBetween{500};
    for (int i = 0; i < 120; ++i) {
        if (auto lease = leases.try_acquire(fire.tenant + "/" + fire.job)) return lease;
        ports.clock.sleep_for(kBetween);
    }
    throw jobs::LeaseLost("the lease was not free for a minute");
}

bool has_lines(jobs::sql::Session& db, const jobs::Fire& fire) {
    return !db.execute("SELECT account FROM ledger WHERE tenant = $1 AND business_day = $2 LIMIT 1",
                       fire.tenant, jobs::utc_day(fire.scheduled_fire_time))
                .empty();
}

bool insert_claim(jobs::sql::Session& db, const jobs::Fire& fire, const std::string& status,
                  const std::string& owner) {
    return db.execute(
                 "INSERT INTO job_claim (business_key, tenant, job, scheduled_us, status, owner, "
                 "fencing_token, attempts, current_count, updated_us) "
                 "VALUES ($1, $2, $3, 0, $4, $5, 1, 1, 0, db_now_us()) "
                 "ON CONFLICT (business_key) DO NOTHING",
                 jobs::BusinessKey::of(fire).text(), fire.tenant, fire.job, status, owner)
               .affected() == 1;
}

std::vector<ledger::Account> all_accounts(jobs::sql::Session& db, const jobs::Fire& fire) {
    return ledger::accounts_after(db, fire.tenant, 0, std::numeric_limits<std::int32_t>::max());
}

}  // namespace fencepost::scenarios
