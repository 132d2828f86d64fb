// Measures what docs/performance.md states. Variants are interleaved and medians are printed.
//
//     build/bench/fencepost-bench [ROUNDS]
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

#include "bench/bare_sql.h"
#include "model/database/engine.h"
#include "scenarios/runner.h"

namespace fencepost::bench {
namespace {

using Clock = std::chrono::steady_clock;

double microseconds_of(const std::function<void()>& work, int times) {
    const auto start = Clock::now();
    for (int i = 0; i < times; ++i) work();
    return std::chrono::duration<double, std::micro>(Clock::now() - start).count() / times;
}

double median(std::vector<double> values) {
    std::ranges::sort(values);
    return values[values.size() / 2];
}

struct Variant {
    std::string name;
    std::function<void()> work;
    std::vector<double> microseconds;
};

// Runs the variants in turn, so that a change of the machine's speed meets all of them.
void interleave(std::vector<Variant>& variants, int rounds, int times) {
    for (int round = -1; round < rounds; ++round) {
        for (Variant& variant : variants) {
            const double took = microseconds_of(variant.work, times);
            if (round >= 0) variant.microseconds.push_back(took);
        }
    }
    for (const Variant& variant : variants) {
        fmt::print("    {:<44} {:>9.2f} us\n", variant.name, median(variant.microseconds));
    }
}

double ratio(const Variant& a, const Variant& b) {
    std::vector<double> ratios;
    for (std::size_t i = 0; i < a.microseconds.size(); ++i) {
        ratios.push_back(a.microseconds[i] / b.microseconds[i]);
    }
    return median(ratios);
}

sim::Plan plan_of(const std::string& scenario, std::vector<sim::Fault> faults = {}) {
    return {.scenario = scenario,
            .handler = "reconcile",
            .seed = 1,
            .parameters = {},
            .faults = std::move(faults)};
}

void acceptance_run(const std::string& scenario, int rounds) {
    scenarios::Runner runner;
    sim::Plan plan = plan_of(scenario);
    const auto result = runner.run(plan);
    const auto records = result.records;
    BareSql bare{runner.schema_of(plan), runner.statements()};
    fmt::print("\nA whole run of {}, every checker on: {} events, {} records, {} SQL statements\n",
               scenario, result.steps, records, bare.statements());
    std::uint64_t seed = 0;
    std::vector<Variant> variants{
        {"P9  whole run",
         [&] {
             plan.seed = ++seed;
             static_cast<void>(runner.run(plan));
         },
         {}},
        {"P4  its SQL alone on bare SQLite, restored", [&] { bare.run(); }, {}}};
    interleave(variants, rounds, 500);
    fmt::print("    P4  ratio {:.2f} (floor 2.2, target 1.8)\n", ratio(variants[0], variants[1]));
    fmt::print("    P9  {:.0f} runs/s/core (floor 5000, target 10000)\n",
               1e6 / median(variants[0].microseconds));
}

void fresh_database(int rounds) {
    scenarios::Runner runner;
    const sim::Plan plan = plan_of("same-instant-clustered");
    static_cast<void>(runner.run(plan));
    const auto schema = runner.schema_of(plan);
    const BareSql bare{schema, {}};
    const auto image = model::DatabaseImage::build(schema);
    model::DatabaseEngine engine;
    fmt::print("\nA fresh database for a run\n");
    std::vector<Variant> variants{
        {"P5  reset to the image", [&] { engine.reset(image); }, {}},
        {"P5  open a connection and run the schema", [&] { bare.open_and_build(); }, {}}};
    interleave(variants, rounds, 200);
    fmt::print("    P5  ratio 1/{:.0f} (floor 1/30, target 1/100)\n",
               ratio(variants[1], variants[0]));
}

void crashed_node(int rounds) {
    scenarios::Runner runner;
    const sim::Plan calm = plan_of("holder-leaves");
    sim::Fault crash;
    crash.at_time = sim::parse_time("2026-03-02T18:00:03Z");
    crash.kind = sim::FaultKind::Crash;
    crash.party = "A";
    crash.restart_after = std::chrono::seconds{1};
    const sim::Plan crashed = plan_of("holder-leaves", {crash});
    fmt::print("\nA run in which a node dies at its end and comes back\n");
    std::vector<Variant> variants{
        {"P7  with the crash", [&] { static_cast<void>(runner.run(crashed)); }, {}},
        {"P7  without", [&] { static_cast<void>(runner.run(calm)); }, {}}};
    interleave(variants, rounds, 300);
    fmt::print("    P7  ratio {:.2f} (floor 1.5, target 1.2)\n", ratio(variants[0], variants[1]));
}

}  // namespace
}  // namespace fencepost::bench

int main(int argc, char** argv) {
    const int rounds = argc > 1 ? std::max(1, std::atoi(argv[1])) : 15;
    fencepost::bench::acceptance_run("same-instant", rounds);
    fencepost::bench::acceptance_run("same-instant-clustered", rounds);
    fencepost::bench::fresh_database(rounds);
    fencepost::bench::crashed_node(rounds);
}
