// drain: once a process knows that it must end, it sends no statement that takes a claim, except
// for fires that the scheduler hands to it; and while it still works, the lease that it works under
// does not run out for want of a renewal. What a stop, a slow node or a broken link does to
// renewals is not held against it: then they were tried.

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "checkers/findings.h"
#include "checkers/judges.h"

namespace fencepost::checkers {
namespace {

using model::KeyChangeKind;
using sim::RecordId;
using sim::TaskId;

// One life of a process.
using Life = std::pair<sim::PartyId, std::uint32_t>;

// The caller went on without an answer.
bool unanswered(std::string_view outcome) {
    return outcome == "timed out" || outcome == "connection reset" ||
           outcome == "connection refused" || outcome == "pending";
}

// A lease in Redis that stands. It is neglected when its holder, who knows that it has it for
// another while (the answer came), neither renews nor releases it in all that time.
struct Standing {
    TaskId root = sim::kNoTask;
    sim::Time since{};
    sim::Time until{};               // in true time
    RecordId call = sim::kNoRecord;  // that set or renewed it
    bool left_alone = false;
};

// A lease that ran out under a process that had done nothing for it.
struct Neglected {
    sim::Time since{};
    std::string_view key;
};

class Drain {
public:
    explicit Drain(const Reading& reading) : reading_(reading), history_(reading.history()) {}

    void judge() {
        find_takes();
        for (RecordId id = 0; id < history_.size(); ++id) see(id);
    }

    [[nodiscard]] Findings& findings() { return findings_; }
    [[nodiscard]] std::size_t drained() const { return drained_; }

private:
    // The records of commits by which somebody became the owner of a claim.
    void find_takes() {
        for (const Commit& commit : reading_.commits()) {
            for (const ClaimChange& change : commit.claims) {
                if (!change.after || !change.after->owned() || change.after->finished) continue;
                if (change.before && change.before->owner == change.after->owner) continue;
                takes_.emplace(change.source.record, change.unit);
            }
        }
    }

    void see(RecordId id) {
        const sim::Record record = history_[id];
        switch (record.kind()) {
            case sim::TaskStarted::kKind:
                if (record.as<sim::TaskStarted>()->foreground) fires_.insert(record.task());
                break;
            case sim::NodeDraining::kKind:
                ++drained_;
                draining_.emplace(life_of(record.task()), id);
                break;
            case sim::NodePaused::kKind:
                hinder(record.party(), sim::Time::max());
                break;
            case sim::NodeSlowed::kKind:
                hinder(record.party(),
                       sim::later(record.at(), record.as<sim::NodeSlowed>()->duration));
                break;
            case sim::NodeResumed::kKind:
            case sim::NodeEnded::kKind:
                hindered_until_.erase(record.party());
                break;
            case sim::ClockJumped::kKind:
                // Deadlines are no longer what they were.
                ahead_[record.party()] += record.as<sim::ClockJumped>()->by;
                for (auto& [key, lease] : leases_) lease.left_alone = false;
                break;
            case sim::CallStarted::kKind:
                see_call(id, record);
                break;
            case sim::CallEnded::kKind:
                see_answer(record);
                break;
            case model::RowChanged::kKind:
                if (const auto take = takes_.find(id); take != takes_.end())
                    see_take(record, *take);
                break;
            case model::KeyChanged::kKind:
                see_key(record);
                break;
            default:
                break;
        }
    }

    void see_call(RecordId id, const sim::Record& record) {
        if (record.task() == sim::kNoTask) return;
        const auto call = *record.as<sim::CallStarted>();
        const TaskId root = root_of(record.task());
        calls_[record.task()] = id;
        if (call.operation == "db.begin") began_[record.task()] = id;
        if (call.operation == "redis.lease-renew" || call.operation == "redis.lease-release") {
            for (auto& [key, lease] : leases_) {
                if (lease.root == root) lease.left_alone = false;
            }
        }
        if (!call.operation.starts_with("db.") || !draining_.contains(life_of(record.task()))) {
            return;
        }
        for (const auto& [key, lease] : leases_) note_neglected(lease, key, record.at());
        const auto neglected = neglected_.find(root);
        if (neglected == neglected_.end() || !blamed_.insert(root).second) return;
        findings_.add(id, std::string{neglected->second.key},
                      fmt::format("{} works on while it drains, and its lease {} ran out at {} "
                                  "without a renewal tried.",
                                  reading_.who_and_when(id), neglected->second.key,
                                  sim::to_text(neglected->second.since)));
    }

    void note_neglected(const Standing& lease, std::string_view key, sim::Time now) {
        if (lease.left_alone && lease.until < now) {
            neglected_.try_emplace(lease.root, Neglected{.since = lease.until, .key = key});
        }
    }

