// A crash is a crash: nothing that the code of a dead process does afterwards reaches the world.
#include <gtest/gtest.h>

#include <algorithm>

#include "jobs/lease.h"
#include "model/events.h"
#include "tests/scenarios/probe_handler.h"

namespace fencepost::scenarios {
namespace {

using sim::FaultKind;
using sim::Phase;

constexpr const char* kSecondWrite = "A#1/daily-reconcile@2026-03-02T18:00:00Z/db.execute/2";

std::vector<std::string> marks(const sim::History& history, std::string_view node) {
    std::vector<std::string> texts;
    for (sim::RecordId id = 0; id < history.size(); ++id) {
        const auto row = history[id].as<model::RowChanged>();
        if (!row || history.party_name(history.task(history[id].task()).party) != node) continue;
        texts.emplace_back(std::get<std::string_view>(row->after.at(1)));
    }
    return texts;
}

// Runs the body on both nodes and kills A at its second write, which is applied.
std::vector<std::string> marks_of_killed(const std::string& name, ProbeBody body) {
    if (find_handler(name) == nullptr) add_handler(probe_handler(name, std::move(body)));
    Runner runner;
    const auto plan = plan_for("same-instant", name, 1,
                               {fault_at(kSecondWrite, Phase::Applied, FaultKind::Crash)});
    const RunResult result = runner.run(plan);
    EXPECT_EQ(result.faults, std::vector{FaultFate::TookEffect});
    return marks(runner.history(), "A");
}

TEST(CrashTest, TheWriteInFlightIsAppliedAndTheNextOneIsNot) {
    const auto written =
        marks_of_killed("test-writes", [](const jobs::Fire&, const jobs::Ports& ports) {
            const auto session = ports.database.connect();
            for (const char* text : {"one", "two", "three"}) mark(*session, text);
        });
    EXPECT_EQ(written, (std::vector<std::string>{"one", "two"}));
}

TEST(CrashTest, ACatchAllLoopDoesNotKeepADeadNodeAlive) {
    const auto written =
        marks_of_killed("test-catch-all", [](const jobs::Fire&, const jobs::Ports& ports) {
            const auto session = ports.database.connect();
            for (int i = 0; i < 10; ++i) {
                try {
                    mark(*session, std::to_string(i));
                } catch (...) {
                    // "Whatever it was, go on."
                }
            }
        });
    EXPECT_EQ(written, (std::vector<std::string>{"0", "1"}));
}

TEST(CrashTest, AnEndlessCatchAllLoopIsAbandoned) {
    const auto written =
        marks_of_killed("test-endless", [](const jobs::Fire&, const jobs::Ports& ports) {
            const auto session = ports.database.connect();
            for (int i = 0; ports.node == "A" || i < 3; ++i) {
                try {
                    mark(*session, std::to_string(i));
                } catch (...) {
                }
            }
        });
    EXPECT_EQ(written, (std::vector<std::string>{"0", "1"}));
}

TEST(CrashTest, AGuardsDestructorChangesNothingAfterACrash) {
    struct Guard {
        jobs::sql::Session& session;
        ~Guard() {
            try {
                mark(session, "tidied up");
            } catch (const jobs::AttemptError&) {
            }
        }
    };
    const auto written =
        marks_of_killed("test-guard", [](const jobs::Fire&, const jobs::Ports& ports) {
            const auto session = ports.database.connect();
            const Guard guard{*session};
            mark(*session, "one");
            mark(*session, "two");
        });
    EXPECT_EQ(written, (std::vector<std::string>{"one", "two"}));
}

TEST(CrashTest, ADestructorThatMayNotThrowAndCallsOutDoesNotTakeTheHarnessDown) {
    struct Guard {
        jobs::sql::Session& session;
        ~Guard() { mark(session, "two"); }  // killed inside, in the ordinary way out
    };
    const auto written =
        marks_of_killed("test-noexcept", [](const jobs::Fire&, const jobs::Ports& ports) {
            const auto session = ports.database.connect();
            {
                const Guard guard{*session};
                mark(*session, "one");
            }
            mark(*session, "three");
        });
    EXPECT_EQ(written, (std::vector<std::string>{"one", "two"}));
}

TEST(CrashTest, ALeaseOfAKilledHolderStaysUntilItsTimeToLive) {
    const auto body = [](const jobs::Fire&, const jobs::Ports& ports) {
        if (ports.node != "A") return;
        jobs::Leases leases{ports, {.ttl = std::chrono::seconds{10}}};
        const auto lease = leases.try_acquire("test");
        const auto session = ports.database.connect();
        mark(*session, "one");
        mark(*session, "two");
    };
    if (find_handler("test-lease") == nullptr) add_handler(probe_handler("test-lease", body));
    Runner runner;
    static_cast<void>(
        runner.run(plan_for("same-instant", "test-lease", 1,
                            {fault_at(kSecondWrite, Phase::Applied, FaultKind::Crash)})));
    const sim::History& history = runner.history();
    int set = 0;
    int deleted = 0;
    for (sim::RecordId id = 0; id < history.size(); ++id) {
        const auto key = history[id].as<model::KeyChanged>();
        if (!key || key->key != "lease:test") continue;
        set += key->change == model::KeyChangeKind::Set ? 1 : 0;
        deleted += key->change == model::KeyChangeKind::Deleted ? 1 : 0;
    }
    EXPECT_EQ(set, 1);
    EXPECT_EQ(deleted, 0);
}

TEST(CrashTest, ACrashBeforeSendingChangesNothingAndAfterTheAnswerEverything) {
    const auto body = [](const jobs::Fire&, const jobs::Ports& ports) {
        const auto session = ports.database.connect();
        for (const char* text : {"one", "two", "three"}) mark(*session, text);
    };
    if (find_handler("test-phases") == nullptr) add_handler(probe_handler("test-phases", body));
    Runner runner;
    const std::vector<std::pair<Phase, std::size_t>> expected{
        {Phase::Before, 1}, {Phase::Sent, 2}, {Phase::Applied, 2}, {Phase::After, 2}};
    for (const auto& [phase, count] : expected) {
        static_cast<void>(runner.run(plan_for("same-instant", "test-phases", 1,
                                              {fault_at(kSecondWrite, phase, FaultKind::Crash)})));
        EXPECT_EQ(marks(runner.history(), "A").size(), count) << name_of(phase);
    }
}

}  // namespace
}  // namespace fencepost::scenarios
