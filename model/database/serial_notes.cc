// What a SERIALIZABLE transaction reads and writes, as its statements run, and what comes of it.
//
// Each read and write of a statement is noted once, in the order in which PostgreSQL comes to it. A
// statement that goes on after a wait does not note again what it had noted before: PostgreSQL has
// looked at a whole page when it stands at the lock of a row, and then goes on from there.
#include <sqlite3.h>

#include "model/database/engine_state.h"

namespace fencepost::model {

using database::ChangeLog;

SqlFailure DatabaseEngine::State::dependencies() {
    return {"40001",
            "could not serialize access due to read/write dependencies among transactions"};
}

// The tables that a statement reads, as far as its text tells.
DatabaseEngine::State::TableSet DatabaseEngine::State::read_tables(KeptStatement& statement) {
    const auto& insert = statement.parsed.insert;
    if (!insert) return statement.sqlite.tables & statement.named;
    if (!insert->computed) return 0;
    const auto part = [&](database::TextRange range) {
        return statement.text.substr(range.begin, range.end - range.begin);
    };
    KeptStatement& body = keep(part(insert->with) + part(insert->body));
    return prepare(body) ? statement.sqlite.tables : body.sqlite.tables & body.named;
}

// The tables whose rows may refer to what a change takes away.
DatabaseEngine::State::TableSet DatabaseEngine::State::children_of(
    const TableInfo& table, std::span<const SqlValue> before,
    std::span<const SqlValue> after) const {
    TableSet tables = 0;
    if (before.empty()) return tables;
    for (const Referrer& referrer : table.referrers) {
        const ForeignKey& key = schema->tables[referrer.child].foreign_keys[referrer.foreign_key];
        const auto same = [&](std::uint16_t column) {
            return !after.empty() && before[column] == after[column];
        };
        const auto null = [&](std::uint16_t column) {
            return std::holds_alternative<jobs::sql::Null>(before[column]);
        };
        const auto& columns = table.uniques[key.parent_index].columns;
        if (std::ranges::all_of(columns, same) || std::ranges::any_of(columns, null)) continue;
        tables |= database::table_set(referrer.child);
    }
    return tables;
}

// These answer false if the transaction has to fail now.
bool DatabaseEngine::State::note_read(SessionState& session, TableSet tables) {
    if (!session.serial || has(DatabaseFlaw::WriteSkewPasses)) return true;
    const TableSet fresh = tables & ~std::exchange(session.wait.read, session.wait.read | tables);
    // Whoever has to fail learns of it at a row, dead or alive.
    if (serializable.is_doomed(*session.serial)) return (fresh & ever_written) == 0;
    return serializable.note_read(*session.serial, fresh);
}

bool DatabaseEngine::State::note_newest_read(SessionState& session, TableSet tables) {
    if (!session.serial) return true;
    const TableSet fresh = tables & ~std::exchange(session.wait.read, session.wait.read | tables);
    if (fresh == 0) return true;
    if (serializable.is_doomed(*session.serial)) return (fresh & ever_written) == 0;
    return serializable.note_newest_read(*session.serial, fresh, replaced_writers(session, fresh));
}

// One that has waited for a unique key comes upon the index again, and learns there that it has to
// fail; one that has waited for a foreign key's row does not.
bool DatabaseEngine::State::note_write(SessionState& session, std::size_t table) {
    if (!session.serial) return true;
    const database::Wait& wait = session.wait;
    const TableSet tables = database::table_set(table);
    const TableSet fresh = tables & ~std::exchange(session.wait.written, wait.written | tables);
    ever_written |= tables;
    if (fresh != 0) return serializable.note_write(*session.serial, fresh);
    return wait.parent || wait.child || !serializable.is_doomed(*session.serial);
}

// After an INSERT has run in SQLite, or has failed by a key. A row counts as written before its
// keys go into the indexes. ON CONFLICT may have found nothing to do.
bool DatabaseEngine::State::note_insert(SessionState& session, const KeptStatement& statement,
                                        int code) {
    const TableInfo* table = schema->find(statement.parsed.insert->table);
    const bool certain =
        code != SQLITE_OK || statement.parsed.insert->on_conflict == database::ConflictAction::Fail;
    return !certain || table == nullptr || note_write(session, table->id);
}

// Who has written, beside this transaction, versions of rows that have been replaced or deleted
// since: whoever reads the newest versions meets them all the same.
std::vector<database::SerializableTransactions::Number> DatabaseEngine::State::replaced_writers(
    const SessionState& session, TableSet tables) {
    std::vector<database::SerializableTransactions::Number> writers;
    std::vector<std::string> gone;  // keys of versions that a later change replaces
    for (auto commit = later_commits.rbegin(); commit != later_commits.rend(); ++commit) {
        if (commit->number <= *session.snapshot) break;
        for (std::size_t i = commit->log.size(); i-- > 0;) {
            const Change& change = commit->log[i];
            if ((database::table_set(change.table) & tables) == 0) continue;
            const TableInfo& table = schema->tables[change.table];
            if (!commit->log.after(change).empty()) {
                key_of(table, 0, commit->log.after(change), key_buffer);
                if (commit->serial && std::ranges::count(gone, key_buffer) != 0) {
                    writers.push_back(*commit->serial);
                }
            }
            if (!commit->log.before(change).empty()) {
                key_of(table, 0, commit->log.before(change), key_buffer);
                gone.push_back(key_buffer);
            }
        }
    }
    return writers;
}

void DatabaseEngine::State::note_written(const SessionState& session) {
    if (!session.serial) return;
    const ChangeLog& log = session.holdings.log;
    TableSet tables = 0;
    for (std::size_t i = 0; i < log.size(); ++i) tables |= database::table_set(log[i].table);
    serializable.set_written(*session.serial, tables);
}

// Before a commit. A transaction that may not has to be rolled back.
std::optional<SqlFailure> DatabaseEngine::State::agree_to_commit(SessionState& session) {
    committing_serial = session.serial;
    if (!session.serial) return std::nullopt;
    if (!serializable.may_commit(*session.serial)) return dependencies();
    serializable.commit(*session.serial);
    session.serial.reset();
    return std::nullopt;
}

bool DatabaseEngine::order_decided() const {
    return state_->serializable.order_mattered();
}

}  // namespace fencepost::model
