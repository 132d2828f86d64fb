#include "model/scheduler/scheduler_node.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "model/events.h"

namespace fencepost::model {
namespace {

using sim::Duration;
using sim::Time;

constexpr Duration kMillisecond = std::chrono::milliseconds{1};

// Less than this before the time of a held trigger, it is not worth giving it back for another.
constexpr Duration kReasonClustered = std::chrono::milliseconds{70};
constexpr Duration kReasonInMemory = std::chrono::milliseconds{7};

std::string instance_name(const sim::Incarnation& incarnation, const SchedulerOptions& options) {
    if (options.instance_ids == InstanceIds::NodeName) return incarnation.node().name();
    return fmt::format("{}-{}-", incarnation.node().name(), incarnation.number());
}

}  // namespace

SchedulerNode::SchedulerNode(sim::Kernel& kernel, sim::Incarnation& incarnation,
                             const jobs::Ports& ports, SchedulerCluster& cluster,
                             FireListener listener)
    : kernel_(&kernel),
      incarnation_(&incarnation),
      ports_(ports),
      cluster_(&cluster),
      listener_(std::move(listener)) {
    const SchedulerOptions& options = cluster.options();
    const std::string instance = instance_name(incarnation, options);
    if (options.mode == SchedulerMode::Clustered) {
        store_ = &jdbc_.emplace(ports_, instance, options, cluster.definitions());
    } else {
        store_ = &ram_.emplace(ports_.clock, instance, options, cluster.jobs());
    }
    cluster_->join(*this);
}

SchedulerNode::~SchedulerNode() {
    cluster_->leave(*this);
}

void SchedulerNode::start() {
    firing_ = true;
    if (jdbc_) {
        kernel_->spawn(*incarnation_, "check-in", sim::TaskKind::Daemon, [this] { check_ins(); });
    } else {
        kernel_->spawn(*incarnation_, "scheduler", sim::TaskKind::Daemon, [this] { scheduler(); });
    }
}

void SchedulerNode::stop_firing() {
    firing_ = false;
    scheduler_alarm_.ring(*kernel_);
}

void SchedulerNode::shutdown() {
    stop_firing();
    while (!running_.empty()) kernel_->join(*running_.front());
    closed_ = true;
    store_->close();
    check_in_alarm_.ring(*kernel_);
    misfire_alarm_.ring(*kernel_);
}

void SchedulerNode::schedule_changed(Time when) {
    if (!change_ || when < *change_) change_ = when;
    scheduler_alarm_.ring(*kernel_);
}

// --- the scheduler task (QuartzSchedulerThread)

void SchedulerNode::scheduler() {
    static const sim::WaitText kNoThread{"a free worker thread"};
    const SchedulerOptions& options = cluster_->options();
    std::uint32_t failures = 0;
    while (firing_) {
        if (failures > 1) ports_.clock.sleep_for(options.db_retry);
        while (firing_ && running_.size() >= options.worker_threads) {
            scheduler_alarm_.wait(*kernel_, kNoThread);
        }
        if (!firing_) break;
        change_.reset();
        const auto threads = static_cast<std::uint32_t>(options.worker_threads - running_.size());
        try {
            held_ = store_->acquire(ports_.clock.wall_now() + options.idle_wait,
                                    std::min(options.batch, threads));
            failures = 0;
        } catch (const jobs::AttemptError&) {
            ++failures;
            continue;
        }
        if (held_.empty()) {
            idle_wait();
        } else if (wait_until_due()) {
            fire_held();
        }
    }
}

void SchedulerNode::idle_wait() {
    static const sim::WaitText kIdle{"the next look for due triggers"};
    if (!firing_ || change_) return;
    const Duration longest = cluster_->options().idle_wait;
    // Quartz: up to 7 s less than the usual 30 s, a fifth less than any other setting.
    const Duration variation =
        longest == SchedulerOptions{}.idle_wait ? std::chrono::seconds{7} : longest / 5;
    const std::uint64_t key = sim::combine(sim::hash_of(node().name()), incarnation_->number());
    const auto less = kernel_->random().below(static_cast<std::uint64_t>(variation.count()),
                                              sim::hash_of("scheduler idle"), key, ++idle_waits_);
    scheduler_alarm_.wait_for(*kernel_, longest - Duration{static_cast<Duration::rep>(less)},
                              kIdle);
}

bool SchedulerNode::wait_until_due() {
    static const sim::WaitText kDue{"the time of the trigger that it holds"};
    const Time due = held_.front().scheduled;
    // The wait is on the monotonic clock: a wall clock that jumps forward is noticed after it.
    while (firing_) {
        if (changed_in_time(due)) {
            const auto given_back = std::exchange(held_, {});
            for (const HeldTrigger& trigger : given_back) store_->release(trigger);
            return false;
        }
        const Duration rest = due - ports_.clock.wall_now();
        if (rest <= 2 * kMillisecond) return true;
        scheduler_alarm_.wait_for(*kernel_, rest, kDue);
    }
    return false;
}

bool SchedulerNode::changed_in_time(Time due) {
    const ScheduleChange change = std::exchange(change_, std::nullopt);
    if (!change || *change >= due) return false;
    const Duration reason = jdbc_ ? kReasonClustered : kReasonInMemory;
    return due - ports_.clock.wall_now() >= reason;
}

void SchedulerNode::fire_held() {
    if (!firing_) return;
    FireResult result;
    try {
        result = store_->fire(held_);
    } catch (const jobs::AttemptError&) {
        result.refused = held_;
    }
    held_.clear();
    for (HeldTrigger& fired : result.fired) {
        const Duration late = cluster_->handed_out(*this, fired);
        start_job(std::move(fired), late, true);
    }
    for (const HeldTrigger& refused : result.refused) store_->release(refused);
}

// --- the jobs

void SchedulerNode::start_job(HeldTrigger fired, Duration late, bool in_store) {
    const std::string name = cluster_->name_of(*fired.job, fired.scheduled);
    sim::Task& task = kernel_->spawn(*incarnation_, name, sim::TaskKind::Foreground,
                                     [this, fired = std::move(fired), late, in_store] {
                                         if (late > Duration::zero()) ports_.clock.sleep_for(late);
                                         run_job(fired);
                                         if (in_store) store_->complete(fired);
                                         std::erase(running_, kernel_->current());
                                         if (in_store && fired.disallow_concurrent) {
                                             schedule_changed(kAnyTime);
                                         } else {
                                             scheduler_alarm_.ring(*kernel_);
                                         }
                                     });
    running_.push_back(&task);
}

void SchedulerNode::run_job(const HeldTrigger& fired) {
    kernel_->record(FireStarted{.job = fired.job->job,
                                .tenant = fired.job->tenant,
                                .fire_instance_id = fired.fire_instance_id,
                                .scheduled = fired.scheduled,
                                .recovering = fired.recovering});
    const std::string text = cluster_->text_of(fired.scheduled, node().name());
    if (!text.empty()) kernel_->record(InstantWritten{.text = text});
    std::string outcome;
    try {
        outcome = listener_(jobs::Fire{.tenant = fired.job->tenant,
                                       .job = fired.job->job,
                                       .fire_instance_id = fired.fire_instance_id,
                                       .scheduled_fire_time = fired.scheduled,
                                       .recovering = fired.recovering,
                                       .parameters = fired.parameters,
                                       .scheduled_text = text});
    } catch (const sim::BrokenInvariant&) {
        throw;
    } catch (const std::exception& error) {
        outcome = std::string("failed: ") + error.what();
    }
    // A job that swallowed its own end must not go on here.
    if (kernel_->dead_call()) return;
    kernel_->record(FireEnded{.fire_instance_id = fired.fire_instance_id, .outcome = outcome});
}

void SchedulerNode::run_as_well(const HeldTrigger& fired) {
    HeldTrigger again = fired;
    again.fire_instance_id = store_->new_fire_instance_id();
    start_job(std::move(again), Duration::zero(), false);
}

// --- check-ins and misfires (ClusterManager, MisfireHandler)

void SchedulerNode::check_ins() {
    static const sim::WaitText kNextCheckIn{"its next check-in"};
    std::uint32_t failures = 0;
    check_in(failures);
    running_since_ = ports_.clock.wall_now();
    start_misfires_if_near();
    kernel_->spawn(*incarnation_, "scheduler", sim::TaskKind::Daemon, [this] { scheduler(); });
    while (!closed_) {
        Duration rest = jdbc_->until_next_check_in();
        if (failures > 0) rest = std::max(rest, cluster_->options().db_retry);
        check_in_alarm_.wait_for(*kernel_, rest, kNextCheckIn);
        if (closed_) return;
        start_misfires_if_near();
        check_in(failures);
    }
}

void SchedulerNode::check_in(std::uint32_t& failures) {
    try {
        const auto recovered = jdbc_->check_in();
        failures = 0;
        for (const JdbcJobStore::Recovered& each : recovered) {
            if (each.instance == jdbc_->instance()) continue;
            kernel_->record(
                NodeDeclaredFailed{.instance = each.instance, .recovered_fires = each.fires});
        }
        if (!recovered.empty()) schedule_changed(kAnyTime);
    } catch (const jobs::AttemptError&) {
        ++failures;
    }
}

// Before the first instant of all is too late there is no misfire to find: until then the task and
// its statements are left out. Its looks are a threshold apart, beginning with the process.
void SchedulerNode::start_misfires_if_near() {
    if (misfires_started_) return;
    const SchedulerOptions& options = cluster_->options();
    const Time now = ports_.clock.wall_now();
    // In an editable store there may be more triggers at any time; and where it waits for the
    // database in an outage, its first look is over as soon as that is back.
    if (!options.editable && options.connection_patience == Duration::zero()) {
        if (cluster_->jobs().empty()) return;
        Time earliest = Time::max();
        for (const ScheduledJob& job : cluster_->jobs()) {
            earliest = std::min(earliest, job.schedule.first());
        }
        if (now + options.check_in < earliest + options.misfire_threshold) return;
    }
    misfires_started_ = true;
    const Duration age = now - running_since_;
    const Duration first_look = age > Duration::zero()
                                    ? options.misfire_threshold - age % options.misfire_threshold
                                    : Duration::zero();
    kernel_->spawn(*incarnation_, "misfires", sim::TaskKind::Daemon,
                   [this, first_look] { misfires(first_look); });
}

void SchedulerNode::misfires(Duration first_look) {
    static const sim::WaitText kNextLook{"the next look for misfires"};
    const SchedulerOptions& options = cluster_->options();
    misfire_alarm_.wait_for(*kernel_, first_look, kNextLook);
    std::uint32_t failures = 0;
    while (!closed_) {
        const Time began = ports_.clock.wall_now();
        JdbcJobStore::Misfires found;
        try {
            found = jdbc_->handle_misfires();
            failures = 0;
            if (found.handled > 0) schedule_changed(kAnyTime);
        } catch (const jobs::AttemptError&) {
            ++failures;
        }
        Duration rest = 50 * kMillisecond;
        if (!found.more) {
            const Duration took = ports_.clock.wall_now() - began;
            rest = std::max(rest, options.misfire_threshold - took);
            if (failures > 0) rest = std::max(rest, options.db_retry);
        }
        misfire_alarm_.wait_for(*kernel_, rest, kNextLook);
    }
}

// --- for the world's side

bool SchedulerNode::idle(Time until) const {
    if (!running_.empty()) return false;
    if (ram_) return ram_->due_by(until).empty();
    return std::ranges::none_of(held_,
                                [&](const HeldTrigger& held) { return held.scheduled <= until; });
}

std::vector<std::string> SchedulerNode::open_work(Time until) const {
    std::vector<std::string> lines;
    for (const sim::Task* const task : running_) {
        lines.push_back(fmt::format("{} runs {}", node().name(), task->name));
    }
    if (ram_) {
        for (const std::string& due : ram_->due_by(until)) {
            lines.push_back(fmt::format("on {}, {}", node().name(), due));
        }
        return lines;
    }
    for (const HeldTrigger& held : held_) {
        if (held.scheduled > until) continue;
        lines.push_back(fmt::format("{} has yet to fire {}", node().name(),
                                    cluster_->name_of(*held.job, held.scheduled)));
    }
    return lines;
}

}  // namespace fencepost::model
