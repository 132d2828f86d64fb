#include <algorithm>

#include "model/database/engine_state.h"
#include "sim/require.h"

namespace fencepost::model {

using database::Holdings;
using database::Savepoint;
using sim::require;

Outcome DatabaseEngine::State::control_transaction(SessionState& session,
                                                   const database::Statement& statement) {
    switch (statement.kind) {
        case StatementKind::Begin:
            if (!session.in_block) session.level = statement.isolation.value_or(default_level);
            session.in_block = true;  // within a block, PostgreSQL only warns
            return SqlResult{};
        case StatementKind::Commit:
            if (session.failed) {
                roll_back(session);
                return SqlResult(0, {}, kRolledBack);
            }
            if (auto failure = agree_to_commit(session)) {
                roll_back(session);
                return *failure;
            }
            commit(session);
            return SqlResult{};
        case StatementKind::Rollback:
            roll_back(session);
            return SqlResult{};
        case StatementKind::Savepoint:
            if (!session.in_block) {
                return SqlFailure{"25P01", "SAVEPOINT can only be used in transaction blocks"};
            }
            // The locks of earlier changes belong before the mark.
            add_missing_locks(session);
            session.savepoints.push_back({statement.name, session.holdings.mark()});
            return SqlResult{};
        default:
            return end_savepoint(session, statement);
    }
}

// RELEASE and ROLLBACK TO.
Outcome DatabaseEngine::State::end_savepoint(SessionState& session,
                                             const database::Statement& statement) {
    const bool releases = statement.kind == StatementKind::Release;
    if (!session.in_block) {
        return SqlFailure{"25P01", std::string(releases ? "RELEASE" : "ROLLBACK TO") +
                                       " SAVEPOINT can only be used in transaction blocks"};
    }
    auto& savepoints = session.savepoints;
    const auto found =
        std::find_if(savepoints.rbegin(), savepoints.rend(),
                     [&](const Savepoint& savepoint) { return savepoint.name == statement.name; });
    if (found == savepoints.rend()) {
        SqlFailure failure{"3B001", "savepoint \"" + statement.name + "\" does not exist"};
        return session.failed ? failure : abort(session, std::move(failure));
    }
    if (releases) {
        add_missing_locks(session);
        session.holdings.locks.merge((found.base() - 1)->mark.locks);
        savepoints.erase(found.base() - 1, savepoints.end());
        return SqlResult{};
    }
    savepoints.erase(found.base(), savepoints.end());
    if (session.holdings.log.size() > savepoints.back().mark.changes ||
        session.holdings.ddl.size() > savepoints.back().mark.ddl) {
        drop_if_resident(session);
    }
    if (!has(DatabaseFlaw::SavepointKeepsRows)) roll_back_to(session, savepoints.back().mark);
    session.failed = false;
    note_holding(session);
    return SqlResult{};
}

// A statement failed: what it stood in is undone, and its locks are free, before anyone says
// ROLLBACK.
SqlFailure DatabaseEngine::State::abort(SessionState& session, SqlFailure failure) {
    if (!session.in_block) {
        roll_back(session);
        return failure;
    }
    drop_if_resident(session);
    if (has(DatabaseFlaw::ErrorKeepsTransaction)) return failure;
    if (session.savepoints.empty()) {
        session.holdings.clear();
        release_snapshot(session);
        end_waits_for(session);
    } else {
        roll_back_to(session, session.savepoints.back().mark);
    }
    session.failed = true;
    note_holding(session);
    return failure;
}

void DatabaseEngine::State::commit(SessionState& session) {
    Holdings& holdings = session.holdings;
    release_snapshot(session);
    if (has(DatabaseFlaw::IdsFromCommittedRows)) committed_ids = connection.sequences.last;
    if (holdings.changed()) {
        make_resident(session);
        connection.commit();
        resident = 0;
        if (!holdings.ddl.empty()) publish_schema(session);
        if (!holdings.log.empty()) report_commit(session);
    } else {
        drop_if_resident(session);
    }
    holdings.clear();
    session.writer_number = 0;
    if (!waiters.empty()) end_waits_for(session);
    session.savepoints.clear();
    session.in_block = false;
    note_holding(session);
}

void DatabaseEngine::State::roll_back(SessionState& session) {
    drop_if_resident(session);
    release_snapshot(session);
    if (has(DatabaseFlaw::SequenceGivenBack)) connection.sequences.last = image->sequences;
    session.holdings.clear();
    session.writer_number = 0;
    if (!waiters.empty()) end_waits_for(session);
    session.savepoints.clear();
    session.in_block = session.failed = false;
    note_holding(session);
}

// Undoes what has been done since. Whoever waits for a lock of a released savepoint goes on waiting
// for the whole transaction.
void DatabaseEngine::State::roll_back_to(SessionState& session, Holdings::Mark mark) {
    for (const SessionId id : waiters) {
        database::Wait& wait = sessions[id - 1].wait;
        if (id != session.id && !wait.key.empty() &&
            session.holdings.locks.merged_conflicts(wait.key, wait.request, mark.locks)) {
            wait.to_their_end.push_back(session.id);
        }
    }
    session.holdings.truncate(mark);
    note_written(session);
}

void DatabaseEngine::State::end_waits_for(const SessionState& session) {
    for (const SessionId id : waiters) std::erase(sessions[id - 1].wait.to_their_end, session.id);
}

void DatabaseEngine::State::report_commit(SessionState& session) {
    if (!waiters.empty()) follow_moved_rows(session);
    keep_commit(session);
    if (!observer) return;
    const database::ChangeLog& log = session.holdings.log;
    // What was written before its table was dropped went with it.
    const auto is_gone = [&](std::size_t i) {
        return std::ranges::any_of(session.holdings.ddl, [&](const Holdings::DdlChange& ddl) {
            return ddl.drops_table() && ddl.log_size > i && known_tables[log[i].table] == ddl.table;
        });
    };
    reported.clear();
    for (std::size_t i = 0; i < log.size(); ++i) {
        if (is_gone(i)) continue;
        const Change& change = log[i];
        reported.push_back(
            {change.kind, &schema->tables[change.table], log.before(change), log.after(change)});
    }
    observer(session.id, reported);
}

void DatabaseEngine::State::note_holding(SessionState& session) {
    const auto place = std::lower_bound(holders.begin(), holders.end(), session.id);
    const bool noted = place != holders.end() && *place == session.id;
    const bool holds = !session.holdings.empty();
    if (holds && !noted) holders.insert(place, session.id);
    if (holds && session.writer_number == 0) session.writer_number = ++writer_count;
    if (!holds && noted) holders.erase(place);
}

// Makes SQLite hold this session's changes, and nobody else's, beside the committed rows.
void DatabaseEngine::State::make_resident(SessionState& session) {
    if (resident == session.id && !resident_is_view) return;
    evict();
    const Holdings& holdings = session.holdings;
    if (!holdings.changed()) return;
    begin(session);
    std::size_t ddl = 0;
    for (std::size_t i = 0; i <= holdings.log.size(); ++i) {
        for (; ddl < holdings.ddl.size() && holdings.ddl[ddl].log_size == i; ++ddl) {
            require(!connection.run(holdings.ddl[ddl].sqlite), "DDL succeeds again");
            adopt_schema(holdings.ddl[ddl].sqlite);
        }
        if (i < holdings.log.size()) connection.apply(holdings.log, holdings.log[i]);
    }
}

// Makes these tables look to SQLite as they look to the session: that needs no change as long as
// nobody's open changes touch them.
void DatabaseEngine::State::make_visible(SessionState& session, TableSet tables) {
    if (resident == session.id && !resident_is_view) return;
    if (session.holdings.changed() &&
        ((session.holdings.tables & tables) != 0 || !session.holdings.ddl.empty())) {
        make_resident(session);
    } else if (resident != 0 &&
               (resident_is_view || (sessions[resident - 1].holdings.tables & tables) != 0)) {
        evict();
    }
}

void DatabaseEngine::State::evict() {
    if (resident == 0) return;
    const bool altered = schema != committed;
    resident = 0;
    resident_is_view = false;
    connection.rollback();
    if (!altered) return;
    schema = committed;
    connection.use_schema(schema.get());
}

void DatabaseEngine::State::drop_if_resident(const SessionState& session) {
    if (resident == session.id) evict();
}

void DatabaseEngine::State::begin(SessionState& session) {
    if (resident == session.id) return;
    require(resident == 0, "SQLite has room for one open transaction");
    connection.begin();
    resident = session.id;
}

}  // namespace fencepost::model
