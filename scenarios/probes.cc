#include "scenarios/probes.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "model/events.h"
#include "scenarios/key_probes.h"
#include "scenarios/long_work_probes.h"
#include "scenarios/message_probes.h"

namespace fencepost::scenarios {
namespace {

using model::KeyChangeKind;
using sim::History;
using sim::Record;
using sim::RecordId;

// Calls `visit(record, event)` for every E until it returns true; whether it did.
template <typename E, typename Visit>
bool any(const History& history, Visit visit) {
    for (RecordId id = 0; id < history.size(); ++id) {
        if (history.kind_of(id) != E::kKind) continue;
        const Record record = history[id];
        if (visit(record, *record.as<E>())) return true;
    }
    return false;
}

bool asked_twice(const History& history) {
    std::map<std::pair<std::string_view, sim::Time>, sim::PartyId> first;
    return any<model::FireStarted>(history, [&](const Record& record,
                                                const model::FireStarted& fire) {
        const auto [known, added] = first.try_emplace({fire.job, fire.scheduled}, record.party());
        return !added && known->second != record.party();
    });
}

bool executions_overlapped(const History& history) {
    std::map<std::pair<std::string_view, sim::Time>, int> running;
    std::map<sim::TaskId, std::pair<std::string_view, sim::Time>> fires;
    for (RecordId id = 0; id < history.size(); ++id) {
        const Record record = history[id];
        if (const auto fire = record.as<model::FireStarted>()) {
            const std::pair key{fire->job, fire->scheduled};
            if (++running[key] > 1) return true;
            fires[record.task()] = key;
        } else if (record.kind() == model::FireEnded::kKind) {
            --running[fires[record.task()]];
        } else if (record.kind() == sim::NodeEnded::kKind) {
            // What ran on it runs no more.
            for (auto& [task, key] : fires) {
                const auto& info = history.task(task);
                if (info.party == record.party() &&
                    info.incarnation == record.as<sim::NodeEnded>()->incarnation) {
                    --running[key];
                    key = {};
                }
            }
        }
    }
    return false;
}

// Whether the process that a task belongs to is up at a record.
class Lives {
public:
    void see(const Record& record) {
        if (const auto ended = record.as<sim::NodeEnded>())
            ended_.emplace(record.party(), ended->incarnation);
    }
    [[nodiscard]] bool alive(const sim::TaskInfo& task) const {
        return !ended_.contains({task.party, task.incarnation});
    }

private:
    std::set<std::pair<sim::PartyId, std::uint32_t>> ended_;
};

bool call_unanswered(const History& history, std::string_view operation) {
    return any<sim::CallEnded>(history, [&](const Record&, const sim::CallEnded& ended) {
        return ended.operation == operation &&
               (ended.outcome == "timed out" || ended.outcome == "connection reset" ||
                ended.outcome == "connection refused");
    });
}

bool lease_wanted_without_redis(const History& history) {
    return call_unanswered(history, "redis.lease-acquire");
}

bool renewal_unanswered(const History& history) {
    return call_unanswered(history, "redis.lease-renew");
}

// A lease of a live holder went in that way.
bool lease_gone(const History& history, KeyChangeKind how) {
    Lives lives;
    std::map<std::string_view, sim::TaskId> holders;
    for (RecordId id = 0; id < history.size(); ++id) {
        const Record record = history[id];
        lives.see(record);
        const auto key = record.as<model::KeyChanged>();
        if (!key || !key->key.starts_with("lease:")) continue;
        if (key->change == KeyChangeKind::Set) {
            holders[key->key] = record.task();
        } else if (key->after.empty()) {
            const auto holder = holders.find(key->key);
            if (holder == holders.end()) continue;
            if (key->change == how && lives.alive(history.task(holder->second))) return true;
            holders.erase(holder);
        }
    }
    return false;
}

bool lease_expired_under_live_holder(const History& history) {
    return lease_gone(history, KeyChangeKind::Expired);
}

bool lease_lost_with_redis(const History& history) {
    return lease_gone(history, KeyChangeKind::Lost);
}

bool lease_evicted(const History& history) {
    return lease_gone(history, KeyChangeKind::Evicted);
}

// Whether its lease was among what the replica had not received or not.
bool failover_under_holder(const History& history) {
    std::set<std::string_view> held;
    for (RecordId id = 0; id < history.size(); ++id) {
        const Record record = history[id];
        if (const auto struck = record.as<sim::FaultStruck>()) {
            if (struck->fault.starts_with("failover") && !held.empty()) return true;
        } else if (const auto key = record.as<model::KeyChanged>()) {
            if (!key->key.starts_with("lease:")) continue;
            if (key->after.empty()) {
                held.erase(key->key);
            } else {
                held.insert(key->key);
            }
        }
    }
    return false;
}

// Claims are found by their shape: a table called job_claim or background_task, with an owner.
bool claim_taken_over(const History& history) {
    std::optional<std::uint32_t> table;
    any<model::TableKnown>(history, [&](const Record&, const model::TableKnown& known) {
        if (known.name == "job_claim" || known.name == "background_task") table = known.index;
        return table.has_value();
    });
    if (!table) return false;
    constexpr std::size_t kOwner = 5;  // in both
    return any<model::RowChanged>(history, [&](const Record&, const model::RowChanged& row) {
        return row.table == *table && row.change == model::RowChangeKind::Update &&
               row.before.size() > kOwner && row.before[kOwner] != model::Cell{} &&
               row.after[kOwner] != model::Cell{} && row.before[kOwner] != row.after[kOwner];
    });
}

bool node_declared_failed(const History& history) {
    return any<model::NodeDeclaredFailed>(history, [](const auto&, const auto&) { return true; });
}

bool fire_recovered(const History& history) {
    return any<model::FireStarted>(
        history, [](const Record&, const model::FireStarted& fire) { return fire.recovering; });
}

// A fenced statement changed no row: somebody came too late.
bool stale_write_refused(const History& history) {
    std::set<std::pair<sim::TaskId, std::uint32_t>> fenced;
    for (RecordId id = 0; id < history.size(); ++id) {
        const Record record = history[id];
        if (const auto call = record.as<sim::CallStarted>()) {
            const bool of_claim = call->detail.starts_with("UPDATE job_claim") ||
                                  call->detail.starts_with("UPDATE background_task");
            if (call->operation == "db.execute" && of_claim &&
                call->detail.find("AND fencing_token = $") != std::string_view::npos) {
                fenced.emplace(record.task(), call->ordinal);
            }
        } else if (const auto applied = record.as<sim::CallApplied>()) {
            if (applied->operation == "db.execute" && applied->result == "0 changed" &&
                fenced.contains({record.task(), applied->ordinal})) {
                return true;
            }
        }
    }
    return false;
}

// A process ended while a write of its had been applied and not answered.
bool crash_before_response(const History& history) {
    std::map<std::pair<sim::TaskId, std::uint32_t>, bool> unanswered;
    for (RecordId id = 0; id < history.size(); ++id) {
        const Record record = history[id];
        if (const auto applied = record.as<sim::CallApplied>()) {
            if (applied->operation == "db.commit" || applied->operation == "db.execute") {
                unanswered[{record.task(), applied->ordinal}] = true;
            }
        } else if (const auto ended = record.as<sim::CallEnded>()) {
            unanswered.erase({record.task(), ended->ordinal});
        } else if (record.kind() == sim::NodeEnded::kKind) {
            const auto dead = record.as<sim::NodeEnded>()->incarnation;
            for (const auto& [call, is_applied] : unanswered) {
                const auto& task = history.task(call.first);
                if (task.party == record.party() && task.incarnation == dead) return true;
            }
        }
    }
    return false;
}

bool commit_outcome_unknown(const History& history) {
    return any<sim::CallEnded>(history, [](const Record&, const sim::CallEnded& ended) {
        return ended.operation == "db.commit" &&
               (ended.outcome == "timed out" || ended.outcome == "connection reset");
    });
}

bool waited_for_a_lock(const History& history) {
    return any<model::LockWait>(history, [](const auto&, const auto&) { return true; });
}

// Start-ups that are going on, by their tasks.
class StartUpsUnderWay {
public:
    explicit StartUpsUnderWay(const History& history) : history_(history) {}

