// A transaction on a session: BEGIN at construction, ROLLBACK at destruction unless committed.
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "jobs/misuse.h"
#include "jobs/ports/sql.h"
#include "jobs/statement_kind.h"

namespace fencepost::jobs::sql {

class Transaction {
public:
    // BEGIN. Throws ConnectionLost.
    explicit Transaction(Session& session) : session_(&session) { session_->execute("BEGIN"); }

    ~Transaction() {
        if (!open_) return;
        try {
            session_->execute("ROLLBACK");
        } catch (...) {
            // The server rolls back a session that ends; a destructor has nothing to add.
        }
    }
    Transaction(const Transaction&) = delete;
    Transaction& operator=(const Transaction&) = delete;

    // As the session does. Throws Misuse for a statement that would end the transaction behind its
    // back, or begin another.
    template <typename... Parameters>
    Result execute(std::string_view statement, Parameters&&... parameters) {
        if (controls_transaction(statement)) {
            throw Misuse("\"" + std::string(statement) +
                         "\" inside a transaction: its owner alone commits it, and an exception "
                         "rolls it back");
        }
        return session_->execute(statement, std::forward<Parameters>(parameters)...);
    }

    // COMMIT. Throws ServerError when the server refused (nothing is committed) and
    // CommitOutcomeUnknown when its answer never came.
    void commit() {
        open_ = false;
        session_->execute("COMMIT");
    }

private:
    Session* session_;
    bool open_ = true;
};

}  // namespace fencepost::jobs::sql
