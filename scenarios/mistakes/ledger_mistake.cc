#include "scenarios/mistakes/ledger_mistake.h"

#include <limits>

namespace fencepost::scenarios {

HandlerSpec ledger_mistake(std::string name, std::string lesson, std::vector<std::string> breaks,
                           const Gates& gates, PlainProgram::Body body) {
    HandlerSpec spec;
    spec.name = std::move(name);
    spec.lesson = std::move(lesson);
    spec.breaks = std::move(breaks);
    spec.schema = [gates](const Parameters& parameters) {
        std::vector<std::string> scripts;
        if (gates.claims) scripts.emplace_back(jobs::claim_schema());
        scripts.push_back(ledger::schema(gates.line_keys));
        scripts.push_back(ledger::seed_rows(parameters, {"acme"}));
        return scripts;
    };
    spec.expectations = [gates](const Parameters& parameters, const std::vector<DueWork>& due) {
        checkers::Expectations expectations;
        expectations.effects.push_back(ledger::expected_lines(parameters, due));
        if (gates.fence) expectations.fenced.push_back(ledger::fenced_summary());
        if (gates.claims) expectations.claims = ledger::claims();
        if (gates.claims && !gates.checkpoint) expectations.claims->checkpoint.clear();
        if (gates.lease) expectations.lease_prefix = "lease:";
        return expectations;
    };
    spec.program =
        [body = std::move(body)](const ProgramSetting& setting) -> std::unique_ptr<Program> {
        return std::make_unique<PlainProgram>(setting.ports, setting.parameters, body);
    };
    if (gates.claims) {
        spec.open_work = [](const std::vector<DueWork>&) { return unfinished_claims(); };
    }
    return spec;
}

std::vector<ledger::Account> all_accounts(jobs::sql::Session& db, const jobs::Fire& fire) {
    return ledger::accounts_after(db, fire.tenant, 0, std::numeric_limits<std::int32_t>::max());
}

}  // namespace fencepost::scenarios
