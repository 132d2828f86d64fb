#include "sim/fault.h"

#include <fmt/format.h>

#include "sim/require.h"

namespace fencepost::sim {
namespace {

constexpr std::uint8_t bit(Phase phase) {
    return static_cast<std::uint8_t>(1U << static_cast<unsigned>(phase));
}
constexpr std::uint8_t kAnyPhase = 0x0f;
constexpr std::uint8_t kOnTheWay = bit(Phase::Sent) | bit(Phase::Applied);

constexpr std::array kKinds{
    FaultKindInfo{FaultKind::Crash, "crash", FaultFamily::Node, kNode, kRestartAfter, true, true,
                  kAnyPhase, Phase::Before,
                  "the node's process is killed; nothing it does afterwards counts"},
    FaultKindInfo{FaultKind::Stop, "stop", FaultFamily::Node, kNode | kGrace, kRestartAfter, true,
                  true, kAnyPhase, Phase::Before,
                  "the node is asked to end and killed after its grace period"},
    FaultKindInfo{FaultKind::Pause, "pause", FaultFamily::Node, kNode | kFor, 0, true, true,
                  kAnyPhase, Phase::Before,
                  "the node stands still; its timers fire late, its memory grows stale"},
    FaultKindInfo{FaultKind::Slow, "slow", FaultFamily::Node, kNode | kFor | kBy, 0, true, true,
                  kAnyPhase, Phase::Before, "every step of the node takes longer"},
    FaultKindInfo{FaultKind::LoseRequest, "lose-request", FaultFamily::Call, 0, 0, true, false,
                  bit(Phase::Sent), Phase::Sent, "the request never arrives; the caller times out"},
    FaultKindInfo{FaultKind::LoseAnswer, "lose-answer", FaultFamily::Call, 0, 0, true, false,
                  bit(Phase::Applied), Phase::Applied,
                  "the server does it, the answer never arrives; the caller times out"},
    FaultKindInfo{FaultKind::Delay, "delay", FaultFamily::Call, kBy, 0, true, false, kOnTheWay,
                  Phase::Applied,
                  "the request (phase sent) or the answer (phase applied) comes later"},
    FaultKindInfo{FaultKind::Duplicate, "duplicate", FaultFamily::Call, 0, 0, true, false,
                  bit(Phase::Sent), Phase::Sent,
                  "the client library sends the request again (never to the database)"},
    FaultKindInfo{FaultKind::Reset, "reset", FaultFamily::Call, 0, 0, true, false,
                  bit(Phase::Before) | kOnTheWay, Phase::Applied,
                  "the connection breaks; at phase applied of COMMIT its outcome is unknown"},
    FaultKindInfo{FaultKind::Refuse, "refuse", FaultFamily::Call, 0, 0, true, false,
                  bit(Phase::Before), Phase::Before,
                  "the connection is refused before anything was sent"},
    FaultKindInfo{FaultKind::SerializationFailure, "serialization-failure", FaultFamily::Call, 0, 0,
                  true, false, bit(Phase::Before), Phase::Before,
                  "the database answers 40001 and aborts the transaction"},
    FaultKindInfo{FaultKind::DeadlockVictim, "deadlock-victim", FaultFamily::Call, 0, 0, true,
                  false, bit(Phase::Before), Phase::Before,
                  "the database answers 40P01 and aborts the transaction"},
    FaultKindInfo{FaultKind::Partition, "partition", FaultFamily::Network, kBetween | kFor, 0, true,
                  true, kAnyPhase, Phase::Before,
                  "no message passes between two parties, both ways or one way"},
    FaultKindInfo{
        FaultKind::Restart, "restart", FaultFamily::Server, kServer | kFor, kKeep, true, true,
        kAnyPhase, Phase::Before,
        "the server is down for a while; Redis keeps all, loses the last second or loses all"},
    FaultKindInfo{FaultKind::Failover, "failover", FaultFamily::Server, kServer, kFor, true, true,
                  kAnyPhase, Phase::Before,
                  "Redis's replica takes over without what it had not received (the last \"for\")"},
    FaultKindInfo{FaultKind::Unreachable, "unreachable", FaultFamily::Server, kServer | kFor, 0,
                  true, true, kAnyPhase, Phase::Before,
                  "nobody reaches the server; it keeps everything"},
    FaultKindInfo{FaultKind::Evict, "evict", FaultFamily::Server, kServer | kKey, 0, true, true,
                  kAnyPhase, Phase::Before, "Redis drops the key under memory pressure"},
    FaultKindInfo{FaultKind::ClockJump, "clock-jump", FaultFamily::Clock, kOf | kBy, 0, true, true,
                  kAnyPhase, Phase::Before,
                  "the wall clock of a node or server moves forward or back"},
    FaultKindInfo{FaultKind::ClockDrift, "clock-drift", FaultFamily::Clock, kOf | kPpm, 0, true,
                  true, kAnyPhase, Phase::Before,
                  "the clocks of a node run fast or slow from here on"},
    FaultKindInfo{FaultKind::FireTwice, "fire-twice", FaultFamily::Scheduler, kNode, 0, false, true,
                  0, Phase::Before, "the scheduler hands the next due fire to this node as well"},
    FaultKindInfo{FaultKind::FireLate, "fire-late", FaultFamily::Scheduler, kNode | kBy, 0, false,
                  true, 0, Phase::Before, "the next fire that this node gets reaches its job late"},
    FaultKindInfo{FaultKind::DuplicateMessage, "duplicate-message", FaultFamily::Broker, 0, 0, true,
                  true, kAnyPhase, Phase::Before,
                  "the broker stores the message that it delivered last once more"},
    FaultKindInfo{FaultKind::EarlyRedelivery, "early-redelivery", FaultFamily::Broker, 0, 0, true,
                  true, kAnyPhase, Phase::Before,
                  "the visibility timeout of the message delivered last is over at once"},
    FaultKindInfo{FaultKind::ReorderMessages, "reorder-messages", FaultFamily::Broker, 0, 0, true,
                  true, kAnyPhase, Phase::Before,
                  "where several messages wait, the next receive gets the newest"},
    FaultKindInfo{FaultKind::Deploy, "deploy", FaultFamily::Operator, kNode | kGrace | kVersion,
                  kRestartAfter, true, true, kAnyPhase, Phase::Before,
                  "the node is drained and comes back with that version of the program"},
    FaultKindInfo{FaultKind::Cancel, "cancel", FaultFamily::Operator, kUnit, 0, true, true,
                  kAnyPhase, Phase::Before, "an operator asks for the unit to be cancelled"},
    FaultKindInfo{FaultKind::SaveSchedule, "save-schedule", FaultFamily::Operator, kJob, 0, true,
                  true, kAnyPhase, Phase::Before,
                  "an operator saves the job's schedule as it is: its next instant is found anew"},
};

}  // namespace

std::span<const FaultKindInfo> fault_kinds() {
    return kKinds;
}

const FaultKindInfo& info_of(FaultKind kind) {
    const FaultKindInfo& info = kKinds.at(static_cast<std::size_t>(kind));
    require(info.kind == kind, "the table of fault kinds is in the order of the enumeration");
    return info;
}

const FaultKindInfo* find_fault_kind(std::string_view name) {
    for (const FaultKindInfo& info : kKinds) {
        if (info.name == name) return &info;
    }
    return nullptr;
}

std::string describe(const Fault& fault) {
    std::string text{info_of(fault.kind).name};
    if (!fault.party.empty()) text += " " + fault.party;
    if (!fault.from.empty()) {
        text += fault.one_way ? fmt::format(" {} to {}", fault.from, fault.to)
                              : fmt::format(" between {} and {}", fault.from, fault.to);
    }
    if (!fault.key.empty()) text += " key " + fault.key;
    if (!fault.unit.empty()) text += " " + fault.unit;
    if (!fault.job.empty()) text += " " + fault.job;
    if (fault.version) text += fmt::format(" version {}", *fault.version);
    text += fault.at_time ? fmt::format(" at {}", to_text(*fault.at_time))
                          : fmt::format(" at {} ({})", fault.at, name_of(fault.phase));
    if (fault.lasting) text += " for " + to_text(*fault.lasting);
    if (fault.by) text += " by " + to_text(*fault.by);
    if (fault.ppm) text += fmt::format(" by {} ppm", *fault.ppm);
    if (fault.grace) text += ", grace " + to_text(*fault.grace);
    if (!fault.keep.empty()) text += ", keep " + fault.keep;
    if (fault.kind == FaultKind::Deploy && fault.restart_after) {
        text += ", back after " + to_text(*fault.restart_after);
    }
    if (fault.kind == FaultKind::Crash || fault.kind == FaultKind::Stop) {
        text += fault.restart_after ? ", restart after " + to_text(*fault.restart_after)
                                    : ", no restart";
    }
    return text;
}

std::optional<PointAddress> parse_address(std::string_view text) {
    PointAddress address;
    const std::size_t hash = text.find('#');
    if (hash == std::string_view::npos || hash == 0) return std::nullopt;
    address.node = text.substr(0, hash);
    text.remove_prefix(hash + 1);
    const std::size_t slash = text.find('/');
    if (slash == std::string_view::npos) return std::nullopt;
    address.incarnation = text.substr(0, slash);
    text.remove_prefix(slash + 1);
    // From the end: the name of a task may contain a slash, that of an operation does not.
    for (std::string_view* part : {&address.ordinal, &address.operation}) {
        const std::size_t last = text.rfind('/');
        if (last == std::string_view::npos) return std::nullopt;
        *part = text.substr(last + 1);
        text = text.substr(0, last);
    }
    address.task = text;
    if (address.task.empty() || address.operation.empty()) return std::nullopt;
    const auto counts = [](std::string_view number) {
        return number == "*" || (!number.empty() &&
                                 number.find_first_not_of("0123456789") == std::string_view::npos &&
                                 number.front() != '0');
    };
    if (!counts(address.incarnation) || !counts(address.ordinal)) return std::nullopt;
    return address;
}

bool glob_matches(std::string_view pattern, std::string_view text) {
    std::size_t p = 0;
    std::size_t t = 0;
    std::size_t star = std::string_view::npos;
    std::size_t resume = 0;
    while (t < text.size()) {
        if (p < pattern.size() && pattern[p] == '*') {
            star = p++;
            resume = t;
        } else if (p < pattern.size() && pattern[p] == text[t]) {
            ++p;
            ++t;
        } else if (star != std::string_view::npos) {
            p = star + 1;
            t = ++resume;
        } else {
            return false;
        }
    }
    while (p < pattern.size() && pattern[p] == '*') ++p;
    return p == pattern.size();
}

}  // namespace fencepost::sim
