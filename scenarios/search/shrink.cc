#include "scenarios/search/shrink.h"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "scenarios/reduced.h"
#include "scenarios/search/bytes.h"
#include "scenarios/search/simpler.h"

namespace fencepost::scenarios {
namespace {

using sim::Fault;
using sim::Plan;

// How a run relates to the failure that is looked for.
enum class Match : std::uint8_t { None, OtherKey, Same };

struct Attempt {
    Match match = Match::None;
    std::uint64_t fingerprint = 0;
    checkers::Finding finding;
};

class Shrinker {
public:
    Shrinker(const RunPlan& run, const ShrinkOptions& options, std::string checker, std::string key)
        : run_(run), options_(options), checker_(std::move(checker)), key_(std::move(key)) {}

    Shrunk shrink(const Plan& failing) {
        Shrunk shrunk;
        shrunk.original_faults = failing.faults.size();
        shrunk.plan = failing;
        if (checker_.empty() || key_.empty()) adopt_target(failing);
        needed_ = Match::Same;
        if (checker_.empty() || !try_plan(failing)) {
            needed_ = Match::OtherKey;
            if (checker_.empty() || !try_plan(failing)) return finish(std::move(shrunk));
        }
        shrunk.reproduced = true;
        simplify_everything();
        // The same checker on another key is worth it when it takes fewer faults, be they some of
        // those that remain or others.
        if (needed_ == Match::Same && !best_.faults.empty()) {
            const Plan same_key = best_;
            const Attempt same_key_attempt = best_attempt_;
            needed_ = Match::OtherKey;
            for (const Plan& start : {same_key, failing}) {
                if (try_plan(start)) remove_faults();
                if (best_.faults.size() < same_key.faults.size()) break;
            }
            if (best_.faults.size() < same_key.faults.size()) {
                simplify_everything();
            } else {
                best_ = same_key;
                best_attempt_ = same_key_attempt;
                needed_ = Match::Same;
            }
        }
        shrunk.proven = prove();
        shrunk.plan = best_;
        shrunk.finding = best_attempt_.finding;
        shrunk.fingerprint = best_attempt_.fingerprint;
        return finish(std::move(shrunk));
    }

private:
    Shrunk finish(Shrunk shrunk) const {
        shrunk.checker = checker_;
        shrunk.runs = runs_;
        return shrunk;
    }

    // What was not asked for is what this run fails on first.
    void adopt_target(const Plan& failing) {
        ++runs_;
        const RunResult result = run_(failing, {});
        for (const checkers::Judgement& judgement : result.judgements) {
            if (judgement.verdict != checkers::Verdict::Fail) continue;
            if (checker_.empty()) checker_ = judgement.checker;
            if (checker_ != judgement.checker) continue;
            if (key_.empty() && !judgement.findings.empty()) key_ = judgement.findings.front().key;
        }
    }

    // --- runs

    // Null when the budget is used up.
    const Attempt* attempt(const Plan& plan) {
        const std::string name = sim::to_json(plan);
        if (const auto known = known_.find(name); known != known_.end()) return &known->second;
        if (stopped_ || runs_ >= options_.most_runs) return nullptr;
        if (options_.progress && !options_.progress(runs_, best_.faults.size())) {
            stopped_ = true;
            return nullptr;
        }
        ++runs_;
        Attempt made;
        try {
            const RunResult result = run_(plan, {});
            made.fingerprint = result.fingerprint;
            judge(result, made);
        } catch (const std::exception&) {
            // A plan that makes no sense, or that breaks something else, does not show the failure.
        }
        return &known_.emplace(name, std::move(made)).first->second;
    }

    void judge(const RunResult& result, Attempt& made) const {
        for (const checkers::Judgement& judgement : result.judgements) {
            if (judgement.checker != checker_ || judgement.verdict != checkers::Verdict::Fail) {
                continue;
            }
            const auto& findings = judgement.findings;
            const auto same = std::ranges::find(findings, key_, &checkers::Finding::key);
            if (same != findings.end()) {
                made.finding = *same;
                made.match = Match::Same;
            } else if (!findings.empty()) {
                made.finding = findings.front();
                made.match = Match::OtherKey;
            } else {
                made.finding.message = judgement.reason;
                made.match = key_.empty() ? Match::Same : Match::OtherKey;
            }
        }
    }

