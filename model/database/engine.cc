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
    connection.is_candidate = [](void* context, const std::string& key) {
        State& state = *static_cast<State*>(context);
        const SessionState& session = state.session(state.asking);
        const auto& candidates = session.wait.candidates;
        return !candidates || candidates->contains(key);
    };
    connection.is_candidate_context = this;
}

void DatabaseEngine::State::reset(std::shared_ptr<const DatabaseImage::Content> content) {
    for (std::size_t i = 0; i < session_count; ++i) {
        SessionState& old = sessions[i];
        if (!old.open) continue;
        old.open = old.in_block = old.failed = old.waiting = false;
        old.snapshot.reset();
        old.serial.reset();
        old.holdings.clear();
        old.savepoints.clear();
        old.wait.clear();
    }
    session_count = 0;
    resident = 0;
    resident_is_view = false;
    commit_count = 0;
    open_snapshots = 0;
    later_commits.clear();
    serializable.clear();
    ever_written = content->filled;
    holders.clear();
    waiters.clear();
    wait_count = 0;
    completions.clear();
    if (kept.size() > kMostKeptStatements) {
        row_queries.clear();
        kept.clear();
    }
    connection.load(content->bytes);
    connection.sequences.last = content->sequences;
    committed_ids = content->sequences;
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
    if (!session.in_block) session.level = default_level;
    session.wait.drawn.clear();
    connection.sequences.drawn = nullptr;
    if (has(DatabaseFlaw::IdsFromCommittedRows)) connection.sequences.last = committed_ids;
    session.wait.inserting_row.reset();
    session.wait.arbiter.reset();
    session.wait.newest = false;
    session.wait.read = session.wait.written = 0;
    session.wait.frozen = session.wait.parent = session.wait.newer = false;
    session.wait.child = session.wait.changed_since = false;
    return settle(session, statement, parameters, run(session, statement, parameters, false));
}

// Turns the first attempt at a statement into its outcome.
Outcome DatabaseEngine::State::settle(SessionState& session, KeptStatement& statement,
                                      Parameters parameters, Attempt attempt) {
    if (std::holds_alternative<SqlResult>(attempt)) {
        attempt = end_alone(session, std::move(attempt));
        if (auto* failure = std::get_if<SqlFailure>(&attempt)) return std::move(*failure);
        return std::get<SqlResult>(std::move(attempt));
    }
    if (auto* failure = std::get_if<SqlFailure>(&attempt)) {
        return abort(session, std::move(*failure));
    }
    if (has(DatabaseFlaw::NoWaitOnUniqueKey) && session.wait.request.probe) {
        return abort(session, {"23505", "duplicate key value violates a unique constraint"});
    }
    session.waiting = true;
    if (!session.wait.frozen) {
        session.wait.statement = &statement;
        session.wait.parameters.assign(parameters.begin(), parameters.end());
    }
    waiters.push_back(session.id);
    session.wait.since = session.wait.number = ++wait_count;
    session.wait.queues = stands_in_queue(session);
    session.wait.holders.clear();
    session.wait.holders = awaited(session);
    return Blocked{session.wait.holders};
}

// A weak lock stands in the queue only if the version that it has found is locked. Where it waits
// because a holder has locked a later version of its own, PostgreSQL lets it wait for the holder
// alone.
bool DatabaseEngine::State::stands_in_queue(const SessionState& session) {
    const database::Wait& wait = session.wait;
    if (wait.key.empty() || wait.request.probe || wait.request.mode != LockMode::KeyShare) {
        return true;
    }
    const KeyParts parts = database::read_key(wait.key);
    for (const SessionId id : lock_holders(session)) {
        const database::ChangeLog& log = sessions[id - 1].holdings.log;
        std::size_t first = 0;
        for (; first < log.size(); ++first) {
            const std::span<const SqlValue> before = log.before(log[first]);
            if (log[first].table == parts.table && !before.empty() &&
                key_of(schema->tables[parts.table], parts.index, before, key_buffer) &&
                key_buffer == wait.key) {
                break;
            }
        }
        if (first == log.size() || is_strong(sessions[id - 1], first)) return true;
    }
    return false;
}

