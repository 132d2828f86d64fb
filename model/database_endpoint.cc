#include "model/database_endpoint.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "model/events.h"

namespace fencepost::model {
namespace {

Cell to_cell(const SqlValue& value) {
    if (const auto* integer = std::get_if<std::int64_t>(&value)) return *integer;
    if (const auto* real = std::get_if<double>(&value)) return *real;
    if (const auto* text = std::get_if<std::string>(&value)) return std::string_view{*text};
    return std::monostate{};
}

void to_cells(std::span<const SqlValue> row, Cells& cells) {
    cells.clear();
    cells.reserve(row.size());
    for (const SqlValue& value : row) cells.push_back(to_cell(value));
}

RowChangeKind kind_of(RowChange::Kind kind) {
    switch (kind) {
        case RowChange::Kind::Insert:
            return RowChangeKind::Insert;
        case RowChange::Kind::Update:
            return RowChangeKind::Update;
        case RowChange::Kind::Delete:
            return RowChangeKind::Delete;
    }
    return RowChangeKind::Insert;
}

}  // namespace

std::string SqlExchange::describe_at_server() const {
    return blocked_ ? endpoint_->engine_.describe_wait(session_) : std::string{};
}

DatabaseEndpoint::DatabaseEndpoint(sim::Kernel& kernel, Network& network)
    : kernel_(kernel), network_(network) {
    engine_.set_clock(
        [](void* self) {
            const auto* endpoint = static_cast<DatabaseEndpoint*>(self);
            const sim::Time now = endpoint->clock_.wall(endpoint->kernel_.now());
            return std::chrono::floor<std::chrono::microseconds>(now).time_since_epoch().count();
        },
        this);
    engine_.set_commit_observer([this](SessionId session, std::span<const RowChange> changes) {
        record_commit(session, changes);
    });
    engine_.set_schema_observer([this](SessionId session, std::span<const std::string> dropped) {
        if (const SqlExchange* exchange = exchange_of(session)) {
            record_schema(exchange->call().record, exchange->call().task->id, dropped);
            untold_commit_ = {exchange->call().record, exchange->call().task->id};
        }
    });
}

void DatabaseEndpoint::reset(const DatabaseImage& image, const DatabaseOptions& options) {
    engine_.reset(image);
    engine_.set_default_isolation(options.isolation);
    options_ = options;
    party_ = kernel_.add_party("database");
    network_.add_server(party_, *this);
    clock_.reset(kernel_.now());
    used_exchanges_ = 0;
    sessions_.clear();
    blocked_.clear();
    orphans_.clear();
    running_ = nullptr;
    transactions_ = 0;
    restarts_ = 0;
    untold_commit_.reset();
    known_tables_.clear();
    known_indexes_.clear();
    record_schema(sim::kNoRecord, sim::kNoTask, {});
}

// What of the committed schema the history does not know yet. A table that was dropped and made
// again is another one, though it may look the same.
void DatabaseEndpoint::record_schema(sim::RecordId cause, sim::TaskId task,
                                     std::span<const std::string> dropped) {
    const std::vector<TableInfo>& tables = engine_.schema().tables;
    std::vector<KnownIndex> indexes;
    for (const TableInfo& table : tables) {
        for (const IndexInfo& index : table.indexes) {
            indexes.push_back({index.name, index.definition});
        }
    }
    const auto drop = [&](const std::string& name) {
        kernel_.record_at(party_, cause, RelationDropped{name}, task);
    };
    for (const KnownIndex& index : known_indexes_) {
        if (std::ranges::find(indexes, index) == indexes.end()) drop(index.name);
    }
    for (KnownTable& table : known_tables_) {
        if (std::ranges::find(dropped, table.name) == dropped.end()) continue;
        if (engine_.schema().find(table.name) == nullptr) continue;  // below
        drop(table.name);
        table = {};
    }
    known_tables_.resize(std::max(known_tables_.size(), tables.size()));
    for (std::size_t id = 0; id < known_tables_.size(); ++id) {
        KnownTable table;
        if (id < tables.size()) table.name = tables[id].name;
        if (!table.name.empty()) {
            for (const ColumnInfo& column : tables[id].columns) {
                table.columns += (table.columns.empty() ? "" : ",") + column.name;
            }
        }
        if (table == known_tables_[id]) continue;
        if (table.name.empty()) {
            drop(known_tables_[id].name);
        } else {
            kernel_.record_at(party_, cause,
                              TableKnown{static_cast<std::uint32_t>(id), table.name, table.columns},
                              task);
        }
        known_tables_[id] = std::move(table);
    }
    for (const TableInfo& table : tables) {
        for (const IndexInfo& index : table.indexes) {
            const KnownIndex as_known{index.name, index.definition};
            if (std::ranges::find(known_indexes_, as_known) != known_indexes_.end()) continue;
            kernel_.record_at(party_, cause,
                              IndexKnown{index.name, table.name, index.definition, index.unique},
                              task);
        }
    }
    known_indexes_ = std::move(indexes);
}

SqlExchange& DatabaseEndpoint::exchange() {
    if (used_exchanges_ == exchanges_.size()) exchanges_.emplace_back().endpoint_ = this;
    return exchanges_[used_exchanges_++];
}

SqlResult DatabaseEndpoint::read_committed(std::string_view query,
                                           std::span<const SqlValue> parameters) {
    const SessionId session = engine_.open();
    Outcome outcome = engine_.execute(session, query, parameters);
    engine_.close(session);
    if (const auto* failure = std::get_if<SqlFailure>(&outcome)) {
        throw sim::BrokenInvariant("the audit's query failed: " + failure->message);
    }
    sim::require(std::holds_alternative<SqlResult>(outcome), "the audit only reads");
    return std::get<SqlResult>(std::move(outcome));
}

std::optional<SqlResult> DatabaseEndpoint::look(std::string_view query) {
    Outcome outcome = engine_.peek(query);
    if (auto* result = std::get_if<SqlResult>(&outcome)) return std::move(*result);
    return std::nullopt;
}

const sim::Task* DatabaseEndpoint::speaker_on(SessionId session) const {
    for (std::size_t i = used_exchanges_; i > 0; --i) {
        const SqlExchange& exchange = exchanges_[i - 1];
        if (exchange.session_ == session) return exchange.call().task;
    }
    return nullptr;
}

std::vector<DatabaseEndpoint::LockWaiter> DatabaseEndpoint::lock_waiters() const {
    std::vector<LockWaiter> waiters;
    for (const auto& [session, exchange] : blocked_) {
        LockWaiter& waiter = waiters.emplace_back(LockWaiter{
            .task = exchange->call().task, .what = engine_.describe_wait(session), .holders = {}});
        for (const SessionId holder : engine_.waits_for(session)) {
            if (const sim::Task* task = speaker_on(holder)) waiter.holders.push_back(task);
        }
    }
    return waiters;
}

void DatabaseEndpoint::serve(Exchange& base) {
    auto& exchange = static_cast<SqlExchange&>(base);
    auto session = sessions_.find(exchange.connection().id());
    if (session == sessions_.end()) {
        session = sessions_.emplace(exchange.connection().id(), engine_.open()).first;
    }
    exchange.session_ = session->second;
    if (const auto error = exchange.call().asked.server_error) {
        SqlFailure failure = *error == sim::FaultKind::DeadlockVictim
                                 ? SqlFailure{"40P01", "deadlock detected"}
                                 : SqlFailure{"40001", "could not serialize access"};
        kernel_.call_faults_took_effect(exchange.call(), sim::Phase::Before);
        fail_transaction(exchange);
        finish(exchange, std::move(failure));
    } else if (exchange.statement.empty()) {
        exchange.summary = "session " + std::to_string(exchange.session_);
        network_.answer(exchange);
    } else {
        execute(exchange);
    }
    finish_completions();
}

// A COMMIT that fails ends its transaction; any other statement leaves it aborted.
void DatabaseEndpoint::fail_transaction(const SqlExchange& exchange) {
    if (!engine_.in_transaction(exchange.session_)) return;
    const bool at_commit = classify(exchange.statement) == StatementKind::Commit;
    static_cast<void>(engine_.execute(exchange.session_, at_commit ? "ROLLBACK" : "no statement"));
}

void DatabaseEndpoint::execute(SqlExchange& exchange) {
    running_ = &exchange;
    Outcome outcome = engine_.execute(exchange.session_, exchange.statement, exchange.parameters);
    running_ = nullptr;
    tell_of_commits();
    if (auto* result = std::get_if<SqlResult>(&outcome)) {
        finish(exchange, std::move(*result));
    } else if (auto* failure = std::get_if<SqlFailure>(&outcome)) {
        finish(exchange, std::move(*failure));
    } else {
        exchange.blocked_ = true;
        blocked_[exchange.session_] = &exchange;
        kernel_.record_at(party_, exchange.call().record,
                          LockWait{exchange.session_, engine_.describe_wait(exchange.session_)},
                          exchange.call().task->id);
        network_.stalled(exchange);
        watch_wait(exchange);
    }
}

// A wait that outlives deadlock_timeout looks for a deadlock, once. A statement that has gone on
// and stands at another lock waits anew.
void DatabaseEndpoint::watch_wait(SqlExchange& exchange) {
    exchange.wait_ = engine_.wait_number(exchange.session_);
    kernel_.schedule(kernel_.now() + options_.deadlock_timeout,
                     sim::Action{[](void* self, std::uint64_t wait) {
                                     auto* waiting = static_cast<SqlExchange*>(self);
                                     waiting->endpoint_->check_deadlock(*waiting, wait);
                                 },
                                 &exchange, exchange.wait_});
}

void DatabaseEndpoint::check_deadlock(SqlExchange& exchange, std::uint64_t wait) {
    if (!exchange.blocked_ || exchange.wait_ != wait) return;
    if (!engine_.in_deadlock(exchange.session_)) return;
    engine_.fail_wait(exchange.session_, {"40P01", "deadlock detected"});
    finish_completions();
}

void DatabaseEndpoint::finish(SqlExchange& exchange, SqlAnswer answer) {
    if (auto* failure = std::get_if<SqlFailure>(&answer)) {
        exchange.failure = std::move(*failure);
        exchange.summary =
            fmt::format("{} {}", exchange.failure->sqlstate, exchange.failure->message);
    } else {
        exchange.result = std::get<SqlResult>(std::move(answer));
        const std::size_t rows = exchange.result.rows();
        exchange.summary = exchange.result.columns() > 0
                               ? std::to_string(rows) + (rows == 1 ? " row" : " rows")
                               : std::to_string(exchange.result.affected()) + " changed";
    }
    const SessionId session = exchange.session_;
    network_.answer(exchange);
    if (const auto orphan = orphans_.find(session); orphan != orphans_.end()) {
        const std::string_view why = orphan->second;
        orphans_.erase(orphan);
        end_session(session, why);
    }
}

void DatabaseEndpoint::finish_completions() {
    tell_of_commits();
    const std::uint32_t life = restarts_;
    for (;;) {
        auto completions = engine_.take_completions();
        if (completions.empty()) break;
        for (Completion& completion : completions) {
            const auto waiting = blocked_.find(completion.session);
            sim::require(waiting != blocked_.end(), "only a blocked statement is completed later");
            SqlExchange& exchange = *waiting->second;
            blocked_.erase(waiting);
            exchange.blocked_ = false;
            finish(exchange, std::move(completion.answer));
            // A restart that strikes at one answer takes the other statements with it.
            if (restarts_ != life) return;
        }
    }
    for (const auto& [session, exchange] : blocked_) {
        if (engine_.wait_number(session) != exchange->wait_) watch_wait(*exchange);
    }
}

void DatabaseEndpoint::disconnected(Connection& connection, std::string_view why) {
    const auto found = sessions_.find(connection.id());
    if (found == sessions_.end()) return;
    const SessionId session = found->second;
    sessions_.erase(found);
    // A backend that waits for a lock does not look at its connection: it finishes the statement
    // first, and an autocommitted one takes effect.
    if (blocked_.contains(session)) {
        orphans_[session] = why;
    } else {
        end_session(session, why);
        finish_completions();
    }
}

void DatabaseEndpoint::end_session(SessionId session, std::string_view why) {
    if (engine_.is_open(session)) engine_.close(session);
    kernel_.record_at(party_, sim::kNoRecord, SessionEnded{session, why});
}

void DatabaseEndpoint::restart(sim::Duration down_for) {
    ++restarts_;
    // Every backend is gone before any of them could go on.
    for (const auto& [session, exchange] : std::exchange(blocked_, {})) {
        exchange->blocked_ = false;
        network_.abandon(*exchange);
        engine_.close(session);
    }
    static_cast<void>(engine_.take_completions());
    // Those whose clients are gone are nobody's connection: none of them is told below.
    for (const auto& [session, why] : std::exchange(orphans_, {})) {
        if (engine_.is_open(session)) engine_.close(session);
    }
    static_cast<void>(engine_.take_completions());
    network_.take_down(party_, "database restart");
    kernel_.schedule(kernel_.now() + down_for, [this] { network_.bring_up(party_); });
}

// The statement that the session executes now; null when there is none.
const SqlExchange* DatabaseEndpoint::exchange_of(SessionId session) const {
    if (running_ != nullptr && running_->session_ == session) return running_;
    const auto waiting = blocked_.find(session);
    return waiting == blocked_.end() ? nullptr : waiting->second;
}

void DatabaseEndpoint::record_commit(SessionId session, std::span<const RowChange> changes) {
    const SqlExchange* exchange = exchange_of(session);
    if (exchange == nullptr) return;
    const std::uint32_t transaction = ++transactions_;
    RowChanged event;
    event.transaction = transaction;
    for (const RowChange& change : changes) {
        event.change = kind_of(change.kind);
        event.table = change.table->id;
        to_cells(change.before, event.before);
        to_cells(change.after, event.after);
        const sim::RecordId record =
            kernel_.record_at(party_, exchange->call().record, event, exchange->call().task->id);
        untold_commit_ = {record, exchange->call().task->id};
    }
}

void DatabaseEndpoint::tell_of_commits() {
    const auto commit = std::exchange(untold_commit_, std::nullopt);
    if (commit && commit_watch_) commit_watch_(commit->change, commit->task);
}

}  // namespace fencepost::model
