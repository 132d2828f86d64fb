#include "scenarios/run.h"

#include <fmt/format.h>

#include <algorithm>

#include "checkers/checker.h"
#include "model/events.h"
#include "model/scheduler/scheduler_operator.h"
#include "scenarios/probes.h"

namespace fencepost::scenarios {

using sim::Duration;
using sim::Time;

sim::RunEnd Run::execute(std::uint64_t step_limit) {
    set_up();
    begin_phase("faults");
    const Scenario& scenario = *setting_.scenario;
    sim::RunEnd end = kernel_.run(scenario.start + scenario.healed_after, step_limit);
    if (end == sim::RunEnd::Quiet || end == sim::RunEnd::Deadline) end = settle(step_limit);
    if (!healed_) audit(end, Duration::zero());
    return end;
}

sim::RunEnd Run::settle(std::uint64_t step_limit) {
    const Time healed_at = kernel_.now();
    healed_ = true;
    begin_phase("heal");
    world_.heal();
    finish_roll_out();
    begin_phase("settle");
    schedule_check(kernel_.now());
    const sim::RunEnd end = kernel_.run(healed_at + settle_bound(), step_limit);
    audit(end, kernel_.now() - healed_at);
    return end;
}

// Redis keeps enough of its past for the furthest failover of the plan.
model::WorldOptions Run::world_options() const {
    model::WorldOptions options;
    auto& lag = options.redis.server.replica_lag;
    for (const sim::Fault& fault : plan_.faults) {
        if (fault.kind == sim::FaultKind::Failover) lag = std::max(lag, fault.lasting);
    }
    const Scenario& scenario = *setting_.scenario;
    if (scenario.has_server("broker")) options.broker.emplace();
    if (scenario.has_server("gateway")) {
        options.gateway.emplace().gateway.limit = scenario.gateway_limit;
    }
    return options;
}

// A clock that was set back makes everything that goes by it late by as much, and by more when it
// runs slow besides.
Duration Run::settle_bound() const {
    constexpr std::int64_t kMillion = 1'000'000;
    Duration bound = setting_.scenario->settle_bound;
    std::int64_t slowest = 0;
    for (const sim::Fault& fault : plan_.faults) {
        if (fault.kind == sim::FaultKind::ClockJump && *fault.by < Duration::zero()) {
            bound -= *fault.by;
        }
        if (fault.kind == sim::FaultKind::ClockDrift) slowest = std::min(slowest, *fault.ppm);
    }
    return bound + bound / (kMillion + slowest) * -slowest;
}

void Run::set_up() {
    const Scenario& scenario = *setting_.scenario;
    setting_.cluster.reset();
    world_.reset(plan_.seed, scenario.start, setting_.image, world_options());
    invariants_.begin();
    world_.on_scheduler_fault(
        [this](std::uint32_t index, const sim::Fault& fault, sim::Node& node) {
            if (fault.kind == sim::FaultKind::FireTwice) {
                setting_.cluster.refire_next(node, index);
            } else {
                setting_.cluster.delay_next_fire(node, *fault.by, index);
            }
        });
    world_.on_operator_act([this](std::optional<std::uint32_t> index, const sim::Fault& fault,
                                  sim::Node* node) { return act(index, fault, node); });
    for (const DueWork& work : scenario.due) {
        const std::string act = work.id.empty() ? work.job : work.job + "#" + work.id;
        kernel_.record(model::WorkDue{work.tenant, act, Time{work.scheduled}});
    }
    for (const std::string& name : scenario.nodes) {
        sim::Node& node =
            kernel_.add_node(name, [this](sim::Incarnation& incarnation) { boot(incarnation); });
        // Nodes do not come up at the very same instant, unless that is what it is about.
        const Duration after =
            is_about_start_up()
                ? Duration::zero()
                : kernel_.random().between(Duration::zero(), std::chrono::milliseconds{500},
                                           sim::hash_of("boot"), sim::hash_of(name));
        kernel_.schedule(scenario.start + after, [this, &node] {
            if (!node.up()) kernel_.boot(node);
        });
        if (scenario.requests && setting_.runs_on(name)) world_.front_door().add_node(node);
    }
    if (scenario.requests) {
        add_client();
    } else if (world_.broker() != nullptr) {
        send_messages();
    }
    if ((setting_.handler.cancel && needs(scenario, Ability::Batches)) ||
        scenario.scheduler.editable) {
        sim::Node& desk =
            kernel_.add_node(std::string(kOperatorNode), [this](sim::Incarnation& own) {
                operator_ = &own;
                static const sim::WaitText kReason{"something to do"};
                for (;;) kernel_.wait(kReason);
            });
        kernel_.boot(desk);
    }
    kernel_.arm(plan_, world_);
    schedule_script();
    schedule_check(setting_.last_due + setting_.scenario->check_interval);
}

// A message names its act by the event id, in the queue of its job.
void Run::send_messages() {
    for (const DueWork& work : setting_.scenario->due) {
        kernel_.schedule(Time{work.scheduled}, [this, &work] {
            world_.broker()->publish(work.job, work.unit(), setting_.body_of(work));
        });
    }
}

// The client asks for its first act wherever it can, for the others here or there.
void Run::add_client() {
    const Scenario& scenario = *setting_.scenario;
    std::vector<model::ClientRequest> requests;
    for (std::size_t i = 0; i < scenario.due.size(); ++i) {
        const DueWork& work = scenario.due[i];
        const std::size_t times = i == 0 ? setting_.nodes().size() : 1;
        for (std::size_t time = 0; time < times; ++time) {
            requests.push_back({.id = work.unit(),
                                .body = setting_.body_of(work),
                                .at = Time{work.scheduled},
                                .first = i + time});
        }
    }
    world_.front_door().add_client(std::move(requests));
}

// The first task of a node's process. It waits for ever with nothing on its stack, so that ending
// it takes no unwinding.
void Run::boot(sim::Incarnation& incarnation) {
    if (!setting_.runs_on(incarnation.node().name())) wait_for_ever();
    Process& process = start_process(incarnation);
    if (is_about_start_up()) {
        start_up(incarnation, *process.program);
    } else {
        serve(incarnation, process);
    }
    wait_for_ever();
}

Process& Run::start_process(sim::Incarnation& incarnation) {
    const auto process = std::make_shared<Process>(world_.ports_of(incarnation));
    incarnation.keep(process);
    std::int64_t version = 1;
    if (needs(*setting_.scenario, Ability::TwoVersions)) {
        const auto deployed = versions_.find(&incarnation.node());
        if (deployed != versions_.end()) version = deployed->second;
        kernel_.record(sim::NodeVersion{version});
    }
    process->program = setting_.handler.program(
        {process->ports, setting_.parameters, setting_.scenario->due, version});
    return *process;
}

// Starts what takes fires, and requests where the scenario has them.
void Run::serve(sim::Incarnation& incarnation, Process& process) {
    Program& program = *process.program;
    model::SchedulerNode& scheduler = process.scheduler.emplace(
        kernel_, incarnation, process.ports, setting_.cluster,
        [&program](const jobs::Fire& fire) { return program.handle(fire); });
    const bool requests = setting_.scenario->requests;
    model::FrontDoor& door = world_.front_door();
    incarnation.on_stop([&incarnation, &program, &scheduler, &door, requests] {
        scheduler.stop_firing();
        if (requests) door.close(incarnation);
        program.stop();
        if (requests) door.drain(incarnation);
        scheduler.shutdown();
    });
    program.start();
    scheduler.start();
    if (requests) {
        door.open(incarnation, [&program](const model::ClientRequest& request) {
            return program.answer({.id = request.id, .body = request.body});
        });
    }
}

void Run::wait_for_ever() {
    static const sim::WaitText kReason{"the end of its process"};
    for (;;) kernel_.wait(kReason);
}

void Run::schedule_script() {
    acts_pending_ = setting_.scenario->script.size();
    for (const sim::Fault& act : setting_.scenario->script) {
        kernel_.schedule(*act.at_time, [this, &act] {
            --acts_pending_;
            world_.act(act);
        });
    }
}

// What an operator does; true when it has taken effect at once.
bool Run::act(std::optional<std::uint32_t> index, const sim::Fault& fault, sim::Node* node) {
    if (fault.kind == sim::FaultKind::Cancel) {
        ask_to_cancel(index, fault.unit);
        return false;
    }
    if (fault.kind == sim::FaultKind::SaveSchedule) {
        save_schedule(index, fault.job);
        return false;
    }
    sim::require(node != nullptr, "a version is deployed on a node of the scenario");
    const auto known = versions_.find(node);
    const std::int64_t before = known == versions_.end() ? 1 : known->second;
    versions_[node] = *fault.version;
    const bool drained = kernel_.stop_gracefully(*node, *fault.grace,
                                                 fault.restart_after.value_or(Duration::zero()));
    return drained || before != *fault.version;
}

// An operator asks again until there is an answer.
void Run::ask_to_cancel(std::optional<std::uint32_t> index, const std::string& unit) {
    at_the_desk("cancel", [this, index, unit](const jobs::Ports& ports) {
        kernel_.record(model::CancelAsked{unit});
        for (;;) {
            try {
                setting_.handler.cancel(ports, unit);
                break;
            } catch (const jobs::AttemptError&) {
                ports.clock.sleep_for(std::chrono::seconds{2});
            }
        }
        if (index) kernel_.fault_took_effect(*index, unit);
    });
}

// As the form in a web console does, which has read the schedule and writes it back: once, for
// whoever pressed the button sees that it failed. A schedule that is over is refused.
void Run::save_schedule(std::optional<std::uint32_t> index, const std::string& job) {
    const std::vector<std::string> names = jobs_of(*setting_.scenario);
    const auto saved = static_cast<std::size_t>(std::ranges::find(names, job) - names.begin());
    at_the_desk("save", [this, index, job, saved](const jobs::Ports& ports) {
        try {
            model::SchedulerOperator{ports, setting_.cluster}.replace(
                setting_.scenario->jobs.at(saved));
        } catch (const jobs::AttemptError&) {
            return;
        } catch (const std::invalid_argument&) {
            return;
        }
        if (index) kernel_.fault_took_effect(*index, job);
    });
}

// A task of the operator's: one that a fault started is nobody's child.
void Run::at_the_desk(const char* task, std::function<void(const jobs::Ports&)> act) {
    sim::require(operator_ != nullptr, "there is an operator where one acts");
    kernel_.schedule(kernel_.now(), [this, task, act = std::move(act)] {
        kernel_.spawn(*operator_, task, sim::TaskKind::Foreground,
                      [this, act] { act(world_.ports_of(*operator_)); });
    });
}

// Operators bring every node to the version that the scenario ends with.
void Run::finish_roll_out() {
    if (!needs(*setting_.scenario, Ability::TwoVersions)) return;
    for (sim::Node& node : kernel_.nodes()) {
        const auto known = versions_.find(&node);
        const std::int64_t running = known == versions_.end() ? 1 : known->second;
        if (running == setting_.scenario->last_version) continue;
        versions_[&node] = setting_.scenario->last_version;
        kernel_.stop_gracefully(node, std::chrono::seconds{30}, Duration::zero());
    }
}

// A start-up that fails ends its process, as an exception that leaves main() does. One that comes
// through is followed by the next start of the node, until there were enough.
void Run::start_up(sim::Incarnation& incarnation, Program& program) {
    kernel_.spawn(incarnation, "start-up", sim::TaskKind::Foreground,
                  [this, &incarnation, &program] {
                      sim::Node& node = incarnation.node();
                      const auto fails = [&](std::string_view sqlstate, std::string_view error) {
                          kernel_.record(model::StartUpFailed{sqlstate, error});
                          kernel_.crash(node, kSupervisorDelay, "start-up failed");
                      };
                      try {
                          program.start_up();
                      } catch (const sim::BrokenInvariant&) {
                          throw;
                      } catch (const jobs::sql::ServerError& error) {
                          return fails(error.sqlstate(), error.what());
                      } catch (const std::exception& error) {
                          return fails({}, error.what());
                      }
                      if (kernel_.dead_call()) return;
                      kernel_.record(model::StartUpDone{});
                      if (++start_ups_[node.name()] < setting_.parameters.at("start_ups")) {
                          kernel_.crash(node, kOperatorDelay, "restarted");
                      } else {
                          program.start();
                      }
                  });
}

bool Run::start_ups_are_through() const {
    if (!is_about_start_up()) return true;
    return std::ranges::all_of(setting_.nodes(), [this](const std::string& name) {
        const auto found = start_ups_.find(name);
        return found != start_ups_.end() && found->second >= setting_.parameters.at("start_ups");
    });
}

void Run::schedule_check(Time at) {
    kernel_.schedule(
        at, {[](void* self, std::uint64_t) { static_cast<Run*>(self)->check_whether_done(); }, this,
             0});
}

void Run::check_whether_done() {
    if (work_is_done()) {
        kernel_.stop();
        return;
    }
    if (healed_ && is_about_start_up()) start_what_is_down();
    schedule_check(kernel_.now() + setting_.scenario->check_interval);
}

// A fault at a point that is only reached after healing can end a node once more; and where all
// nodes must come up, no other does its work.
void Run::start_what_is_down() {
    for (sim::Node& node : kernel_.nodes()) {
        if (!node.up()) kernel_.boot(node);
    }
}

// Cheap questions first: this is asked several times a run.
bool Run::work_is_done() const {
    return kernel_.foreground_tasks() == 0 && kernel_.faults_pending() == 0 && acts_pending_ == 0 &&
           world_.network().in_flight() == 0 && start_ups_are_through() &&
           (world_.broker() == nullptr || world_.broker()->idle()) &&
           setting_.cluster.idle(setting_.last_due, committed()) && open_claims().empty();
}

std::vector<std::string> Run::open_claims() const {
    std::vector<std::string> open;
    if (setting_.open_work.empty()) return open;
    const model::SqlResult rows = world_.database().read_committed(setting_.open_work);
    for (std::size_t row = 0; row < rows.rows(); ++row) open.push_back(rows.text(row, 0));
    return open;
}

void Run::audit(sim::RunEnd end, Duration settled_after) {
    begin_phase("audit");
    if (end != sim::RunEnd::Quiet) {
        auto open = setting_.cluster.open_work(setting_.last_due, committed());
        for (std::string& claim : open_claims()) open.push_back(std::move(claim));
        if (world_.broker() != nullptr) {
            for (std::string& message : world_.broker()->open_work()) {
                open.push_back(std::move(message));
            }
        }
        if (!start_ups_are_through()) {
            open.push_back(fmt::format("not every node has started {} times",
                                       setting_.parameters.at("start_ups")));
        }
        for (std::string& waiter : kernel_.waiters(true)) open.push_back(std::move(waiter));
        for (const std::string& what : open) kernel_.record(model::Unfinished{what});
    }
    invariants_.end();
    kernel_.record(model::RunEnded{name_of(end), settled_after});
    healed_ = true;
}

}  // namespace fencepost::scenarios
