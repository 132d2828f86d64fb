// What reports are made from: what runs and searches came to, as plain values filled in by whoever
// ran them.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "checkers/judgement.h"
#include "sim/plan.h"

namespace fencepost::reports {

// What became of one planned fault.
enum class FaultFate : std::uint8_t { NeverStruck, StruckInVain, TookEffect };

constexpr std::string_view name_of(FaultFate fate) {
    switch (fate) {
        case FaultFate::NeverStruck:
            return "never struck";
        case FaultFate::StruckInVain:
            return "struck without effect";
        case FaultFate::TookEffect:
            return "took effect";
    }
    return "?";
}

// How a search or replay ended, in the order of importance; see exit_code().
struct Ending {
    bool harness_failed = false;
    bool broken = false;        // an invariant
    bool handler_died = false;  // it crashed, hung or asked for too much memory
    bool inconclusive = false;  // something was never exercised, or somebody interrupted
};

// 4, 1, 3 or 0: the most important of what `ending` says.
int exit_code(const Ending& ending);

// One run.
struct RunReport {
    sim::Plan plan;
    std::uint64_t fingerprint = 0;
    std::string end;  // "quiet"
    std::uint64_t steps = 0;
    std::uint64_t records = 0;
    sim::Duration virtual_time{};
    std::vector<checkers::Judgement> judgements;
    std::vector<FaultFate> fates;             // one a fault of the plan
    std::vector<std::string> probes_reached;  // in the scenario's order
    std::vector<std::string> probes_missed;
    std::string replay;     // the command that runs it again; empty: say nothing
    bool verified = false;  // a second run gave the same history
};

struct VerdictCounts {
    std::string checker;
    std::uint64_t pass = 0;
    std::uint64_t fail = 0;
    std::uint64_t unknown = 0;
    std::uint64_t not_applicable = 0;
    std::string reason;  // why it was unknown or not applicable, the first time

    bool operator==(const VerdictCounts&) const = default;
};

struct FaultCounts {
    std::string kind;
    std::uint64_t planned = 0;
    std::uint64_t took_effect = 0;

    bool operator==(const FaultCounts&) const = default;
};

struct ProbeCounts {
    std::string probe;
    std::uint64_t reached = 0;  // runs

    bool operator==(const ProbeCounts&) const = default;
};

// One way in which an invariant broke, shrunk to a plan from which nothing can be left out.
struct FailureReport {
    std::string scenario;
    std::string handler;
    std::string checker;
    std::vector<std::string> also;  // further checkers that fail in the same run
    std::string invariant;          // the sentence that does not hold
    std::string key;
    std::string message;
    sim::Plan plan;
    std::uint64_t fingerprint = 0;
    std::uint64_t seen = 1;  // runs of the search that broke it
    std::string first_seen;  // "seed 12": the run that was shrunk
    std::string file;        // empty: not written
    std::string replay;
    bool minimal = true;      // false: shrinking was cut short
    std::string explanation;  // why it breaks, as text; empty: nobody asked
    std::string picture;      // a space-time diagram, as a piece of a page; empty: nobody asked
};

// Where a handler is made, as far as its program says; relative to the tree, no line is 0.
struct SourceLine {
    std::string file;
    std::uint32_t line = 0;
};

// A run that gave no history: its process crashed, hung or asked for too much memory.
struct BrokenRun {
    std::string run;   // "seed 12"
    std::string what;  // "the process ended by signal 11 (segmentation fault)"
    std::string replay;
    bool handlers_doing = false;  // the handler was running; otherwise the harness is to blame
};

// What an exhaustive search proves, or why it proves nothing.
struct CertificateReport {
    bool complete = false;  // otherwise it is none
    std::string scenario;
    std::string handler;
    std::string parameters;  // "accounts=2, batch=1": those that are not as usual
    std::uint64_t seed = 0;
    int faults = 1;     // a plan, at most
    std::string kinds;  // "crash, pause": these alone; empty: all that the scenario allows
    std::uint64_t points = 0;
    std::uint64_t further_points = 0;  // that are only there after a fault
    std::uint64_t planned = 0;
    std::uint64_t run = 0;
    std::uint64_t skipped = 0;
    bool cut_short = false;  // more than is known may be missing
    std::uint64_t inert = 0;
    std::uint64_t without_effect = 0;
    std::uint64_t violating = 0;
    std::vector<std::pair<std::string, std::uint64_t>> equal;  // not run, by reason
    struct Kind {
        std::string kind;
        std::uint64_t planned = 0;
        std::uint64_t took_effect = 0;
    };
    std::vector<Kind> by_kind;
    std::string version;
    double seconds = 0;
};

// What random plans drew.
struct DrawnReport {
    struct Values {
        std::string parameter;
        std::int64_t least = 0;
        std::int64_t most = 0;
        std::uint64_t runs = 0;  // in which it was not as usual
    };

