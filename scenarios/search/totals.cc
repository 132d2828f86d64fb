#include "scenarios/search/totals.h"

#include <algorithm>

#include "scenarios/search/bytes.h"
#include "sim/random.h"
#include "sim/require.h"

namespace fencepost::scenarios {
namespace {

using checkers::Verdict;

constexpr std::size_t kDifferencesKept = 5;
constexpr std::uint64_t kMultiplier = 0x9e3779b97f4a7c15U;  // any odd number of high weight

FailingRun failing_run(std::uint64_t item, std::uint64_t ordinal, const RunResult& result) {
    FailingRun run;
    run.item = item;
    run.ordinal = ordinal;
    run.fingerprint = result.fingerprint;
    for (const checkers::Judgement& judgement : result.judgements) {
        if (judgement.verdict != Verdict::Fail) continue;
        run.failed.push_back(judgement.checker);
        if (run.failed.size() > 1) continue;
        const checkers::Finding finding = checkers::first_finding(judgement);
        run.checker = judgement.checker;
        run.key = finding.key;
        run.message = finding.message;
        run.record = finding.record;
    }
    return run;
}

}  // namespace

void SequenceDigest::add(std::uint64_t item, std::uint64_t fingerprint) {
    sum_ = sum_ * kMultiplier + sim::combine(item, fingerprint);
    power_ *= kMultiplier;
}

void SequenceDigest::append(const SequenceDigest& next) {
    sum_ = sum_ * next.power_ + next.sum_;
    power_ *= next.power_;
}

std::uint64_t SequenceDigest::value() const {
    return sim::combine(sum_, power_);
}

Totals::Totals(const Scenario& scenario, const TotalsOptions& options)
    : failures_kept_(options.failures_kept),
      keep_fingerprints_(options.keep_fingerprints),
      items_in_digest_(options.items_in_digest) {
    for (const std::string& checker : scenario.checkers) checkers.emplace_back().checker = checker;
    for (const std::string& probe : scenario.probes) probes.emplace_back().probe = probe;
}

CheckerTally& Totals::tally_of(std::string_view checker, std::size_t likely) {
    if (likely < checkers.size() && checkers[likely].checker == checker) return checkers[likely];
    const auto found = std::ranges::find(checkers, checker, &CheckerTally::checker);
    if (found != checkers.end()) return *found;
    CheckerTally& added = checkers.emplace_back();
    added.checker = checker;
    return added;
}

void Totals::add(std::uint64_t item, const sim::Plan& plan, const RunResult& result) {
    ++runs;
    steps += result.steps;
    records += result.records;
    const auto end = static_cast<std::size_t>(result.end);
    ++ends.at(end);
    first_ends.at(end) = std::min(first_ends.at(end), item);
    digest.add(items_in_digest_ ? item : 0, result.fingerprint);
    if (keep_fingerprints_) fingerprints.push_back(result.fingerprint);

    bool failed = false;
    for (std::size_t i = 0; i < result.judgements.size(); ++i) {
        const checkers::Judgement& judgement = result.judgements[i];
        CheckerTally& tally = tally_of(judgement.checker, i);
        switch (judgement.verdict) {
            case Verdict::Pass:
                ++tally.passed;
                break;
            case Verdict::Fail:
                ++tally.failed;
                tally.first_failed = std::min(tally.first_failed, item);
                failed = true;
                break;
            case Verdict::Unknown:
                ++tally.unknown;
                tally.first_unknown = std::min(tally.first_unknown, item);
                break;
            case Verdict::NotApplicable:
                ++tally.not_applicable;
                break;
        }
    }
    if (failed) {
        FailingRun run = failing_run(item, failed_runs++, result);
        if (keeps(run)) failures.push_back(std::move(run));
    }

    auto probe = probes.begin();
    for (const std::string& reached : result.probes) {
        probe = std::ranges::find(probe, probes.end(), reached, &ProbeTally::probe);
        sim::require(probe != probes.end(), "probes are reached in the order of the scenario");
        ++probe->runs;
        probe->first = std::min(probe->first, item);
    }

    sim::require(plan.faults.size() == result.faults.size(), "each planned fault has a fate");
    bool inert = false;
    bool effect = false;
    for (std::size_t i = 0; i < plan.faults.size(); ++i) {
        FaultTally& tally = faults.at(static_cast<std::size_t>(plan.faults[i].kind));
        const FaultFate fate = result.faults[i];
        ++tally.planned;
        if (fate != FaultFate::Inert) ++tally.struck;
        if (fate == FaultFate::TookEffect) ++tally.took_effect;
        inert |= fate == FaultFate::Inert;
        effect |= fate == FaultFate::TookEffect;
    }
    note_drawn(plan);
    if (plan.faults.empty()) ++runs_without_faults;
    if (inert) ++runs_with_inert_faults;
    if (!plan.faults.empty() && !effect) ++runs_without_effect;
}

void Totals::note_drawn(const sim::Plan& plan) {
    std::array<bool, kFamilies> has{};
    for (const sim::Fault& fault : plan.faults)
        has.at(static_cast<std::size_t>(sim::info_of(fault.kind).family)) = true;
    for (std::size_t i = 0; i < kFamilies; ++i) families.at(i) += has.at(i) ? 1 : 0;
    if (sizes.size() <= plan.faults.size()) sizes.resize(plan.faults.size() + 1);
    ++sizes[plan.faults.size()];
    for (const auto& [name, value] : plan.parameters) add_values({name, value, value, 1});
}

void Totals::add_values(const ParameterTally& more) {
    const auto known =
        std::ranges::lower_bound(parameters, more.parameter, {}, &ParameterTally::parameter);
    if (known == parameters.end() || known->parameter != more.parameter) {
        parameters.insert(known, more);
        return;
    }
    known->least = std::min(known->least, more.least);
    known->most = std::max(known->most, more.most);
    known->runs += more.runs;
}

void Totals::add_difference(std::uint64_t item, const Difference& difference) {
    ++nondeterministic_runs;
    if (nondeterministic.size() < kDifferencesKept) nondeterministic.push_back({item, difference});
}

// One of the first, or the first that fails one of its checkers.
bool Totals::keeps(const FailingRun& run) const {
    if (run.ordinal < failures_kept_) return true;
    return std::ranges::any_of(run.failed, [&](const std::string& checker) {
        return std::ranges::none_of(failures, [&](const FailingRun& kept) {
            return std::ranges::find(kept.failed, checker) != kept.failed.end();
        });
    });
}

void Totals::append(const Totals& next) {
    for (FailingRun run : next.failures) {
        run.ordinal += failed_runs;
        if (keeps(run)) failures.push_back(std::move(run));
    }
    runs += next.runs;
    failed_runs += next.failed_runs;
    steps += next.steps;
    records += next.records;
    for (std::size_t i = 0; i < ends.size(); ++i) {
        ends[i] += next.ends[i];
        first_ends[i] = std::min(first_ends[i], next.first_ends[i]);
    }
    for (std::size_t i = 0; i < next.checkers.size(); ++i) {
        const CheckerTally& more = next.checkers[i];
        CheckerTally& tally = tally_of(more.checker, i);
        tally.passed += more.passed;
        tally.failed += more.failed;
        tally.unknown += more.unknown;
        tally.not_applicable += more.not_applicable;
        tally.first_failed = std::min(tally.first_failed, more.first_failed);
        tally.first_unknown = std::min(tally.first_unknown, more.first_unknown);
    }
    for (const ProbeTally& more : next.probes) {
        auto known = std::ranges::find(probes, more.probe, &ProbeTally::probe);
        if (known == probes.end()) {
            probes.push_back(more);
        } else {
            known->runs += more.runs;
            known->first = std::min(known->first, more.first);
        }
    }
    for (std::size_t i = 0; i < faults.size(); ++i) {
        faults[i].planned += next.faults[i].planned;
        faults[i].struck += next.faults[i].struck;
        faults[i].took_effect += next.faults[i].took_effect;
    }
    for (std::size_t i = 0; i < kFamilies; ++i) families.at(i) += next.families.at(i);
    if (sizes.size() < next.sizes.size()) sizes.resize(next.sizes.size());
    for (std::size_t i = 0; i < next.sizes.size(); ++i) sizes[i] += next.sizes[i];
    for (const ParameterTally& more : next.parameters) add_values(more);
    runs_without_faults += next.runs_without_faults;
    runs_with_inert_faults += next.runs_with_inert_faults;
    runs_without_effect += next.runs_without_effect;
    digest.append(next.digest);
    nondeterministic_runs += next.nondeterministic_runs;
    for (const NondeterministicRun& run : next.nondeterministic) {
        if (nondeterministic.size() < kDifferencesKept) nondeterministic.push_back(run);
    }
    fingerprints.insert(fingerprints.end(), next.fingerprints.begin(), next.fingerprints.end());
}

void Totals::shift(std::uint64_t by) {
    sim::require(!items_in_digest_, "a digest of items cannot be given other items");
    const auto move = [by](std::uint64_t& item) {
        if (item != kNoItem) item += by;
    };
    for (std::uint64_t& first : first_ends) move(first);
    for (CheckerTally& tally : checkers) {
        move(tally.first_failed);
        move(tally.first_unknown);
    }
    for (ProbeTally& tally : probes) move(tally.first);
    for (FailingRun& run : failures) move(run.item);
    for (NondeterministicRun& run : nondeterministic) move(run.item);
}

// Visits every field, so that writing and reading cannot disagree.
struct TotalsCodec {
    template <typename Io, typename T>
    static void visit(Io& io, T& t) {
        io(t.runs, t.failed_runs, t.steps, t.records, t.ends, t.first_ends);
        io.all(t.checkers, [](Io& one, auto& c) {
            one(c.checker, c.passed, c.failed, c.unknown, c.not_applicable, c.first_failed,
                c.first_unknown);
        });
        io.all(t.probes, [](Io& one, auto& p) { one(p.probe, p.runs, p.first); });
        for (auto& tally : t.faults) io(tally.planned, tally.struck, tally.took_effect);
        io(t.families);
        io.all(t.sizes, [](Io& one, auto& size) { one(size); });
        io.all(t.parameters, [](Io& one, auto& p) { one(p.parameter, p.least, p.most, p.runs); });
        io(t.runs_without_faults, t.runs_with_inert_faults, t.runs_without_effect);
        io(t.digest.sum_, t.digest.power_);
        io.all(t.failures, [](Io& one, auto& f) {
            one(f.item, f.ordinal, f.fingerprint, f.checker, f.key, f.message, f.record);
            one.all(f.failed, [](Io& text, auto& checker) { text(checker); });
        });
        io(t.nondeterministic_runs);
        io.all(t.nondeterministic, [](Io& one, auto& n) {
            one(n.item, n.difference.record, n.difference.first, n.difference.second);
        });
        io.all(t.fingerprints, [](Io& one, auto& fingerprint) { one(fingerprint); });
        io(t.failures_kept_, t.keep_fingerprints_, t.items_in_digest_);
    }

