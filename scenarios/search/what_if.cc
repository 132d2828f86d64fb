#include "scenarios/search/what_if.h"

#include <fmt/format.h>

#include <algorithm>

#include "model/events.h"
#include "scenarios/scenario.h"

namespace fencepost::scenarios {
namespace {

using namespace std::chrono_literals;
using sim::Duration;
using sim::Fault;
using sim::RecordId;

constexpr std::size_t kOtherSeeds = 20;

// Nothing when the plan makes no sense.
std::optional<RunResult> try_run(const sim::Plan& plan, Runner& runner) {
    try {
        return runner.run(plan);
    } catch (const sim::PlanError&) {
        return std::nullopt;
    }
}

// Of the wanted handlers but the plan's own, those with which the plan breaks the checker.
template <typename Wanted>
std::vector<Neighbour> those_that_break(const sim::Plan& plan, const std::string& checker,
                                        Runner& runner, const Wanted& wanted) {
    const Scenario* const scenario = find_scenario(plan.scenario);
    std::vector<Neighbour> neighbours;
    for (const HandlerSpec& handler : all_handlers()) {
        if (handler.name == plan.handler || !wanted(handler)) continue;
        if (scenario == nullptr || obstacle(*scenario, handler)) continue;
        sim::Plan changed = plan;
        changed.handler = handler.name;
        const auto result = try_run(changed, runner);
        if (!result || !breaks(*result, checker)) continue;
        neighbours.push_back({.plan = std::move(changed),
                              .fault = std::nullopt,
                              .change = handler.name,
                              .result = *result,
                              .history = runner.history()});
    }
    return neighbours;
}

// What a fault does at once, as opposed to what comes of it.
bool is_deed_of_fault(const sim::History& history, RecordId id) {
    switch (history.kind_of(id)) {
        case sim::FaultStruck::kKind:
        case sim::FaultTookEffect::kKind:
        case sim::NodePaused::kKind:
        case sim::NodeSlowed::kKind:
        case sim::ClockJumped::kKind:
            return true;
        case sim::NodeEnded::kKind:
        case sim::NodeStopping::kKind:
            return id > 0 && history.kind_of(id - 1) == sim::FaultStruck::kKind;
        default:
            return false;
    }
}

bool same(const sim::History& here, RecordId a, const sim::History& there, RecordId b) {
    const sim::Record one = here[a];
    const sim::Record other = there[b];
    return one.kind() == other.kind() && one.at() == other.at() && one.party() == other.party() &&
           here.actor(one) == there.actor(other) &&
           std::ranges::equal(one.payload(), other.payload());
}

// Finds the neighbour that goes along with the failing run the longest.
class Nearest {
public:
    Nearest(const sim::Plan& plan, const sim::History& failing, Runner& runner)
        : plan_(plan), failing_(failing), runner_(runner) {}

    std::optional<Neighbour> find() {
        for (std::size_t i = 0; i < plan_.faults.size(); ++i) {
            try_durations(i);
            try_points(i);
            try_times(i);
            try_without(i);
        }
        if (!best_) try_seeds();
        return std::move(best_);
    }

private:
    // Whether the changed plan's run breaks nothing.
    bool try_plan(const sim::Plan& changed, std::optional<std::size_t> fault, std::string change) {
        const auto result = try_run(changed, runner_);
        if (!result || result->failed() || !came_to_rest(*result)) return false;
        const RecordId along = parting_of(failing_, runner_.history()).here;
        if (best_ && along <= along_) return true;
        along_ = along;
        best_ = Neighbour{.plan = changed,
                          .fault = fault,
                          .change = std::move(change),
                          .result = *result,
                          .history = runner_.history()};
        return true;
    }

    static bool came_to_rest(const RunResult& result) { return result.end == sim::RunEnd::Quiet; }

    template <typename Change>
    bool try_fault(std::size_t i, Change change, std::string text) {
        sim::Plan changed = plan_;
        change(changed.faults[i]);
        if (changed == plan_) return false;
        return try_plan(changed, i, std::move(text));
    }

    // The longest that does no harm, within a tenth.
    void try_durations(std::size_t i) {
        struct Argument {
            std::optional<Duration> Fault::*member;
            const char* word;
        };
        for (const Argument& argument :
             {Argument{&Fault::lasting, "for"}, Argument{&Fault::by, "by"},
              Argument{&Fault::restart_after, "with a restart after"},
              Argument{&Fault::grace, "with a grace of"}}) {
            const std::optional<Duration> given = plan_.faults[i].*argument.member;
            if (!given || *given == Duration::zero()) continue;
            Duration harmless{};
            Duration harmful = *given;
            for (int step = 0; step < 7; ++step) {
                const Duration middle =
                    std::chrono::round<std::chrono::milliseconds>((harmless + harmful) / 2);
                if (middle == harmless || middle == harmful) break;
                const bool passes = try_fault(
                    i, [&](Fault& fault) { fault.*argument.member = middle; },
                    fmt::format("fault {} {} {} instead of {}", i + 1, argument.word,
                                sim::to_text(middle), sim::to_text(*given)));
                (passes ? harmless : harmful) = middle;
            }
        }
    }

