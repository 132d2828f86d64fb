#include "scenarios/handlers/batch_import.h"

#include <fmt/format.h>

#include <algorithm>

#include "jobs/business_key.h"
#include "scenarios/handlers/expand.h"
#include "scenarios/handlers/worker_program.h"

namespace fencepost::scenarios {

using jobs::BatchResult;
using jobs::Checkpoint;
using jobs::Fenced;
using jobs::Fire;
using jobs::TaskContext;

namespace {

constexpr std::string_view kTables = R"(
CREATE TABLE imported (
    business_key TEXT PRIMARY KEY,
    file TEXT NOT NULL,
    line BIGINT NOT NULL,
    amount BIGINT NOT NULL,
    fencing_token BIGINT NOT NULL
);
CREATE TABLE import_sum (
    file TEXT PRIMARY KEY,
    lines BIGINT NOT NULL,
    amount BIGINT NOT NULL,
    fencing_token BIGINT NOT NULL
);
)";

constexpr std::string_view kInsertRow =
    "INSERT INTO imported (business_key, file, line, amount, fencing_token) "
    "VALUES ($1, $2, $3, $4, $5)";
constexpr std::string_view kInsertRowWithSource =
    "INSERT INTO imported (business_key, file, line, amount, fencing_token, source) "
    "VALUES ($1, $2, $3, $4, $5, 'batch-import')";
constexpr std::string_view kAddToSum =
    "INSERT INTO import_sum (file, lines, amount, fencing_token) VALUES ($1, $2, $3, $4) "
    "ON CONFLICT (file) DO UPDATE SET lines = import_sum.lines + excluded.lines, "
    "amount = import_sum.amount + excluded.amount, fencing_token = excluded.fencing_token "
    "WHERE import_sum.fencing_token <= excluded.fencing_token";

bool is_feed(std::string_view job) {
    return job.starts_with("feed");
}

// The file itself, which no database holds.
std::int64_t amount_in(std::int64_t line) {
    return 100 + 7 * line;
}

struct FileSettings {
    std::int64_t rows;
    std::int64_t batch;
    jobs::Duration row_takes;
    std::int64_t version;
};

// Reads a batch of rows, which takes its time, and says what they become.
BatchResult import_batch(TaskContext& task, const FileSettings& file) {
    const std::int64_t first = (task.checkpoint() ? task.checkpoint()->number() : 0) + 1;
    const std::int64_t last = std::min(file.rows, first + file.batch - 1);
    for (std::int64_t line = first; line <= last; ++line) {
        task.clock().sleep_for(file.row_takes);
        task.ensure_going();
    }
    BatchResult result{.has_more = last < file.rows,
                       .checkpoint = Checkpoint::at(last),
                       .current = last,
                       .total = std::nullopt,
                       .next_delay_seconds = 1,
                       .effects = {}};
    if (!is_feed(task.task().job)) result.total = file.rows;
    result.effects = [&task, &file, first, last](jobs::sql::Transaction& tx) {
        const std::string& key = task.task().id.key;
        const std::string_view insert = file.version >= 2 ? kInsertRowWithSource : kInsertRow;
        std::int64_t sum = 0;
        for (std::int64_t line = first; line <= last; ++line) {
            tx.execute(insert, task.effect_key(line), key, line, amount_in(line),
                       task.token().value);
            sum += amount_in(line);
        }
        const auto added = tx.execute(kAddToSum, key, last - first + 1, sum, task.token().value);
        if (added.affected() != 1) throw Fenced("the sum of " + key + " has a newer holder");
    };
    return result;
}

checkers::Expectations expectations(const Parameters& parameters, const std::vector<DueWork>& due) {
    checkers::EffectTable rows{.table = "imported", .identity = {"file", "line"}, .expected = {}};
    checkers::ClaimTable claims{.table = "background_task",
                                .key = "idempotency_key",
                                .status = "status",
                                .owner = "owner",
                                .token = "fencing_token",
                                .checkpoint = "checkpoint",
                                .finished = {"Succeeded", "Failed", "Canceled"},
                                .cancelled = "Canceled",
                                .progress = checkers::ProgressColumns{.current = "current_count",
                                                                      .total = "total_count",
                                                                      .percent = "percent",
                                                                      .totals = {}}};
    const std::int64_t count = parameters.at("accounts");
    for (const DueWork& work : due) {
        for (std::int64_t line = 1; line <= count; ++line) {
            rows.expected.push_back({.unit = work.unit(),
                                     .identity = {work.unit(), std::to_string(line)},
                                     .position = line});
        }
        if (!is_feed(work.job)) claims.progress->totals.push_back({work.unit(), count});
    }
    return {.effects = {std::move(rows)},
            .fenced = {{.table = "import_sum", .identity = {"file"}, .token = "fencing_token"}},
            .claims = std::move(claims),
            .lease_prefix = "lease:"};
}

std::string open_tasks(const std::vector<DueWork>& due) {
    std::string query =
        "SELECT 'task ' || idempotency_key || ' is ' || status FROM background_task "
        "WHERE status IN ('Pending', 'Retrying', 'Running')";
    for (const DueWork& work : due) {
        query += fmt::format(
            " UNION ALL SELECT 'nobody has enqueued {0}' WHERE NOT EXISTS "
            "(SELECT idempotency_key FROM background_task WHERE idempotency_key = '{0}')",
            work.unit());
    }
    return query;
}

}  // namespace

