#include "checkers/checker.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <new>
#include <stdexcept>
#include <string>

#include "checkers/judges.h"
#include "sim/name.h"
#include "sim/require.h"

namespace fencepost::checkers {
namespace {

constexpr std::array kBuiltIn{
    Checker{.name = "once",
            .invariant = "Every due effect lands exactly once, and no other effect lands.",
            .judge = &judge_once},
    Checker{.name = "single-claim",
            .invariant = "A claim is made once, changes its owner only under a larger token and "
                         "never while it is the earlier one's, and is left alone once it is "
                         "finished.",
            .judge = &judge_single_claim},
    Checker{.name = "fencing",
            .invariant = "The tokens that a row accepts never go back, and no stale holder writes "
                         "to it after a newer one did.",
            .judge = &judge_fencing},
    Checker{.name = "conserved",
            .invariant =
                "No commit changes the sum of a column that is conserved: money moves, and "
                "is neither made nor lost.",
            .judge = &judge_conserved},
    Checker{.name = "key-stability",
            .invariant = "A business act has one key for good, and no key names two acts.",
            .judge = &judge_key_stability},
    Checker{.name = "tenant-isolation",
            .invariant = "What works for one tenant writes no row of another.",
            .judge = &judge_tenant_isolation},
    Checker{.name = "checkpoint",
            .invariant = "A committed checkpoint never goes back, and every effect that it covers "
                         "landed with it or before.",
            .judge = &judge_checkpoint},
    Checker{.name = "takeover",
            .invariant = "Once everything is healed, all that is due finishes within the bound.",
            .judge = &judge_takeover},
    Checker{.name = "completed-is-not-redone",
            .invariant = "Work that is complete is not done again by somebody else.",
            .judge = &judge_completed_is_not_redone},
    Checker{.name = "single-holder",
            .invariant = "While a lease stands, nobody but its holder releases, renews or "
                         "overwrites it, and nobody whose lease ran out begins to write.",
            .judge = &judge_single_holder},
    Checker{.name = "drain",
            .invariant = "A process that knows that it must end takes no new work, and keeps its "
                         "leases for as long as it works.",
            .judge = &judge_drain},
    Checker{.name = "honest-status",
            .invariant = "A status says succeeded only when all effects are there, and failed or "
                         "cancelled only when they are not; only success shows 100 %, and a total "
                         "is shown only if it is known.",
            .judge = &judge_honest_status},
    Checker{.name = "start-up-convergence",
            .invariant = "Every start-up that comes through leaves what one undisturbed start-up "
                         "leaves, and none fails by its own doing.",
            .judge = &judge_start_up_convergence},
    Checker{.name = "invariants",
            .invariant =
                "What the author of the scenario states in SQL holds after every commit, or "
                "at the end of the run.",
            .judge = &judge_invariants},
};

std::vector<Checker>& known_checkers() {
    static std::vector<Checker> known{kBuiltIn.begin(), kBuiltIn.end()};
    return known;
}

bool same_name(std::string_view name, std::string_view asked) {
    return std::ranges::equal(name, asked,
                              [](char a, char b) { return a == b || (a == '-' && b == ' '); });
}

Judgement judged(const Checker& checker, const Reading& reading) {
    const auto fail = [&](std::string_view why) {
        throw std::runtime_error(fmt::format("the checker {} failed: {}", checker.name, why));
    };
    Judgement judgement;
    try {
        judgement = checker.judge(reading);
    } catch (const sim::BrokenInvariant&) {
        throw;
    } catch (const std::bad_alloc&) {
        throw;
    } catch (const std::exception& error) {
        fail(error.what());
    } catch (...) {
        fail("what it throws is no std::exception");
    }
    judgement.checker = checker.name;
    return judgement;
}

}  // namespace

std::span<const Checker> all_checkers() {
    return known_checkers();
}

const Checker* find_checker(std::string_view name) {
    const auto found = std::ranges::find_if(
        known_checkers(), [name](const Checker& checker) { return same_name(checker.name, name); });
    return found == known_checkers().end() ? nullptr : &*found;
}

void add_checker(const Checker& checker) {
    if (checker.name.empty() || checker.judge == nullptr) {
        throw std::invalid_argument("a checker needs a name and a function that judges");
    }
    if (!sim::is_name(checker.name)) {
        throw std::invalid_argument(fmt::format("a checker called \"{}\": {}",
                                                checker.name.substr(0, sim::kLongestName),
                                                sim::kNameRule));
    }
    if (find_checker(checker.name) != nullptr) {
        throw std::invalid_argument("a checker called \"" + std::string(checker.name) +
                                    "\" is known already");
    }
    known_checkers().push_back(checker);
}

std::vector<Judgement> judge_all(const sim::History& history, const Expectations& expectations,
                                 std::span<const Checker* const> checkers) {
    const Reading reading{history, expectations};
    std::vector<Judgement> judgements;
    judgements.reserve(checkers.size());
    for (const Checker* checker : checkers) judgements.push_back(judged(*checker, reading));
    return judgements;
}

Judgement judge(const Checker& checker, const sim::History& history,
                const Expectations& expectations) {
    return judged(checker, Reading{history, expectations});
}

}  // namespace fencepost::checkers
