// The event types that the engine itself records. Kinds 1 to 99; model/ has those from 100.
#pragma once

#include "sim/history.h"
#include "sim/phase.h"

namespace fencepost::sim {

struct NodeStarted {
    static constexpr EventKind kKind = 1;
    static constexpr std::string_view kName = "node-started";
    static constexpr std::array<std::string_view, 1> kFields{"incarnation"};
    std::uint32_t incarnation = 0;
    static auto fields(auto& self) { return std::tie(self.incarnation); }
};

// `how`: "crash", "stopped" (a graceful stop that ended in time), "grace period over", "uncaught:
// …" when an exception left a background task, or what else a scenario calls it.
struct NodeEnded {
    static constexpr EventKind kKind = 2;
    static constexpr std::string_view kName = "node-ended";
    static constexpr std::array<std::string_view, 2> kFields{"incarnation", "how"};
    std::uint32_t incarnation = 0;
    std::string_view how;
    static auto fields(auto& self) { return std::tie(self.incarnation, self.how); }
};

struct NodePaused {
    static constexpr EventKind kKind = 3;
    static constexpr std::string_view kName = "node-paused";
    static constexpr std::array<std::string_view, 1> kFields{"for"};
    Duration duration{};
    static auto fields(auto& self) { return std::tie(self.duration); }
};

struct NodeResumed {
    static constexpr EventKind kKind = 4;
    static constexpr std::string_view kName = "node-resumed";
    static constexpr std::array<std::string_view, 0> kFields{};
    static auto fields(auto&) { return std::tie(); }
};

struct NodeStopping {
    static constexpr EventKind kKind = 5;
    static constexpr std::string_view kName = "node-stopping";
    static constexpr std::array<std::string_view, 1> kFields{"grace"};
    Duration grace{};
    static auto fields(auto& self) { return std::tie(self.grace); }
};

struct TaskStarted {
    static constexpr EventKind kKind = 6;
    static constexpr std::string_view kName = "task-started";
    static constexpr std::array<std::string_view, 1> kFields{"foreground"};
    bool foreground = false;
    static auto fields(auto& self) { return std::tie(self.foreground); }
};

struct TaskEnded {
    static constexpr EventKind kKind = 7;
    static constexpr std::string_view kName = "task-ended";
    static constexpr std::array<std::string_view, 0> kFields{};
    static auto fields(auto&) { return std::tie(); }
};

// A call reached its fault point: it has an address and is about to be sent.
struct CallStarted {
    static constexpr EventKind kKind = 8;
    static constexpr std::string_view kName = "call";
    static constexpr std::array<std::string_view, 3> kFields{"op", "ordinal", "detail"};
    std::string_view operation;
    std::uint32_t ordinal = 0;
    std::string_view detail;  // statement or command
    static auto fields(auto& self) { return std::tie(self.operation, self.ordinal, self.detail); }
};

// The server has done what was asked; the answer is not back.
struct CallApplied {
    static constexpr EventKind kKind = 9;
    static constexpr std::string_view kName = "applied";
    static constexpr std::array<std::string_view, 3> kFields{"op", "ordinal", "result"};
    std::string_view operation;
    std::uint32_t ordinal = 0;
    std::string_view result;
    static auto fields(auto& self) { return std::tie(self.operation, self.ordinal, self.result); }
};

// The caller goes on: with the answer, or with why there is none.
struct CallEnded {
    static constexpr EventKind kKind = 10;
    static constexpr std::string_view kName = "answer";
    static constexpr std::array<std::string_view, 3> kFields{"op", "ordinal", "outcome"};
    std::string_view operation;
    std::uint32_t ordinal = 0;
    std::string_view outcome;
    static auto fields(auto& self) { return std::tie(self.operation, self.ordinal, self.outcome); }
};

// Fault number `index` of the plan has struck: from here on it is in force.
struct FaultStruck {
    static constexpr EventKind kKind = 11;
    static constexpr std::string_view kName = "fault-struck";
    static constexpr std::array<std::string_view, 2> kFields{"index", "fault"};
    std::uint32_t index = 0;
    std::string_view fault;
    static auto fields(auto& self) { return std::tie(self.index, self.fault); }
};

// Fault number `index` has changed something for the first time: a message held, a node gone.
struct FaultTookEffect {
    static constexpr EventKind kKind = 12;
    static constexpr std::string_view kName = "fault-took-effect";
    static constexpr std::array<std::string_view, 2> kFields{"index", "on"};
    std::uint32_t index = 0;
    std::string_view on;
    static auto fields(auto& self) { return std::tie(self.index, self.on); }
};

struct PhaseBegan {
    static constexpr EventKind kKind = 13;
    static constexpr std::string_view kName = "phase";
    static constexpr std::array<std::string_view, 1> kFields{"name"};
    std::string_view name;  // "faults", "heal", "settle", "audit"
    static auto fields(auto& self) { return std::tie(self.name); }
};

struct ClockJumped {
    static constexpr EventKind kKind = 14;
    static constexpr std::string_view kName = "clock-jumped";
    static constexpr std::array<std::string_view, 1> kFields{"by"};
    Duration by{};
    static auto fields(auto& self) { return std::tie(self.by); }
};

// A state that a scenario wants to see reached at least once in a sweep.
struct ProbeReached {
    static constexpr EventKind kKind = 15;
    static constexpr std::string_view kName = "probe";
    static constexpr std::array<std::string_view, 1> kFields{"name"};
    std::string_view name;
    static auto fields(auto& self) { return std::tie(self.name); }
};

// The process has been told to end and knows it: what it takes up from here on is new work. After
// NodeStopping, by as long as the node stood still or was slow.
struct NodeDraining {
    static constexpr EventKind kKind = 16;
    static constexpr std::string_view kName = "node-draining";
    static constexpr std::array<std::string_view, 0> kFields{};
    static auto fields(auto&) { return std::tie(); }
};

// The version of the program that a node's process runs, where a scenario has several.
struct NodeVersion {
    static constexpr EventKind kKind = 17;
    static constexpr std::string_view kName = "node-version";
    static constexpr std::array<std::string_view, 1> kFields{"version"};
    std::int64_t version = 1;
    static auto fields(auto& self) { return std::tie(self.version); }
};

// Every step of the node takes longer from here on, for a while.
struct NodeSlowed {
    static constexpr EventKind kKind = 18;
    static constexpr std::string_view kName = "node-slowed";
    static constexpr std::array<std::string_view, 2> kFields{"by", "for"};
    Duration by{};
    Duration duration{};
    static auto fields(auto& self) { return std::tie(self.by, self.duration); }
};

inline constexpr auto kEnginePrinters =
    printers_of<NodeStarted, NodeEnded, NodePaused, NodeResumed, NodeStopping, TaskStarted,
                TaskEnded, CallStarted, CallApplied, CallEnded, FaultStruck, FaultTookEffect,
                PhaseBegan, ClockJumped, ProbeReached, NodeDraining, NodeVersion, NodeSlowed>();

}  // namespace fencepost::sim
