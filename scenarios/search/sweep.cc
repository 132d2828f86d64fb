#include "scenarios/search/sweep.h"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <utility>

namespace fencepost::scenarios {
namespace {

// Runs plans in a worker.
class PlanSession : public WorkSession {
public:
    PlanSession(const Scenario& scenario, const PlanList& plans, const SearchOptions& options)
        : scenario_(scenario), plans_(plans), options_(options), runner_(options.make_runner()) {
        totals_ = Totals(scenario_, options_.totals);
    }

    void run(std::uint64_t index) override {
        const sim::Plan plan = plans_.plan(index);
        const std::uint64_t item = plans_.item(index);
        const RunResult result = runner_.run(plan, {});
        totals_.add(item, plan, result);
        if (!options_.verify) return;
        if (const auto difference = difference_to(plan, result.fingerprint, runner_))
            totals_.add_difference(item, *difference);
    }

    std::string take() override {
        return to_bytes(std::exchange(totals_, Totals(scenario_, options_.totals)));
    }

    void describe_running(std::span<char> out) noexcept override {
        describe_last_task(runner_.history(), out);
    }

private:
    const Scenario& scenario_;
    const PlanList& plans_;
    const SearchOptions& options_;
    PlanRunner runner_;
    Totals totals_;
};

// Collects what each plan reaches.
class ReachedSession : public WorkSession {
public:
    ReachedSession(const std::vector<sim::Plan>& plans, const SearchOptions& options)
        : plans_(plans), runner_(options.make_runner()) {}
    void run(std::uint64_t index) override {
        reached_ = to_bytes(reached_by(plans_[index], runner_));
    }
    std::string take() override { return std::move(reached_); }

private:
    const std::vector<sim::Plan>& plans_;
    PlanRunner runner_;
    std::string reached_;
};

}  // namespace

void note_end(const PoolReport& report, SearchResult& result) {
    result.end = report.end;
    result.problem = report.problem;
    result.workers_replaced += report.workers_replaced;
}

bool SearchResult::harness_failed() const {
    return end == PoolEnd::CouldNotStart || totals.nondeterministic_runs > 0 ||
           std::ranges::any_of(mishaps, [](const FoundMishap& found) {
               return found.mishap.kind == MishapKind::HarnessError || !found.mishap.in_task ||
                      !found.mishap.again;
           });
}

std::vector<std::string> SearchResult::probes_missed() const {
    std::vector<std::string> missed;
    for (const ProbeTally& tally : totals.probes) {
        if (tally.runs == 0) missed.push_back(tally.probe);
    }
    return missed;
}

std::vector<std::string> SearchResult::never_judged() const {
    std::vector<std::string> never;
    for (const CheckerTally& tally : totals.checkers) {
        if (tally.passed + tally.failed + tally.not_applicable == 0) never.push_back(tally.checker);
    }
    return never;
}

SearchResult run_plans(const Scenario& scenario, const PlanList& plans,
                       const SearchOptions& options) {
    SearchResult result;
    result.planned = plans.count;
    result.totals = Totals(scenario, options.totals);

    PoolCallbacks callbacks;
    callbacks.result = [&](ItemRange, std::string_view bytes) {
        result.totals.append(totals_from_bytes(bytes));
        const bool time_is_over = options.time_is_over && options.time_is_over();
        return result.totals.failed_runs < options.stop_after_failures && !time_is_over;
    };
    callbacks.mishap = [&](const Mishap& mishap) {
        result.mishaps.push_back({mishap, plans.plan(mishap.item)});
        result.mishaps.back().mishap.item = plans.item(mishap.item);
        return result.mishaps.size() < options.stop_after_mishaps;
    };
    if (options.progress) {
        callbacks.progress = [&](std::uint64_t done, std::uint64_t planned) {
            options.progress({.done = done,
                              .planned = planned,
                              .failed_runs = result.totals.failed_runs,
                              .mishaps = result.mishaps.size()});
        };
    }
    const PoolReport report = run_in_workers(
        plans.count, [&] { return std::make_unique<PlanSession>(scenario, plans, options); },
        callbacks, options.pool);
    note_end(report, result);
    result.done = report.items;

    for (const FailingRun& run : result.totals.failures) {
        // The items grow with the index.
        std::uint64_t low = 0;
        std::uint64_t high = plans.count;
        while (high - low > 1) {
            const std::uint64_t middle = low + (high - low) / 2;
            (plans.item(middle) <= run.item ? low : high) = middle;
        }
        result.failures.push_back({run, plans.plan(low)});
    }
    return result;
}

SearchResult run_plans(const Scenario& scenario, const std::vector<sim::Plan>& plans,
                       const SearchOptions& options) {
    PlanList list;
    list.count = plans.size();
    list.plan = [&plans](std::uint64_t index) { return plans[index]; };
    return run_plans(scenario, list, options);
}

SearchResult sweep(const Scenario& scenario, const Subject& subject, SeedRange seeds,
                   const SearchOptions& options) {
    validate(subject.plan(seeds.first));
    if (seeds.last < seeds.first)
        throw sim::PlanError("seeds: the last one comes before the first");
    SearchResult result;
    result.planned = seeds.last - seeds.first + 1;
    const auto catalogue = catalogue_in_workers(scenario, subject, options, result);
    if (!catalogue) return result;
    const PlanSource source(scenario, subject, *catalogue);
    PlanList plans;
    plans.count = result.planned;
    plans.item = [seeds](std::uint64_t index) { return seeds.first + index; };
    plans.plan = [&source, seeds](std::uint64_t index) { return source.draw(seeds.first + index); };
    return run_plans(scenario, plans, options);
}

std::optional<Reached> reached_in_worker(const sim::Plan& plan, const SearchOptions& options,
                                         SearchResult& result) {
    const std::vector<sim::Plan> plans{plan};
    std::optional<Reached> reached;
    PoolCallbacks callbacks;
    callbacks.result = [&](ItemRange, std::string_view bytes) {
        reached = reached_from_bytes(bytes);
        return true;
    };
    callbacks.mishap = [&](const Mishap& mishap) {
        result.mishaps.push_back({mishap, plan});
        result.mishaps.back().mishap.item = plan.seed;
        return true;
    };
    note_end(run_in_workers(
                 1, [&] { return std::make_unique<ReachedSession>(plans, options); }, callbacks,
                 options.pool),
             result);
    return reached;
}

std::optional<Catalogue> catalogue_in_workers(const Scenario& scenario, const Subject& subject,
                                              const SearchOptions& options, SearchResult& result) {
    const auto usual = reached_in_worker(subject.plan(0), options, result);
    if (!usual) return std::nullopt;
    const std::vector<sim::Plan> plans = catalogue_plans(scenario, subject, *usual);
    CatalogueBuilder builder;
    PoolCallbacks callbacks;
    callbacks.result = [&](ItemRange range, std::string_view bytes) {
        builder.add(plans[range.first], reached_from_bytes(bytes));
        return true;
    };
    // What takes a worker down here adds no points; a plan of the sweep itself will show it.
    callbacks.mishap = [](const Mishap&) { return true; };
    PoolOptions pool = options.pool;
    pool.range_size = 1;  // each plan's points for themselves
    const PoolReport report = run_in_workers(
        plans.size(), [&] { return std::make_unique<ReachedSession>(plans, options); }, callbacks,
        pool);
    note_end(report, result);
    if (report.end != PoolEnd::Completed) return std::nullopt;
    return builder.take(scenario);
}

}  // namespace fencepost::scenarios
