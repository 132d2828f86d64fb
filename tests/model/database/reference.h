// READ COMMITTED on one table t (k, v), written down as plainly as possible and without regard to
// speed: what the engine is compared with. It shares nothing with the engine but the texts of
// answers.
#pragma once

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace fencepost::model {

struct Operation {
    enum class Kind {
        Begin,
        Commit,
        Rollback,
        Savepoint,
        RollbackTo,
        Insert,
        InsertOrNothing,
        InsertOrUpdate,
        Increment,        // the row k
        IncrementZeroes,  // every row with v = 0
        SetZero,          // the row k
        Delete,
        Move,  // the row k to the key k + 10
        Lock,  // FOR UPDATE
        LockNoWait,
        SkipLocked,  // the first row that is free, FOR UPDATE
        Read,
    };
    static constexpr int kKinds = 17;
    Kind kind = Kind::Read;
    int key = 0;

    [[nodiscard]] std::string sql() const {
        const std::string k = std::to_string(key);
        const std::string insert = "INSERT INTO t VALUES (" + k + ", 0)";
        switch (kind) {
            case Kind::Begin:
                return "BEGIN";
            case Kind::Commit:
                return "COMMIT";
            case Kind::Rollback:
                return "ROLLBACK";
            case Kind::Savepoint:
                return "SAVEPOINT s";
            case Kind::RollbackTo:
                return "ROLLBACK TO s";
            case Kind::Insert:
                return insert;
            case Kind::InsertOrNothing:
                return insert + " ON CONFLICT DO NOTHING";
            case Kind::InsertOrUpdate:
                return insert + " ON CONFLICT (k) DO UPDATE SET v = t.v + 5";
            case Kind::Increment:
                return "UPDATE t SET v = v + 1 WHERE k = " + k + " RETURNING v";
            case Kind::IncrementZeroes:
                return "UPDATE t SET v = v + 1 WHERE v = 0 RETURNING k";
            case Kind::SetZero:
                return "UPDATE t SET v = 0 WHERE k = " + k;
            case Kind::Delete:
                return "DELETE FROM t WHERE k = " + k;
            case Kind::Move:
                return "UPDATE t SET k = k + 10 WHERE k = " + k;
            case Kind::Lock:
                return "SELECT v FROM t WHERE k = " + k + " FOR UPDATE";
            case Kind::LockNoWait:
                return "SELECT v FROM t WHERE k = " + k + " FOR UPDATE NOWAIT";
            case Kind::SkipLocked:
                return "SELECT k FROM t ORDER BY k LIMIT 1 FOR UPDATE SKIP LOCKED";
            case Kind::Read:
                return "SELECT k, v FROM t ORDER BY k";
        }
        return {};
    }
};

class Reference {
public:
    // A row keeps its identity when its key changes.
    struct Row {
        int identity;
        int key;
        int value;
    };
    using Rows = std::map<int, Row>;  // by identity
    enum class Lock { Row, Written };

    explicit Reference(int sessions) : sessions_(static_cast<std::size_t>(sessions)) {}

    // "waits", or the answer.
    std::string execute(int id, const Operation& operation) {
        Session& session = at(id);
        session.operation = operation;
        session.found.reset();
        session.row_waited.reset();
        const std::string answer = step(id);
        if (answer == "waits") {
            session.waiting = true;
            order_.push_back(id);
        }
        wake();
        return answer;
    }

    std::vector<std::pair<int, std::string>> take_completions() { return std::exchange(done_, {}); }
    [[nodiscard]] bool waiting(int id) const { return sessions_[index(id)].waiting; }
    [[nodiscard]] bool failed(int id) const { return sessions_[index(id)].failed; }

    void fail_wait(int id, const std::string& code) {
        stop_waiting(id);
        done_.emplace_back(id, abort(at(id), code));
        wake();
    }

    // Whether a session waits for itself in the end.
    [[nodiscard]] bool in_deadlock(int id) const {
        std::set<int> reached;
        std::vector<int> todo{id};
        while (!todo.empty()) {
            const int from = todo.back();
            todo.pop_back();
            if (!waiting(from)) continue;
            for (const int next : sessions_[index(from)].blockers) {
                if (next == id) return true;
                if (reached.insert(next).second) todo.push_back(next);
            }
        }
        return false;
    }

    [[nodiscard]] std::string view(int id) const {
        std::map<int, int> by_key;
        for (const auto& [identity, row] : rows_of(id)) by_key[row.key] = row.value;
        std::string text;
        for (const auto& [key, value] : by_key) {
            text += (text.empty() ? "" : " ") + std::to_string(key) + "|" + std::to_string(value);
        }
        return text.empty() ? "no rows" : text;
    }

private:
    struct Work {
        std::map<int, std::optional<Row>> rows;  // by identity; nothing: deleted
        std::map<int, Lock> row_locks;           // by identity
        std::set<int> keys;                      // written
    };
    struct Session {
        bool block = false;
        bool failed = false;
        bool waiting = false;
        Work work;
        std::vector<Work> savepoints;
        Operation operation;
        std::optional<std::vector<int>> found;  // identities, in order of their keys
        std::vector<int> blockers;
        std::optional<int> row_waited;  // the identity of the row that it waits for
        int since = 0;
    };
    using Kind = Operation::Kind;

    static std::size_t index(int id) { return static_cast<std::size_t>(id - 1); }
    Session& at(int id) { return sessions_[index(id)]; }

    [[nodiscard]] Rows rows_of(int id) const {
        Rows rows = committed_;
        for (const auto& [identity, row] : sessions_[index(id)].work.rows) {
            if (row) {
                rows[identity] = *row;
            } else {
                rows.erase(identity);
            }
        }
        return rows;
    }

    // Others that hold the row, or have written the key.
    // Whoever has to wait for a row queues behind those who wait for it already.
    bool held_row(int id, int identity) {
        const auto holds = [&](const Work& work) { return work.row_locks.contains(identity); };
        if (!collect(id, holds)) return false;
        Session& session = at(id);
        if (session.row_waited != identity) session.since = ++last_wait_;
        session.row_waited = identity;
        for (int other = 1; other <= static_cast<int>(sessions_.size()); ++other) {
            const Session& ahead = at(other);
            if (ahead.waiting && ahead.row_waited == identity && ahead.since < session.since) {
                session.blockers.push_back(other);
            }
        }
        return true;
    }
    bool held_key(int id, int key) {
        if (!collect(id, [&](const Work& work) { return work.keys.contains(key); })) return false;
        at(id).row_waited.reset();
        return true;
    }
    template <typename Holds>
    bool collect(int id, Holds holds) {
        std::vector<int> blockers;
        for (int other = 1; other <= static_cast<int>(sessions_.size()); ++other) {
            if (other != id && holds(at(other).work)) blockers.push_back(other);
        }
        if (blockers.empty()) return false;
        at(id).blockers = blockers;
        return true;
    }

    std::string abort(Session& session, const std::string& code) {
        if (!session.block) {
            session.work = {};
        } else {
            session.work = session.savepoints.empty() ? Work{} : session.savepoints.back();
            session.failed = true;
        }
        return code;
    }

    void commit(Session& session) {
        for (const auto& [identity, row] : session.work.rows) {
            if (row) {
                committed_[identity] = *row;
            } else {
                committed_.erase(identity);
            }
        }
        end(session);
    }
    static void end(Session& session) {
        session.work = {};
        session.savepoints.clear();
        session.block = session.failed = false;
    }

    void stop_waiting(int id) {
        at(id).waiting = false;
        order_.erase(std::find(order_.begin(), order_.end(), id));
    }

    void wake() {
        for (std::size_t i = 0; i < order_.size();) {
            const int id = order_[i];
            const std::string answer = step(id);
            if (answer == "waits") {
                ++i;
                continue;
            }
            stop_waiting(id);
            done_.emplace_back(id, answer);
            i = 0;
        }
    }

    // Runs the session's operation, or as much of it as is possible.
    std::string step(int id) {
        Session& session = at(id);
        const Kind kind = session.operation.kind;
        if (session.failed && kind != Kind::Commit && kind != Kind::Rollback &&
            kind != Kind::RollbackTo) {
            return "25P02";
        }
        if (kind <= Kind::RollbackTo) return control(session);
        const std::string answer = work(id);
        if (answer == "23505" || answer == "55P03") return abort(session, answer);
        if (answer != "waits" && !session.block) commit(session);
        return answer;
    }

    std::string control(Session& session) {
        switch (session.operation.kind) {
            case Kind::Begin:
                session.block = true;
                return "0";
            case Kind::Commit:
                if (session.failed) {
                    end(session);
                    return "-1";
                }
                commit(session);
                return "0";
            case Kind::Rollback:
                end(session);
                return "0";
            case Kind::Savepoint:
                if (!session.block) return "25P01";
                session.savepoints.push_back(session.work);
                return "0";
            default:
                if (!session.block) return "25P01";
                if (session.savepoints.empty()) {
                    if (!session.failed) abort(session, "");
                    return "3B001";
                }
                session.work = session.savepoints.back();
                session.failed = false;
                return "0";
        }
    }

    static std::optional<Row> with_key(const Rows& rows, int key) {
        for (const auto& [identity, row] : rows) {
            if (row.key == key) return row;
        }
        return std::nullopt;
    }

    void write(Session& session, const Row& row, std::optional<int> old_key) {
        session.work.rows[row.identity] = row;
        session.work.row_locks[row.identity] = Lock::Written;
        session.work.keys.insert(row.key);
        if (old_key) session.work.keys.insert(*old_key);
    }

    std::string work(int id) {
        switch (at(id).operation.kind) {
            case Kind::Insert:
            case Kind::InsertOrNothing:
            case Kind::InsertOrUpdate:
                return insert(id);
            case Kind::SkipLocked:
                return skip_locked(id);
            case Kind::Read:
                return view(id);
            default:
                return change_rows(id);
        }
    }

    std::string insert(int id) {
        Session& session = at(id);
        const int key = session.operation.key;
        if (held_key(id, key)) return "waits";
        const std::optional<Row> old = with_key(rows_of(id), key);
        if (!old) {
            write(session, {++last_identity_, key, 0}, std::nullopt);
            return "1";
        }
        if (session.operation.kind == Kind::Insert) return "23505";
        if (session.operation.kind == Kind::InsertOrNothing) return "0";
        if (held_row(id, old->identity)) return "waits";
        write(session, {old->identity, key, old->value + 5}, std::nullopt);
        return "1";
    }

    std::string skip_locked(int id) {
        std::map<int, int> by_key;
        for (const auto& [identity, row] : rows_of(id)) by_key[row.key] = identity;
        for (const auto& [key, identity] : by_key) {
            if (held_row(id, identity)) continue;
            at(id).work.row_locks.emplace(identity, Lock::Row);
            return std::to_string(key);
        }
        return "no rows";
    }

    [[nodiscard]] static bool fits(const Operation& operation, const Row& row) {
        return operation.kind == Kind::IncrementZeroes ? row.value == 0 : row.key == operation.key;
    }

    // UPDATE, DELETE and FOR UPDATE: rows found by the snapshot, conditions checked again on the
    // version that is found when the row is free.
    std::string change_rows(int id) {
        Session& session = at(id);
        if (session.found) {
            // After a wait, every row found is locked in its newest version before it is looked at.
            const Rows now = rows_of(id);
            for (const int identity : *session.found) {
                if (!now.contains(identity)) continue;
                if (held_row(id, identity)) return "waits";
                session.work.row_locks.emplace(identity, Lock::Row);
            }
        } else {
            std::map<int, int> by_key;
            for (const auto& [identity, row] : rows_of(id)) {
                if (fits(session.operation, row)) by_key[row.key] = identity;
            }
            session.found.emplace();
            for (const auto& [key, identity] : by_key) session.found->push_back(identity);
        }
        // What has been done before a wait is not undone: rows already changed stay as they are.
        const Work before = session.work;
        std::vector<std::string> returned;
        int count = 0;
        std::map<int, int> by_key;
        const Rows now = rows_of(id);
        for (const int identity : *session.found) {
            const auto row = now.find(identity);
            if (row != now.end()) by_key[row->second.key] = identity;
        }
        for (const auto& [key, identity] : by_key) {
            const Row row = now.at(identity);
            if (!fits(session.operation, row)) continue;
            if (held_row(id, identity)) {
                if (session.operation.kind == Kind::LockNoWait) return "55P03";
                session.work.rows = before.rows;
                return "waits";
            }
            const std::string answer = change_row(id, row);
            if (answer == "waits") {
                session.work.rows = before.rows;
                return answer;
            }
            if (answer == "23505") return answer;
            if (!answer.empty()) returned.push_back(answer);
            ++count;
        }
        return answer_of(session.operation.kind, returned, count);
    }

    std::string change_row(int id, Row row) {
        Session& session = at(id);
        const int old_key = row.key;
        switch (session.operation.kind) {
            case Kind::Lock:
            case Kind::LockNoWait:
                session.work.row_locks.emplace(row.identity, Lock::Row);
                return std::to_string(row.value);
            case Kind::Delete:
                write(session, row, std::nullopt);
                session.work.rows[row.identity] = std::nullopt;
                return "";
            case Kind::Move: {
                session.work.row_locks.emplace(row.identity, Lock::Written);
                session.work.keys.insert(row.key);
                if (held_key(id, row.key + 10)) return "waits";
                if (with_key(rows_of(id), row.key + 10)) return "23505";
                row.key += 10;
                write(session, row, old_key);
                return "";
            }
            case Kind::SetZero:
                row.value = 0;
                write(session, row, std::nullopt);
                return "";
            case Kind::IncrementZeroes:
                ++row.value;
                write(session, row, std::nullopt);
                return std::to_string(row.key);
            default:
                ++row.value;
                write(session, row, std::nullopt);
                return std::to_string(row.value);
        }
    }

    static std::string answer_of(Kind kind, const std::vector<std::string>& returned, int count) {
        if (kind == Kind::Delete || kind == Kind::SetZero || kind == Kind::Move) {
            return std::to_string(count);
        }
        std::string text;
        for (const std::string& value : returned) text += (text.empty() ? "" : " ") + value;
        return text.empty() ? "no rows" : text;
    }

    std::vector<Session> sessions_;
    Rows committed_;
    int last_identity_ = 0;
    int last_wait_ = 0;
    std::vector<int> order_;
    std::vector<std::pair<int, std::string>> done_;
};

}  // namespace fencepost::model