    struct Writer {
        ByteWriter& out;
        void put(const auto& value) { out.put(value); }
        template <typename T, std::size_t N>
        void put(const std::array<T, N>& values) {
            for (const T& value : values) out.put(value);
        }
        void operator()(const auto&... values) { (put(values), ...); }
        void all(const auto& elements, auto visit_one) {
            out.put_all(elements, [&](ByteWriter&, const auto& one) { visit_one(*this, one); });
        }
    };
    struct Reader {
        ByteReader& in;
        void get(auto& value) { in.get(value); }
        template <typename T, std::size_t N>
        void get(std::array<T, N>& values) {
            for (T& value : values) in.get(value);
        }
        void operator()(auto&... values) { (get(values), ...); }
        void all(auto& elements, auto visit_one) {
            in.get_all(elements, [&](ByteReader&, auto& one) { visit_one(*this, one); });
        }
    };
};

std::string to_bytes(const Totals& totals) {
    ByteWriter out;
    TotalsCodec::Writer writer{out};
    TotalsCodec::visit(writer, totals);
    return out.take();
}

Totals totals_from_bytes(std::string_view bytes) {
    Totals totals;
    ByteReader in{bytes};
    TotalsCodec::Reader reader{in};
    TotalsCodec::visit(reader, totals);
    sim::require(in.empty(), "a worker's result is shorter than it is");
    return totals;
}

}  // namespace fencepost::scenarios