    // Takes the plan for the best so far if it still fails.
    bool try_plan(const Plan& plan) {
        const Attempt* made = attempt(plan);
        if (made == nullptr || made->match < needed_) return false;
        best_ = plan;
        best_attempt_ = *made;
        return true;
    }

    template <typename Change>
    bool try_change(Change change) {
        Plan changed = best_;
        change(changed);
        return changed != best_ && try_plan(changed);
    }

    // --- faults away

    void remove_faults() {
        // Halves, quarters, … and at last single ones, until no single one can go.
        std::size_t size = std::max<std::size_t>(1, best_.faults.size() / 2);
        while (!best_.faults.empty()) {
            bool removed = false;
            for (std::size_t first = 0; first < best_.faults.size();) {
                if (remove(first, size)) {
                    removed = true;
                } else {
                    first += size;
                }
            }
            if (size == 1 && !removed) break;
            if (!removed) size = std::max<std::size_t>(1, size / 2);
        }
    }

    bool remove(std::size_t first, std::size_t size) {
        return try_change([&](Plan& plan) {
            const auto from = plan.faults.begin() + static_cast<std::ptrdiff_t>(first);
            const auto left = static_cast<std::size_t>(plan.faults.end() - from);
            plan.faults.erase(from, from + static_cast<std::ptrdiff_t>(std::min(size, left)));
        });
    }

    // --- what remains, simpler

    // What is simpler for one part may be undone for another's sake: a few rounds are enough, and
    // known plans cost no run, so that the budget alone would not end it.
    void simplify_everything() {
        constexpr int kMostRounds = 6;
        for (int round = 0; round < kMostRounds && !stopped_; ++round) {
            const Plan before = best_;
            remove_faults();
            for (std::size_t i = 0; i < best_.faults.size(); ++i) simplify_fault(i);
            reduce_units();
            reduce_parameters();
            if (options_.smaller_seed) reduce_seed();
            if (best_ == before || runs_ >= options_.most_runs) break;
        }
        remove_faults();
    }

    void simplify_fault(std::size_t i) {
        for (std::size_t aspect = 0; aspect < kAspects; ++aspect) {
            const std::vector<Fault> simpler = simpler_faults(best_.faults[i], aspect);
            (void)std::ranges::any_of(simpler, [&](const Fault& fault) {
                return try_change([&](Plan& plan) { plan.faults[i] = fault; });
            });
        }
    }

    [[nodiscard]] std::int64_t value_of(std::string_view name, std::int64_t usual) const {
        const auto own = best_.parameters.find(name);
        return own == best_.parameters.end() ? usual : own->second;
    }

    // The fewest units of work that still show it, one after the other as they fall due.
    void reduce_units() {
        const auto all = options_.parameters.find(kUnits);
        if (all == options_.parameters.end()) return;
        const std::int64_t present = value_of(kUnits, all->second);
        const std::int64_t first = value_of(kFirstUnit, 1);
        for (std::int64_t units = 1; units < present; ++units) {
            for (std::int64_t from = first; from + units <= first + present; ++from) {
                if (try_units(units, from)) return;
            }
        }
    }
    bool try_units(std::int64_t units, std::int64_t from) {
        return try_change([&](Plan& plan) { set_units(plan, units, from); });
    }
    static void set_units(Plan& plan, std::int64_t units, std::int64_t from) {
        plan.parameters[std::string(kUnits)] = units;
        plan.parameters[std::string(kFirstUnit)] = from;
        if (from == 1) plan.parameters.erase(std::string(kFirstUnit));
    }

    void reduce_parameters() {
        for (const auto& [name, usual] : options_.parameters) {
            if (name == kUnits) continue;
            const std::int64_t present = value_of(name, usual);
            for (const std::int64_t smaller : smaller_counts(present)) {
                if (try_change([&](Plan& plan) { plan.parameters[name] = smaller; })) break;
            }
        }
    }

    void reduce_seed() {
        for (std::uint64_t seed = 0; seed < kSmallSeeds && seed < best_.seed; ++seed) {
            if (try_change([&](Plan& plan) { plan.seed = seed; })) return;
        }
    }

    // --- minimality

