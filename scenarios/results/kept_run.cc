#include "scenarios/results/kept_run.h"

#include <algorithm>

#include "scenarios/search/bytes.h"
#include "sim/require.h"

namespace fencepost::scenarios {

using checkers::Verdict;

KeptRun kept_run(const Scenario& scenario, const sim::Plan& plan, const RunResult& result) {
    sim::require(result.judgements.size() == scenario.checkers.size(),
                 "a run is judged by each checker of its scenario");
    KeptRun run{.seed = plan.seed,
                .fingerprint = result.fingerprint,
                .end = result.end,
                .steps = result.steps,
                .records = result.records,
                .virtual_time = result.virtual_time};
    for (const checkers::Judgement& judgement : result.judgements) {
        run.verdicts.push_back(judgement.verdict);
        if (judgement.verdict != Verdict::Fail) continue;
        const checkers::Finding finding = checkers::first_finding(judgement);
        run.failures.push_back({.checker = judgement.checker,
                                .key = finding.key,
                                .message = finding.message,
                                .record = finding.record});
    }
    for (const std::string& probe : result.probes) {
        const auto known = std::ranges::find(scenario.probes, probe);
        sim::require(known != scenario.probes.end(), "a run reaches probes of its scenario");
        run.probes |= std::uint64_t{1} << static_cast<unsigned>(known - scenario.probes.begin());
    }
    sim::require(plan.faults.size() == result.faults.size(), "each planned fault has a fate");
    for (std::size_t i = 0; i < plan.faults.size(); ++i)
        run.faults.push_back({plan.faults[i].kind, result.faults[i]});
    return run;
}

void add(Totals& totals, const Scenario& scenario, const KeptRun& run) {
    sim::Plan plan;
    RunResult result{.fingerprint = run.fingerprint,
                     .end = run.end,
                     .steps = run.steps,
                     .records = run.records,
                     .virtual_time = run.virtual_time};
    for (const KeptFault& fault : run.faults) {
        plan.faults.emplace_back().kind = fault.kind;
        result.faults.push_back(fault.fate);
    }
    auto failure = run.failures.begin();
    for (std::size_t i = 0; i < scenario.checkers.size(); ++i) {
        checkers::Judgement& judgement = result.judgements.emplace_back();
        judgement.checker = scenario.checkers[i];
        judgement.verdict = run.verdicts.at(i);
        if (judgement.verdict != Verdict::Fail) continue;
        sim::require(failure != run.failures.end() && failure->checker == judgement.checker,
                     "each checker that failed has its failure");
        judgement.findings.push_back({failure->key, failure->message, failure->record});
        ++failure;
    }
    for (std::size_t i = 0; i < scenario.probes.size(); ++i) {
        if ((run.probes >> i & 1U) != 0) result.probes.push_back(scenario.probes[i]);
    }
    totals.add(run.seed, plan, result);
    if (run.difference) totals.add_difference(run.seed, *run.difference);
}

std::string to_bytes(const std::vector<KeptRun>& runs) {
    ByteWriter out;
    out.put_all(runs, [](ByteWriter& to, const KeptRun& run) {
        to.put(run.seed).put(run.fingerprint).put(run.end).put(run.steps).put(run.records);
        to.put(run.virtual_time.count());
        to.put_all(run.verdicts, [](ByteWriter& o, Verdict verdict) { o.put(verdict); });
        to.put(run.probes);
        to.put_all(run.faults,
                   [](ByteWriter& o, const KeptFault& f) { o.put(f.kind).put(f.fate); });
        to.put_all(run.failures, [](ByteWriter& o, const KeptFailure& f) {
            o.put(f.checker).put(f.key).put(f.message).put(f.record);
        });
        to.put(run.difference.has_value());
        if (!run.difference) return;
        to.put(run.difference->record).put(run.difference->first).put(run.difference->second);
    });
    return out.take();
}

std::vector<KeptRun> runs_from_bytes(std::string_view bytes) {
    std::vector<KeptRun> runs;
    ByteReader in{bytes};
    in.get_all(runs, [](ByteReader& from, KeptRun& run) {
        from.get(run.seed);
        from.get(run.fingerprint);
        from.get(run.end);
        from.get(run.steps);
        from.get(run.records);
        run.virtual_time = sim::Duration{from.get<sim::Duration::rep>()};
        from.get_all(run.verdicts, [](ByteReader& i, Verdict& verdict) { i.get(verdict); });
        from.get(run.probes);
        from.get_all(run.faults, [](ByteReader& i, KeptFault& fault) {
            i.get(fault.kind);
            i.get(fault.fate);
        });
        from.get_all(run.failures, [](ByteReader& i, KeptFailure& failure) {
            i.get(failure.checker);
            i.get(failure.key);
            i.get(failure.message);
            i.get(failure.record);
        });
        if (!from.get<bool>()) return;
        Difference& difference = run.difference.emplace();
        from.get(difference.record);
        from.get(difference.first);
        from.get(difference.second);
    });
    sim::require(in.empty(), "a worker's runs are as long as they say");
    return runs;
}

}  // namespace fencepost::scenarios