    // What stands still or is slow renews too late, or nothing.
    void hinder(sim::PartyId party, sim::Time until) {
        sim::Time& known = hindered_until_[party];
        known = std::max(known, until);
        for (auto& [key, lease] : leases_) {
            if (history_.task(lease.root).party == party) lease.left_alone = false;
        }
    }
    [[nodiscard]] bool hindered(sim::PartyId party, sim::Time now) const {
        const auto until = hindered_until_.find(party);
        return until != hindered_until_.end() && now <= until->second;
    }

    void see_answer(const sim::Record& record) {
        const auto answer = *record.as<sim::CallEnded>();
        const bool of_lease =
            answer.operation == "redis.lease-acquire" || answer.operation == "redis.lease-renew";
        if (!of_lease || unanswered(answer.outcome) || hindered(record.party(), record.at())) {
            return;
        }
        for (auto& [key, lease] : leases_) {
            // The answer to another attempt says nothing of a lease whose own answer was lost.
            const auto call = calls_.find(record.task());
            if (call == calls_.end() || lease.call != call->second) continue;
            // Whoever hears of it late has little time left to do anything for it.
            lease.left_alone = record.at() <= lease.since + (lease.until - lease.since) / 3;
        }
    }

    // A claim is taken by the statement on its own, or by the transaction from its beginning on.
    void see_take(const sim::Record& record, const std::pair<const RecordId, std::uint32_t>& take) {
        const TaskId task = record.task();
        if (task == sim::kNoTask) return;
        if (fires_.contains(root_of(task))) return;
        const auto draining = draining_.find(life_of(task));
        if (draining == draining_.end() || record.cause() == sim::kNoRecord) return;
        RecordId sent = record.cause();
        const auto call = history_[sent].as<sim::CallStarted>();
        if (call && call->operation == "db.commit") {
            const auto began = began_.find(task);
            if (began != began_.end()) sent = began->second;
        }
        if (sent < draining->second) return;
        findings_.add(
            take.first, reading_.unit_name(take.second),
            fmt::format("{} took {} on, when it had known since {} that it must end.",
                        reading_.who_and_when(take.first), reading_.unit_name(take.second),
                        sim::to_text(history_[draining->second].at())));
    }

    void see_key(const sim::Record& record) {
        const auto event = *record.as<model::KeyChanged>();
        const std::string& prefix = reading_.expectations().lease_prefix;
        if (prefix.empty() || !event.key.starts_with(prefix)) return;
        const auto standing = leases_.find(event.key);
        if (standing != leases_.end()) {
            note_neglected(standing->second, event.key, record.at());
            leases_.erase(standing);
        }
        const bool stands =
            event.change == KeyChangeKind::Set || event.change == KeyChangeKind::ExpirySet;
        if (!stands || record.task() == sim::kNoTask || event.expires_ms == 0) return;
        const sim::Time until{std::chrono::milliseconds{event.expires_ms}};
        leases_[event.key] = {.root = root_of(record.task()),
                              .since = record.at(),
                              .until = until - ahead_[record.party()],
                              .call = record.cause(),
                              .left_alone = false};
    }

    [[nodiscard]] TaskId root_of(TaskId task) const {
        const TaskId root = history_.task(task).root;
        return root == sim::kNoTask ? task : root;
    }
    [[nodiscard]] Life life_of(TaskId task) const {
        const sim::TaskInfo& info = history_.task(task);
        return {info.party, info.incarnation};
    }

    const Reading& reading_;
    const sim::History& history_;
    std::map<RecordId, std::uint32_t> takes_;
    std::map<Life, RecordId> draining_;  // since which record
    std::map<std::string_view, Standing> leases_;
    std::map<TaskId, Neglected> neglected_;  // by the root of who holds it
    std::map<TaskId, RecordId> calls_;       // the last call of each task
    std::map<TaskId, RecordId> began_;       // the last transaction of each task
    std::set<TaskId> fires_, blamed_;
    std::map<sim::PartyId, sim::Time> hindered_until_;  // nodes that are paused or slow
    std::map<sim::PartyId, sim::Duration> ahead_;       // clocks that have jumped, and how far
    std::size_t drained_ = 0;
    Findings findings_;
};

bool anybody_drains(const sim::History& history) {
    for (RecordId id = 0; id < history.size(); ++id) {
        if (history.kind_of(id) == sim::NodeDraining::kKind) return true;
    }
    return false;
}

}  // namespace

Judgement judge_drain(const Reading& reading) {
    const Expectations& expectations = reading.expectations();
    if (!expectations.claims && expectations.lease_prefix.empty()) {
        return not_applicable("the handler keeps no claims and takes no lease");
    }
    if (!anybody_drains(reading.history())) return unknown("no node was asked to stop");
    Drain drain{reading};
    drain.judge();
    if (!drain.findings().empty()) return std::move(drain.findings()).failed();
    return passed(count_of(drain.drained(), "node") + " drained");
}

}  // namespace fencepost::checkers
