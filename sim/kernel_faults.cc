// Fault points: addresses of calls, and the faults that strike at them or at a time.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "sim/kernel.h"

namespace fencepost::sim {
namespace {

std::uint64_t point_key(std::uint64_t task_key, std::uint64_t operation, std::uint32_t ordinal) {
    return combine(combine(task_key, operation), ordinal);
}

std::uint32_t number(std::string_view digits) {
    std::uint32_t value = 0;
    std::from_chars(digits.data(), digits.data() + digits.size(), value);
    return value;
}

std::uint64_t key_of(const PointAddress& address) {
    const std::uint64_t incarnation = combine(hash_of(address.node), number(address.incarnation));
    return point_key(combine(incarnation, hash_of(address.task)), hash_of(address.operation),
                     number(address.ordinal));
}

}  // namespace

void Kernel::arm(const Plan& plan, FaultStriker& striker) {
    require(plan.faults.size() < 10'000, "a plan has fewer than 10000 faults");
    plan_ = &plan;
    striker_ = &striker;
    struck_.assign(plan.faults.size(), 0);
    effective_.assign(plan.faults.size(), 0);
    const auto count = static_cast<std::uint16_t>(plan.faults.size());
    for (std::uint16_t index = 0; index < count; ++index) {
        const Fault& fault = plan.faults[index];
        if (fault.at_time) {
            ++timed_pending_;
            schedule(*fault.at_time, [this, index] {
                --timed_pending_;
                strike(index, nullptr, kNoRecord);
            });
        } else if (fault.at.find('*') != std::string::npos) {
            patterns_.push_back(pattern_of(index, fault));
        } else {
            const auto address = parse_address(fault.at);
            require(address.has_value(), "a plan's fault points are checked when it is read");
            exact_.push_back({key_of(*address), index});
        }
    }
    std::ranges::sort(exact_);  // those of one point in the order of the plan
}

Kernel::Pattern Kernel::pattern_of(std::uint16_t index, const Fault& fault) {
    const auto address = parse_address(fault.at);
    require(address.has_value(), "a plan's fault points are checked when it is read");
    const bool any_ordinal = address->ordinal == "*";
    return {index, address->operation, any_ordinal ? 0 : number(address->ordinal)};
}

Call Kernel::begin_call(std::string_view operation) {
    Task& task = self();
    const std::uint64_t hash = hash_of(operation);
    auto count = std::ranges::find(task.calls, hash, &Task::Count::operation);
    if (count == task.calls.end()) {
        task.calls.push_back({hash, 0});
        count = std::prev(task.calls.end());
    }
    Call call;
    call.task = &task;
    call.operation = operation;
    call.ordinal = ++count->calls;
    call.key = point_key(task.point_key, hash, call.ordinal);
    const auto add = [&](std::uint16_t index) {
        if (struck_[index] == 0) call.faults.push_back(index);
    };
    for (auto armed = std::ranges::lower_bound(exact_, call.key, {}, &Armed::key);
         armed != exact_.end() && armed->key == call.key; ++armed) {
        add(armed->index);
    }
    for (const Pattern& pattern : patterns_) {
        if (pattern.ordinal != 0 && pattern.ordinal != call.ordinal) continue;
        if (struck_[pattern.index] != 0 || !glob_matches(pattern.operation, operation)) continue;
        const std::string address =
            fmt::format("{}/{}/{}", history_.actor(task.id), operation, call.ordinal);
        if (glob_matches(plan_->faults[pattern.index].at, address)) add(pattern.index);
    }
    return call;
}

void Kernel::strike_due(Call& call, Phase phase) {
    for (const std::uint16_t index : call.faults) {
        const Fault& fault = plan_->faults[index];
        if (fault.phase != phase || struck_[index] != 0) continue;
        CallFaults& asked = call.asked;
        switch (fault.kind) {
            case FaultKind::LoseRequest:
                asked.lose_request = true;
                break;
            case FaultKind::LoseAnswer:
                asked.lose_answer = true;
                break;
            case FaultKind::Duplicate:
                asked.duplicate = true;
                break;
            case FaultKind::Reset:
                asked.reset = true;
                break;
            case FaultKind::Refuse:
                asked.refuse = true;
                break;
            case FaultKind::Delay:
                (phase == Phase::Sent ? asked.delay_request : asked.delay_answer) += *fault.by;
                break;
            case FaultKind::SerializationFailure:
            case FaultKind::DeadlockVictim:
                asked.server_error = fault.kind;
                break;
            default:
                break;
        }
        strike(index, &call.task->incarnation->node(), call.record);
    }
    if (current_ == call.task) wait_out_own_faults();
}

void Kernel::call_faults_took_effect(const Call& call, Phase phase) {
    for (const std::uint16_t index : call.faults) {
        const Fault& fault = plan_->faults[index];
        if (struck_[index] != 0 && fault.phase == phase &&
            info_of(fault.kind).family == FaultFamily::Call) {
            fault_took_effect(index, call.operation);
        }
    }
}

void Kernel::wait_out_own_faults() {
    if (dead_call()) return;
    static const WaitText kReason{"the end of a pause of its own node"};
    Task& task = *current_;
    while (!task.incarnation->alive() || task.incarnation->node().paused()) {
        // Of a dead process this never returns; of a paused one, when the pause ends.
        if (task.incarnation->alive()) {
            task.incarnation->node().deferred_.emplace_back(&task, task.suspension);
        }
        wait(kReason);
    }
}

void Kernel::strike(std::uint32_t index, Node* origin, RecordId cause) {
    const Fault& fault = plan_->faults[index];
    struck_[index] = 1;
    record_at(kWorld, cause, FaultStruck{index, describe(fault)});
    if (info_of(fault.kind).family != FaultFamily::Call) striker_->strike(index, fault, origin);
}

void Kernel::fault_took_effect(std::uint32_t index, std::string_view on) {
    if (effective_.at(index) != 0) return;
    effective_[index] = 1;
    record_at(kWorld, current_ != nullptr ? current_->last_record : kNoRecord,
              FaultTookEffect{index, on});
}

}  // namespace fencepost::sim
