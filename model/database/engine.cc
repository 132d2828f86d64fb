#include "model/database/engine.h"

#include <algorithm>
#include <utility>

#include "model/database/engine_state.h"
#include "sim/require.h"

namespace fencepost::model {

using database::IsBlocked;
using database::KeyParts;
using database::TableLock;
using sim::require;

namespace {

// Beyond this, statements whose text is made anew each time would eat the memory.
constexpr std::size_t kMostKeptStatements = 4096;

SqlFailure aborted_block() {
    return {"25P02",
            "current transaction is aborted, commands ignored until end of transaction block"};
}

bool ends_failed_block(StatementKind kind) {
    return kind == StatementKind::Rollback || kind == StatementKind::RollbackTo ||
           kind == StatementKind::Commit;
}

bool controls_transaction(StatementKind kind) {
    return kind <= StatementKind::Release;
}

}  // namespace

DatabaseEngine::State::State() {
    connection.test_row = [](void* context, database::RowTest test, const std::string& key) {
        State& state = *static_cast<State*>(context);
        const SessionState& session = state.session(state.asking);
        if (test == database::RowTest::IsFree) {
            return !state.is_held(session, key, {LockMode::Update, false});
        }
        const auto& candidates = session.wait.candidates;
        return !candidates || candidates->contains(key);
    };
    connection.test_row_context = this;
}

void DatabaseEngine::State::reset(std::shared_ptr<const DatabaseImage::Content> content) {
    for (std::size_t i = 0; i < session_count; ++i) {
        SessionState& old = sessions[i];
        if (!old.open) continue;
        old.open = old.in_block = old.failed = old.waiting = false;
        old.holdings.clear();
        old.savepoints.clear();
        old.wait.clear();
    }
    session_count = 0;
    resident = 0;
    holders.clear();
    waiters.clear();
    completions.clear();
    if (kept.size() > kMostKeptStatements) kept.clear();
    connection.load(content->bytes);
    connection.sequences.last = content->sequences;
    image = std::move(content);
    schema = committed = image->schema;
    known_tables.clear();
    for (const TableInfo& table : schema->tables) known_tables.push_back(table.name);
    connection.use_schema(schema.get());
}

DatabaseEngine::State::SessionState& DatabaseEngine::State::session(SessionId id) {
    require(id >= 1 && id <= session_count && sessions[id - 1].open, "the session is open");
    return sessions[id - 1];
}

const DatabaseEngine::State::SessionState& DatabaseEngine::State::session(SessionId id) const {
    require(id >= 1 && id <= session_count && sessions[id - 1].open, "the session is open");
    return sessions[id - 1];
}

Outcome DatabaseEngine::State::execute(SessionState& session, std::string_view sql,
                                       Parameters parameters) {
    require(!session.waiting, "a session runs one statement at a time");
    KeptStatement& statement = keep(sql);
    const StatementKind kind = statement.parsed.kind;
    if (session.failed && !ends_failed_block(kind)) return aborted_block();
    if (statement.parsed.failure) return abort(session, *statement.parsed.failure);
    if (controls_transaction(kind)) return control_transaction(session, statement.parsed);
    session.wait.drawn.clear();
    return settle(session, statement, parameters, run(session, statement, parameters, false));
}

// Turns the first attempt at a statement into its outcome.
Outcome DatabaseEngine::State::settle(SessionState& session, KeptStatement& statement,
                                      Parameters parameters, Attempt attempt) {
    if (auto* result = std::get_if<SqlResult>(&attempt)) return std::move(*result);
    if (auto* failure = std::get_if<SqlFailure>(&attempt)) {
        return abort(session, std::move(*failure));
    }
    session.waiting = true;
    if (!session.wait.frozen) {
        session.wait.statement = &statement;
        session.wait.parameters.assign(parameters.begin(), parameters.end());
    }
    waiters.push_back(session.id);
    return Blocked{blockers(session)};
}

std::vector<SessionId> DatabaseEngine::State::blockers(const SessionState& session) const {
    const database::Wait& wait = session.wait;
    std::vector<SessionId> result;
    for (const SessionId id : holders) {
        if (id == session.id) continue;
        const database::Holdings& held = sessions[id - 1].holdings;
        bool blocks = false;
        if (!wait.key.empty()) {
            blocks = held.locks.conflicts(wait.key, wait.request);
        } else if (!wait.relation.empty()) {
            for (const auto& ddl : held.ddl) blocks |= ddl.creates == wait.relation;
        } else {
            const TableInfo* table = schema->find(wait.table);
            blocks = wait.drops;
            if (table != nullptr) {
                const bool wrote = (held.tables & database::table_set(table->id)) != 0;
                blocks |= wrote && conflict(wait.lock, TableLock::Write);
                blocks |= held.locks.touches(table->id) && conflict(wait.lock, TableLock::Read);
            }
            for (const auto& ddl : held.ddl) {
                blocks |= ddl.table == wait.table && conflict(wait.lock, ddl.lock);
            }
        }
        if (blocks) result.push_back(id);
    }
    return result;
}

bool DatabaseEngine::State::is_blocked(const SessionState& session) const {
    return !blockers(session).empty();
}

// After anything that may have given a lock back. Whoever waits longest goes first; whoever goes on
// may end a transaction of its own and free others, so the search starts again.
void DatabaseEngine::State::wake() {
    if (waiters.empty()) return;
    for (const SessionId holder : holders) add_missing_locks(session(holder));
    for (std::size_t i = 0; i < waiters.size();) {
        SessionState& waiter = session(waiters[i]);
        std::optional<SqlAnswer> answer;
        if (std::exchange(waiter.wait.look_again, false) || !is_blocked(waiter)) {
            answer = retry(waiter);
        }
        if (!answer) {
            ++i;
            continue;
        }
        completions.push_back({waiter.id, std::move(*answer)});
        i = 0;
    }
}

// Runs a waiting statement again. Nothing if it has to wait once more.
std::optional<SqlAnswer> DatabaseEngine::State::retry(SessionState& waiter) {
    database::Wait& wait = waiter.wait;
    Attempt attempt = run(waiter, *wait.statement, wait.parameters, true);
    if (std::holds_alternative<IsBlocked>(attempt)) return std::nullopt;
    stop_waiting(waiter);
    if (auto* failure = std::get_if<SqlFailure>(&attempt)) {
        return abort(waiter, std::move(*failure));
    }
    return std::get<SqlResult>(std::move(attempt));
}

std::string DatabaseEngine::State::describe_key(const std::string& key) const {
    const KeyParts parts = database::read_key(key);
    if (parts.table == database::kAdvisoryLocks) return "advisory lock " + parts.values;
    const TableInfo& table = schema->tables[parts.table];
    return (parts.index == 0 ? "row " + table.name
                             : "unique key " + table.uniques[parts.index].name) +
           "(" + parts.values + ")";
}

void DatabaseEngine::State::stop_waiting(SessionState& waiter) {
    waiter.waiting = false;
    waiter.wait.clear();
    waiters.erase(std::find(waiters.begin(), waiters.end(), waiter.id));
}

DatabaseEngine::DatabaseEngine() : state_(std::make_unique<State>()) {
    reset(DatabaseImage::empty());
}

DatabaseEngine::~DatabaseEngine() = default;

void DatabaseEngine::reset(const DatabaseImage& image) {
    state_->reset(image.content_);
}

void DatabaseEngine::set_clock(Clock clock, void* context) {
    state_->connection.clock = clock;
    state_->connection.clock_context = context;
}

void DatabaseEngine::set_commit_observer(CommitObserver observer) {
    state_->observer = std::move(observer);
}

void DatabaseEngine::set_schema_observer(SchemaObserver observer) {
    state_->schema_observer = std::move(observer);
}

SessionId DatabaseEngine::open() {
    const std::size_t index = state_->session_count++;
    if (index == state_->sessions.size()) state_->sessions.emplace_back();
    database::SessionState& session = state_->sessions[index];
    session.id = static_cast<SessionId>(index + 1);
    session.open = true;
    return session.id;
}

void DatabaseEngine::close(SessionId id) {
    database::SessionState& session = state_->session(id);
    if (session.waiting) state_->stop_waiting(session);
    state_->roll_back(session);
    session.open = false;
    state_->wake();
}

bool DatabaseEngine::is_open(SessionId id) const {
    return id >= 1 && id <= state_->session_count && state_->sessions[id - 1].open;
}

Outcome DatabaseEngine::execute(SessionId id, std::string_view sql,
                                std::span<const SqlValue> parameters) {
    Outcome outcome = state_->execute(state_->session(id), sql, parameters);
    state_->wake();
    return outcome;
}

std::vector<Completion> DatabaseEngine::take_completions() {
    return std::exchange(state_->completions, {});
}

bool DatabaseEngine::waiting(SessionId id) const {
    return state_->session(id).waiting;
}

std::vector<SessionId> DatabaseEngine::waits_for(SessionId id) const {
    const database::SessionState& session = state_->session(id);
    return session.waiting ? state_->blockers(session) : std::vector<SessionId>{};
}

std::string DatabaseEngine::describe_wait(SessionId id) const {
    const database::SessionState& session = state_->session(id);
    if (!session.waiting) return {};
    std::string text = "table " + session.wait.table;
    if (!session.wait.key.empty()) {
        text = state_->describe_key(session.wait.key);
    } else if (!session.wait.relation.empty()) {
        text = "the name " + session.wait.relation;
    }
    text += " held by session";
    const char* separator = " ";
    for (const SessionId holder : state_->blockers(session)) {
        text += separator + std::to_string(holder);
        separator = ", ";
    }
    return text;
}

bool DatabaseEngine::in_deadlock(SessionId id) const {
    std::vector<SessionId> reached = waits_for(id);
    for (std::size_t i = 0; i < reached.size(); ++i) {
        if (reached[i] == id) return true;
        for (const SessionId next : waits_for(reached[i])) {
            if (std::find(reached.begin(), reached.end(), next) == reached.end()) {
                reached.push_back(next);
            }
        }
    }
    return false;
}

void DatabaseEngine::fail_wait(SessionId id, SqlFailure failure) {
    database::SessionState& session = state_->session(id);
    require(session.waiting, "only a waiting statement can be made to fail");
    state_->stop_waiting(session);
    state_->completions.push_back({id, state_->abort(session, std::move(failure))});
    state_->wake();
}

bool DatabaseEngine::in_transaction(SessionId id) const {
    return state_->session(id).in_block;
}

bool DatabaseEngine::in_failed_transaction(SessionId id) const {
    return state_->session(id).failed;
}

const Schema& DatabaseEngine::schema() const {
    return *state_->committed;
}

}  // namespace fencepost::model
