#include "model/database/serializable.h"

#include <algorithm>

namespace fencepost::model::database {

namespace {

bool contains(const std::vector<std::size_t>& numbers, std::size_t number) {
    return std::find(numbers.begin(), numbers.end(), number) != numbers.end();
}

}  // namespace

SerializableTransactions::Number SerializableTransactions::begin() {
    transactions_.emplace_back().snapshot = last_commit_;
    return transactions_.size() - 1;
}

// Neither sees the other's commit.
bool SerializableTransactions::concurrent(const Transaction& one, const Transaction& other) const {
    return !one.ended && !other.ended &&
           (one.committed == kNever || one.committed > other.snapshot) &&
           (other.committed == kNever || other.committed > one.snapshot);
}

bool SerializableTransactions::note_read(Number reader, TableSet tables) {
    if (transactions_[reader].doomed) return false;
    transactions_[reader].read |= tables;
    for (Number writer = 0; writer < transactions_.size(); ++writer) {
        const Transaction& other = transactions_[writer];
        if (writer == reader || (other.written & tables) == 0 || other.doomed) continue;
        if (!concurrent(transactions_[reader], other)) continue;
        if (!add_dependency(reader, writer, reader)) return false;
    }
    return true;
}

bool SerializableTransactions::note_write(Number writer, TableSet tables) {
    if (transactions_[writer].doomed) return false;
    transactions_[writer].wrote = true;
    for (Number reader = 0; reader < transactions_.size(); ++reader) {
        const Transaction& other = transactions_[reader];
        if (reader == writer || (other.read & tables) == 0 || other.doomed) continue;
        if (!concurrent(transactions_[writer], other)) continue;
        if (!add_dependency(reader, writer, writer)) return false;
    }
    return true;
}

void SerializableTransactions::set_written(Number number, TableSet tables) {
    transactions_[number].written = tables;
}

// `self` is whichever of the two runs now. It fails, or the writer is doomed to fail when it runs
// next.
bool SerializableTransactions::add_dependency(Number reader, Number writer, Number self) {
    Transaction& from = transactions_[reader];
    Transaction& to = transactions_[writer];
    if (contains(from.out, writer)) return true;
    if (is_dangerous(from, to)) {
        if (self == writer || to.committed != kNever) return false;
        to.doomed = true;
    }
    from.out.push_back(writer);
    to.in.push_back(reader);
    return true;
}

// Whether this dependency completes one in and one out of a transaction, whose far end has
// committed first.
bool SerializableTransactions::is_dangerous(const Transaction& reader,
                                            const Transaction& writer) const {
    if (writer.committed != kNever && writer.out_to_committed) return true;
    for (const Number number : writer.out) {
        const Transaction& far = transactions_[number];
        if (far.committed == kNever) continue;
        const bool before_reader = reader.committed == kNever || far.committed <= reader.committed;
        const bool before_writer = writer.committed == kNever || far.committed <= writer.committed;
        const bool seen = !reader.read_only() || far.committed <= reader.snapshot;
        if (before_reader && before_writer && seen) return true;
    }
    if (writer.committed == kNever || reader.read_only()) return false;
    return std::any_of(reader.in.begin(), reader.in.end(), [&](Number number) {
        const Transaction& near = transactions_[number];
        return !near.doomed && (near.committed == kNever || near.committed >= writer.committed) &&
               (!near.read_only() || near.snapshot >= writer.committed);
    });
}

// A transaction with a dependency from one that has one from a third, both open: the one in the
// middle will have to fail.
bool SerializableTransactions::may_commit(Number number) {
    if (transactions_[number].doomed) return false;
    for (const Number middle : transactions_[number].in) {
        Transaction& pivot = transactions_[middle];
        if (pivot.committed != kNever || pivot.doomed) continue;
        for (const Number far : pivot.in) {
            const Transaction& other = transactions_[far];
            if (far == number || (other.committed == kNever && !other.doomed)) {
                pivot.doomed = true;
                break;
            }
        }
    }
    return true;
}

void SerializableTransactions::commit(Number number) {
    Transaction& transaction = transactions_[number];
    transaction.committed = ++last_commit_;
    for (const Number other : std::vector(transaction.out)) {
        if (transactions_[other].committed == kNever) continue;
        transaction.out_to_committed = true;
        std::erase(transaction.out, other);
        std::erase(transactions_[other].in, number);
    }
    for (const Number other : std::vector(transaction.in)) {
        if (transactions_[other].committed == kNever) continue;
        std::erase(transaction.in, other);
        std::erase(transactions_[other].out, number);
    }
    forget_all_if_idle();
}

void SerializableTransactions::roll_back(Number number) {
    Transaction& transaction = transactions_[number];
    transaction.ended = true;
    for (const Number other : transaction.out) std::erase(transactions_[other].in, number);
    for (const Number other : transaction.in) std::erase(transactions_[other].out, number);
    transaction.in.clear();
    transaction.out.clear();
    forget_all_if_idle();
}

// Committed transactions matter as long as one that was open beside them is.
void SerializableTransactions::forget_all_if_idle() {
    const auto done = [](const Transaction& one) { return one.ended || one.committed != kNever; };
    if (std::all_of(transactions_.begin(), transactions_.end(), done)) transactions_.clear();
}

}  // namespace fencepost::model::database
