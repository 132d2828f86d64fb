// Mistakes about what names a business act.
#include "scenarios/handlers/daily_backup.h"
#include "scenarios/mistakes/ledger_mistake.h"
#include "scenarios/mistakes/mistakes.h"

namespace fencepost::scenarios {

using jobs::Fire;
using jobs::Ports;

HandlerSpec wall_clock_key() {
    return ledger_mistake(
        "wall-clock-key",
        "The present minute names when a fire came, not what it is for: the late second fire has "
        "another key.",
        {"key-stability"}, {}, [](const Fire& fire, const Ports& ports, const Parameters&) {
            const auto minute = std::chrono::floor<std::chrono::minutes>(ports.clock.wall_now());
            const std::string key = fire.tenant + "/" + fire.job + "@" + jobs::utc_text(minute);
            const auto session = ports.database.connect();
            jobs::sql::Transaction tx{*session};
            for (const auto& account : all_accounts(*session, fire)) {
                insert_line(tx, kInsertOrSkip, key + "/" + std::to_string(account.id), fire,
                            account);
            }
            tx.commit();
            return "wrote";
        });
}

HandlerSpec late_fire_dropped() {
    return ledger_mistake(
        "late-fire-dropped",
        "A fire that comes late is not one that somebody else has seen to: dropped, its work is "
        "lost.",
        {"once"}, {}, [](const Fire& fire, const Ports& ports, const Parameters&) {
            const auto late = ports.clock.wall_now() - fire.scheduled_fire_time;
            if (late > std::chrono::seconds{10}) return "too late";
            const auto session = ports.database.connect();
            jobs::sql::Transaction tx{*session};
            for (const auto& account : all_accounts(*session, fire)) {
                insert_line(tx, kInsertOrSkip, jobs::BusinessKey::of(fire).effect(account.id), fire,
                            account);
            }
            tx.commit();
            return "wrote";
        });
}

HandlerSpec tenantless_key() {
    return ledger_mistake(
        "tenantless-key",
        "Tenants share names of jobs and numbers of accounts: without the tenant in its key, one's "
        "line takes the other's place.",
        {"once", "tenant-isolation"}, {},
        [](const Fire& fire, const Ports& ports, const Parameters&) {
            const std::string key = fire.job + "@" + jobs::utc_text(fire.scheduled_fire_time);
            const auto session = ports.database.connect();
            jobs::sql::Transaction tx{*session};
            for (const auto& account : all_accounts(*session, fire)) {
                insert_line(tx, kInsertOrUpdate, key + "/" + std::to_string(account.id), fire,
                            account);
            }
            tx.commit();
            return "wrote";
        });
}

namespace {

constexpr std::size_t kWithoutOffset = std::string_view{"2026-10-25T02:30:00"}.size();

// One that writes the backup record of each fire, once a key.
HandlerSpec backup_mistake(std::string name, std::string lesson, std::vector<std::string> breaks,
                           PlainProgram::Body body,
                           std::source_location source = std::source_location::current()) {
    HandlerSpec spec;
    spec.source = source;
    spec.name = std::move(name);
    spec.lesson = std::move(lesson);
    spec.breaks = std::move(breaks);
    spec.abilities = {Ability::Tenants, Ability::Instants};
    spec.schema = [](const Parameters& parameters) -> std::vector<std::string> {
        return {backup::schema(), backup::seed_rows(parameters)};
    };
    spec.expectations = [](const Parameters&, const std::vector<DueWork>& due) {
        return checkers::Expectations{.effects = {backup::expected_records(due)}};
    };
    spec.program =
        [body = std::move(body)](const ProgramSetting& setting) -> std::unique_ptr<Program> {
        return std::make_unique<PlainProgram>(setting.ports, setting.parameters, body);
    };
    return spec;
}

void insert_record(const Fire& fire, const Ports& ports, const std::string& act) {
    static const std::string kOnce =
        std::string(backup::kInsert) + " ON CONFLICT (business_key) DO NOTHING";
    const auto session = ports.database.connect();
    const auto [documents, bytes] = backup::content_of(*session, fire.tenant);
    session->execute(kOnce, fire.tenant + "/" + fire.job + "@" + act, fire.tenant,
                     jobs::utc_text(fire.scheduled_fire_time), documents, bytes, 0);
}

}  // namespace

HandlerSpec local_time_key() {
    return backup_mistake(
        "local-time-key",
        "Local time as text names one instant by two names in two zones, and two instants by one "
        "name when the clock is set back.",
        {"once", "key-stability"}, [](const Fire& fire, const Ports& ports, const Parameters&) {
            const std::string local = fire.scheduled_text.empty()
                                          ? jobs::utc_text(fire.scheduled_fire_time)
                                          : fire.scheduled_text;
            insert_record(fire, ports, local.substr(0, kWithoutOffset));
            return "wrote";
        });
}

HandlerSpec misfire_time_key() {
    return backup_mistake(
        "misfire-time-key",
        "The scheduled time of a misfire that fires once now is the moment of handling, not the "
        "instant that was missed.",
        {"once", "key-stability"}, [](const Fire& fire, const Ports& ports, const Parameters&) {
            insert_record(fire, ports, jobs::utc_text(fire.scheduled_fire_time));
            return "wrote";
        });
}

}  // namespace fencepost::scenarios
