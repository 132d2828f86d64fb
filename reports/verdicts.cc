#include "reports/verdicts.h"

#include <algorithm>

#include "reports/layout.h"

namespace fencepost::reports {
namespace {

using Names = std::string_view;
constexpr std::array<Names, 7> kEffectOnce{"once",      "single-claim",  "fencing",
                                           "conserved", "key-stability", "tenant-isolation",
                                           "invariants"};
constexpr std::array<Names, 3> kTakeover{"takeover", "single-holder", "drain"};
constexpr std::array<Names, 2> kGoesOn{"checkpoint", "completed-is-not-redone"};
constexpr std::array<Names, 1> kStartUp{"start-up-convergence"};
constexpr std::array<Names, 1> kStatus{"honest-status"};

constexpr std::array<VerdictColumn, kVerdictColumns> kColumns{{{"effect once", kEffectOnce},
                                                               {"takeover", kTakeover},
                                                               {"goes on, not redone", kGoesOn},
                                                               {"start-up", kStartUp},
                                                               {"status", kStatus}}};

// Adds `from` to `into`, item by item; items of one name are one.
template <typename Counts, typename Name, typename Add>
void merge(std::vector<Counts>& into, const std::vector<Counts>& from, Name name, Add add) {
    for (const Counts& counts : from) {
        const auto found = std::ranges::find(into, counts.*name, name);
        if (found == into.end()) {
            into.push_back(counts);
        } else {
            add(*found, counts);
        }
    }
}

// A failure outweighs what is unknown, and that a pass.
CellVerdict worse_of(CellVerdict a, CellVerdict b) {
    for (const CellVerdict verdict : {CellVerdict::Fail, CellVerdict::Unknown, CellVerdict::Pass}) {
        if (a == verdict || b == verdict) return verdict;
    }
    return CellVerdict::NotApplicable;
}

bool judged_nothing(const VerdictCounts& counts) {
    return verdict_of(counts) == CellVerdict::Unknown;
}

}  // namespace

int exit_code(const Ending& ending) {
    if (ending.harness_failed) return 4;
    if (ending.broken || ending.handler_died) return 1;
    return ending.inconclusive ? 3 : 0;
}

std::span<const VerdictColumn, kVerdictColumns> verdict_columns() {
    return kColumns;
}

CellVerdict verdict_of(const VerdictCounts& counts) {
    if (counts.fail > 0) return CellVerdict::Fail;
    if (counts.pass > 0) return CellVerdict::Pass;
    if (counts.unknown > 0 || counts.not_applicable == 0) return CellVerdict::Unknown;
    return CellVerdict::NotApplicable;
}

CellVerdict cell_of(const VerdictColumn& column, const Evidence& evidence) {
    const SearchReport all = both(evidence);
    // Nobody knows what runs would have shown that were not made, or that gave no history.
    CellVerdict worst = all.runs == 0 ? CellVerdict::Unknown : CellVerdict::NotApplicable;
    for (const VerdictCounts& counts : all.verdicts) {
        if (std::ranges::find(column.checkers, counts.checker) == column.checkers.end()) continue;
        worst = worse_of(worst, verdict_of(counts));
    }
    if (worst == CellVerdict::Pass && !all.broken_runs.empty()) return CellVerdict::Unknown;
    return worst;
}

CellVerdict cell_of(const VerdictColumn& column, const ConditionReport& condition) {
    CellVerdict worst = CellVerdict::NotApplicable;
    for (const Evidence& evidence : condition.evidence) {
        worst = worse_of(worst, cell_of(column, evidence));
    }
    return worst;
}

std::vector<std::string> gaps_of(const SearchReport& report) {
    std::vector<std::string> gaps;
    if (report.interrupted) {
        gaps.push_back("interrupted after " + grouped(report.runs) + " of " +
                       grouped(report.asked) + " runs");
    } else if (report.runs == 0) {
        gaps.emplace_back("no run was made");
    }
    if (report.certificate && !report.certificate->complete && !report.interrupted) {
        gaps.emplace_back("not every plan was run, or not every fault struck: no certificate");
    }
    for (const VerdictCounts& counts : report.verdicts) {
        if (!judged_nothing(counts)) continue;
        gaps.push_back("the checker " + counts.checker + " found nothing to judge by in any run" +
                       (counts.reason.empty() ? "" : " (" + counts.reason + ")"));
    }
    for (const ProbeCounts& probe : report.probes) {
        if (probe.reached == 0) gaps.push_back("never reached: " + probe.probe);
    }
    return gaps;
}

std::vector<std::string> gaps_of(const Evidence& evidence) {
    std::vector<std::string> gaps = gaps_of(both(evidence));
    if (gaps.empty() && (evidence.random.runs == 0 || evidence.one_fault.runs == 0)) {
        gaps.emplace_back(evidence.random.runs == 0 ? "no random run was made"
                                                    : "no plan was enumerated");
    }
    return gaps;
}

Ending ending_of(const RunReport& report) {
    Ending ending;
    for (const checkers::Judgement& judgement : report.judgements) {
        ending.broken = ending.broken || judgement.verdict == checkers::Verdict::Fail;
        ending.inconclusive =
            ending.inconclusive || judgement.verdict == checkers::Verdict::Unknown;
    }
    return ending;
}

Ending ending_of(const SearchReport& report) {
    Ending ending{.broken = report.failed > 0 || !report.failures.empty(),
                  .inconclusive = !gaps_of(report).empty()};
    for (const BrokenRun& run : report.broken_runs) {
        (run.handlers_doing ? ending.handler_died : ending.harness_failed) = true;
    }
    return ending;
}

Ending ending_of(const AcceptReport& report) {
    Ending ending{.inconclusive = report.interrupted};
    for (const SavedReplay& saved : report.saved) {
        if (saved.trouble.empty()) {
            ending.broken = ending.broken || saved.outcome != ReplayOutcome::Gone;
        } else if (saved.interrupted) {
            ending.inconclusive = true;
        } else {
            (saved.handler_died ? ending.handler_died : ending.harness_failed) = true;
        }
    }
    bool judged = false;
    for (const ConditionReport& condition : report.conditions) {
        for (const Evidence& evidence : condition.evidence) {
            const Ending one = ending_of(both(evidence));
            ending.harness_failed = ending.harness_failed || one.harness_failed;
            ending.broken = ending.broken || one.broken;
            ending.handler_died = ending.handler_died || one.handler_died;
            ending.inconclusive = ending.inconclusive || !gaps_of(evidence).empty();
            judged = true;
        }
        // Nobody took part and nobody says why not.
        if (condition.evidence.empty() && condition.obstacles.empty()) ending.inconclusive = true;
    }
    ending.inconclusive = ending.inconclusive || !judged;
    return ending;
}

Ending ending_of(const ReplayReport& report) {
    return {.broken = report.outcome != ReplayOutcome::Gone};
}

// A mistake that goes undetected is a failure of what should detect it.
Ending ending_of(const MistakesReport& report) {
    return {.broken = std::ranges::any_of(
                report.mistakes,
                [](const MistakeReport& mistake) { return !mistake.found && !mistake.unfinished; }),
            .inconclusive = report.interrupted || report.mistakes.empty()};
}

SearchReport both(const Evidence& evidence) {
    SearchReport sum = evidence.random;
    const SearchReport& other = evidence.one_fault;
    sum.runs += other.runs;
    sum.asked += other.asked;
    sum.failed += other.failed;
    sum.in_vain += other.in_vain;
    sum.interrupted = sum.interrupted || other.interrupted;
    sum.certificate = other.certificate;
    merge(sum.verdicts, other.verdicts, &VerdictCounts::checker,
          [](VerdictCounts& into, const VerdictCounts& from) {
              into.pass += from.pass;
              into.fail += from.fail;
              into.unknown += from.unknown;
              into.not_applicable += from.not_applicable;
              if (into.reason.empty()) into.reason = from.reason;
          });
    merge(sum.faults, other.faults, &FaultCounts::kind,
          [](FaultCounts& into, const FaultCounts& from) {
              into.planned += from.planned;
              into.took_effect += from.took_effect;
          });
    merge(sum.probes, other.probes, &ProbeCounts::probe,
          [](ProbeCounts& into, const ProbeCounts& from) { into.reached += from.reached; });
    for (const FailureReport& failure : other.failures) {
        // Both searches may come down to the same small plan.
        const auto same = std::ranges::find_if(sum.failures, [&](const FailureReport& known) {
            return known.checker == failure.checker && known.plan == failure.plan;
        });
        if (same == sum.failures.end()) {
            sum.failures.push_back(failure);
        } else {
            same->seen += failure.seen;
        }
    }
    sum.broken_runs.insert(sum.broken_runs.end(), other.broken_runs.begin(),
                           other.broken_runs.end());
    return sum;
}

}  // namespace fencepost::reports
