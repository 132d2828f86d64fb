#include "scenarios/search/equal_plans.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string>

#include "model/events.h"
#include "sim/random.h"

namespace fencepost::scenarios {
namespace {

using namespace std::chrono_literals;
using model::KeyChangeKind;
using sim::FaultKind;
using sim::RecordId;

// More than what an append-only file that is synced every second can lose.
constexpr sim::Duration kUnsynced = 2s;

// What Redis held, read from the changes of its keys. A key whose changes do not follow from one
// another, value by value, is no plain string: of such a one it is never said that it is gone.
class Keys {
public:
    void see(RecordId id, const sim::Record& record, const model::KeyChanged& change) {
        Key& key = keys_[std::string(change.key)];
        const bool follows = change.before == key.value;
        const bool is_set =
            change.change == KeyChangeKind::Set || change.change == KeyChangeKind::ExpirySet;
        if (!follows || (is_set && change.after.empty())) key.certain = false;
        key.value = change.after;
        key.changes.push_back({id, !key.certain || !key.value.empty()});
        last_changes_.push_back({id, record.at()});
    }
    [[nodiscard]] bool holds(const std::string& key, RecordId before) const {
        const auto known = keys_.find(key);
        return known != keys_.end() && known->second.held(before);
    }
    [[nodiscard]] bool holds_any(RecordId before) const {
        return std::ranges::any_of(
            keys_, [before](const auto& entry) { return entry.second.held(before); });
    }
    [[nodiscard]] bool changed_since(sim::Time time, RecordId before) const {
        return std::ranges::any_of(last_changes_, [&](const Change& change) {
            return change.id < before && change.at >= time;
        });
    }

private:
    struct Held {
        RecordId since = 0;
        bool held = false;
    };
    struct Key {
        std::string value;
        bool certain = true;
        std::vector<Held> changes;

        [[nodiscard]] bool held(RecordId before) const {
            const auto later = std::ranges::lower_bound(changes, before, {}, &Held::since);
            return later != changes.begin() && std::prev(later)->held;
        }
    };
    struct Change {
        RecordId id = 0;
        sim::Time at{};
    };

    std::map<std::string, Key, std::less<>> keys_;
    std::vector<Change> last_changes_;
};

// The lives of the nodes' processes.
class Processes {
public:
    enum class State : std::uint8_t { Down, Up, Stopping };

    void see(RecordId id, const sim::Record& record) {
        if (record.kind() == sim::NodeStarted::kKind) {
            add(record.party(), id, State::Up);
        } else if (record.kind() == sim::NodeStopping::kKind) {
            add(record.party(), id, State::Stopping);
        } else if (record.kind() == sim::NodeEnded::kKind) {
            add(record.party(), id, State::Down);
        }
    }
    // nullopt where nothing is known of a node.
    [[nodiscard]] std::optional<State> state(sim::PartyId node, RecordId before) const {
        const auto known = changes_.find(node);
        if (known == changes_.end()) return std::nullopt;
        const auto later = std::ranges::lower_bound(known->second, before, {}, &Change::id);
        if (later == known->second.begin()) return std::nullopt;
        return std::prev(later)->state;
    }

private:
    struct Change {
        RecordId id = 0;
        State state = State::Down;
    };
    void add(sim::PartyId node, RecordId id, State state) { changes_[node].push_back({id, state}); }
    std::map<sim::PartyId, std::vector<Change>> changes_;
};

// When a server was down because a fault of the plan has restarted it.
struct Downtime {
    std::string server;
    RecordId since = 0;
    sim::Time until{};
};

class Facts {
public:
    Facts(const sim::Plan& plan, const sim::History& history) : history_(history) {
        for (RecordId id = 0; id < history.size(); ++id) {
            const sim::Record record = history[id];
            processes_.see(id, record);
            if (const auto change = record.as<model::KeyChanged>()) {
                keys_.see(id, record, *change);
            } else if (const auto struck = record.as<sim::FaultStruck>()) {
                last_strike_ = id;
            } else if (const auto took_effect = record.as<sim::FaultTookEffect>()) {
                note_restart(plan.faults.at(took_effect->index), id, record.at());
            }
        }
        for (std::size_t i = 0; i < history.parties(); ++i) {
            const auto party = static_cast<sim::PartyId>(i);
            parties_.emplace(history.party_name(party), party);
        }
    }

    // Why the fault changes nothing, struck before that record; Unknown when it may change
    // something.
    [[nodiscard]] Equal without_effect(const sim::Fault& fault, RecordId strike) const {
        if (!is_known(strike)) return Equal::Unknown;
        switch (fault.kind) {
            case FaultKind::Crash:
            case FaultKind::Stop:
            case FaultKind::Pause:
            case FaultKind::Slow: {
                const auto state = processes_.state(struck_node(fault), strike);
                if (state == Processes::State::Down) return Equal::NodeIsDown;
                if (state == Processes::State::Stopping && fault.kind == FaultKind::Stop)
                    return Equal::NodeIsStopping;
                return Equal::Unknown;
            }
            case FaultKind::Restart:
                return is_down(fault.party, strike) ? Equal::ServerIsDown : Equal::Unknown;
            case FaultKind::Evict:
                if (is_down(fault.party, strike)) return Equal::ServerIsDown;
                return keys_.holds(fault.key, strike) ? Equal::Unknown : Equal::NothingToEvict;
            default:
                return Equal::Unknown;
        }
    }

