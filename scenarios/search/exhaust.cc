#include "scenarios/search/exhaust.h"

#include <fmt/format.h>

#include <algorithm>
#include <expected>
#include <optional>
#include <utility>

#include "scenarios/search/exhaust_batch.h"
#include "scenarios/search/exhaust_session.h"
#include "scenarios/search/exhaust_state.h"
#include "sim/random.h"
#include "sim/require.h"

namespace fencepost::scenarios {
namespace {

std::uint64_t hash_of_plans(const Branching& branching) {
    sim::Plan all = branching.plan;
    all.faults = branching.faults;
    return sim::combine(sim::hash_of(sim::to_json(all)), branching.fingerprint);
}

// One exhaustive search under way.
class Exhaustion {
public:
    Exhaustion(const Scenario& scenario, const Subject& subject, const ExhaustOptions& options)
        : scenario_(scenario), subject_(subject), options_(options), end_(PoolEnd::Completed) {
        state_.sum = fresh();
    }

    ExhaustResult run() {
        if (auto root = branch_in_worker(subject_.plan(options_.seed))) {
            root_ = std::move(*root);
            const ExhaustStateFile file{subject_, options_, hash_of_plans(root_)};
            file_ = &file;
            if (options_.resume) {
                if (auto noted = file.read()) state_ = std::move(*noted);
            }
            seconds_before_ = state_.seconds;
            explore_all();
            if (whole_) note();
            file_ = nullptr;
        } else {
            note_mishap(state_.sum, subject_.plan(options_.seed), root.error());
        }
        return result();
    }

private:
    using Root = std::expected<Branching, Mishap>;

    [[nodiscard]] ExhaustBatch fresh() const { return {scenario_, options_.search.totals}; }

    Root branch_in_worker(const sim::Plan& plan) {
        const auto bytes = call_in_worker(
            [&] {
                NextFaultFinder finder{scenario_, subject_, options_.kinds};
                return to_bytes(branching_of(plan, finder, options_.search.make_runner()));
            },
            options_.search.pool);
        if (!bytes) return std::unexpected(bytes.error());
        Branching branching = branching_from_bytes(*bytes);
        if (!options_.leave_out_equals)
            branching.equal.assign(branching.faults.size(), EqualPlan{});
        return branching;
    }

    void explore_all() {
        if (options_.faults == 1) {
            begin(1, 0);
            explore(root_, Depth::All);
        } else if (options_.faults == 2) {
            begin(1, 0);
            explore(root_, Depth::Further);
        } else {
            explore_by_first_fault();
        }
    }

    // Three faults: a branching for each first one, since a single first fault has millions of
    // plans.
    void explore_by_first_fault() {
        for (std::uint64_t first = state_.branching; first < root_.items(); ++first) {
            begin(root_.items(), first);
            if (first == 0) {
                Branching alone = root_;
                alone.faults.clear();
                alone.equal.clear();
                explore(alone, Depth::All);
            } else if (auto branching = branch_in_worker(root_.item(first))) {
                state_.sum.points.insert(branching->points.begin(), branching->points.end());
                explore(*branching, Depth::Further);
            } else {
                note_mishap(state_.sum, root_.item(first), branching.error());
            }
            if (over()) return;
            ++state_.branching;
            state_.items = 0;
        }
    }

    void begin(std::uint64_t branchings, std::uint64_t now) {
        branchings_ = branchings;
        branching_ = now;
    }

    [[nodiscard]] bool over() const { return end_ != PoolEnd::Completed; }

    // The items of a branching that are not done yet.
    void explore(const Branching& branching, Depth depth) {
        items_ = branching.items();
        while (state_.items < items_ && !over()) {
            std::optional<std::uint64_t> broken;
            const std::uint64_t first = state_.items;
            PoolCallbacks callbacks = callbacks_for(branching, first, state_.sum);
            callbacks.result = [&](ItemRange range, std::string_view bytes) {
                state_.sum.append(batch_from_bytes(bytes));
                state_.items = first + range.last;
                if (state_.sum.planned >= noted_plans_ + options_.plans_between_notes) note();
                return !enough();
            };
            if (depth == Depth::Further) {
                // Which of the many plans of the item it was is found out afterwards.
                callbacks.mishap = [&](const Mishap& mishap) {
                    if (!mishap.again || first + mishap.item == 0) {
                        add_mishap(state_.sum, branching.item(first + mishap.item), mishap);
                        state_.items = first + mishap.item + 1;
                        return !enough();
                    }
                    broken = first + mishap.item;
                    return false;
                };
            } else {
                callbacks.mishap = [&](const Mishap& mishap) {
                    add_mishap(state_.sum, branching.item(first + mishap.item), mishap);
                    state_.items = first + mishap.item + 1;
                    return !enough();
                };
            }
            pool(branching, depth, first, callbacks);
            if (!broken) continue;
            if (end_ == PoolEnd::Stopped) end_ = PoolEnd::Completed;
            explore_one_by_one(branching.item(*broken));
            if (over()) return;
            state_.items = *broken + 1;
        }
    }

