// Mistakes about what happens before a node takes up work.
#include "scenarios/handlers/initialise.h"
#include "scenarios/mistakes/mistakes.h"

namespace fencepost::scenarios {

using jobs::Ports;
using jobs::StartUp;
using jobs::StartUpPlan;
using jobs::sql::ServerError;
using jobs::sql::Session;
using jobs::sql::Transaction;

namespace {

HandlerSpec start_up_mistake(std::string name, std::string lesson, StartUpBody body,
                             std::source_location source = std::source_location::current()) {
    HandlerSpec spec = start_up_handler(std::move(name), std::move(lesson), std::move(body));
    spec.source = source;
    spec.breaks = {"start-up-convergence"};
    return spec;
}

bool is_there(Session& session, const std::string& table) {
    try {
        session.execute("SELECT 1 FROM " + table + " LIMIT 1");
        return true;
    } catch (const ServerError& error) {
        if (error.sqlstate() == "42P01") return false;
        throw;
    }
}

std::int64_t version_of(Session& session) {
    return session.execute("SELECT version FROM start_up_version WHERE component = 'initialise'")
        .integer(0, 0);
}

}  // namespace

HandlerSpec startup_check_then_create() {
    return start_up_mistake(
        "startup-check-then-create",
        "Two nodes that look for a table at once both find none, and the second cannot make it.",
        [](const Ports& ports) {
            const auto session = ports.database.connect();
            if (!is_there(*session, "region")) {
                session->execute("CREATE TABLE region (id TEXT PRIMARY KEY, name TEXT NOT NULL)");
            }
            StartUp{ports, initialise::plan()}.run();
        });
}

HandlerSpec startup_if_not_exists_alone() {
    return start_up_mistake(
        "startup-if-not-exists-alone",
        "IF NOT EXISTS looks at what is committed: two transactions that make one table meet in "
        "the catalogue.",
        [](const Ports& ports) {
            const auto session = ports.database.connect();
            Transaction tx{*session};
            tx.execute(initialise::kRegionTable);
            tx.execute(initialise::kTimeZoneColumn);
            tx.commit();
            StartUp{ports, initialise::plan()}.run();
        });
}

HandlerSpec startup_table_means_done() {
    return start_up_mistake(
        "startup-table-means-done",
        "A table that is there says that a start-up has begun, not that it has come to its end.",
        [](const Ports& ports) {
            {
                const auto session = ports.database.connect();
                if (is_there(*session, "region")) return;
                session->execute(initialise::kRegionTable);
            }
            StartUp{ports, initialise::plan()}.run();
        });
}

HandlerSpec startup_random_seed_ids() {
    return start_up_mistake(
        "startup-random-seed-ids",
        "A row that gets a fresh id on every start is there once more after every start.",
        [](const Ports& ports) {
            StartUpPlan plan = initialise::plan();
            const std::string id = ports.ids.next();
            plan.seeds = {{.statement =
                               "INSERT INTO region (id, name, time_zone) VALUES "
                               "($1, 'North', 'Asia/Shanghai') ON CONFLICT (id) DO NOTHING",
                           .parameters = {id}}};
            StartUp{ports, std::move(plan)}.run();
        });
}

HandlerSpec startup_unnamed_index() {
    return start_up_mistake("startup-unnamed-index",
                            "CREATE INDEX without a name makes another index on every start.",
                            [](const Ports& ports) {
                                StartUpPlan plan = initialise::plan();
                                plan.schema.back() = "CREATE INDEX ON region (name)";
                                StartUp{ports, std::move(plan)}.run();
                            });
}

HandlerSpec startup_scratch_table() {
    return start_up_mistake(
        "startup-scratch-table",
        "A table that is only needed for an upgrade stays for ever when its maker is killed before "
        "it drops it.",
        [](const Ports& ports) {
            StartUp{ports, initialise::first_release()}.run();
            const auto session = ports.database.connect();
            const bool upgrades = version_of(*session) < 2;
            const std::string scratch = "\"scratch " + ports.ids.next() + "\"";
            if (upgrades) {
                session->execute("CREATE TABLE " + scratch + " (id TEXT PRIMARY KEY)");
                session->execute("INSERT INTO " + scratch + " (id) SELECT id FROM region");
            }
            StartUp{ports, initialise::plan()}.run();
            if (upgrades) session->execute("DROP TABLE " + scratch);
        });
}

HandlerSpec startup_warms_up_first() {
    return start_up_mistake(
        "startup-warms-up-first",
        "What is cached before the upgrades is what was true before them.", [](const Ports& ports) {
            {
                const auto session = ports.database.connect();
                if (is_there(*session, "price")) {
                    for (const auto& cached : initialise::prices(*session)) {
                        ports.redis.command(
                            {"SET", cached.key, StartUp::cached_text(2, cached.value)});
                    }
                }
            }
            StartUpPlan plan = initialise::plan();
            plan.cache = nullptr;
            StartUp{ports, std::move(plan)}.run();
        });
}

HandlerSpec startup_errors_swallowed() {
    return start_up_mistake(
        "startup-errors-swallowed",
        "A start-up that only logs its errors lets the node work on what is not there.",
        [](const Ports& ports) {
            try {
                StartUp{ports, initialise::plan(), {.backoff = {}, .attempts = 1}}.run();
            } catch (const jobs::AttemptError&) {
                // Somebody will read the log.
            }
        });
}

HandlerSpec upgrade_checkpoint_early() {
    return start_up_mistake(
        "upgrade-checkpoint-early",
        "A version that is recorded before its step stands for what is not there, for ever when "
        "the node is killed between.",
        [](const Ports& ports) {
            StartUp{ports, initialise::first_release()}.run();
            const auto session = ports.database.connect();
            const StartUpPlan plan = initialise::plan();
            for (std::int64_t done = version_of(*session); done < 2; ++done) {
                const auto mine = session->execute(
                    "UPDATE start_up_version SET version = $2 "
                    "WHERE component = $1 AND version = $3",
                    plan.component, done + 1, done);
                if (mine.affected() == 0) continue;
                Transaction tx{*session};
                plan.upgrades[static_cast<std::size_t>(done)].apply(tx);
                tx.commit();
            }
            StartUp{ports, plan}.run();
        });
}

}  // namespace fencepost::scenarios