    std::string profile;
    std::vector<std::pair<std::string, std::uint64_t>> families;  // runs with such a fault
    std::vector<std::uint64_t> sizes;                             // runs by their number of faults
    std::vector<Values> parameters;
};

// What a guided search learned.
struct GuidedReport {
    std::uint64_t seed = 0;
    std::uint64_t changed = 0;  // runs whose plan was made by changing a kept one
    std::uint64_t kept = 0;     // plans whose runs covered something new
    std::vector<std::pair<std::string, std::uint64_t>> features;  // "orders": how many
};

// Many runs of one scenario.
struct SearchReport {
    std::string scenario;
    std::string handler;
    std::string what;  // "random runs, seeds 1..1000"
    std::uint64_t runs = 0;
    std::uint64_t asked = 0;   // runs there would be without an interruption
    std::uint64_t failed = 0;  // runs in which an invariant broke
    // The first of these: its seed, or its number.
    std::optional<std::uint64_t> first_failed{};
    std::vector<VerdictCounts> verdicts;  // in the order of the scenario's checkers
    std::vector<FaultCounts> faults;      // kinds that were planned
    std::vector<ProbeCounts> probes;      // all of the scenario's
    std::uint64_t in_vain = 0;            // runs with faults of which none took effect
    std::vector<FailureReport> failures;
    std::vector<BrokenRun> broken_runs;
    std::optional<CertificateReport> certificate{};  // of an exhaustive search
    std::optional<DrawnReport> drawn{};              // of random plans
    std::optional<GuidedReport> guided{};            // of a guided one
    std::uint64_t fingerprint = 0;  // over the fingerprints of all runs, in order; 0: not known
    bool verified = false;
    bool interrupted = false;
};

// What was seen of one scenario with one handler.
struct Evidence {
    std::string title;  // of the scenario
    SearchReport random;
    SearchReport one_fault;
};

// One condition of the acceptance checklist.
struct ConditionReport {
    int condition = 0;
    std::string title;
    std::vector<Evidence> evidence;
    // Why the handler that was asked for takes no part, one sentence a scenario.
    std::vector<std::string> obstacles{};
};

// What a saved failure does today.
enum class ReplayOutcome : std::uint8_t { Same, OtherWay, OtherInvariant, Gone };

constexpr std::string_view name_of(ReplayOutcome outcome) {
    switch (outcome) {
        case ReplayOutcome::Same:
            return "the same failure";
        case ReplayOutcome::OtherWay:
            return "the same invariant by another way";
        case ReplayOutcome::OtherInvariant:
            return "another invariant";
        case ReplayOutcome::Gone:
            return "no failure any more";
    }
    return "?";
}

// A failure of the corpus, replayed.
struct SavedReplay {
    std::string name;  // of its file, without the ending
    std::string file;
    std::string scenario;
    std::string handler;
    std::string checker;
    std::uint64_t faults = 0;  // of its plan
    ReplayOutcome outcome = ReplayOutcome::Gone;
    bool same_history = false;
    bool same_key = false;
    std::string moved;  // as in ReplayReport
    std::string found_by;
    std::string saved_version;
    std::string replay;   // the command
    std::string trouble;  // why there is no outcome: its file is wrong, or its run gave no history
    bool handler_died = false;
    bool interrupted = false;

    [[nodiscard]] bool is_gone() const { return trouble.empty() && outcome == ReplayOutcome::Gone; }
};

// All failures of a corpus.
struct CorpusReport {
    std::string folder;
    std::vector<SavedReplay> failures;
};

struct AcceptReport {
    std::string handler;               // empty: the reference handlers of each condition
    std::vector<SavedReplay> saved{};  // failures of the corpus, of the handlers that are judged
    std::vector<ConditionReport> conditions;
    bool interrupted = false;
    std::map<std::string, SourceLine, std::less<>> sources{};  // of handlers, by name
};

struct ReplayReport {
    std::string file;
    ReplayOutcome outcome = ReplayOutcome::Gone;
    std::string expected_checker;  // as saved in the file
    std::string expected_key;
    bool same_history = false;  // as saved, bit for bit
    bool same_key = false;      // the checker failed on the key of the file
    std::string moved;          // "A#1 db.query/3 is now A#1 db.query/4"; empty: as saved
    std::string found_by;       // "sweep, seed 12, shrunk from 3 faults"; empty: not known
    std::string saved_version;  // of the code, when it was saved; empty: not known
    std::string version;        // of this program
    RunReport run;
};

// What one kind of search found of a planted mistake.
struct MistakeCatch {
    std::string scenario;
    int condition = 0;
    std::string checker;
    std::uint64_t first = 0;  // runs up to and including the first that broke it
    std::uint64_t count = 0;  // of `runs`, those that broke it
    std::uint64_t runs = 0;
};

struct MistakeReport {
    std::string name;
    std::string lesson;
    std::vector<std::string> breaks;  // the invariants of which one must break
    std::optional<MistakeCatch> by_seeds;
    std::optional<MistakeCatch> by_one_fault;
    std::optional<MistakeCatch> by_two_faults;  // only looked for where one fault is not enough
    sim::Plan least;                            // the least plan that shows it
    std::vector<std::string> failing;           // the checkers that fail on it
    bool found = false;
    bool unfinished = false;  // somebody interrupted the hunt: it may yet be found
    bool minimal = false;     // no fault of the least plan can be left out
    std::string trouble;      // why it was not found, where there is something to say
};

// A mistake that a fault of the kind shows, and that does not show without.
struct FaultProof {
    std::string fault;
    std::string mistake;
    std::string scenario;
    std::string checker;
};

struct MistakesReport {
    std::vector<MistakeReport> mistakes;
    std::uint64_t seeds = 0;  // at most, a scenario
    bool all = false;         // every planted mistake was hunted
    // Only if all were hunted. No mistake needs these checkers; the kinds of fault that are in no
    // least plan, with a mistake that one such fault shows; and those for which there is none.
    std::vector<std::string> checkers_unproven;
    std::vector<FaultProof> fault_proofs;
    std::vector<std::string> faults_unproven;
    bool interrupted = false;
};

struct ListItem {
    std::string name;
    std::string text;
    std::string group;  // "mistake", "node": how items are told apart; may be empty
};

}  // namespace fencepost::reports
