#include "scenarios/search/guided.h"

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "scenarios/search/bytes.h"
#include "scenarios/search/mutation.h"
#include "scenarios/search/population.h"
#include "sim/events.h"

namespace fencepost::scenarios {
namespace {

constexpr std::uint64_t kFresh = sim::hash_of("guided/fresh");
constexpr std::uint64_t kSeed = sim::hash_of("guided/seed");
constexpr std::uint64_t kParent = sim::hash_of("guided/parent");
constexpr std::uint64_t kOther = sim::hash_of("guided/other");
constexpr std::uint64_t kChild = sim::hash_of("guided/child");

// Small enough that what was learned is soon used; large enough that starting workers does not
// count.
constexpr std::uint64_t kGeneration = 64;
constexpr std::uint64_t kRange = 4;
// Of a million plans, so many are drawn afresh: what no change of a kept plan leads to.
constexpr std::uint64_t kFreshPlans = 250'000;
// Of so many plans, the one that was tried the least is run.
constexpr std::uint64_t kCandidates = 4;
// Calls of a run that a further fault may strike, those right behind its last strike.
constexpr std::size_t kPointsKept = 96;

// What a worker tells of a run besides the totals. Common features are left out, and points where
// nothing is new as far as the worker knows.
struct Observation {
    std::vector<Feature> features;
    std::vector<ReachedPoint> points;
};

void put(ByteWriter& out, const Observation& seen) {
    out.put_all(seen.features, [](ByteWriter& to, Feature feature) { to.put(feature); });
    out.put(std::string_view{to_bytes(Reached{seen.points, {}})});
}

void get(ByteReader& in, Observation& seen) {
    in.get_all(seen.features, [](ByteReader& from, Feature& feature) { from.get(feature); });
    std::string points;
    in.get(points);
    seen.points = reached_from_bytes(points).points;
}

// The calls from the last strike on.
std::vector<ReachedPoint> points_after_strikes(const sim::History& history) {
    std::vector<ReachedPoint> points = reached_points(history);
    sim::Time last{};
    for (sim::RecordId id = 0; id < history.size(); ++id) {
        if (history.kind_of(id) == sim::FaultStruck::kKind) last = history[id].at();
    }
    std::erase_if(points, [last](const ReachedPoint& point) { return point.at < last; });
    if (points.size() > kPointsKept) points.resize(kPointsKept);
    return points;
}

class GuidedSession : public WorkSession {
public:
    GuidedSession(const Scenario& scenario, const std::vector<sim::Plan>& plans,
                  std::uint64_t first_item, const Population& known, const SearchOptions& options)
        : scenario_(scenario),
          plans_(plans),
          first_item_(first_item),
          known_(known),
          options_(options),
          runner_(options.make_runner()),
          totals_(scenario, options.totals) {}

    void run(std::uint64_t index) override {
        const sim::Plan& plan = plans_[index];
        const RunResult result = runner_.run(plan, {});
        totals_.add(first_item_ + index, plan, result);
        observe(plan, result);
        if (!options_.verify) return;
        if (const auto difference = difference_to(plan, result.fingerprint, runner_))
            totals_.add_difference(first_item_ + index, *difference);
    }

    std::string take() override {
        ByteWriter out;
        out.put(std::string_view{to_bytes(totals_)});
        out.put_all(seen_, put);
        totals_ = Totals(scenario_, options_.totals);
        seen_.clear();
        return out.take();
    }

    void describe_running(std::span<char> out) noexcept override {
        describe_last_task(runner_.history(), out);
    }

private:
    void observe(const sim::Plan& plan, const RunResult& result) {
        Observation& seen = seen_.emplace_back();
        seen.features = features_of(plan, result, runner_.history());
        std::erase_if(seen.features, [this](Feature feature) { return known_.is_common(feature); });
        if (std::ranges::any_of(seen.features,
                                [this](Feature feature) { return known_.is_new(feature); })) {
            seen.points = points_after_strikes(runner_.history());
        }
    }

    const Scenario& scenario_;
    const std::vector<sim::Plan>& plans_;
    std::uint64_t first_item_;
    const Population& known_;
    const SearchOptions& options_;
    PlanRunner runner_;
    Totals totals_;
    std::vector<Observation> seen_;
};

class GuidedSearch {
public:
    GuidedSearch(const Scenario& scenario, const Subject& subject, const Catalogue& catalogue,
                 const GuidedOptions& options, GuidedResult& result)
        : scenario_(scenario),
          options_(options),
          source_(scenario, subject, catalogue),
          mutator_(scenario, subject, catalogue),
          result_(result) {}

    void run() {
        result_.search.totals = Totals(scenario_, options_.search.totals);
        bool go_on = true;
        while (go_on && result_.search.done < options_.runs) {
            make_plans(std::min(kGeneration, options_.runs - result_.search.done));
            go_on = run_plans();
        }
        for (const FailingRun& run : result_.search.totals.failures) {
            result_.search.failures.push_back({run, failing_.at(run.item)});
        }
        result_.kept = population_.size();
        for (std::size_t i = 0; i < kFeatureKinds; ++i) {
            result_.features.at(i) = population_.features(static_cast<FeatureKind>(i));
        }
    }

private:
    void make_plans(std::uint64_t count) {
        plans_.clear();
        population_.weigh();
        for (std::uint64_t i = 0; i < count; ++i) {
            plans_.push_back(next_plan(sim::Random{sim::combine(options_.seed, item_of(i))}));
            tried_.add(plans_.back());
        }
    }
    [[nodiscard]] std::uint64_t item_of(std::uint64_t index) const {
        return result_.search.done + index + 1;
    }