// Whoever has to wait for a row queues behind those who wait for it already (PostgreSQL's tuple
// lock), even if what it waited for at first is given back before.
bool DatabaseEngine::State::queues_behind(const SessionState& session,
                                          const SessionState& other) const {
    const database::Wait& ours = session.wait;
    const database::Wait& theirs = other.wait;
    // Whoever has a lock on the row already neither queues nor is queued behind.
    const auto has_lock = [&](const SessionState& one) {
        return one.holdings.locks.conflicts(ours.key, {LockMode::Update, false});
    };
    return other.waiting && ours.queues && theirs.queues && !ours.request.probe &&
           !theirs.request.probe && theirs.since < ours.since && ours.key == theirs.key &&
           database::modes_conflict(theirs.request.mode, ours.request.mode) && !has_lock(session) &&
           !has_lock(other);
}

std::vector<SessionId> DatabaseEngine::State::lock_holders(const SessionState& session) {
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
    // The version that a snapshot has is no longer the newest: only who locked that one is in the
    // way.
    if (!result.empty() && is_stale(session) && !wait.key.empty() && !wait.request.probe &&
        !wait.newest) {
        const Fate fate = fate_of(session, wait.key);
        if (fate.touched && (fate.strong || wait.request.mode != LockMode::KeyShare)) {
            std::erase_if(result,
                          [&](SessionId id) { return std::ranges::count(fate.lockers, id) == 0; });
        }
    }
    for (const SessionId id : wait.to_their_end) {
        const auto place = std::lower_bound(result.begin(), result.end(), id);
        if (place == result.end() || *place != id) result.insert(place, id);
    }
    return result;
}

std::vector<SessionId> DatabaseEngine::State::blockers(const SessionState& session) {
    std::vector<SessionId> result = lock_holders(session);
    if (session.wait.key.empty() || waiters.size() < 2) return result;
    for (const SessionId id : waiters) {
        if (id == session.id || !queues_behind(session, sessions[id - 1])) continue;
        const auto place = std::lower_bound(result.begin(), result.end(), id);
        if (place == result.end() || *place != id) result.insert(place, id);
    }
    return result;
}

bool DatabaseEngine::State::is_blocked(const SessionState& session) {
    return !blockers(session).empty();
}

// Of those who share a lock, PostgreSQL waits for one after the other, in the order in which their
// transactions began to write or lock; a deadlock is one through that one.
std::vector<SessionId> DatabaseEngine::State::awaited(const SessionState& session) {
    std::vector<SessionId> result = blockers(session);
    if (session.wait.key.empty() || session.wait.request.probe || result.size() < 2) return result;
    const std::vector<SessionId> sharing = lock_holders(session);
    if (sharing.size() != result.size()) return result;
    // Another that joins them does not change for whom it waits.
    const std::vector<SessionId>& before = session.wait.holders;
    if (before.size() == 1 && std::ranges::count(result, before.front()) != 0) return before;
    return {*std::min_element(result.begin(), result.end(), [&](SessionId a, SessionId b) {
        return sessions[a - 1].writer_number < sessions[b - 1].writer_number;
    })};
}

// Whether it still waits. Whoever is waited for may be another.
bool DatabaseEngine::State::still_blocked(SessionState& waiter) {
    std::vector<SessionId> holders_now = awaited(waiter);
    if (holders_now.empty()) return false;
    database::Wait& wait = waiter.wait;
    if (!std::includes(holders_now.begin(), holders_now.end(), wait.holders.begin(),
                       wait.holders.end())) {
        wait.number = ++wait_count;
    }
    wait.holders = std::move(holders_now);
    return true;
}

