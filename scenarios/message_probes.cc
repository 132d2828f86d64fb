#include "scenarios/message_probes.h"

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "model/events.h"
#include "sim/events.h"

namespace fencepost::scenarios {
namespace {

using sim::History;
using sim::Record;
using sim::RecordId;

// Calls `visit(record)` for every record until it returns true; whether it did.
template <typename Visit>
bool any(const History& history, Visit visit) {
    for (RecordId id = 0; id < history.size(); ++id) {
        if (visit(history[id])) return true;
    }
    return false;
}

bool unanswered(std::string_view outcome) {
    return outcome == "timed out" || outcome == "connection reset";
}

}  // namespace

bool message_delivered_again(const History& history) {
    return any(history, [](const Record& record) {
        const auto delivered = record.as<model::MessageDelivered>();
        return delivered && delivered->delivery > 1;
    });
}

// The task that works on an event is called after it.
bool message_delivered_twice_at_once(const History& history) {
    std::map<std::string, sim::TaskId> working;
    std::map<std::string_view, int> deliveries;
    return any(history, [&](const Record& record) {
        if (const auto delivered = record.as<model::MessageDelivered>()) {
            return ++deliveries[delivered->event_id] > 1 &&
                   working.contains(std::string(delivered->event_id));
        }
        if (record.task() == sim::kNoTask) return false;
        const std::string& name = history.task(record.task()).name;
        const std::string event = name.substr(0, name.find('~'));
        if (const auto started = record.as<sim::TaskStarted>()) {
            if (started->foreground) working[event] = record.task();
        } else if (record.kind() == sim::TaskEnded::kKind) {
            const auto known = working.find(event);
            if (known != working.end() && known->second == record.task()) working.erase(known);
        }
        return false;
    });
}

// Its time was over, or it was out under another receipt already.
bool message_acknowledged_late(const History& history) {
    return any(history, [](const Record& record) {
        const auto acknowledged = record.as<model::MessageAcknowledged>();
        if (acknowledged && acknowledged->late) return true;
        const auto applied = record.as<sim::CallApplied>();
        return applied && applied->operation == "broker.acknowledge" && applied->result != "done";
    });
}

bool message_overtook(const History& history) {
    std::uint32_t newest = 0;
    return any(history, [&newest](const Record& record) {
        const auto delivered = record.as<model::MessageDelivered>();
        if (!delivered || delivered->delivery > 1) return false;
        if (delivered->number < newest) return true;
        newest = delivered->number;
        return false;
    });
}

// The entry was there: the insert changed no row.
bool duplicate_recognised(const History& history) {
    std::set<std::pair<sim::TaskId, std::uint32_t>> entering;
    return any(history, [&entering](const Record& record) {
        if (const auto call = record.as<sim::CallStarted>()) {
            if (call->detail.starts_with("INSERT INTO job_inbox")) {
                entering.emplace(record.task(), call->ordinal);
            }
            return false;
        }
        const auto applied = record.as<sim::CallApplied>();
        return applied && applied->operation == "db.execute" && applied->result == "0 changed" &&
               entering.contains({record.task(), applied->ordinal});
    });
}

bool request_worked_on_by_both(const History& history) {
    std::map<std::string, sim::PartyId> working;
    std::set<sim::PartyId> servers;
    for (RecordId id = 0; id < history.size(); ++id) {
        const auto applied = history[id].as<sim::CallApplied>();
        if (applied && applied->operation == "client.request") servers.insert(history[id].party());
    }
    return any(history, [&](const Record& record) {
        if (!servers.contains(record.party()) || record.task() == sim::kNoTask) return false;
        const sim::TaskInfo& task = history.task(record.task());
        if (task.party != record.party()) return false;
        const std::string request = task.name.substr(0, task.name.find('~'));
        if (const auto started = record.as<sim::TaskStarted>()) {
            if (!started->foreground) return false;
            const auto known = working.find(request);
            if (known != working.end() && known->second != record.party()) return true;
            working[request] = record.party();
        } else if (record.kind() == sim::TaskEnded::kKind) {
            working.erase(request);
        }
        return false;
    });
}

bool request_repeated(const History& history) {
    std::set<sim::TaskId> without_answer;
    return any(history, [&without_answer](const Record& record) {
        if (const auto ended = record.as<sim::CallEnded>()) {
            if (ended->operation == "client.request" && unanswered(ended->outcome)) {
                without_answer.insert(record.task());
            }
            return false;
        }
        const auto call = record.as<sim::CallStarted>();
        return call && call->operation == "client.request" &&
               without_answer.contains(record.task());
    });
}

bool outside_outcome_unknown(const History& history) {
    return any(history, [](const Record& record) {
        const auto ended = record.as<sim::CallEnded>();
        return ended && ended->operation == "gateway.submit" && unanswered(ended->outcome);
    });
}

bool look_up_found_the_charge(const History& history) {
    return any(history, [](const Record& record) {
        const auto ended = record.as<sim::CallEnded>();
        return ended && ended->operation == "gateway.look-up" && ended->outcome == "accepted";
    });
}

bool request_repeated_after_look_up(const History& history) {
    std::set<sim::TaskId> looked;
    return any(history, [&looked](const Record& record) {
        if (const auto ended = record.as<sim::CallEnded>()) {
            if (ended->operation == "gateway.look-up" && ended->outcome == "unknown") {
                looked.insert(record.task());
            }
            return false;
        }
        const auto call = record.as<sim::CallStarted>();
        return call && call->operation == "gateway.submit" && looked.contains(record.task());
    });
}

// Of a charge that was applied, refunded, and of one that was never applied.
bool declined_and_nothing_left(const History& history) {
    bool declined = false;
    return any(history, [&declined](const Record& record) {
        declined = declined || record.kind() == model::GatewayDeclined::kKind;
        return declined && record.kind() == model::GatewayRefunded::kKind;
    });
}

}  // namespace fencepost::scenarios