    // Why a restart of Redis that may lose something is one that keeps all.
    [[nodiscard]] Equal as_if_all_were_kept(const sim::Fault& fault, RecordId strike) const {
        if (fault.kind != FaultKind::Restart || fault.party != "redis" || !is_known(strike))
            return Equal::Unknown;
        if (fault.keep == "none" && !keys_.holds_any(strike)) return Equal::NothingToLose;
        if (fault.keep == "last-second-lost" &&
            !keys_.changed_since(time_before(strike) - kUnsynced, strike)) {
            return Equal::NothingUnsynced;
        }
        return Equal::Unknown;
    }

private:
    // Not of faults at a time, and not of those at the very phase of the last strike.
    [[nodiscard]] bool is_known(RecordId strike) const {
        return strike != sim::kNoRecord && strike > 0 &&
               (last_strike_ == sim::kNoRecord || strike > last_strike_);
    }
    // A strike comes at the time of the record before it or later: its own call's, mostly.
    [[nodiscard]] sim::Time time_before(RecordId strike) const { return history_[strike - 1].at(); }
    // No later than the record after it.
    [[nodiscard]] sim::Time time_after(RecordId strike) const {
        return strike < history_.size() ? history_[strike].at() : sim::Time::max();
    }
    [[nodiscard]] sim::PartyId struck_node(const sim::Fault& fault) const {
        const std::string_view node =
            !fault.party.empty() ? std::string_view{fault.party}
                                 : std::string_view{fault.at}.substr(0, fault.at.find('#'));
        const auto known = parties_.find(node);
        return known == parties_.end() ? sim::kWorld : known->second;
    }
    void note_restart(const sim::Fault& fault, RecordId id, sim::Time at) {
        if (fault.kind == FaultKind::Restart)
            downtimes_.push_back({fault.party, id, at + *fault.lasting});
    }
    [[nodiscard]] bool is_down(const std::string& server, RecordId strike) const {
        return std::ranges::any_of(downtimes_, [&](const Downtime& downtime) {
            return downtime.server == server && downtime.since < strike &&
                   time_after(strike) < downtime.until;
        });
    }

    const sim::History& history_;
    Keys keys_;
    Processes processes_;
    std::vector<Downtime> downtimes_;
    std::map<std::string, sim::PartyId, std::less<>> parties_;
    RecordId last_strike_ = sim::kNoRecord;
};

}  // namespace

std::vector<EqualPlan> equal_plans(const sim::Plan& plan, const sim::History& history,
                                   const NextFaults& next) {
    const Facts facts{plan, history};
    std::vector<EqualPlan> equal(next.faults.size());
    for (std::size_t i = 0; i < next.faults.size(); ++i) {
        const sim::Fault& fault = next.faults[i];
        equal[i].why = facts.without_effect(fault, next.strikes[i]);
        if (equal[i].why != Equal::Unknown) continue;
        const Equal why = facts.as_if_all_were_kept(fault, next.strikes[i]);
        if (why == Equal::Unknown) continue;
        sim::Fault keeps_all = fault;
        keeps_all.keep = "all";
        const auto twin = std::ranges::find(next.faults, keeps_all);
        if (twin == next.faults.end()) continue;
        equal[i] = {why, static_cast<std::size_t>(twin - next.faults.begin())};
    }
    return equal;
}

std::uint64_t fingerprint_without_faults(const sim::History& history) {
    std::uint64_t fingerprint = 0;
    const auto fold = [&](std::uint64_t value) { fingerprint = sim::combine(fingerprint, value); };
    std::vector<RecordId> numbers(history.size());
    RecordId number = 0;
    for (RecordId id = 0; id < history.size(); ++id) {
        const sim::Record record = history[id];
        numbers[id] = number;
        if (record.kind() == sim::FaultStruck::kKind ||
            record.kind() == sim::FaultTookEffect::kKind) {
            continue;
        }
        ++number;
        fold(static_cast<std::uint64_t>(record.at().time_since_epoch().count()));
        fold(record.cause() == sim::kNoRecord ? record.cause() : numbers[record.cause()]);
        fold(record.task());
        fold(record.party());
        fold(record.kind());
        const auto payload = record.payload();
        fold(sim::hash_of({reinterpret_cast<const char*>(payload.data()), payload.size()}));
    }
    for (sim::TaskId task = 0; task < history.tasks(); ++task)
        fold(sim::hash_of(history.actor(task)));
    return fingerprint;
}

}  // namespace fencepost::scenarios
