#include <signal.h>

#include <algorithm>
#include <charconv>
#include <string_view>

#include "tests/fidelity/postgres/interleaving.h"
#include "tests/fidelity/postgres/sides.h"

namespace fencepost::fidelity {

namespace {

// Deleted rows stay in the files until a TRUNCATE. At SERIALIZABLE that matters: a scan of a file
// without any row does not learn that its transaction has to fail, and one that has found its row
// looks at no further page.
constexpr std::size_t kResetsForTruncate = 200;
constexpr std::size_t kResetsAtSerializable = 1;

}  // namespace

ServerSide::ServerSide(const std::string& connection_info, model::IsolationLevel level)
    : truncates_after_(level == model::IsolationLevel::Serializable ? kResetsAtSerializable
                                                                    : kResetsForTruncate),
      monitor_(connection_info) {
    // A space within an option is escaped.
    std::string value(name_of(level));
    if (const std::size_t space = value.find(' '); space != std::string::npos) {
        value.replace(space, 1, "\\\\ ");
    }
    connection_info_ = connection_info + " options='-c default_transaction_isolation=" + value;
    // The model notes reads by table, as PostgreSQL does for sequential scans.
    if (level == model::IsolationLevel::Serializable) {
        connection_info_ +=
            " -c enable_seqscan=on -c enable_indexscan=off -c "
            "enable_indexonlyscan=off -c enable_bitmapscan=off";
    }
    connection_info_ += "'";
    const Answer made = monitor_.run(std::string(tables_script()));
    if (!made.sqlstate.empty()) throw ServerLost("PostgreSQL refuses the tables: " + made.text());
}

std::string ServerSide::version() {
    const Answer answer = monitor_.run("SHOW server_version");
    const std::string all = answer.rows.empty() ? "" : answer.rows.front();
    return "PostgreSQL " + all.substr(0, all.find(' '));
}

void ServerSide::reset(std::size_t sessions) {
    for (std::size_t i = 0; i < sessions_.size(); ++i) {
        if (waiting(i)) {
            terminate(i);
            sessions_[i] = std::make_unique<ServerSession>(connection_info_);
        } else if (sessions_[i]->in_transaction()) {
            sessions_[i]->run("ROLLBACK");
        }
    }
    waiters_.clear();
    while (sessions_.size() < sessions) {
        sessions_.push_back(std::make_unique<ServerSession>(connection_info_));
    }
    ordered_.assign(sessions_.size(), false);
    stopped_.assign(sessions_.size(), false);
    std::string script = "BEGIN;";
    if (resets_++ % truncates_after_ == 0) script += "TRUNCATE child, kid, log, t;";
    script += clearing_script();
    script += rows_script();
    script += "COMMIT";
    const Answer done = monitor_.run(script);
    if (!done.sqlstate.empty()) throw ServerLost("PostgreSQL refuses the rows: " + done.text());
}

bool ServerSide::waiting(std::size_t session) const {
    return std::find(waiters_.begin(), waiters_.end(), session) != waiters_.end();
}

std::size_t ServerSide::index_of(pid_t process) const {
    for (std::size_t i = 0; i < sessions_.size(); ++i) {
        if (sessions_[i]->process() == process) return i;
    }
    return sessions_.size();
}

void ServerSide::add_answer(Observation& seen, std::size_t session, Answer answer) const {
    if (!ordered_[session]) std::sort(answer.rows.begin(), answer.rows.end());
    seen.answers.emplace_back(session, std::move(answer));
}

Observation ServerSide::step(std::size_t session, const std::string& sql) {
    Observation seen;
    ordered_[session] = gives_order(sql);
    hold_waiters();
    sessions_[session]->send(sql);
    if (auto answer = sessions_[session]->settle()) {
        // The model says how a transaction has ended where the statement leaves that open.
        if (sql != "COMMIT") answer->tag.clear();
        add_answer(seen, session, std::move(*answer));
    } else {
        waiters_.push_back(session);
    }
    note_waits(seen, let_go_on(seen));
    return seen;
}

Observation ServerSide::kill(std::size_t session) {
    Observation seen;
    hold_waiters();
    terminate(session);
    std::erase(waiters_, session);
    sessions_[session] = std::make_unique<ServerSession>(connection_info_);
    note_waits(seen, let_go_on(seen));
    return seen;
}

void ServerSide::terminate(std::size_t session) {
    const std::string process = std::to_string(sessions_[session]->process());
    monitor_.run("SELECT pg_terminate_backend(" + process + ")");
    if (stopped_[session]) ::kill(sessions_[session]->process(), SIGCONT);
    stopped_[session] = false;
    sessions_[session]->wait_for_end();
}

// A stopped backend stands in the wait for its lock, where it holds nothing that others need;
// whoever frees the lock grants it without its help. A single one is stopped as well: it must not
// stand at the next lock, with its look for a deadlock still to come, when the step seems to be
// over.
void ServerSide::hold_waiters() {
    for (const std::size_t waiter : waiters_) {
        ::kill(sessions_[waiter]->process(), SIGSTOP);
        stopped_[waiter] = true;
    }
}

// Continues the waiters that are free now, one after the other. Each may free others.
// Answers who stands at a lock in the end.
std::vector<ServerSide::Ungranted> ServerSide::let_go_on(Observation& seen) {
    std::vector<Ungranted> blocked;
    while (!waiters_.empty()) {
        blocked = ungranted();
        const auto freed = std::find_if(waiters_.begin(), waiters_.end(), [&](std::size_t waiter) {
            return std::none_of(blocked.begin(), blocked.end(), [&](const Ungranted& lock) {
                return lock.process == sessions_[waiter]->process();
            });
        });
        if (freed == waiters_.end()) break;
        const std::size_t session = *freed;
        sessions_[session]->expect_to_go_on();
        if (stopped_[session]) ::kill(sessions_[session]->process(), SIGCONT);
        stopped_[session] = false;
        if (auto answer = sessions_[session]->settle()) {
            add_answer(seen, session, std::move(*answer));
            std::erase(waiters_, session);
        } else {
            hold_waiters();
        }
    }
    for (const std::size_t waiter : waiters_) {
        if (stopped_[waiter]) ::kill(sessions_[waiter]->process(), SIGCONT);
        stopped_[waiter] = false;
    }
    return blocked;
}

std::vector<ServerSide::Ungranted> ServerSide::ungranted() {
    std::vector<Ungranted> result;
    const Answer answer = monitor_.run(
        "SELECT pid, array_to_string(pg_blocking_pids(pid), '|') FROM pg_locks WHERE NOT granted");
    for (const std::string& row : answer.rows) {
        std::vector<pid_t> processes;
        const char* at = row.data();
        const char* end = row.data() + row.size();
        while (at < end) {
            pid_t process = 0;
            at = std::from_chars(at, end, process).ptr + 1;
            processes.push_back(process);
        }
        result.push_back({processes.front(), {processes.begin() + 1, processes.end()}});
    }
    return result;
}

void ServerSide::note_waits(Observation& seen, const std::vector<Ungranted>& blocked) {
    for (std::size_t session = 0; session < sessions_.size(); ++session) {
        if (!waiting(session)) continue;
        std::vector<pid_t> reached = {sessions_[session]->process()};
        Waiting wait{session, {}};
        for (std::size_t i = 0; i < reached.size(); ++i) {
            bool waits = false;
            for (const Ungranted& lock : blocked) {
                if (lock.process != reached[i]) continue;
                waits = true;
                for (const pid_t next : lock.blockers) {
                    if (std::find(reached.begin(), reached.end(), next) == reached.end()) {
                        reached.push_back(next);
                    }
                }
            }
            if (!waits) wait.roots.push_back(index_of(reached[i]));
        }
        std::sort(wait.roots.begin(), wait.roots.end());
        seen.waiting.push_back(std::move(wait));
    }
}

std::vector<std::string> ServerSide::tables() {
    std::string all;
    for (const std::string& query : final_queries()) all += query + ";";
    std::vector<std::string> result;
    for (const Answer& answer : monitor_.run_each(all)) result.push_back(answer.text());
    if (result.size() != final_queries().size()) {
        throw ServerLost("PostgreSQL does not show its tables: " + result.back());
    }
    return result;
}

}  // namespace fencepost::fidelity
