// Faults as data: what strikes, where, and with which arguments. The kinds are listed in one table,
// from which plans are read and checked, help is printed and searches draw.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "sim/events.h"
#include "sim/time.h"

namespace fencepost::sim {

enum class FaultKind : std::uint8_t {
    Crash,                 // a node's process ends at once
    Stop,                  // a node is asked to end, and killed after a grace period
    Pause,                 // a node stands still: a stopped process or machine
    Slow,                  // everything of a node takes longer
    LoseRequest,           // the request never arrives
    LoseAnswer,            // the request is applied, the answer never arrives
    Delay,                 // the request (phase sent) or the answer (phase applied) comes later
    Duplicate,             // the request is applied twice: a client library that sends again
    Reset,                 // the connection breaks
    Refuse,                // the connection is refused before anything was sent
    SerializationFailure,  // the database answers 40001
    DeadlockVictim,        // the database answers 40P01
    Partition,             // no message between two parties, both ways or one way
    Restart,               // a server goes down and comes back
    Failover,              // a server's replica takes over; what it had not received is lost
    Unreachable,           // nobody reaches a server
    Evict,                 // Redis drops a key under memory pressure
    ClockJump,             // the wall clock of a node or server moves by
    ClockDrift,            // the clock of a node runs fast (or slow)
    FireTwice,             // the scheduler hands the same fire to another node as well
    FireLate,              // the scheduler hands a fire out late
    DuplicateMessage,      // the broker stores a message twice
    EarlyRedelivery,       // the broker delivers a message again while it is being worked on
    ReorderMessages,       // the broker delivers the newest message first
    Deploy,                // an operator drains a node, which comes back with another version
    Cancel,                // an operator asks for a unit of work to be cancelled
    SaveSchedule,          // an operator saves the schedule of a job once more, as it is
};

enum class FaultFamily : std::uint8_t {
    Node,
    Call,
    Network,
    Server,
    Clock,
    Scheduler,
    Broker,
    Operator
};

constexpr std::string_view name_of(FaultFamily family) {
    switch (family) {
        case FaultFamily::Node:
            return "node";
        case FaultFamily::Call:
            return "call";
        case FaultFamily::Network:
            return "network";
        case FaultFamily::Server:
            return "server";
        case FaultFamily::Clock:
            return "clock";
        case FaultFamily::Scheduler:
            return "scheduler";
        case FaultFamily::Broker:
            return "broker";
        case FaultFamily::Operator:
            return "operator";
    }
    return "?";
}

// One planned fault. Which arguments a kind takes stands in its FaultKindInfo.
struct Fault {
    // Where: at a fault point and phase, or at a time.
    std::string at;  // "A#1/daily-reconcile@…/db.commit/1"; '*' stands for any text; empty: at_time
    Phase phase = Phase::Before;
    std::optional<Time> at_time;

    FaultKind kind = FaultKind::Crash;

    std::string party;  // the node, server or clock that is struck; empty: the node of the point
    std::string from;   // partition: these two
    std::string to;
    bool one_way = false;  // partition: only messages from `from` to `to`
    // crash, stop: absent is never (until healing); deploy: absent is at once.
    std::optional<Duration> restart_after;
    std::optional<Duration> lasting;      // "for"
    std::optional<Duration> by;           // delay, slow, clock-jump, fire-late
    std::optional<Duration> grace;        // stop, deploy
    std::optional<std::int64_t> ppm;      // clock-drift: microseconds a second
    std::string keep;                     // restart: "all", "last-second-lost", "none"
    std::string key;                      // evict
    std::optional<std::int64_t> version;  // deploy: of the program that comes back
    std::string unit;                     // cancel: "acme/file-import@2026-03-02T18:00:00Z"
    std::string job;                      // save-schedule: "acme/daily-reconcile"

    bool operator==(const Fault&) const = default;
};

// Arguments, as bits: which a kind needs and which it may take.
enum FaultArgument : std::uint16_t {
    kNode = 1U << 0U,
    kServer = 1U << 1U,
    kOf = 1U << 2U,
    kBetween = 1U << 3U,  // "between": [x, y], or "from" and "to" for one way
    kRestartAfter = 1U << 4U,
    kFor = 1U << 5U,
    kBy = 1U << 6U,
    kGrace = 1U << 7U,
    kPpm = 1U << 8U,
    kKeep = 1U << 9U,
    kKey = 1U << 10U,
    kVersion = 1U << 11U,
    kUnit = 1U << 12U,
    kJob = 1U << 13U,
};

struct FaultKindInfo {
    FaultKind kind;
    std::string_view name;  // as in "do"
    FaultFamily family;
    std::uint16_t needs;  // bits of FaultArgument; kNode is only needed where there is no point
    std::uint16_t may_take;
    bool at_point;
    bool at_time;
    std::uint8_t phases;  // bit (1 << Phase): where at a point it can strike
    Phase usual_phase;    // when "phase" is not given
    std::string_view summary;
};

std::span<const FaultKindInfo> fault_kinds();
const FaultKindInfo& info_of(FaultKind kind);
const FaultKindInfo* find_fault_kind(std::string_view name);

// "crash at A#1/daily-reconcile@…/db.commit/1 (applied), restart after 5s"
std::string describe(const Fault& fault);

// The parts of a fault point's address.
struct PointAddress {
    std::string_view node;
    std::string_view incarnation;
    std::string_view task;
    std::string_view operation;
    std::string_view ordinal;
};

// "NODE#INCARNATION/TASK/OPERATION/ORDINAL"; nullopt when the text has another shape.
std::optional<PointAddress> parse_address(std::string_view text);

// Whether `pattern`, in which '*' stands for any text, matches all of `text`.
bool glob_matches(std::string_view pattern, std::string_view text);

}  // namespace fencepost::sim
