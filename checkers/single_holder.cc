// single holder: while a lease stands in Redis, only tasks of the root task that set it change its
// key. A lease stands until it is deleted, expires, is evicted or lost with its server; a server
// that goes back to an earlier state brings an earlier lease back.

#include <fmt/format.h>

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
};

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
                if (event.before.empty()) lease = {};
                judge(change, lease, "overwritten");
                lease = taken_by(change);
                break;
            case KeyChangeKind::ExpirySet:
                judge(change, lease, "given another expiry");
                break;
            case KeyChangeKind::Deleted:
                judge(change, lease, "released");
                lease = {};
                break;
            case KeyChangeKind::Lost:
                // Back to an earlier state: where that was a lease, it is its holder's again.
                lease = event.after.empty() ? Lease{} : holder_of(event);
                break;
            case KeyChangeKind::Expired:
            case KeyChangeKind::Evicted:
                lease = {};
                break;
        }
    }

    [[nodiscard]] Findings& findings() { return findings_; }
    [[nodiscard]] std::size_t taken() const { return taken_; }

private:
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

    Lease taken_by(const LeaseChange& change) {
        Lease& holder = holder_of(change.event);
        if (change.source.root != sim::kNoTask) {
            ++taken_;
            holder = {.root = change.source.root,
                      .record = change.source.record,
                      .value = change.event.after};
        }
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
    if (!holder.findings().empty()) return std::move(holder.findings()).failed();
    if (holder.taken() == 0) return unknown("no lease was taken");
    return passed(count_of(holder.taken(), "lease") + " taken, none touched by another task");
}

}  // namespace fencepost::checkers