ImportParts import_parts(const ProgramSetting& setting) {
    const Parameters& parameters = setting.parameters;
    ImportParts parts;
    parts.options.version = setting.version;
    parts.options.lease = std::chrono::milliseconds{parameters.at("lease_ttl_ms")};
    parts.options.poll = std::chrono::milliseconds{parameters.value_or("poll_ms", 5'000)};
    parts.options.drain = std::chrono::milliseconds{parameters.value_or("drain_ms", 20'000)};
    const FileSettings file{
        .rows = parameters.at("accounts"),
        .batch = parameters.at("batch"),
        .row_takes = std::chrono::milliseconds{parameters.value_or("row_ms", 0)},
        .version = setting.version};
    parts.handler = [file](TaskContext& task) { return import_batch(task, file); };
    return parts;
}

ImportProgram::ImportProgram(const ProgramSetting& setting, const jobs::Ports& ports,
                             ImportParts parts)
    : ports_(ports),
      due_(setting.due),
      version_(setting.version),
      missed_(ports.clock, agenda_of(setting.due), std::chrono::seconds{10}, std::chrono::days{1}),
      runner_(ports, parts.options, std::move(parts.handler),
              [this](jobs::sql::Session& session) { enqueue_missed(session); }) {}

void ImportProgram::start() {
    if (version_ >= 2) {
        expand_schema(ports_, {"ALTER TABLE imported ADD COLUMN IF NOT EXISTS source TEXT"});
    }
    runner_.start();
}

// Known under the business key; which version it takes, the schedule says.
jobs::NewTask ImportProgram::task_of(const Fire& fire) const {
    const auto planned = std::ranges::find_if(due_, [&](const DueWork& work) {
        return work.tenant == fire.tenant && work.job == fire.job;
    });
    const std::string key = jobs::BusinessKey::of(fire).text();
    return {.id = {.tenant = fire.tenant, .key = key},
            .job = fire.job,
            .concurrency = fire.tenant + "/" + fire.job,
            .version = planned == due_.end() ? 1 : planned->version};
}

std::string ImportProgram::handle(const Fire& fire) {
    constexpr jobs::Backoff kBackoff;
    for (std::int64_t attempt = 1;; ++attempt) {
        try {
            const auto session = ports_.database.connect();
            const jobs::NewTask task = task_of(fire);
            if (jobs::tasks::enqueue(*session, task)) return "enqueued";
            const bool ended = jobs::tasks::has_ended(*session, task.id);
            return ended ? "already done" : "already enqueued";
        } catch (const jobs::AttemptError&) {
            ports_.clock.sleep_for(kBackoff.before_attempt(attempt + 1));
        }
    }
}

void ImportProgram::enqueue_missed(jobs::sql::Session& session) {
    missed_.for_each(session,
                     [&](const Fire& fire) { jobs::tasks::enqueue(session, task_of(fire)); });
}

HandlerSpec batch_import_handler() {
    return {
        .name = "batch-import",
        .lesson = "Imports the rows of a file as a background task, in fenced batches.",
        .source = std::source_location::current(),
        .abilities = {Ability::Batches, Ability::TwoVersions},
        .schema = [](const Parameters&) -> std::vector<std::string> {
            return {std::string(jobs::task_schema()), std::string(kTables)};
        },
        .expectations = expectations,
        .program = [](const ProgramSetting& setting) -> std::unique_ptr<Program> {
            return std::make_unique<ImportProgram>(setting);
        },
        .cancel =
            [](const jobs::Ports& ports, const std::string& unit) {
                const auto session = ports.database.connect();
                jobs::tasks::request_cancel(
                    *session, {.tenant = unit.substr(0, unit.find('/')), .key = unit});
            },
        .open_work = open_tasks,
    };
}

}  // namespace fencepost::scenarios
