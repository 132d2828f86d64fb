// What many runs came to. Totals of neighbouring ranges are merged in order, so that workers send
// one for a range and not one for a run; merging is associative.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "scenarios/runner.h"
#include "scenarios/scenario.h"
#include "scenarios/search/plan_runner.h"

namespace fencepost::scenarios {

inline constexpr std::uint64_t kNoItem = ~std::uint64_t{0};

struct CheckerTally {
    std::string checker;
    std::uint64_t passed = 0;
    std::uint64_t failed = 0;
    std::uint64_t unknown = 0;
    std::uint64_t not_applicable = 0;
    std::uint64_t first_failed = kNoItem;  // the item: a seed, or the number of a plan
    std::uint64_t first_unknown = kNoItem;

    bool operator==(const CheckerTally&) const = default;
};

struct ProbeTally {
    std::string probe;
    std::uint64_t runs = 0;  // that reached it
    std::uint64_t first = kNoItem;

    bool operator==(const ProbeTally&) const = default;
};

struct FaultTally {
    std::uint64_t planned = 0;
    std::uint64_t struck = 0;  // at least that
    std::uint64_t took_effect = 0;

    bool operator==(const FaultTally&) const = default;
};

// The values of a parameter in plans that do not leave it as usual.
struct ParameterTally {
    std::string parameter;
    std::int64_t least = 0;
    std::int64_t most = 0;
    std::uint64_t runs = 0;

    bool operator==(const ParameterTally&) const = default;
};

struct FailingRun {
    std::uint64_t item = 0;
    std::uint64_t ordinal = 0;  // the how-manieth failing run it is, from 0
    std::uint64_t fingerprint = 0;
    std::vector<std::string> failed;  // every checker that failed
    // The first finding of the first of them.
    std::string checker;
    std::string key;
    std::string message;
    sim::RecordId record = sim::kNoRecord;

    bool operator==(const FailingRun&) const = default;
};

struct NondeterministicRun {
    std::uint64_t item = 0;
    Difference difference;

    bool operator==(const NondeterministicRun&) const = default;
};

// A hash over a sequence of pairs that depends on their order; concatenations can be merged.
class SequenceDigest {
public:
    void add(std::uint64_t item, std::uint64_t fingerprint);
    void append(const SequenceDigest& next);
    [[nodiscard]] std::uint64_t value() const;
    bool operator==(const SequenceDigest&) const = default;

private:
    friend struct TotalsCodec;
    std::uint64_t sum_ = 0;
    std::uint64_t power_ = 1;
};

struct TotalsOptions {
    std::uint64_t failures_kept = 20;  // the first so many, and the first of each checker
    bool keep_fingerprints = false;    // one a run
    // Whether the digest depends on what the items are called, or on their order alone.
    bool items_in_digest = true;
};

class Totals {
public:
    static constexpr std::size_t kKinds = 32;
    static constexpr std::size_t kFamilies = 8;

    Totals() = default;
    Totals(const Scenario& scenario, const TotalsOptions& options);

    void add(std::uint64_t item, const sim::Plan& plan, const RunResult& result);
    void add_difference(std::uint64_t item, const Difference& difference);
    // `next` are the runs right after these.
    void append(const Totals& next);
    // Calls each item by a number that is so much greater; of a digest without items.
    void shift(std::uint64_t by);

    std::uint64_t runs = 0;
    std::uint64_t failed_runs = 0;
    std::uint64_t steps = 0;
    std::uint64_t records = 0;
    std::array<std::uint64_t, 4> ends{};  // runs by sim::RunEnd
    std::array<std::uint64_t, 4> first_ends{kNoItem, kNoItem, kNoItem, kNoItem};
    std::vector<CheckerTally> checkers;               // in the order of the scenario
    std::vector<ProbeTally> probes;                   // in the order of the scenario
    std::array<FaultTally, kKinds> faults{};          // by sim::FaultKind
    std::array<std::uint64_t, kFamilies> families{};  // runs with such a fault, by FaultFamily
    std::vector<std::uint64_t> sizes;                 // runs by the number of their faults
    std::vector<ParameterTally> parameters;           // in the order of their names
    std::uint64_t runs_without_faults = 0;            // planned
    std::uint64_t runs_with_inert_faults = 0;         // at least one fault never struck
    std::uint64_t runs_without_effect = 0;            // of those with faults: no fault took effect
    SequenceDigest digest;
    std::vector<FailingRun> failures;  // in order; not all: see TotalsOptions
    std::uint64_t nondeterministic_runs = 0;
    std::vector<NondeterministicRun> nondeterministic;  // the first few
    std::vector<std::uint64_t> fingerprints;            // when they are kept

    [[nodiscard]] const FaultTally& of(sim::FaultKind kind) const {
        return faults.at(static_cast<std::size_t>(kind));
    }
    bool operator==(const Totals&) const = default;

private:
    friend struct TotalsCodec;
    CheckerTally& tally_of(std::string_view checker, std::size_t likely);
    [[nodiscard]] bool keeps(const FailingRun& run) const;
    void note_drawn(const sim::Plan& plan);
    void add_values(const ParameterTally& more);

    std::uint64_t failures_kept_ = 20;
    bool keep_fingerprints_ = false;
    bool items_in_digest_ = true;
};

std::string to_bytes(const Totals& totals);
Totals totals_from_bytes(std::string_view bytes);

}  // namespace fencepost::scenarios
