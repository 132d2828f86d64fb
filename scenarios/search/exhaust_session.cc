#include "scenarios/search/exhaust_session.h"

#include <fmt/format.h>

#include <utility>

#include "scenarios/search/bytes.h"
#include "sim/require.h"

namespace fencepost::scenarios {
namespace {

class ExhaustSession : public WorkSession {
public:
    ExhaustSession(const Scenario& scenario, const Subject& subject, const ExhaustOptions& options,
                   const Branching& branching, Depth depth)
        : scenario_(scenario),
          options_(options),
          branching_(branching),
          depth_(depth),
          runner_(options.search.make_runner()),
          finder_(scenario, subject, options.kinds),
          batch_(fresh()) {}

    void run(std::uint64_t index) override {
        const sim::Plan plan = branching_.item(index);
        batch_.plan(plan);
        const Equal why = index == 0 ? Equal::Unknown : branching_.equal[index - 1].why;
        if (depth_ == Depth::Needed && why != Equal::Unknown) {
            batch_.add_equal(why);
            return;
        }
        run_plan(plan);
        if (depth_ == Depth::Further && index > 0) branch(plan, index - 1);
    }

    std::string take() override { return to_bytes(std::exchange(batch_, fresh())); }

    void describe_running(std::span<char> out) noexcept override {
        describe_last_task(runner_.history(), out);
    }

private:
    [[nodiscard]] ExhaustBatch fresh() const { return {scenario_, options_.search.totals}; }

    void run_plan(const sim::Plan& plan) {
        note_progress();
        const RunResult result = runner_.run(plan, {});
        batch_.add(plan, result);
        if (!options_.search.verify) return;
        if (const auto difference = difference_to(plan, result.fingerprint, runner_))
            batch_.totals.add_difference(batch_.planned - 1, *difference);
    }

    // Every plan with one more fault than `plan`, which has just been run.
    void branch(sim::Plan plan, std::size_t fault) {
        const NextFaults next = finder_.after(plan, runner_.history());
        const std::vector<EqualPlan> equal = options_.leave_out_equals
                                                 ? equal_plans(plan, runner_.history(), next)
                                                 : std::vector<EqualPlan>(next.faults.size());
        batch_.points.insert(next.points.begin(), next.points.end());
        const bool after_an_equal = branching_.equal[fault].why != Equal::Unknown;
        if (after_an_equal) confirm(plan, branching_.equal[fault]);
        plan.faults.emplace_back();
        for (std::size_t i = 0; i < next.faults.size(); ++i) {
            plan.faults.back() = next.faults[i];
            batch_.plan(plan);
            if (after_an_equal) {
                batch_.add_equal(Equal::AfterAnEqual);
            } else if (equal[i].why != Equal::Unknown) {
                batch_.add_equal(equal[i].why);
            } else {
                run_plan(plan);
            }
        }
    }

    // On many plans' being left out hangs more than on one run.
    void confirm(const sim::Plan& plan, const EqualPlan& equal) {
        const std::uint64_t found = fingerprint_without_faults(runner_.history());
        std::uint64_t expected = branching_.fingerprint;
        if (equal.to != EqualPlan::kWithout) {
            (void)runner_.run(branching_.item(equal.to + 1), {});
            expected = fingerprint_without_faults(runner_.history());
        }
        if (found == expected) return;
        throw sim::BrokenInvariant(fmt::format(
            "the plan with \"{}\" was taken for equal to another, because {}, and is not",
            sim::describe(plan.faults.back()), reason_of(equal.why)));
    }

    const Scenario& scenario_;
    const ExhaustOptions& options_;
    const Branching& branching_;
    const Depth depth_;
    PlanRunner runner_;
    NextFaultFinder finder_;
    ExhaustBatch batch_;
};

}  // namespace

sim::Plan Branching::item(std::uint64_t index) const {
    sim::Plan with = plan;
    if (index > 0) with.faults.push_back(faults.at(index - 1));
    return with;
}

std::string to_bytes(const Branching& branching) {
    ByteWriter out;
    sim::Plan faults = branching.plan;
    faults.faults = branching.faults;
    out.put(sim::to_json(branching.plan)).put(sim::to_json(faults)).put(branching.fingerprint);
    out.put_all(branching.equal, [](ByteWriter& to, const EqualPlan& equal) {
        to.put(equal.why).put(static_cast<std::uint64_t>(equal.to));
    });
    out.put_all(branching.points, [](ByteWriter& to, std::uint64_t point) { to.put(point); });
    return out.take();
}

Branching branching_from_bytes(std::string_view bytes) {
    Branching branching;
    ByteReader in{bytes};
    std::string plan;
    std::string faults;
    in.get(plan);
    in.get(faults);
    branching.plan = sim::plan_from_json(plan);
    branching.faults = sim::plan_from_json(faults).faults;
    in.get(branching.fingerprint);
    in.get_all(branching.equal, [](ByteReader& from, EqualPlan& equal) {
        from.get(equal.why);
        equal.to = static_cast<std::size_t>(from.get<std::uint64_t>());
    });
    in.get_all(branching.points, [](ByteReader& from, std::uint64_t& point) { from.get(point); });
    return branching;
}

Branching branching_of(const sim::Plan& plan, NextFaultFinder& finder, const PlanRunner& runner) {
    (void)runner.run(plan, {});
    NextFaults next = finder.after(plan, runner.history());
    std::vector<EqualPlan> equal = equal_plans(plan, runner.history(), next);
    return {.plan = plan,
            .faults = std::move(next.faults),
            .equal = std::move(equal),
            .points = std::move(next.points),
            .fingerprint = fingerprint_without_faults(runner.history())};
}

std::unique_ptr<WorkSession> exhaust_session(const Scenario& scenario, const Subject& subject,
                                             const ExhaustOptions& options,
                                             const Branching& branching, Depth depth) {
    return std::make_unique<ExhaustSession>(scenario, subject, options, branching, depth);
}

}  // namespace fencepost::scenarios
