#include "scenarios/results/stored_sweep.h"

#include <memory>
#include <utility>

#include "scenarios/results/kept_run.h"
#include "scenarios/results/store.h"

namespace fencepost::scenarios {
namespace {

// So many that committing costs nothing beside the runs, so few that they are soon made again.
constexpr std::uint64_t kRunsBetweenCommits = 500;

class KeepingSession : public WorkSession {
public:
    KeepingSession(const Scenario& scenario, const PlanSource& source, std::uint64_t first_seed,
                   const SearchOptions& options)
        : scenario_(scenario),
          source_(source),
          first_seed_(first_seed),
          verify_(options.verify),
          runner_(options.make_runner()) {}

    void run(std::uint64_t index) override {
        const sim::Plan plan = source_.draw(first_seed_ + index);
        const RunResult result = runner_.run(plan, {});
        runs_.push_back(kept_run(scenario_, plan, result));
        if (verify_) runs_.back().difference = difference_to(plan, result.fingerprint, runner_);
    }

    std::string take() override { return to_bytes(std::exchange(runs_, {})); }

    void describe_running(std::span<char> out) noexcept override {
        describe_last_task(runner_.history(), out);
    }

private:
    const Scenario& scenario_;
    const PlanSource& source_;
    const std::uint64_t first_seed_;
    const bool verify_;
    PlanRunner runner_;
    std::vector<KeptRun> runs_;
};

// What the store holds already.
SearchResult so_far(const ResultsStore& store, const Scenario& scenario,
                    const SearchOptions& options) {
    SearchResult result;
    result.planned = store.size();
    result.done = store.done();
    result.totals = Totals(scenario, options.totals);
    store.for_each_run([&](const KeptRun& run) { add(result.totals, scenario, run); });
    for (Mishap& mishap : store.mishaps()) result.mishaps.push_back({std::move(mishap), {}});
    return result;
}

}  // namespace

SearchResult sweep_into(ResultsStore& store, const SearchOptions& options) {
    const Subject& subject = store.sweep().subject;
    const Scenario& scenario = *find_scenario(subject.scenario);
    validate(subject.plan(store.sweep().seeds.first));
    SearchResult result = so_far(store, scenario, options);
    const auto catalogue = catalogue_in_workers(scenario, subject, options, result);
    if (!catalogue) return result;
    const PlanSource source(scenario, subject, *catalogue);

    const std::uint64_t first = store.sweep().own_seeds().first + store.done();
    const std::uint64_t before = store.done();
    std::uint64_t uncommitted = 0;
    PoolCallbacks callbacks;
    callbacks.result = [&](ItemRange, std::string_view bytes) {
        // Before, not after: a run and the mishap of its first try belong together.
        if (uncommitted >= kRunsBetweenCommits) {
            store.commit();
            uncommitted = 0;
        }
        for (const KeptRun& run : runs_from_bytes(bytes)) {
            store.add(run);
            add(result.totals, scenario, run);
            ++uncommitted;
        }
        return result.totals.failed_runs < options.stop_after_failures;
    };
    callbacks.mishap = [&](Mishap mishap) {
        mishap.item += first;
        store.add(mishap);
        result.mishaps.push_back({std::move(mishap), {}});
        return result.mishaps.size() < options.stop_after_mishaps;
    };
    if (options.progress) {
        callbacks.progress = [&](std::uint64_t done, std::uint64_t) {
            options.progress({.done = before + done,
                              .planned = result.planned,
                              .failed_runs = result.totals.failed_runs,
                              .mishaps = result.mishaps.size()});
        };
    }
    const PoolReport report = run_in_workers(
        result.planned - before,
        [&] { return std::make_unique<KeepingSession>(scenario, source, first, options); },
        callbacks, options.pool);
    store.commit();

    note_end(report, result);
    result.done = store.done();
    for (const FailingRun& run : result.totals.failures)
        result.failures.push_back({run, source.draw(run.item)});
    for (FoundMishap& found : result.mishaps) found.plan = source.draw(found.mishap.item);
    return result;
}

}  // namespace fencepost::scenarios
