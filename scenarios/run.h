// One run of a plan in a setting, from the first boot to the audit at its end.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/scheduler/cluster.h"
#include "model/world.h"
#include "scenarios/invariants.h"
#include "scenarios/process.h"
#include "scenarios/setting.h"
#include "sim/kernel.h"
#include "sim/plan.h"

namespace fencepost::scenarios {

class Run {
public:
    Run(model::World& world, Setting& setting, const sim::Plan& plan)
        : world_(world),
          kernel_(world.kernel()),
          setting_(setting),
          plan_(plan),
          invariants_(world, *setting.scenario) {}

    sim::RunEnd execute(std::uint64_t step_limit);

private:
    void set_up();
    [[nodiscard]] model::WorldOptions world_options() const;
    void send_messages();
    void add_client();
    void boot(sim::Incarnation& incarnation);
    Process& start_process(sim::Incarnation& incarnation);
    void serve(sim::Incarnation& incarnation, Process& process);
    void schedule_script();
    bool act(std::optional<std::uint32_t> index, const sim::Fault& fault, sim::Node* node);
    void ask_to_cancel(std::optional<std::uint32_t> index, const std::string& unit);
    void save_schedule(std::optional<std::uint32_t> index, const std::string& job);
    void at_the_desk(const char* task, std::function<void(const jobs::Ports&)> act);
    void finish_roll_out();
    void start_up(sim::Incarnation& incarnation, Program& program);
    [[nodiscard]] bool is_about_start_up() const {
        return setting_.scenario->trigger == Trigger::StartUp;
    }
    [[nodiscard]] bool start_ups_are_through() const;
    [[noreturn]] void wait_for_ever();
    void schedule_check(sim::Time at);
    void check_whether_done();
    void start_what_is_down();
    [[nodiscard]] bool work_is_done() const;
    void begin_phase(std::string_view name) { kernel_.record(sim::PhaseBegan{name}); }
    sim::RunEnd settle(std::uint64_t step_limit);
    [[nodiscard]] sim::Duration settle_bound() const;
    void audit(sim::RunEnd end, sim::Duration settled_after);
    [[nodiscard]] std::vector<std::string> open_claims() const;
    [[nodiscard]] model::SchedulerCluster::CommittedQuery committed() const {
        return [this](std::string_view query) { return world_.database().read_committed(query); };
    }

    // How soon a supervisor starts a process that has ended by an error, and an operator one that
    // he has ended.
    static constexpr sim::Duration kSupervisorDelay = std::chrono::seconds{1};
    static constexpr sim::Duration kOperatorDelay = std::chrono::milliseconds{500};

    model::World& world_;
    sim::Kernel& kernel_;
    Setting& setting_;
    const sim::Plan& plan_;
    InvariantWatch invariants_;
    bool healed_ = false;
    std::size_t acts_pending_ = 0;  // of the script
    std::map<const sim::Node*, std::int64_t> versions_;
    sim::Incarnation* operator_ = nullptr;
    std::map<std::string_view, std::int64_t> start_ups_;  // that came through, by node
};

}  // namespace fencepost::scenarios