    // A plan with all that can follow it, each by itself: one of them takes its process down.
    void explore_one_by_one(const sim::Plan& plan) {
        ExhaustBatch sum = fresh();
        auto branching = branch_in_worker(plan);
        if (!branching) {
            note_mishap(sum, plan, branching.error());
        } else {
            sum.points.insert(branching->points.begin(), branching->points.end());
            PoolCallbacks callbacks = callbacks_for(*branching, 0, sum);
            callbacks.result = [&](ItemRange, std::string_view bytes) {
                sum.append(batch_from_bytes(bytes));
                return true;
            };
            callbacks.mishap = [&](const Mishap& mishap) {
                add_mishap(sum, branching->item(mishap.item), mishap);
                return state_.sum.mishaps.size() + sum.mishaps.size() <
                       options_.search.stop_after_mishaps;
            };
            pool(*branching, Depth::Needed, 0, callbacks);
            // A part of an item can be told, but not be gone on from.
            if (over()) whole_ = false;
        }
        state_.sum.append(std::move(sum));
        if (!over() && enough()) end_ = PoolEnd::Stopped;
    }

    PoolCallbacks callbacks_for(const Branching& branching, std::uint64_t first,
                                const ExhaustBatch& sum) {
        PoolCallbacks callbacks;
        if (!options_.search.progress) return callbacks;
        callbacks.progress = [this, &branching, &sum, first](std::uint64_t done, std::uint64_t) {
            SearchProgress now{.failed_runs = sum.totals.failed_runs,
                               .mishaps = sum.mishaps.size()};
            if (options_.faults == 1) {
                now.done = first + done;
                now.planned = branching.items();
            } else {
                now.done = state_.sum.planned;
                now.part = part_done();
            }
            options_.search.progress(now);
        };
        return callbacks;
    }

    // The earlier a fault strikes, the more can follow it.
    [[nodiscard]] double part_done() const {
        const auto share = [](std::uint64_t done, std::uint64_t all) {
            const double left = 1 - static_cast<double>(done) / static_cast<double>(all);
            return 1 - left * left;
        };
        if (branchings_ == 1) return share(state_.items, items_);
        return share(branching_, branchings_);
    }

    void pool(const Branching& branching, Depth depth, std::uint64_t first,
              const PoolCallbacks& callbacks) {
        PoolOptions options = options_.search.pool;
        if (depth == Depth::Further) options.range_size = 1;
        const PoolReport report = run_in_workers(
            branching.items() - first,
            [&] {
                return std::make_unique<Shifted>(
                    exhaust_session(scenario_, subject_, options_, branching, depth), first);
            },
            callbacks, options);
        end_ = report.end;
        problem_ = report.problem;
        workers_replaced_ += report.workers_replaced;
    }

    // A session whose items are called by numbers that begin at 0.
    class Shifted : public WorkSession {
    public:
        Shifted(std::unique_ptr<WorkSession> session, std::uint64_t first)
            : session_(std::move(session)), first_(first) {}
        void run(std::uint64_t item) override { session_->run(first_ + item); }
        std::string take() override { return session_->take(); }
        void describe_running(std::span<char> out) noexcept override {
            session_->describe_running(out);
        }

    private:
        std::unique_ptr<WorkSession> session_;
        std::uint64_t first_;
    };

    [[nodiscard]] bool enough() const {
        const Totals& totals = state_.sum.totals;
        return totals.failed_runs >= options_.search.stop_after_failures ||
               state_.sum.mishaps.size() >= options_.search.stop_after_mishaps ||
               state_.sum.planned >= options_.most_plans ||
               (options_.enough && options_.enough(totals));
    }

    // What took its process down once and not again has been counted as a run.
    static void add_mishap(ExhaustBatch& sum, const sim::Plan& plan, const Mishap& mishap) {
        if (mishap.again) {
            sum.plan(plan);
            sum.add_mishap({mishap, plan});
        } else {
            sum.mishaps.push_back({mishap, plan});
            sum.mishaps.back().mishap.item = sum.planned - 1;
        }
    }