    bool prove() {
        for (std::size_t i = 0; i < best_.faults.size(); ++i) {
            Plan without = best_;
            without.faults.erase(without.faults.begin() + static_cast<std::ptrdiff_t>(i));
            const Attempt* made = attempt(without);
            if (made == nullptr || made->match != Match::None) return false;
        }
        return needs_every_node() && needs_every_unit();
    }

    // Whether what it takes to run the plan is known and does not show the failure.
    bool holds(const Plan& plan) {
        const Attempt* made = attempt(plan);
        return made != nullptr && made->match < needed_;
    }
    bool needs_every_node() {
        const auto all = options_.parameters.find(kNodes);
        if (all == options_.parameters.end()) return true;
        const std::int64_t present = value_of(kNodes, all->second);
        if (present == 1) return true;
        Plan fewer = best_;
        fewer.parameters[std::string(kNodes)] = present - 1;
        return holds(fewer);
    }
    bool needs_every_unit() {
        const auto all = options_.parameters.find(kUnits);
        if (all == options_.parameters.end()) return true;
        const std::int64_t present = value_of(kUnits, all->second);
        const std::int64_t first = value_of(kFirstUnit, 1);
        if (present == 1) return true;
        for (const std::int64_t from : {first, first + 1}) {
            Plan fewer = best_;
            set_units(fewer, present - 1, from);
            if (!holds(fewer)) return false;
        }
        return true;
    }

    const RunPlan& run_;
    const ShrinkOptions& options_;
    std::string checker_;
    std::string key_;
    Match needed_ = Match::Same;
    Plan best_;
    Attempt best_attempt_;
    std::map<std::string, Attempt> known_;
    int runs_ = 0;
    bool stopped_ = false;
};

}  // namespace

std::map<std::string, std::int64_t, std::less<>> shrinkable_parameters(const Scenario& scenario) {
    std::map<std::string, std::int64_t, std::less<>> counts;
    for (const auto& [name, value] : scenario.parameters.all()) {
        if (!name.ends_with("_ms") && value > 1) counts.emplace(name, value);
    }
    return counts;
}

std::vector<std::int64_t> smaller_counts(std::int64_t present) {
    std::vector<std::int64_t> counts;
    for (const std::int64_t count :
         {std::int64_t{1}, std::int64_t{2}, std::int64_t{3}, present / 4, present / 2}) {
        if (count >= 1 && count < present) counts.push_back(count);
    }
    return counts;
}

Shrunk shrink(const sim::Plan& failing, const RunPlan& run, const ShrinkOptions& options,
              const std::string& checker, const std::string& key) {
    return Shrinker(run, options, checker, key).shrink(failing);
}

std::expected<Shrunk, Mishap> shrink_in_worker(const sim::Plan& failing,
                                               const MakePlanRunner& make_runner,
                                               const ShrinkOptions& options,
                                               const std::string& checker, const std::string& key) {
    ShrinkOptions quiet = options;
    quiet.progress = {};
    PoolOptions pool;
    pool.jobs = 1;
    // The whole of it is one item.
    pool.run_timeout *= 10;
    const auto bytes = call_in_worker(
        [&] {
            const PlanRunner runner = make_runner();
            const Shrunk made = shrink(failing, runner.run, quiet, checker, key);
            ByteWriter out;
            out.put(sim::to_json(made.plan)).put(made.checker);
            out.put(made.finding.key).put(made.finding.message).put(made.finding.record);
            out.put(made.fingerprint).put(made.runs).put(made.original_faults);
            out.put(made.proven).put(made.reproduced);
            return out.take();
        },
        pool);
    if (!bytes) return std::unexpected(bytes.error());
    Shrunk shrunk;
    ByteReader in{*bytes};
    std::string plan;
    in.get(plan);
    shrunk.plan = sim::plan_from_json(plan);
    in.get(shrunk.checker);
    in.get(shrunk.finding.key);
    in.get(shrunk.finding.message);
    in.get(shrunk.finding.record);
    in.get(shrunk.fingerprint);
    in.get(shrunk.runs);
    in.get(shrunk.original_faults);
    in.get(shrunk.proven);
    in.get(shrunk.reproduced);
    return shrunk;
}

}  // namespace fencepost::scenarios
