// Goal: a trace shows, line by line, who did what to whom, in the lanes of the parties.
#include "reports/trace.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <sstream>

#include "model/events.h"

namespace fencepost::reports {
namespace {

using namespace std::chrono_literals;

// A writes to the database and crashes before it hears of it; Redis does not answer B.
class TraceTest : public ::testing::Test {
protected:
    TraceTest() {
        history_.clear();
        a_ = history_.add_party("A");
        b_ = history_.add_party("B");
        database_ = history_.add_party("database");
        redis_ = history_.add_party("redis");
        job_ = history_.add_task({.name = "reconcile", .party = a_, .incarnation = 1});
        lease_ = history_.add_task({.name = "lease", .party = b_, .incarnation = 1});
    }

    template <typename Event>
    sim::RecordId add(sim::Duration after, sim::PartyId party, sim::TaskId task,
                      const Event& event) {
        now_ += after;
        return history_.append(now_, party, task, sim::kNoRecord, event);
    }

    sim::History history_;
    sim::PartyId a_ = 0, b_ = 0, database_ = 0, redis_ = 0;
    sim::TaskId job_ = 0, lease_ = 0;
    sim::Time now_ = *sim::parse_time("2026-03-02T18:00:00Z");
};

TEST_F(TraceTest, EventsStandInTheLaneOfTheirPartyWithArrowsForCalls) {
    const model::Cells before{std::int64_t{7}, std::string_view{"running"}};
    const model::Cells after{std::int64_t{7}, std::string_view{"succeeded"}};
    add(0s, sim::kWorld, sim::kNoTask, sim::PhaseBegan{.name = "faults"});
    add(0s, database_, sim::kNoTask,
        model::TableKnown{.index = 0, .name = "claim", .columns = "id,status"});
    add(0s, a_, sim::kNoTask, sim::NodeStarted{.incarnation = 1});
    add(1s, b_, sim::kNoTask, sim::NodeStarted{.incarnation = 1});
    add(1ms, a_, job_,
        sim::CallStarted{.operation = "db.commit", .ordinal = 1, .detail = "COMMIT"});
    add(1ms, database_, job_,
        model::RowChanged{
            .change = model::RowChangeKind::Update, .before = before, .after = after});
    add(0s, database_, job_,
        sim::CallApplied{.operation = "db.commit", .ordinal = 1, .result = "ok"});
    add(1ms, a_, job_, sim::CallEnded{.operation = "db.commit", .ordinal = 1, .outcome = "ok"});
    add(0s, a_, sim::kNoTask, sim::FaultTookEffect{.index = 0, .on = "A"});
    add(0s, a_, sim::kNoTask, sim::NodeEnded{.incarnation = 1, .how = "crash"});
    add(0s, b_, lease_,
        sim::CallStarted{.operation = "redis.get", .ordinal = 2, .detail = "GET\n k"});
    add(0s, b_, sim::kNoTask, sim::NodePaused{.duration = 2s});
    add(2s, b_, sim::kNoTask, sim::NodeResumed{});
    add(0s, b_, lease_,
        sim::CallEnded{.operation = "redis.get", .ordinal = 2, .outcome = "timed out"});
    EXPECT_EQ(
        trace_text(history_, {.marks = {{.record = 7, .text = "once: landed twice"}}}),
        "     #    time (s)  A         database  redis     B\n"
        "     0    0.000000            |         |                   ==== faults ====\n"
        "     2    0.000000  o         |         |                   node-started incarnation=1\n"
        "     3    1.000000  |         |         |         o         node-started incarnation=1\n"
        "     4    1.001000  o-------->|         |         |         reconcile db.commit/1  "
        "COMMIT\n"
        "     5    1.002000  |         *         |         |         claim update id=7 "
        "status='running' -> 'succeeded'\n"
        "     6    1.002000  |         *         |         |         reconcile db.commit/1 done  "
        "ok\n"
        "     7    1.003000  o<--------|         |         |         reconcile db.commit/1 "
        "answered  ok\n"
        "                                                            <== once: landed twice\n"
        "     8    1.003000  !         |         |         |         fault 1 takes effect on A\n"
        "     9    1.003000  !         |         |         |         node-ended incarnation=1 "
        "how=crash\n"
        "    10    1.003000            |         |<--------o         lease redis.get/2  GET k\n"
        "    11    1.003000            |         |         !         node-paused for=2s\n"
        "    12    3.003000            |         |         o         node-resumed\n"
        "    13    3.003000            |         |         x         lease redis.get/2  timed "
        "out\n");
}

TEST_F(TraceTest, LongStatementsAreCutAndWhatMatchesNoTableIsStillShown) {
    add(0s, a_, job_,
        sim::CallStarted{.operation = "db.query", .ordinal = 1, .detail = "SELECT a FROM b"});
    add(0s, database_, job_,
        model::RowChanged{.change = model::RowChangeKind::Insert,
                          .table = 9,
                          .before = {},
                          .after = {std::monostate{}, std::string_view{"x\ny"}}});
    const std::string text = trace_text(history_, {.detail_width = 11});
    EXPECT_NE(text.find("SELECT a...\n"), std::string::npos) << text;
    EXPECT_NE(text.find("table 9 insert [0]=NULL [1]='x y'\n"), std::string::npos) << text;
}

TEST_F(TraceTest, AnEmptyHistorySaysSo) {
    EXPECT_EQ(trace_text(history_), "nothing happened\n");
    EXPECT_EQ(trace_json(history_), "");
}

TEST_F(TraceTest, JsonGivesOneObjectALine) {
    const auto started = add(0s, a_, sim::kNoTask, sim::NodeStarted{.incarnation = 1});
    history_.append(now_, a_, job_, started, sim::TaskStarted{.foreground = true});
    std::istringstream lines{trace_json(history_)};
    std::string line;
    std::getline(lines, line);
    EXPECT_EQ(line,
              R"({"record":0,"at":"2026-03-02T18:00:00Z","party":"A","actor":"A","cause":null,)"
              R"("event":"node-started","text":"incarnation=1"})");
    std::getline(lines, line);
    const auto json = nlohmann::json::parse(line);
    EXPECT_EQ(json["actor"], "A#1/reconcile");
    EXPECT_EQ(json["cause"], 0);
    EXPECT_EQ(json["text"], "foreground=yes");
    EXPECT_FALSE(std::getline(lines, line));
}

TEST_F(TraceTest, LinesByEventAreTheLinesOfTheText) {
    add(0s, a_, sim::kNoTask, sim::NodeStarted{1});
    add(1s, database_, sim::kNoTask, model::TableKnown{0, "ledger", "id"});
    const sim::RecordId started = add(1s, a_, job_, sim::TaskStarted{true});
    const TraceOptions options{.marks = {{.record = started, .text = "once: broken"}}};
    const TraceLines all = trace_lines(history_, options);
    ASSERT_EQ(all.lines.size(), 3U);
    EXPECT_EQ(all.lines[1], "") << "a name that only other lines need";
    EXPECT_NE(all.lines[2].find("<== once: broken"), std::string::npos) << all.lines[2];
    EXPECT_EQ(all.heading + all.lines[0] + all.lines[2], trace_text(history_, options));
}

}  // namespace
}  // namespace fencepost::reports