    // Of a plan that was to be branched from.
    void note_mishap(ExhaustBatch& sum, const sim::Plan& plan, const Mishap& mishap) {
        if (is_interruption(mishap)) {
            end_ = PoolEnd::Interrupted;
        } else {
            add_mishap(sum, plan, mishap);
        }
    }

    void note() {
        if (options_.seconds) state_.seconds = seconds_before_ + options_.seconds();
        noted_plans_ = state_.sum.planned;
        if (given_up_noting_) return;
        try {
            file_->write(state_);
        } catch (const sim::PlanError& error) {
            if (!options_.not_noted) throw;
            given_up_noting_ = true;
            options_.not_noted(error.what());
        }
    }

    ExhaustResult result() {
        ExhaustBatch& sum = state_.sum;
        ExhaustResult result;
        Certificate& certificate = result.certificate;
        certificate.scenario = subject_.scenario;
        certificate.handler = subject_.handler;
        certificate.parameters = subject_.parameters;
        certificate.seed = options_.seed;
        certificate.faults = options_.faults;
        certificate.all_kinds = options_.kinds.empty();
        certificate.points = root_.points.size();
        certificate.further_points =
            static_cast<std::uint64_t>(std::ranges::count_if(sum.points, [&](std::uint64_t point) {
                return std::ranges::find(root_.points, point) == root_.points.end();
            }));
        const std::uint64_t missing =
            options_.faults < 3 && items_ > state_.items ? items_ - state_.items : 0;
        certificate.planned = sum.planned + missing;
        certificate.run = sum.totals.runs;
        certificate.skipped = sum.skipped + missing;
        certificate.cut_short = over();
        certificate.inert = sum.totals.runs_with_inert_faults;
        certificate.without_effect = sum.totals.runs_without_effect;
        certificate.violating = sum.totals.failed_runs;
        for (std::size_t reason = 0; reason < kEqualReasons; ++reason) {
            if (sum.equal[reason] > 0)
                certificate.equal.emplace_back(static_cast<Equal>(reason), sum.equal[reason]);
        }
        for (const sim::FaultKindInfo& info : sim::fault_kinds()) {
            const std::uint64_t planned = sum.planned_kinds.at(static_cast<std::size_t>(info.kind));
            const FaultTally& tally = sum.totals.of(info.kind);
            if (planned > 0)
                certificate.kinds.push_back({info.kind, planned, tally.struck, tally.took_effect});
        }
        certificate.version = options_.version;
        certificate.seconds =
            options_.seconds ? seconds_before_ + options_.seconds() : state_.seconds;
        sim::require(sum.planned == sum.totals.runs + sum.equals() + sum.skipped,
                     "every plan was run, is equal to another or was skipped");

        SearchResult& search = result.search;
        search.end = end_;
        search.problem = problem_;
        search.planned = certificate.planned - sum.equals();
        search.done = sum.totals.runs + sum.skipped;
        search.workers_replaced = workers_replaced_;
        search.totals = std::move(sum.totals);
        search.failures = std::move(sum.failures);
        search.mishaps = std::move(sum.mishaps);
        return result;
    }

    const Scenario& scenario_;
    const Subject& subject_;
    const ExhaustOptions& options_;
    Branching root_;
    const ExhaustStateFile* file_ = nullptr;
    bool given_up_noting_ = false;
    ExhaustState state_;
    std::uint64_t items_ = 0;  // of the branching under way
    std::uint64_t branchings_ = 1;
    std::uint64_t branching_ = 0;
    std::uint64_t noted_plans_ = 0;
    double seconds_before_ = 0;
    bool whole_ = true;  // the sum is that of whole items
    PoolEnd end_;
    std::string problem_;
    std::uint64_t workers_replaced_ = 0;
};

}  // namespace

std::vector<sim::Plan> plans_after(const Scenario& scenario, const Subject& subject,
                                   const sim::Plan& plan, const PlanRunner& runner) {
    NextFaultFinder finder{scenario, subject};
    const Branching branching = branching_of(plan, finder, runner);
    std::vector<sim::Plan> plans;
    for (std::uint64_t item = 1; item < branching.items(); ++item)
        plans.push_back(branching.item(item));
    return plans;
}

ExhaustResult exhaust(const Scenario& scenario, const Subject& subject,
                      const ExhaustOptions& options) {
    if (options.faults < 1 || options.faults > kMostFaultsEnumerated) {
        throw sim::PlanError(fmt::format(
            "faults: {} a plan cannot be enumerated; 1 to {} can (a sweep draws plans with more)",
            options.faults, kMostFaultsEnumerated));
    }
    validate(subject.plan(options.seed));
    return Exhaustion{scenario, subject, options}.run();
}

}  // namespace fencepost::scenarios