// After anything that may have given a lock back. Whoever waits longest goes first; whoever goes on
// may end a transaction of its own and free others, so the search starts again.
void DatabaseEngine::State::wake() {
    if (waiters.empty()) return;
    for (const SessionId holder : holders) add_missing_locks(session(holder));
    for (std::size_t i = 0; i < waiters.size();) {
        const bool last_first = has(DatabaseFlaw::LastWaiterFirst);
        SessionState& waiter = session(waiters[last_first ? waiters.size() - 1 - i : i]);
        std::optional<SqlAnswer> answer;
        if (std::exchange(waiter.wait.look_again, false) || !still_blocked(waiter)) {
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
    const std::string key = wait.key;
    const bool probed = wait.request.probe;
    Attempt attempt = SqlFailure{"23503", "insert or update violates a foreign key constraint"};
    const bool serializes = waiter.snapshot && (wait.parent_gone || wait.changed_since);
    if (serializes) {
        attempt = SqlFailure{"40001", "could not serialize access due to concurrent update"};
    }
    if (!wait.parent_gone && !serializes)
        attempt = run(waiter, *wait.statement, wait.parameters, true);
    if (std::holds_alternative<IsBlocked>(attempt)) {
        wait.number = ++wait_count;
        // Whoever only asked whether the key is taken did not stand in the row's queue.
        if (wait.key != key || (probed && !wait.request.probe)) {
            wait.since = wait.number;
            wait.queues = stands_in_queue(waiter);
        }
        wait.holders.clear();
        wait.holders = awaited(waiter);
        return std::nullopt;
    }
    stop_waiting(waiter);
    if (auto* failure = std::get_if<SqlFailure>(&attempt)) {
        return abort(waiter, std::move(*failure));
    }
    attempt = end_alone(waiter, std::move(attempt));
    if (auto* failure = std::get_if<SqlFailure>(&attempt)) return std::move(*failure);
    return std::get<SqlResult>(std::move(attempt));
}

// The end of a statement that is a transaction of its own.
DatabaseEngine::State::Attempt DatabaseEngine::State::end_alone(SessionState& session,
                                                                Attempt attempt) {
    if (session.in_block) return attempt;
    if (auto failure = agree_to_commit(session)) return abort(session, std::move(*failure));
    release_snapshot(session);
    return attempt;
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

void DatabaseEngine::set_default_isolation(IsolationLevel level) {
    state_->default_level = level;
}

void DatabaseEngine::set_clock(Clock clock, void* context) {
    state_->connection.clock = clock;
    state_->connection.clock_context = context;
}

void DatabaseEngine::plant(DatabaseFlaw flaw) {
    state_->flaw = flaw;
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
    session.writer_number = 0;
    session.open = true;
    return session.id;
}

void DatabaseEngine::close(SessionId id) {
    database::SessionState& session = state_->session(id);
    if (session.waiting) state_->stop_waiting(session);
    if (state_->has(DatabaseFlaw::KilledSessionCommits) && !session.failed) {
        state_->commit(session);
    }
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

Outcome DatabaseEngine::peek(std::string_view query) {
    // Of the database's own counting, so that it is the same on any machine.
    constexpr std::int64_t kMostSteps = 20'000'000;
    const SessionId session = open();
    state_->connection.limit_steps(kMostSteps);
    Outcome outcome = execute(session, query);
    state_->connection.limit_steps(0);
    close(session);
    --state_->session_count;
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
    return session.waiting ? state_->awaited(session) : std::vector<SessionId>{};
}

std::uint64_t DatabaseEngine::wait_number(SessionId id) const {
    const database::SessionState& session = state_->session(id);
    return session.waiting ? session.wait.number : 0;
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
    std::vector<SessionId> others = state_->lock_holders(session);
    text += others.empty() ? " behind session" : " held by session";
    if (others.empty()) others = state_->blockers(session);
    const char* separator = " ";
    for (const SessionId holder : others) {
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