    sim::Plan next_plan(const sim::Random& random) {
        Member* parent =
            random.chance(kFreshPlans, kFresh) ? nullptr : population_.choose(random.bits(kParent));
        if (parent == nullptr) {
            return least_tried(
                [&](std::uint64_t k) { return source_.draw(random.bits(kSeed, k)); });
        }
        ++parent->children;
        ++result_.children;
        return least_tried([&](std::uint64_t k) {
            return mutator_.child(*parent, population_.any(random.bits(kOther, k)).plan,
                                  sim::Random{random.bits(kChild, k)});
        });
    }

    template <typename Make>
    sim::Plan least_tried(Make make) const {
        sim::Plan best = make(0);
        std::uint64_t novelty = tried_.novelty_of(best);
        for (std::uint64_t k = 1; k < kCandidates; ++k) {
            sim::Plan other = make(k);
            const std::uint64_t others = tried_.novelty_of(other);
            if (others <= novelty) continue;
            novelty = others;
            best = std::move(other);
        }
        return best;
    }

    // One generation. False when the search is over before its number of runs is.
    bool run_plans() {
        const std::uint64_t before = result_.search.done;
        const std::uint64_t first_item = before + 1;
        PoolCallbacks callbacks;
        callbacks.result = [&](ItemRange range, std::string_view bytes) {
            merge(range, first_item, bytes);
            return !is_enough();
        };
        callbacks.mishap = [&](const Mishap& mishap) {
            result_.search.mishaps.push_back({mishap, plans_.at(mishap.item)});
            result_.search.mishaps.back().mishap.item += first_item;
            return result_.search.mishaps.size() < options_.search.stop_after_mishaps;
        };
        if (options_.search.progress) {
            callbacks.progress = [&](std::uint64_t done, std::uint64_t) {
                options_.search.progress({.done = before + done,
                                          .planned = options_.runs,
                                          .failed_runs = result_.search.totals.failed_runs,
                                          .mishaps = result_.search.mishaps.size()});
            };
        }
        PoolOptions pool = options_.search.pool;
        pool.range_size = kRange;
        const PoolReport report = run_in_workers(
            plans_.size(),
            [&] {
                return std::make_unique<GuidedSession>(scenario_, plans_, first_item, population_,
                                                       options_.search);
            },
            callbacks, pool);
        note_end(report, result_.search);
        result_.search.done = before + report.items;
        return report.end == PoolEnd::Completed && !is_enough();
    }

    [[nodiscard]] bool is_enough() {
        const bool time_is_over = options_.search.time_is_over && options_.search.time_is_over();
        const bool enough = time_is_over || result_.search.totals.failed_runs >=
                                                options_.search.stop_after_failures;
        if (enough) result_.search.end = PoolEnd::Stopped;
        return enough;
    }

    void merge(ItemRange range, std::uint64_t first_item, std::string_view bytes) {
        ByteReader in{bytes};
        std::string totals;
        in.get(totals);
        const Totals next = totals_from_bytes(totals);
        for (const FailingRun& run : next.failures) {
            failing_.emplace(run.item, plans_.at(run.item - first_item));
        }
        result_.search.totals.append(next);
        std::erase_if(failing_, [this](const auto& failing) {
            return !std::ranges::binary_search(result_.search.totals.failures, failing.first, {},
                                               &FailingRun::item);
        });
        std::vector<Observation> seen;
        in.get_all(seen, get);
        for (std::size_t i = 0; i < seen.size(); ++i) {
            population_.add(plans_.at(range.first + i), seen[i].features,
                            std::move(seen[i].points));
        }
    }

    const Scenario& scenario_;
    const GuidedOptions& options_;
    const PlanSource source_;
    Mutator mutator_;
    GuidedResult& result_;
    Population population_;
    Tried tried_;
    std::vector<sim::Plan> plans_;                // of the generation
    std::map<std::uint64_t, sim::Plan> failing_;  // by item
};

}  // namespace

GuidedResult guided_search(const Scenario& scenario, const Subject& subject,
                           const GuidedOptions& options) {
    validate(subject.plan(options.seed));
    SearchResult made;
    const auto catalogue = catalogue_in_workers(scenario, subject, options.search, made);
    if (catalogue) return guided_search(scenario, subject, *catalogue, options);
    GuidedResult result;
    result.search = std::move(made);
    result.search.planned = options.runs;
    return result;
}

GuidedResult guided_search(const Scenario& scenario, const Subject& subject,
                           const Catalogue& catalogue, const GuidedOptions& options) {
    GuidedResult result;
    result.search.planned = options.runs;
    GuidedSearch{scenario, subject, catalogue, options, result}.run();
    return result;
}

}  // namespace fencepost::scenarios