    // Whether the record ends a process in the midst of its start-up.
    bool see(const Record& record) {
        if (record.as<sim::TaskStarted>() && history_.task(record.task()).name == "start-up") {
            tasks_.insert(record.task());
        } else if (record.as<model::StartUpDone>() || record.as<model::StartUpFailed>()) {
            tasks_.erase(record.task());
        } else if (const auto ended = record.as<sim::NodeEnded>()) {
            return std::erase_if(tasks_, [&](sim::TaskId id) {
                       const sim::TaskInfo& task = history_.task(id);
                       return task.party == record.party() &&
                              task.incarnation == ended->incarnation;
                   }) > 0;
        }
        return false;
    }
    [[nodiscard]] std::size_t count() const { return tasks_.size(); }

private:
    const History& history_;
    std::set<sim::TaskId> tasks_;
};

bool start_ups_overlapped(const History& history) {
    StartUpsUnderWay under_way{history};
    for (RecordId id = 0; id < history.size(); ++id) {
        under_way.see(history[id]);
        if (under_way.count() > 1) return true;
    }
    return false;
}

bool start_up_killed_midway(const History& history) {
    StartUpsUnderWay under_way{history};
    for (RecordId id = 0; id < history.size(); ++id) {
        if (under_way.see(history[id])) return true;
    }
    return false;
}

bool gave_way(const History& history) {
    return any<model::FireEnded>(history, [](const Record&, const model::FireEnded& ended) {
        return ended.outcome == "gave way" || ended.outcome == "already done" ||
               ended.outcome == "already enqueued";
    });
}

bool finished_before_it_was_marked(const History& history) {
    return any<model::FireEnded>(history, [&](const Record&, const model::FireEnded& ended) {
        return ended.outcome == "already done";
    });
}

constexpr std::array kProbes{
    Probe{"both nodes were asked", "one scheduled instant was handed to two nodes", &asked_twice},
    Probe{"executions overlapped", "one scheduled instant was being run twice at the same time",
          &executions_overlapped},
    Probe{"second execution gave way",
          "a fire ended because somebody else held or had done the work", &gave_way},
    Probe{"second execution found the work done",
          "a fire ended because the work was finished already", &finished_before_it_was_marked},
    Probe{"lease expired under a live holder",
          "a lease ran out while the process that took it was alive",
          &lease_expired_under_live_holder},
    Probe{"lease lost with Redis's data",
          "a restart or failover took a lease while the process that held it was alive",
          &lease_lost_with_redis},
    Probe{"lease evicted under its holder",
          "Redis dropped a lease while the process that held it was alive", &lease_evicted},
    Probe{"Redis failed over under a holder", "a replica took over while a lease stood",
          &failover_under_holder},
    Probe{"Redis unreachable when a lease was wanted", "a lease was asked for and no answer came",
          &lease_wanted_without_redis},
    Probe{"renewal went unanswered", "a holder asked to renew its lease and no answer came",
          &renewal_unanswered},
    Probe{"claim taken over", "a claim changed its owner while it was unfinished",
          &claim_taken_over},
    Probe{"node declared failed", "a peer declared a node dead", &node_declared_failed},
    Probe{"fire recovered", "a fire of a node that was declared dead was handed out again",
          &fire_recovered},
    Probe{"stale write refused", "a fenced statement of a former holder changed no row",
          &stale_write_refused},
    Probe{"crash before response",
          "a process died after its write was applied and before the answer",
          &crash_before_response},
    Probe{"commit outcome unknown", "the answer to a COMMIT never came", &commit_outcome_unknown},
    Probe{"both versions at work", "two nodes ran different versions at the same time",
          &both_versions_at_work},
    Probe{"version rolled back", "a node came back with an earlier version than before",
          &version_rolled_back},
    Probe{"begun by one version, finished by the other",
          "work that a node of one version had made known was finished by another version",
          &begun_by_one_version_finished_by_the_other},
    Probe{"batch ended while its node drained",
          "a batch was committed by a process that knew that it must end",
          &batch_ended_while_its_node_drained},
    Probe{"continued on the other node",
          "work with a checkpoint was taken up by another node than before",
          &continued_on_the_other_node},
    Probe{"cancelled while it ran", "a task ended as cancelled under its holder",
          &cancelled_while_it_ran},
    Probe{"cancelled while nobody ran it", "a waiting task was cancelled at once",
          &cancelled_while_nobody_ran_it},
    Probe{"task claimed after its lease ran out",
          "a background task changed hands because its lease had run out",
          &claimed_after_its_lease_ran_out},
    Probe{"one instant under two fire ids",
          "a scheduled instant was handed out under another fire instance id as well",
          &one_instant_under_two_fire_ids},
    Probe{"one instant in two notations",
          "two nodes wrote one scheduled instant in the time of different zones",
          &one_instant_in_two_notations},
    Probe{"one local time, two instants",
          "the clock was set back, and two scheduled instants had the same local time",
          &one_local_time_two_instants},
    Probe{"offset changed between two fires",
          "one node wrote two instants with different offsets from UTC",
          &offset_changed_between_two_fires},
    Probe{"misfire handled", "a fire carried the moment of handling instead of a due instant",
          &misfire_handled},
    Probe{"start-ups overlapped", "two nodes were starting up at the same time",
          &start_ups_overlapped},
    Probe{"start-up killed midway", "a process ended in the midst of its start-up",
          &start_up_killed_midway},
    Probe{"waited for a lock", "a statement waited for another session's lock", &waited_for_a_lock},
    Probe{"message delivered again", "a message came a second time", &message_delivered_again},
    Probe{"message delivered twice at the same time",
          "a message was delivered while somebody was working on it",
          &message_delivered_twice_at_once},
    Probe{"message acknowledged too late",
          "an acknowledgement came when the message was visible again or out a second time",
          &message_acknowledged_late},
    Probe{"message overtook another", "a message was delivered before an older one",
          &message_overtook},
    Probe{"duplicate recognised", "the inbox knew an event that was to be handled",
          &duplicate_recognised},
    Probe{"request worked on by both nodes", "two nodes worked on one request at the same time",
          &request_worked_on_by_both},
    Probe{"request repeated without an answer",
          "a client that got no answer sent its request again", &request_repeated},
    Probe{"outside outcome unknown", "the answer to a submission never came",
          &outside_outcome_unknown},
    Probe{"look-up found the charge", "a charge whose answer was lost was found by its request id",
          &look_up_found_the_charge},
    Probe{"look-up found nothing and the request was repeated",
          "a request that had never arrived was sent again", &request_repeated_after_look_up},
    Probe{"charge declined and nothing of it left",
          "a charge was declined and what was charged with it was refunded",
          &declined_and_nothing_left},
};

}  // namespace

std::span<const Probe> all_probes() {
    return kProbes;
}

const Probe* find_probe(std::string_view name) {
    const auto found = std::ranges::find(kProbes, name, &Probe::name);
    return found == kProbes.end() ? nullptr : &*found;
}

std::vector<std::string> reached_probes(const History& history,
                                        const std::vector<std::string>& names) {
    std::vector<std::string> reached;
    for (const std::string& name : names) {
        const Probe* probe = find_probe(name);
        sim::require(probe != nullptr, "a scenario names probes that there are");
        if (probe->reached(history)) reached.push_back(name);
    }
    return reached;
}

}  // namespace fencepost::scenarios
