// SERIALIZABLE: which transactions have read what others have written beside them, and who must
// give way (PostgreSQL's serializable snapshot isolation, src/backend/storage/lmgr/predicate.c).
//
// A transaction that reads a table while a concurrent one writes it must come before it in any
// serial order: a read-write dependency. Where one transaction has such a dependency coming in and
// another going out, and the one at the far end has committed first, the result may not be
// serializable, and one of them fails with 40001.
//
// Reads are noted table by table, as PostgreSQL notes those of a sequential scan. Where PostgreSQL
// goes by an index it notes rows and pages, and lets some transactions pass that fail here.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "model/database/connection.h"

namespace fencepost::model::database {

class SerializableTransactions {
public:
    using Number = std::size_t;

    void clear() {
        transactions_.clear();
        order_mattered_ = false;
    }

    // A transaction whose snapshot sees the commits so far.
    [[nodiscard]] Number begin();
    // These answer false if the transaction has to fail now.
    [[nodiscard]] bool note_read(Number reader, TableSet tables);
    // With the newest snapshot, as foreign keys look for rows that refer to one that goes. The
    // reader then comes after whatever is committed, but for those of whom it meets a version that
    // has been replaced since.
    [[nodiscard]] bool note_newest_read(Number reader, TableSet tables,
                                        std::span<const Number> replaced);
    [[nodiscard]] bool note_write(Number writer, TableSet tables);
    [[nodiscard]] bool is_doomed(Number number) const { return transactions_[number].doomed; }
    // What its changes are in, now: fewer tables after a rollback to a savepoint.
    void set_written(Number number, TableSet tables);
    [[nodiscard]] bool may_commit(Number number);
    // may_commit() has agreed.
    void commit(Number number);
    void roll_back(Number number);
    // Whether, since clear(), it depended on the order in which a reader or writer met several
    // others who had to fail, and when. PostgreSQL meets the writers of rows in the order in which
    // row versions lie in the file.
    [[nodiscard]] bool order_mattered() const { return order_mattered_; }

private:
    using Sequence = std::uint64_t;
    static constexpr Sequence kNever = 0;

    struct Transaction {
        Sequence snapshot = kNever;   // the last commit that it sees
        Sequence committed = kNever;  // the number of its commit
        bool ended = false;           // rolled back
        bool doomed = false;
        bool wrote = false;
        bool out_to_committed = false;  // had a dependency on one that had committed before it
        TableSet read = 0;
        TableSet written = 0;
        std::vector<Number> in;   // who has read what it has written
        std::vector<Number> out;  // who has written what it has read

        [[nodiscard]] bool read_only() const { return committed != kNever && !wrote; }
    };

    struct Dependency {
        Number reader;
        Number writer;
    };

    [[nodiscard]] bool concurrent(const Transaction& one, const Transaction& other) const;
    [[nodiscard]] std::vector<Dependency> writers_met(Number reader, TableSet tables) const;
    [[nodiscard]] bool add_dependencies(std::span<const Dependency> met, Number self);
    [[nodiscard]] bool add_in_order(std::span<const Dependency> met, Number self);
    [[nodiscard]] bool add_dependency(Number reader, Number writer, Number self);
    [[nodiscard]] bool same_victims(const SerializableTransactions& other) const;
    [[nodiscard]] bool is_dangerous(const Transaction& reader, const Transaction& writer) const;
    void forget_all_if_idle();

    std::vector<Transaction> transactions_;
    Sequence last_commit_ = kNever;
    bool order_mattered_ = false;
};

}  // namespace fencepost::model::database
