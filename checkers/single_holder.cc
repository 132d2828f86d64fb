// single holder: while a lease stands in Redis, only tasks of the root task that set it change its
// key. A lease stands until it is deleted, expires, is evicted or lost with its server; a server
// that goes back to an earlier state brings an earlier lease back.
//
// And nobody believes in a lease that is over: a root task whose lease ran out, and which holds no
// other, begins no write of effects or fenced rows while the next holder's stands. A write that
// began before may still land: that is what fences are for. A lease that ran out in time is one of
// which Redis lost nothing, in a run in which no clock was changed: no holder can know better.

#include <fmt/format.h>

#include <algorithm>

#include "checkers/clocks.h"
#include "checkers/findings.h"
#include "checkers/judges.h"

namespace fencepost::checkers {
namespace {

using model::KeyChanged;
using model::KeyChangeKind;

// The lease that stands in one key.
struct Lease {
    sim::TaskId root = sim::kNoTask;  // none: nobody's, as far as the history knows
    sim::RecordId record = sim::kNoRecord;
    std::string_view value;
    std::size_t hold = 0;  // its index in holds_
};

// From when to when a root task held the lease of a key.
struct Hold {
    std::uint32_t key = kNone;
    sim::TaskId root = sim::kNoTask;
    sim::RecordId from = sim::kNoRecord;
    sim::RecordId until = sim::kNoRecord;  // none: to the end
    std::string_view value;
    bool ran_out = false;
    bool restored = false;  // Redis went back to it

    [[nodiscard]] bool covers(sim::RecordId record) const {
        return from < record && record < until;
    }
};

// The record in which the write that a row belongs to began: BEGIN, or the statement itself. None
// when the history does not say.
sim::RecordId began(const sim::History& history, sim::RecordId row) {
    const sim::RecordId cause = history[row].cause();
    if (cause == sim::kNoRecord) return sim::kNoRecord;
    const auto call = history[cause].as<sim::CallStarted>();
    if (!call || call->operation != "db.commit") return cause;
    const sim::TaskId task = history[cause].task();
    for (sim::RecordId id = cause; id-- > 0;) {
        if (history.kind_of(id) != sim::CallStarted::kKind) continue;
        const sim::Record record = history[id];
        if (record.task() == task && record.as<sim::CallStarted>()->operation == "db.begin") {
            return id;
        }
    }
    return sim::kNoRecord;
}

class SingleHolder {
public:
    explicit SingleHolder(const Reading& reading) : reading_(reading) {}

    void apply(const LeaseChange& change) {
        const KeyChanged& event = change.event;
        const std::uint32_t key = keys_.add(event.key);
        if (key == standing_.size()) standing_.emplace_back();
        Lease& lease = standing_[key];
        switch (event.change) {
            case KeyChangeKind::Set:
                // An expiry may be noted late or never: a key that was empty held no lease.
                if (event.before.empty()) end(lease, change);
                judge(change, lease, "overwritten");
                end(lease, change);
                lease = taken_by(change, key);
                break;
            case KeyChangeKind::ExpirySet:
                judge(change, lease, "given another expiry");
                break;
            case KeyChangeKind::Deleted:
                judge(change, lease, "released");
                end(lease, change);
                break;
            case KeyChangeKind::Lost:
                // Back to an earlier state: where that was a lease, it is its holder's again.
                end(lease, change);
                if (event.after.empty()) break;
                lease = holder_of(event);
                begin(lease, change, key);
                holds_[lease.hold].restored = true;
                break;
            case KeyChangeKind::Expired:
                if (lease.root != sim::kNoTask) holds_[lease.hold].ran_out = true;
                end(lease, change);
                break;
            case KeyChangeKind::Evicted:
                end(lease, change);
                break;
        }
    }

    // After all changes: who wrote on under a lease that had run out.
    void judge_writes() {
        for (const Hold& over : holds_) {
            if (!over.ran_out || over.restored) continue;
            for (const Hold& next : holds_) {
                if (next.key != over.key || next.root == over.root || next.from < over.until) {
                    continue;
                }
                if (clock_was_changed(reading_.history())) return;
                judge_writes(over, next);
            }
        }
    }

