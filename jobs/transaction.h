// A transaction on a session: BEGIN at construction, ROLLBACK at destruction unless committed.
#pragma once

#include <string_view>
#include <utility>

#include "jobs/ports/sql.h"

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

    template <typename... Parameters>
    Result execute(std::string_view statement, Parameters&&... parameters) {
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
