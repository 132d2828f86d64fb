// A history as a diagram shows it: calls, lives, transactions and leases, each with its beginning
// and end. Records that are missing (no answer came, the run was over) leave kNoRecord.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "reports/narrator.h"

namespace fencepost::reports {

struct DrawnCall {
    sim::RecordId call = sim::kNoRecord;
    sim::RecordId applied = sim::kNoRecord;
    sim::RecordId ended = sim::kNoRecord;
    sim::PartyId from = sim::kWorld;
    sim::PartyId to = sim::kWorld;
    AnswerKind answer = AnswerKind::Lost;
    bool schedulers = false;  // one of the scheduler's own tasks
};

struct DrawnSpan {
    sim::RecordId begin = sim::kNoRecord;
    sim::RecordId end = sim::kNoRecord;
    sim::PartyId party = sim::kWorld;
    sim::TaskId task = sim::kNoTask;
    std::string label;
    bool broken = false;  // a life that was killed, a transaction that was not committed
};

struct DrawnLease {
    DrawnSpan span;
    std::string key;
    std::string owner;     // "B#1", from the record that set it
    std::size_t lane = 0;  // of leases that stand at the same time
};

struct DrawnHistory {
    std::vector<DrawnCall> calls;
    std::vector<DrawnSpan> lives;
    std::vector<DrawnSpan> pauses;
    std::vector<DrawnSpan> transactions;
    std::vector<DrawnLease> leases;
    std::vector<sim::PartyId> columns;  // from left to right: nodes, servers, nodes
    std::size_t lease_lanes = 0;
};

DrawnHistory drawn(const Narrator& narrator);

}  // namespace fencepost::reports
