// Goal: no kind of fault is a word only. Of each kind one fault is put into a run; it must be known
// to have taken effect, and the world must show what the run without it does not.
//
// What the world shows is a record, by its party, name and text: one more of it (Appears), or the
// first one later or earlier than before (Moves).
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <set>

#include "model/events.h"
#include "tests/scenarios/probe_handler.h"

namespace fencepost::scenarios {
namespace {

using namespace std::chrono_literals;
using sim::FaultKind;

enum class Sign : std::uint8_t { Appears, Moves };

struct KindCase {
    FaultKind kind;
    const char* scenario;
    const char* fault;  // the rest of its JSON
    Sign sign;
    const char* record;  // how "PARTY NAME TEXT" begins
    sim::Duration by{};  // at least so much does it move
};

constexpr const char* kCommit = R"("at": "*#1/daily-reconcile@*/db.commit/1")";
constexpr const char* kConnect = R"("at": "*#1/daily-reconcile@*/db.connect/1")";
constexpr const char* kAcquire = R"("at": "A#1/daily-reconcile@*/redis.lease-acquire/2")";
constexpr const char* kSecondBegin = "A call op=db.begin ordinal=2";

const std::vector<KindCase>& cases() {
    static const std::vector<KindCase> kCases{
        {FaultKind::Crash, "same-instant", kCommit, Sign::Appears,
         "A node-ended incarnation=1 how=crash"},
        {FaultKind::Stop, "same-instant",
         R"("at": "A#1/daily-reconcile@*/db.commit/1", "grace": "10s")", Sign::Appears,
         "A node-ended incarnation=1 how=stopped"},
        {FaultKind::Pause, "same-instant",
         R"("at": "A#1/daily-reconcile@*/db.commit/1", "for": "3s")", Sign::Moves, kSecondBegin,
         3s},
        {FaultKind::Slow, "same-instant",
         R"("at": "A#1/daily-reconcile@*/db.commit/1", "by": "100ms", "for": "3s")", Sign::Moves,
         kSecondBegin, 100ms},
        {FaultKind::LoseRequest, "same-instant", kAcquire, Sign::Appears,
         "redis key change=set key=lease:acme/daily-reconcile before= after=1:B"},
        {FaultKind::LoseAnswer, "same-instant", kAcquire, Sign::Appears,
         "A answer op=redis.lease-acquire ordinal=2 outcome=timed out"},
        {FaultKind::Delay, "same-instant",
         R"("at": "A#1/daily-reconcile@*/db.commit/1", "by": "700ms")", Sign::Moves, kSecondBegin,
         699ms},
        {FaultKind::Duplicate, "redis-fails", R"("at": "*#1/lease-renewal/redis.lease-renew/2")",
         Sign::Appears, "redis key change=expiry-set key=lease:acme/daily-reconcile"},
        {FaultKind::Reset, "same-instant", kCommit, Sign::Appears,
         "A answer op=db.commit ordinal=1 outcome=connection reset"},
        {FaultKind::Refuse, "same-instant", kConnect, Sign::Appears,
         "B answer op=db.connect ordinal=1 outcome=connection refused"},
        {FaultKind::SerializationFailure, "same-instant", kCommit, Sign::Appears,
         "A answer op=db.commit ordinal=1 outcome=40001"},
        {FaultKind::DeadlockVictim, "same-instant", R"("at": "A#1/daily-reconcile@*/db.execute/2")",
         Sign::Appears, "A answer op=db.execute ordinal=2 outcome=40P01"},
        {FaultKind::Partition, "same-instant",
         R"("at_time": "2026-03-02T18:00:00Z", "between": ["A", "redis"], "for": "2s")",
         Sign::Appears, "redis key change=set key=lease:acme/daily-reconcile before= after=1:B"},
        {FaultKind::Restart, "same-instant",
         R"("at_time": "2026-03-02T18:00:00Z", "server": "database", "for": "2s")", Sign::Appears,
         "A answer op=db.connect ordinal=1 outcome=connection refused"},
        {FaultKind::Failover, "redis-fails",
         R"("at_time": "2026-03-02T18:00:01Z", "server": "redis")", Sign::Appears,
         // The new master has not loaded the script.
         "redis applied op=redis.lease-acquire ordinal=1 result=NOSCRIPT"},
        {FaultKind::Unreachable, "same-instant",
         R"("at_time": "2026-03-02T18:00:00Z", "server": "redis", "for": "2s")", Sign::Moves,
         "redis key change=set key=lease:acme/daily-reconcile", 1s},
        {FaultKind::Evict, "redis-fails",
         R"("at_time": "2026-03-02T18:00:01Z", "server": "redis", "key": "lease:acme/daily-reconcile")",
         Sign::Appears, "redis key change=evicted key=lease:acme/daily-reconcile"},
        {FaultKind::ClockJump, "same-instant",
         R"("at_time": "2026-03-02T17:59:58.1Z", "of": "A", "by": "1s")", Sign::Moves,
         "A fire job=daily-reconcile", -1s},
        {FaultKind::ClockDrift, "same-instant",
         R"("at_time": "2026-03-02T17:59:58.1Z", "of": "A", "ppm": 200000)", Sign::Moves,
         "A fire job=daily-reconcile", -200ms},
        {FaultKind::FireTwice, "same-instant-clustered",
         R"("at_time": "2026-03-02T17:59:59Z", "node": "A")", Sign::Appears,
         "A fire job=daily-reconcile"},
        {FaultKind::FireLate, "same-instant-clustered",
         R"("at_time": "2026-03-02T17:59:59Z", "node": "B", "by": "20s")", Sign::Moves,
         "B fire job=daily-reconcile", 19s},
        {FaultKind::DuplicateMessage, "message-twice", R"("at_time": "2026-03-02T17:59:59Z")",
         Sign::Appears, "broker published queue=consume-order"},
        {FaultKind::EarlyRedelivery, "message-twice", R"("at_time": "2026-03-02T17:59:59Z")",
         Sign::Appears, "broker visible-again number=1"},
        {FaultKind::ReorderMessages, "message-twice", R"("at_time": "2026-03-02T17:59:59Z")",
         Sign::Moves, "broker delivered number=3", -1ms},
        {FaultKind::Deploy, "rolling-upgrade",
         R"("at_time": "2026-03-02T18:00:01Z", "node": "B", "version": 2, "grace": "10s")",
         Sign::Moves, "B node-stopping", -1s},
        {FaultKind::Cancel, "long-job",
         R"("at_time": "2026-03-02T18:01:00Z", "unit": "acme/file-import@2026-03-02T18:00:00Z")",
         Sign::Appears, "operator cancel-asked"},
        {FaultKind::SaveSchedule, "same-instant-other-id",
         // Half a second after the instant, which fires once more.
         R"("at_time": "2026-03-02T18:00:45.5Z", "job": "acme/daily-reconcile")", Sign::Appears,
         "A fire job=daily-reconcile tenant=acme"},
    };
    return kCases;
}

// The instants at which such a record was written.
std::vector<sim::Time> seen(const sim::History& history, std::string_view record) {
    std::vector<sim::Time> all;
    for (sim::RecordId id = 0; id < history.size(); ++id) {
        const sim::Record one = history[id];
        const auto line = fmt::format("{} {} {}", history.party_name(one.party()),
                                      model::event_name(one), model::event_text(one));
        if (line.starts_with(record)) all.push_back(one.at());
    }
    return all;
}

class FaultKindTest : public testing::TestWithParam<KindCase> {};

TEST_P(FaultKindTest, TakesEffectAndTheWorldShowsIt) {
    const KindCase& fault = GetParam();
    const std::string_view name = sim::info_of(fault.kind).name;
    const std::string handler = find_scenario(fault.scenario)->handlers.front();
    const sim::Plan with = sim::plan_from_json(fmt::format(
        R"({{"scenario": "{}", "handler": "{}", "seed": "0x1", "faults": [{{"do": "{}", {}}}]}})",
        fault.scenario, handler, name, fault.fault));
    sim::Plan without = with;
    without.faults.clear();

    Runner runner;
    runner.run(without);
    const auto before = seen(runner.history(), fault.record);
    const RunResult result = runner.run(with);
    const auto after = seen(runner.history(), fault.record);

    EXPECT_EQ(result.faults, std::vector{FaultFate::TookEffect});
    if (fault.sign == Sign::Appears) {
        EXPECT_GT(after.size(), before.size()) << fault.record;
        return;
    }
    ASSERT_FALSE(before.empty()) << fault.record;
    ASSERT_FALSE(after.empty()) << fault.record;
    const sim::Duration moved = after.front() - before.front();
    EXPECT_TRUE(fault.by > sim::Duration::zero() ? moved >= fault.by : moved <= fault.by)
        << "moved by " << sim::to_text(moved);
}

INSTANTIATE_TEST_SUITE_P(Every, FaultKindTest, testing::ValuesIn(cases()), [](const auto& one) {
    std::string name{sim::info_of(one.param.kind).name};
    std::ranges::replace(name, '-', '_');
    return name;
});

TEST(FaultKindsTest, EachHasARunThatShowsIt) {
    std::set<FaultKind> shown;
    for (const KindCase& one : cases()) shown.insert(one.kind);
    for (const sim::FaultKindInfo& kind : sim::fault_kinds()) {
        EXPECT_TRUE(shown.contains(kind.kind)) << kind.name;
    }
}

}  // namespace
}  // namespace fencepost::scenarios