    [[nodiscard]] Findings& findings() { return findings_; }
    [[nodiscard]] std::size_t taken() const { return taken_; }

private:
    void judge_writes(const Hold& over, const Hold& next) {
        const auto writes_on = [&](const Source& source) {
            if (source.root != over.root) return false;
            const sim::RecordId record = began(reading_.history(), source.record);
            return record != sim::kNoRecord && next.covers(record) && !holds(over.root, record);
        };
        for (const Commit& commit : reading_.commits()) {
            for (const EffectChange& change : commit.effects) {
                if (writes_on(change.source)) return blame(over, next, change.source);
            }
            for (const FencedChange& change : commit.fenced) {
                if (writes_on(change.source)) return blame(over, next, change.source);
            }
        }
    }

    void blame(const Hold& over, const Hold& next, const Source& source) {
        const std::string key{keys_[over.key]};
        findings_.add(source.record, key,
                      fmt::format("While the lease {} = {} stood, set by {}, {} began to write, "
                                  "whose own lease {} had run out.",
                                  key, next.value, reading_.who_and_when(next.from),
                                  reading_.who_and_when(began(reading_.history(), source.record)),
                                  over.value));
    }

    [[nodiscard]] bool holds(sim::TaskId root, sim::RecordId record) const {
        return std::ranges::any_of(
            holds_, [&](const Hold& hold) { return hold.root == root && hold.covers(record); });
    }

    void begin(Lease& lease, const LeaseChange& change, std::uint32_t key) {
        if (lease.root == sim::kNoTask) return;
        lease.hold = holds_.size();
        holds_.push_back(
            {.key = key, .root = lease.root, .from = change.source.record, .value = lease.value});
    }
    void end(Lease& lease, const LeaseChange& change) {
        if (lease.root != sim::kNoTask) holds_[lease.hold].until = change.source.record;
        lease = {};
    }

    void judge(const LeaseChange& change, const Lease& lease, std::string_view verb) {
        if (change.source.root == sim::kNoTask || lease.root == sim::kNoTask ||
            lease.root == change.source.root) {
            return;
        }
        const KeyChanged& event = change.event;
        const std::string with = event.change == KeyChangeKind::Set
                                     ? fmt::format(" with {}", event.after)
                                     : std::string{};
        findings_.add(change.source.record, std::string{event.key},
                      fmt::format("While the lease {} = {} stood, set by {}, it was {}{} by {}.",
                                  event.key, lease.value, reading_.who_and_when(lease.record), verb,
                                  with, reading_.who_and_when(change.source.record)));
    }

    Lease taken_by(const LeaseChange& change, std::uint32_t key) {
        Lease& holder = holder_of(change.event);
        if (change.source.root != sim::kNoTask) {
            ++taken_;
            holder = {.root = change.source.root,
                      .record = change.source.record,
                      .value = change.event.after};
        }
        begin(holder, change, key);
        return holder;
    }

    // Who last set the key to the value that it has now; nobody, as long as that is not known.
    Lease& holder_of(const KeyChanged& event) {
        holder_.assign(event.key);
        holder_ += '=';
        holder_ += event.after;
        const std::uint32_t holder = holders_.add(holder_);
        if (holder == setters_.size()) setters_.emplace_back();
        return setters_[holder];
    }

    const Reading& reading_;
    TextIndex keys_, holders_;
    std::vector<Lease> standing_;  // by key
    std::vector<Lease> setters_;   // by key and value
    std::vector<Hold> holds_;
    std::string holder_;
    std::size_t taken_ = 0;
    Findings findings_;
};

}  // namespace

Judgement judge_single_holder(const Reading& reading) {
    if (reading.expectations().lease_prefix.empty()) {
        return not_applicable("the handler takes no lease");
    }
    SingleHolder holder{reading};
    for (const LeaseChange& change : reading.leases()) holder.apply(change);
    holder.judge_writes();
    if (!holder.findings().empty()) return std::move(holder.findings()).failed();
    if (holder.taken() == 0) return unknown("no lease was taken");
    return passed(count_of(holder.taken(), "lease") + " taken, none touched by another task");
}

}  // namespace fencepost::checkers