    void try_points(std::size_t i) {
        const Fault& fault = plan_.faults[i];
        if (fault.at.empty()) return;
        const sim::FaultKindInfo& info = sim::info_of(fault.kind);
        for (const sim::Phase phase : sim::kPhases) {
            if ((info.phases & (1U << static_cast<unsigned>(phase))) == 0) continue;
            try_fault(
                i, [&](Fault& changed) { changed.phase = phase; },
                fmt::format("fault {} at phase {} instead of {}", i + 1, name_of(phase),
                            name_of(fault.phase)));
        }
        const auto address = sim::parse_address(fault.at);
        if (!address || address->ordinal.find('*') != std::string_view::npos) return;
        const int ordinal = std::stoi(std::string(address->ordinal));
        for (const int other : {ordinal - 1, ordinal + 1}) {
            if (other < 1) continue;
            const std::string moved =
                fault.at.substr(0, fault.at.rfind('/') + 1) + std::to_string(other);
            try_fault(
                i, [&](Fault& changed) { changed.at = moved; },
                fmt::format("fault {} at {}/{} instead of /{}", i + 1, address->operation, other,
                            ordinal));
        }
    }

    void try_times(std::size_t i) {
        if (!plan_.faults[i].at_time) return;
        for (const Duration size : {Duration{10ms}, Duration{100ms}, Duration{1s}, Duration{10s}}) {
            for (const Duration by : {size, -size}) {
                try_fault(
                    i, [&](Fault& changed) { *changed.at_time += by; },
                    fmt::format("fault {} {} {}", i + 1, sim::to_text(size),
                                by > Duration::zero() ? "later" : "earlier"));
            }
        }
    }

    void try_without(std::size_t i) {
        sim::Plan changed = plan_;
        changed.faults.erase(changed.faults.begin() + static_cast<std::ptrdiff_t>(i));
        try_plan(changed, i, fmt::format("without fault {}", i + 1));
    }

    void try_seeds() {
        sim::Plan changed = plan_;
        for (std::size_t i = 0; i < kOtherSeeds; ++i) {
            ++changed.seed;
            try_plan(changed, std::nullopt,
                     fmt::format("seed {} instead of {}", sim::seed_to_text(changed.seed),
                                 sim::seed_to_text(plan_.seed)));
        }
    }

    const sim::Plan& plan_;
    const sim::History& failing_;
    Runner& runner_;
    std::optional<Neighbour> best_;
    RecordId along_ = 0;
};

}  // namespace

bool breaks(const RunResult& result, const std::string& checker) {
    return std::ranges::any_of(result.judgements, [&](const checkers::Judgement& judgement) {
        return judgement.checker == checker && judgement.verdict == checkers::Verdict::Fail;
    });
}

std::vector<Neighbour> without_each_fault(const sim::Plan& plan, Runner& runner) {
    std::vector<Neighbour> neighbours;
    for (std::size_t i = 0; i < plan.faults.size(); ++i) {
        sim::Plan changed = plan;
        changed.faults.erase(changed.faults.begin() + static_cast<std::ptrdiff_t>(i));
        RunResult result = runner.run(changed);
        neighbours.push_back({.plan = std::move(changed),
                              .fault = i,
                              .change = fmt::format("without fault {}", i + 1),
                              .result = std::move(result),
                              .history = runner.history()});
    }
    return neighbours;
}

Parting parting_of(const sim::History& here, const sim::History& there) {
    const auto next = [](const sim::History& history, RecordId id) {
        while (id < history.size() && is_deed_of_fault(history, id)) ++id;
        return id;
    };
    Parting parting{.here = next(here, 0), .there = next(there, 0)};
    while (parting.here < here.size() && parting.there < there.size() &&
           same(here, parting.here, there, parting.there)) {
        parting = {.here = next(here, parting.here + 1), .there = next(there, parting.there + 1)};
    }
    return parting;
}

std::optional<Neighbour> nearest_passing(const sim::Plan& plan, const sim::History& failing,
                                         Runner& runner) {
    return Nearest{plan, failing, runner}.find();
}

std::size_t also_fails_with(const sim::Plan& plan, const std::string& checker, std::size_t seeds,
                            Runner& runner) {
    sim::Plan changed = plan;
    std::size_t failed = 0;
    for (std::size_t i = 0; i < seeds; ++i) {
        ++changed.seed;
        if (breaks(runner.run(changed), checker)) ++failed;
    }
    return failed;
}

std::vector<Neighbour> mistakes_that_break(const sim::Plan& plan, const std::string& checker,
                                           Runner& runner) {
    return those_that_break(plan, checker, runner, [&](const HandlerSpec& handler) {
        return handler.is_mistake() &&
               std::ranges::find(handler.breaks, checker) != handler.breaks.end();
    });
}

std::vector<Neighbour> references_that_break(const sim::Plan& plan, const std::string& checker,
                                             Runner& runner) {
    return those_that_break(plan, checker, runner, [](const HandlerSpec& handler) {
        return !handler.is_mistake() && is_built_in(handler.name);
    });
}

}  // namespace fencepost::scenarios
