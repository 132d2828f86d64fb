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

std::vector<SerializableTransactions::Dependency> SerializableTransactions::writers_met(
    Number reader, TableSet tables) const {
    std::vector<Dependency> met;
    for (Number writer = 0; writer < transactions_.size(); ++writer) {
        const Transaction& other = transactions_[writer];
        if (writer == reader || (other.written & tables) == 0 || other.doomed) continue;
        if (concurrent(transactions_[reader], other)) met.push_back({reader, writer});
    }
    return met;
}

bool SerializableTransactions::note_read(Number reader, TableSet tables) {
    // A doomed transaction learns of it where it reads or writes.
    if (tables == 0) return true;
    if (transactions_[reader].doomed) return false;
    transactions_[reader].read |= tables;
    return add_dependencies(writers_met(reader, tables), reader);
}

bool SerializableTransactions::note_newest_read(Number reader, TableSet tables,
                                                std::span<const Number> replaced) {
    if (tables == 0) return true;
    if (transactions_[reader].doomed) return false;
    transactions_[reader].read |= tables;
    std::vector<Dependency> met = writers_met(reader, tables);
    std::erase_if(met, [&](const Dependency& one) {
        return transactions_[one.writer].committed != kNever &&
               std::find(replaced.begin(), replaced.end(), one.writer) == replaced.end();
    });
    return add_dependencies(met, reader);
}

bool SerializableTransactions::note_write(Number writer, TableSet tables) {
    if (tables == 0) return true;
    if (transactions_[writer].doomed) return false;
    transactions_[writer].wrote = true;
    transactions_[writer].written |= tables;
    std::vector<Dependency> met;
    for (Number reader = 0; reader < transactions_.size(); ++reader) {
        const Transaction& other = transactions_[reader];
        if (reader == writer || (other.read & tables) == 0 || other.doomed) continue;
        if (concurrent(transactions_[writer], other)) met.push_back({reader, writer});
    }
    return add_dependencies(met, writer);
}

// Whoever runs now, `self`, meets others in an order that PostgreSQL alone knows. Each is tried
// first.
bool SerializableTransactions::add_dependencies(std::span<const Dependency> met, Number self) {
    std::vector<Dependency> turned(met.begin(), met.end());
    std::vector<std::pair<bool, SerializableTransactions>> others;
    for (std::size_t i = 1; i < met.size(); ++i) {
        std::rotate(turned.begin(), turned.begin() + 1, turned.end());
        others.emplace_back(false, *this);
        others.back().first = others.back().second.add_in_order(turned, self);
    }
    const bool passes = add_in_order(met, self);
    for (const auto& [other_passes, other] : others) {
        order_mattered_ |= other_passes != passes || !same_victims(other);
    }
    return passes;
}

bool SerializableTransactions::add_in_order(std::span<const Dependency> met, Number self) {
    return std::all_of(met.begin(), met.end(), [&](const Dependency& one) {
        return add_dependency(one.reader, one.writer, self);
    });
}

bool SerializableTransactions::same_victims(const SerializableTransactions& other) const {
    return std::equal(transactions_.begin(), transactions_.end(), other.transactions_.begin(),
                      other.transactions_.end(), [](const Transaction& a, const Transaction& b) {
                          return a.doomed == b.doomed;
                      });
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
