// A small world for tests of the engine: nodes, one fake server, and node faults carried out.
//
// A call of the server takes a millisecond there and one back, and passes all four phases.
// What happens is noted in `log`, each line with the virtual time since the start.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/kernel.h"

namespace fencepost::sim::test {

constexpr Time kStart = std::chrono::sys_days{std::chrono::year{2026} / 3 / 2} + 18h;

inline Fault fault_at(std::string at, Phase phase, FaultKind kind) {
    Fault fault;
    fault.at = std::move(at);
    fault.phase = phase;
    fault.kind = kind;
    return fault;
}

inline Fault fault_at(Time at, FaultKind kind, std::string party) {
    Fault fault;
    fault.at_time = at;
    fault.kind = kind;
    fault.party = std::move(party);
    return fault;
}

class TestWorld : public FaultStriker {
public:
    explicit TestWorld(std::uint64_t seed = 1) { restart(seed); }

    void restart(std::uint64_t seed) {
        kernel.reset(seed, kStart);
        server = kernel.add_party("server");
        log.clear();
        applied.clear();
    }

    Node& add(std::string name, Node::Boot boot) {
        return kernel.add_node(std::move(name), std::move(boot));
    }
    void boot_all() {
        for (Node& node : kernel.nodes()) kernel.boot(node);
    }
    void arm(std::vector<Fault> faults) {
        plan.faults = std::move(faults);
        kernel.arm(plan, *this);
    }
    RunEnd run_for(Duration duration) { return kernel.run(kernel.now() + duration, 1'000'000); }
    RunEnd start_and_run_for(Duration duration) {
        boot_all();
        return run_for(duration);
    }

    void note(std::string_view text) {
        log.push_back(fmt::format("{} {}", to_text(kernel.now() - kStart), text));
    }
    // Starts a task on the incarnation of the caller.
    Task& spawn(std::string_view name, TaskKind kind, Fiber::Body body) {
        return kernel.spawn(*kernel.self().incarnation, name, kind, std::move(body));
    }
    Task& work(std::string_view name, Fiber::Body body) {
        return spawn(name, TaskKind::Foreground, std::move(body));
    }
    Task& daemon(std::string_view name, Fiber::Body body) {
        return spawn(name, TaskKind::Daemon, std::move(body));
    }

    // Calls the server; returns "ok", or what kept the answer away.
    std::string call(std::string_view operation) {
        if (kernel.dead_call()) return "dead";
        // The server works on it even when the caller is gone.
        const auto call = std::make_shared<Call>(kernel.begin_call(operation));
        call->record = kernel.record(CallStarted{operation, call->ordinal, {}});
        kernel.reach(*call, Phase::Before);
        if (call->asked.refuse) return ended(*call, "refused");
        kernel.reach(*call, Phase::Sent);
        Task& task = kernel.self();
        const auto answer = [this, call, &task, suspension = task.suspension] {
            applied.push_back(fmt::format("{}/{}/{}", kernel.history().actor(task.id),
                                          call->operation, call->ordinal));
            kernel.record_at(server, call->record,
                             CallApplied{call->operation, call->ordinal, "done"});
            kernel.reach(*call, Phase::Applied);
            kernel.wake_at(kernel.now() + 1ms + call->asked.delay_answer, task, suspension);
        };
        if (!call->asked.lose_request) {
            kernel.schedule(kernel.now() + 1ms + call->asked.delay_request, answer);
        } else {
            kernel.wake_at(kernel.now() + 1s, task, task.suspension);
        }
        const WaitText reason{operation};
        kernel.wait(reason);
        if (kernel.dead_call()) return "dead";
        return ended(*call, call->asked.lose_request ? "timeout" : "ok");
    }

    void strike(std::uint32_t index, const Fault& fault, Node* origin) override {
        Node* node = fault.party.empty() ? origin : kernel.find_node(fault.party);
        require(node != nullptr, "a fault of these tests strikes a node");
        bool changed = false;
        switch (fault.kind) {
            case FaultKind::Crash:
                changed = kernel.crash(*node, fault.restart_after);
                break;
            case FaultKind::Stop:
                changed = kernel.stop_gracefully(*node, *fault.grace, fault.restart_after);
                break;
            case FaultKind::Pause:
                changed = kernel.pause(*node, *fault.lasting);
                break;
            case FaultKind::Slow:
                changed = kernel.slow(*node, *fault.by, *fault.lasting);
                break;
            default:
                break;
        }
        if (changed) kernel.fault_took_effect(index, node->name());
    }

    // The records of one event type, each as "actor fields".
    template <EventType E>
    [[nodiscard]] std::vector<std::string> records() const {
        std::vector<std::string> lines;
        const History& history = kernel.history();
        for (RecordId id = 0; id < history.size(); ++id) {
            const Record record = history[id];
            if (!record.as<E>()) continue;
            lines.push_back(fmt::format("{} {} {}", to_text(record.at() - kStart),
                                        history.actor(record), print_fields<E>(record.payload())));
        }
        return lines;
    }

    Plan plan;
    Kernel kernel;
    PartyId server = kWorld;
    std::vector<std::string> log;
    std::vector<std::string> applied;  // addresses of the calls that the server carried out

private:
    std::string ended(Call& call, std::string_view outcome) {
        kernel.record(CallEnded{call.operation, call.ordinal, outcome});
        kernel.reach(call, Phase::After);
        return std::string(outcome);
    }
};

using Lines = std::vector<std::string>;

}  // namespace fencepost::sim::test
