#include "scenarios/search/exhaust_batch.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "scenarios/search/bytes.h"
#include "sim/require.h"

namespace fencepost::scenarios {
namespace {

TotalsOptions without_items(TotalsOptions options) {
    options.items_in_digest = false;
    return options;
}

void put(ByteWriter& out, const FoundMishap& found) {
    const Mishap& mishap = found.mishap;
    out.put(mishap.item).put(mishap.kind).put(mishap.signal).put(mishap.exit_code);
    out.put(mishap.in_task).put(mishap.task).put(mishap.text).put(mishap.again);
    out.put(sim::to_json(found.plan));
}

void get(ByteReader& in, FoundMishap& found) {
    Mishap& mishap = found.mishap;
    in.get(mishap.item);
    in.get(mishap.kind);
    in.get(mishap.signal);
    in.get(mishap.exit_code);
    in.get(mishap.in_task);
    in.get(mishap.task);
    in.get(mishap.text);
    in.get(mishap.again);
    std::string plan;
    in.get(plan);
    found.plan = sim::plan_from_json(plan);
}

}  // namespace

ExhaustBatch::ExhaustBatch(const Scenario& scenario, TotalsOptions options)
    : totals(scenario, without_items(options)) {}

void ExhaustBatch::plan(const sim::Plan& plan) {
    ++planned;
    for (const sim::Fault& fault : plan.faults)
        ++planned_kinds.at(static_cast<std::size_t>(fault.kind));
}

void ExhaustBatch::add(const sim::Plan& plan, const RunResult& result) {
    const std::size_t kept = totals.failures.size();
    totals.add(planned - 1, plan, result);
    if (totals.failures.size() > kept) failures.push_back({totals.failures.back(), plan});
}

void ExhaustBatch::add_mishap(FoundMishap found) {
    ++skipped;
    found.mishap.item = planned - 1;
    mishaps.push_back(std::move(found));
}

void ExhaustBatch::append(ExhaustBatch next) {
    next.totals.shift(planned);
    totals.append(next.totals);
    // The totals have chosen: of what they kept, these are the plans.
    std::vector<FoundFailure> known = std::exchange(failures, {});
    for (FoundFailure& failure : next.failures) {
        failure.run.item += planned;
        known.push_back(std::move(failure));
    }
    for (const FailingRun& run : totals.failures) {
        const auto found = std::ranges::find_if(
            known, [&](const FoundFailure& failure) { return failure.run.item == run.item; });
        sim::require(found != known.end(), "a failing run that is kept has its plan");
        failures.push_back({run, std::move(found->plan)});
    }
    for (FoundMishap& found : next.mishaps) {
        found.mishap.item += planned;
        mishaps.push_back(std::move(found));
    }
    planned += next.planned;
    skipped += next.skipped;
    for (std::size_t i = 0; i < equal.size(); ++i) equal[i] += next.equal[i];
    for (std::size_t i = 0; i < planned_kinds.size(); ++i)
        planned_kinds[i] += next.planned_kinds[i];
    points.merge(next.points);
}

std::uint64_t ExhaustBatch::equals() const {
    return std::accumulate(equal.begin(), equal.end(), std::uint64_t{0});
}

std::string to_bytes(const ExhaustBatch& batch) {
    ByteWriter out;
    out.put(to_bytes(batch.totals)).put(batch.planned).put(batch.skipped);
    for (const std::uint64_t count : batch.equal) out.put(count);
    for (const std::uint64_t count : batch.planned_kinds) out.put(count);
    out.put_all(std::vector<std::uint64_t>{batch.points.begin(), batch.points.end()},
                [](ByteWriter& to, std::uint64_t point) { to.put(point); });
    // The runs are in the totals.
    out.put_all(batch.failures, [](ByteWriter& to, const FoundFailure& failure) {
        to.put(sim::to_json(failure.plan));
    });
    out.put_all(batch.mishaps, put);
    return out.take();
}

ExhaustBatch batch_from_bytes(std::string_view bytes) {
    ExhaustBatch batch;
    ByteReader in{bytes};
    std::string totals;
    in.get(totals);
    batch.totals = totals_from_bytes(totals);
    in.get(batch.planned);
    in.get(batch.skipped);
    for (std::uint64_t& count : batch.equal) in.get(count);
    for (std::uint64_t& count : batch.planned_kinds) in.get(count);
    std::vector<std::uint64_t> points;
    in.get_all(points, [](ByteReader& from, std::uint64_t& point) { from.get(point); });
    batch.points.insert(points.begin(), points.end());
    std::vector<std::string> plans;
    in.get_all(plans, [](ByteReader& from, std::string& plan) { from.get(plan); });
    sim::require(plans.size() == batch.totals.failures.size(),
                 "each failing run that is kept has its plan");
    for (std::size_t i = 0; i < plans.size(); ++i)
        batch.failures.push_back({batch.totals.failures[i], sim::plan_from_json(plans[i])});
    in.get_all(batch.mishaps, get);
    sim::require(in.empty(), "a batch is as long as it says");
    return batch;
}

}  // namespace fencepost::scenarios
