// The event types of the simulated world: what its servers, network and scheduler saw happen.
// Checkers judge by these alone. Kinds from 100.
#pragma once

#include <variant>
#include <vector>

#include "sim/events.h"

namespace fencepost::model {

// A value of a row, as a checker reads it: text points into the history.
using Cell = std::variant<std::monostate, std::int64_t, double, std::string_view>;

// A whole row in the column order of its table; empty where there is none (before an insert).
using Cells = std::vector<Cell>;

enum class RowChangeKind : std::uint8_t { Insert, Update, Delete };
constexpr std::string_view name_of(RowChangeKind kind) {
    switch (kind) {
        case RowChangeKind::Insert:
            return "insert";
        case RowChangeKind::Update:
            return "update";
        case RowChangeKind::Delete:
            return "delete";
    }
    return "?";
}

enum class KeyChangeKind : std::uint8_t { Set, ExpirySet, Deleted, Expired, Evicted, Lost };
constexpr std::string_view name_of(KeyChangeKind kind) {
    switch (kind) {
        case KeyChangeKind::Set:
            return "set";
        case KeyChangeKind::ExpirySet:
            return "expiry-set";
        case KeyChangeKind::Deleted:
            return "deleted";
        case KeyChangeKind::Expired:
            return "expired";
        case KeyChangeKind::Evicted:
            return "evicted";
        case KeyChangeKind::Lost:
            return "lost";
    }
    return "?";
}

// A table of the run's database, in the order of creation; rows refer to it by its index. Recorded
// at the start of the run, and again when a transaction that made or altered the table is
// committed, before its rows. The record's task is then the one whose session committed.
struct TableKnown {
    static constexpr sim::EventKind kKind = 100;
    static constexpr std::string_view kName = "table";
    static constexpr std::array<std::string_view, 3> kFields{"index", "name", "columns"};
    std::uint32_t index = 0;
    std::string_view name;
    std::string_view columns;  // names, separated by ','
    static auto fields(auto& self) { return std::tie(self.index, self.name, self.columns); }
};

// An index of the run's database that somebody defined (none that a key or constraint of CREATE
// TABLE brings along). Recorded when tables are.
struct IndexKnown {
    static constexpr sim::EventKind kKind = 105;
    static constexpr std::string_view kName = "index";
    static constexpr std::array<std::string_view, 4> kFields{"name", "table", "on", "unique"};
    std::string_view name;
    std::string_view table;
    std::string_view on;  // "(tenant, job) WHERE owner IS NULL"
    bool unique = false;
    static auto fields(auto& self) { return std::tie(self.name, self.table, self.on, self.unique); }
};

// A table or index that was known is gone.
struct RelationDropped {
    static constexpr sim::EventKind kKind = 106;
    static constexpr std::string_view kName = "dropped";
    static constexpr std::array<std::string_view, 1> kFields{"name"};
    std::string_view name;
    static auto fields(auto& self) { return std::tie(self.name); }
};

// A row that a committed transaction changed, recorded at the moment of the commit, in the order in
// which the transaction made its changes. The record's task is the one whose session committed.
struct RowChanged {
    static constexpr sim::EventKind kKind = 101;
    static constexpr std::string_view kName = "row";
    static constexpr std::array<std::string_view, 5> kFields{"change", "table", "transaction",
                                                             "before", "after"};
    RowChangeKind change = RowChangeKind::Insert;
    std::uint32_t table = 0;
    std::uint32_t transaction = 0;  // all rows of one commit carry the same number
    Cells before;
    Cells after;
    static auto fields(auto& self) {
        return std::tie(self.change, self.table, self.transaction, self.before, self.after);
    }
};

// A key of Redis changed. The record's task is the one whose command did it, if one did.
struct KeyChanged {
    static constexpr sim::EventKind kKind = 102;
    static constexpr std::string_view kName = "key";
    static constexpr std::array<std::string_view, 5> kFields{"change", "key", "before", "after",
                                                             "expires"};
    KeyChangeKind change = KeyChangeKind::Set;
    std::string_view key;
    std::string_view before;      // the string value; empty where there was none
    std::string_view after;       // empty where there is none any more
    std::int64_t expires_ms = 0;  // absolute, on Redis's wall clock; 0 is never
    static auto fields(auto& self) {
        return std::tie(self.change, self.key, self.before, self.after, self.expires_ms);
    }
};

// A database session ended; its open transaction, if any, was rolled back.
struct SessionEnded {
    static constexpr sim::EventKind kKind = 103;
    static constexpr std::string_view kName = "session-ended";
    static constexpr std::array<std::string_view, 2> kFields{"session", "why"};
    std::uint32_t session = 0;
    std::string_view why;
    static auto fields(auto& self) { return std::tie(self.session, self.why); }
};

// A statement waits for another session's lock.
struct LockWait {
    static constexpr sim::EventKind kKind = 104;
    static constexpr std::string_view kName = "lock-wait";
    static constexpr std::array<std::string_view, 2> kFields{"session", "for"};
    std::uint32_t session = 0;
    std::string_view waits_for;
    static auto fields(auto& self) { return std::tie(self.session, self.waits_for); }
};

// A business instant that the schedule makes due: what must happen exactly once. Recorded at the
// start of the run, one for each; `work` is the name that fires of it carry.
struct WorkDue {
    static constexpr sim::EventKind kKind = 110;
    static constexpr std::string_view kName = "due";
    static constexpr std::array<std::string_view, 3> kFields{"tenant", "job", "at"};
    std::string_view tenant;
    std::string_view job;
    sim::Time at{};
    static auto fields(auto& self) { return std::tie(self.tenant, self.job, self.at); }
};

// The scheduler hands a fire to a node: the task that this record belongs to runs it.
struct FireStarted {
    static constexpr sim::EventKind kKind = 111;
    static constexpr std::string_view kName = "fire";
    static constexpr std::array<std::string_view, 5> kFields{"job", "tenant", "fire", "scheduled",
                                                             "recovering"};
    std::string_view job;
    std::string_view tenant;
    std::string_view fire_instance_id;
    sim::Time scheduled{};
    bool recovering = false;
    static auto fields(auto& self) {
        return std::tie(self.job, self.tenant, self.fire_instance_id, self.scheduled,
                        self.recovering);
    }
};

// What the handler said of its fire. For people: checkers do not judge by it.
struct FireEnded {
    static constexpr sim::EventKind kKind = 112;
    static constexpr std::string_view kName = "fire-ended";
    static constexpr std::array<std::string_view, 2> kFields{"fire", "outcome"};
    std::string_view fire_instance_id;
    std::string_view outcome;
    static auto fields(auto& self) { return std::tie(self.fire_instance_id, self.outcome); }
};

// A node was declared dead by a peer, which takes its fires over.
struct NodeDeclaredFailed {
    static constexpr sim::EventKind kKind = 113;
    static constexpr std::string_view kName = "declared-failed";
    static constexpr std::array<std::string_view, 2> kFields{"instance", "recovered_fires"};
    std::string_view instance;
    std::uint32_t recovered_fires = 0;
    static auto fields(auto& self) { return std::tie(self.instance, self.recovered_fires); }
};

// The scheduled instant of the task's fire as the scheduler of its node wrote it, where it did.
struct InstantWritten {
    static constexpr sim::EventKind kKind = 114;
    static constexpr std::string_view kName = "instant-written";
    static constexpr std::array<std::string_view, 1> kFields{"text"};
    std::string_view text;
    static auto fields(auto& self) { return std::tie(self.text); }
};

// A message was stored: a copy of another one has its event id and a number of its own.
struct MessagePublished {
    static constexpr sim::EventKind kKind = 140;
    static constexpr std::string_view kName = "published";
    static constexpr std::array<std::string_view, 3> kFields{"queue", "number", "event"};
    std::string_view queue;
    std::uint32_t number = 0;
    std::string_view event_id;
    static auto fields(auto& self) { return std::tie(self.queue, self.number, self.event_id); }
};

// The record's task is the one that received it.
struct MessageDelivered {
    static constexpr sim::EventKind kKind = 141;
    static constexpr std::string_view kName = "delivered";
    static constexpr std::array<std::string_view, 4> kFields{"number", "event", "delivery",
                                                             "hidden_until"};
    std::uint32_t number = 0;
    std::string_view event_id;
    std::uint32_t delivery = 0;  // 1 is the first
    sim::Time hidden_until{};
    static auto fields(auto& self) {
        return std::tie(self.number, self.event_id, self.delivery, self.hidden_until);
    }
};

// The message is gone. `late`: its visibility timeout was over.
struct MessageAcknowledged {
    static constexpr sim::EventKind kKind = 142;
    static constexpr std::string_view kName = "acknowledged";
    static constexpr std::array<std::string_view, 3> kFields{"number", "event", "late"};
    std::uint32_t number = 0;
    std::string_view event_id;
    bool late = false;
    static auto fields(auto& self) { return std::tie(self.number, self.event_id, self.late); }
};

// The time of a delivered message was over and nobody had acknowledged it.
struct MessageExpired {
    static constexpr sim::EventKind kKind = 143;
    static constexpr std::string_view kName = "visible-again";
    static constexpr std::array<std::string_view, 2> kFields{"number", "event"};
    std::uint32_t number = 0;
    std::string_view event_id;
    static auto fields(auto& self) { return std::tie(self.number, self.event_id); }
};

// What the outside service did, for the first time that a request id asked for it.
struct GatewayApplied {
    static constexpr sim::EventKind kKind = 145;
    static constexpr std::string_view kName = "charged";
    static constexpr std::array<std::string_view, 3> kFields{"request", "reference", "amount"};
    std::string_view request_id;
    std::string_view reference;
    std::int64_t amount = 0;
    static auto fields(auto& self) {
        return std::tie(self.request_id, self.reference, self.amount);
    }
};

struct GatewayDeclined {
    static constexpr sim::EventKind kKind = 146;
    static constexpr std::string_view kName = "declined";
    static constexpr std::array<std::string_view, 3> kFields{"request", "reference", "amount"};
    std::string_view request_id;
    std::string_view reference;
    std::int64_t amount = 0;
    static auto fields(auto& self) {
        return std::tie(self.request_id, self.reference, self.amount);
    }
};

struct GatewayRefunded {
    static constexpr sim::EventKind kKind = 147;
    static constexpr std::string_view kName = "refunded";
    static constexpr std::array<std::string_view, 3> kFields{"request", "reference", "amount"};
    std::string_view request_id;
    std::string_view reference;
    std::int64_t amount = 0;
    static auto fields(auto& self) {
        return std::tie(self.request_id, self.reference, self.amount);
    }
};

// The start-up of a node's process is through, as its program says: its task is the record's.
struct StartUpDone {
    static constexpr sim::EventKind kKind = 115;
    static constexpr std::string_view kName = "start-up-done";
    static constexpr std::array<std::string_view, 0> kFields{};
    static auto fields(auto&) { return std::tie(); }
};

// The start-up of a node's process ended by an error that nobody caught; the process ends with it.
struct StartUpFailed {
    static constexpr sim::EventKind kKind = 116;
    static constexpr std::string_view kName = "start-up-failed";
    static constexpr std::array<std::string_view, 2> kFields{"sqlstate", "error"};
    std::string_view sqlstate;  // of an error of the database; else empty
    std::string_view error;     // as the server gave it, or as the program said it
    static auto fields(auto& self) { return std::tie(self.sqlstate, self.error); }
};

// The state at the end of the run, recorded in the audit.
// A foreground task, or a scheduler's fire, that is not done: `what` names it and what it waits
// for.
struct Unfinished {
    static constexpr sim::EventKind kKind = 120;
    static constexpr std::string_view kName = "unfinished";
    static constexpr std::array<std::string_view, 1> kFields{"what"};
    std::string_view what;
    static auto fields(auto& self) { return std::tie(self.what); }
};

// How the run ended and how long after healing: name_of(sim::RunEnd).
struct RunEnded {
    static constexpr sim::EventKind kKind = 121;
    static constexpr std::string_view kName = "run-ended";
    static constexpr std::array<std::string_view, 2> kFields{"how", "settled_after"};
    std::string_view how;
    sim::Duration settled_after{};
    static auto fields(auto& self) { return std::tie(self.how, self.settled_after); }
};

// What an author's invariant must not find in the committed state, it found: recorded when it is so
// for the first time, or with another first row. Its cause is the last change of the commit after
// which it was, and its task the one that committed; none of both in the state before the run.
struct InvariantBroken {
    static constexpr sim::EventKind kKind = 160;
    static constexpr std::string_view kName = "invariant-broken";
    static constexpr std::array<std::string_view, 3> kFields{"invariant", "row", "rows"};
    std::string_view invariant;
    std::string_view row;  // the first that its query found: "(7, 2026-03-02)"
    std::uint32_t rows = 0;
    static auto fields(auto& self) { return std::tie(self.invariant, self.row, self.rows); }
};

// How often an author's invariant was looked at in the run. Recorded in the audit.
struct InvariantLooked {
    static constexpr sim::EventKind kKind = 161;
    static constexpr std::string_view kName = "invariant-looked-at";
    static constexpr std::array<std::string_view, 3> kFields{"invariant", "times", "unanswered"};
    std::string_view invariant;
    std::uint32_t times = 0;
    std::uint32_t unanswered = 0;  // of further ones: the query would have waited, or failed
    static auto fields(auto& self) { return std::tie(self.invariant, self.times, self.unanswered); }
};

// An operator did something that belongs to the scenario and is no fault of the plan.
struct OperatorActed {
    static constexpr sim::EventKind kKind = 150;
    static constexpr std::string_view kName = "operator";
    static constexpr std::array<std::string_view, 1> kFields{"what"};
    std::string_view what;
    static auto fields(auto& self) { return std::tie(self.what); }
};

// An operator asks for a unit of work to be cancelled: from here on it may end so.
struct CancelAsked {
    static constexpr sim::EventKind kKind = 151;
    static constexpr std::string_view kName = "cancel-asked";
    static constexpr std::array<std::string_view, 1> kFields{"unit"};
    std::string_view unit;
    static auto fields(auto& self) { return std::tie(self.unit); }
};

}  // namespace fencepost::model

template <>
struct fencepost::sim::Codec<fencepost::model::Cells> {
    static void write(PayloadWriter& out, const model::Cells& cells);
    static void read(PayloadReader& in, model::Cells& cells);
    static void print(std::string& out, const model::Cells& cells);
};

namespace fencepost::model {

inline constexpr auto kWorldPrinters =
    sim::printers_of<TableKnown, RowChanged, KeyChanged, SessionEnded, LockWait, IndexKnown,
                     RelationDropped, WorkDue, FireStarted, FireEnded, NodeDeclaredFailed,
                     InstantWritten, StartUpDone, StartUpFailed, MessagePublished, MessageDelivered,
                     MessageAcknowledged, MessageExpired, GatewayApplied, GatewayDeclined,
                     GatewayRefunded, Unfinished, RunEnded, OperatorActed, CancelAsked,
                     InvariantBroken, InvariantLooked>();

// "row change=insert table=3 …": the name and the fields of any record, of sim/ or of here.
std::string_view event_name(const sim::Record& record);
std::string event_text(const sim::Record& record);

}  // namespace fencepost::model
