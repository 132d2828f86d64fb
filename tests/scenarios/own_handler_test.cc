#include "scenarios/own_handler.h"

#include <gtest/gtest.h>

#include <set>

#include "jobs/startup.h"
#include "scenarios/handlers/worker_program.h"
#include "scenarios/runner.h"
#include "tests/scenarios/probe_handler.h"

namespace fencepost::scenarios {
namespace {

using jobs::Checkpoint;
using jobs::JobContext;
using jobs::Outcome;

constexpr const char* kSchema =
    "CREATE TABLE expiry (business_key TEXT PRIMARY KEY, member BIGINT NOT NULL, night TEXT NOT "
    "NULL, points BIGINT NOT NULL, UNIQUE (member, night));\n";

void expire(jobs::sql::Transaction& tx, const JobContext& job, std::int64_t member) {
    tx.execute("INSERT INTO expiry (business_key, member, night, points) VALUES ($1, $2, $3, 10)",
               job.effect_key(member), member, jobs::utc_day(job.fire().scheduled_fire_time));
}

// Two members, one a batch.
Outcome expire_points(JobContext& job) {
    const std::int64_t member = job.checkpoint() ? job.checkpoint()->number() + 1 : 1;
    if (member > 2) return Outcome::succeeded();
    job.commit(Checkpoint::at(member), [&](auto& tx) { expire(tx, job, member); });
    return Outcome::more();
}

const HandlerSpec& known(HandlerSpec spec, std::vector<checkers::EffectTable> effects) {
    if (const HandlerSpec* already = find_handler(spec.name)) return *already;
    spec.effects = std::move(effects);
    const std::string name = spec.name;
    add_handler(std::move(spec));
    return *find_handler(name);
}

RunResult run_of(const HandlerSpec& handler, std::vector<sim::Fault> faults = {},
                 const std::string& scenario = "same-instant") {
    Runner runner;
    return runner.run(plan_for(scenario, handler.name, 1, std::move(faults)));
}

const checkers::Judgement& judgement(const RunResult& result, std::string_view checker) {
    return *std::ranges::find(result.judgements, checker, &checkers::Judgement::checker);
}

std::string sentence(const RunResult& result) {
    return result.failed() ? checkers::first_finding(*result.failure()).message : "nothing broke";
}

TEST(OwnHandler, NeedsABodyAndASchemaToBeJudgedOnce) {
    const HandlerSpec& handler =
        known(gated("own-right", expire_points, kSchema), {{.table = "expiry"}});
    Runner runner;
    const sim::Plan plan = plan_for("same-instant", handler.name);
    const RunResult result = runner.run(plan);
    EXPECT_EQ(judgement(result, "once").reason, "2 effects, each there once");
    EXPECT_EQ(judgement(result, "checkpoint").verdict, checkers::Verdict::Pass);
    const auto& learnt = runner.expectations(plan).effects.at(0);
    EXPECT_EQ(learnt.identity, (std::vector<std::string>{"member", "night"}));
    ASSERT_EQ(learnt.expected.size(), 2U);
    EXPECT_EQ(learnt.expected[1].unit, "acme/daily-reconcile@2026-03-02T18:00:00Z");
    EXPECT_EQ(learnt.expected[1].identity, (std::vector<std::string>{"2", "2026-03-02"}));
    EXPECT_EQ(learnt.expected[1].position, 2);
}

TEST(OwnHandler, IsBlamedForWhatTheUndisturbedRunLeavesAndAFaultTakesAway) {
    // Marks the night as done before it is: who comes after a crash finds it done.
    const HandlerSpec& handler =
        known(ungated(
                  "own-marks-first",
                  [](const jobs::Fire& fire, const jobs::Ports& ports) -> std::string {
                      const auto session = ports.database.connect();
                      const auto marked =
                          session->execute("INSERT INTO done VALUES ($1) ON CONFLICT DO NOTHING",
                                           jobs::utc_day(fire.scheduled_fire_time));
                      if (marked.affected() == 0) return "done already";
                      session->execute("INSERT INTO expiry VALUES ('a', 1, '2026-03-02', 10)");
                      return "done";
                  },
                  std::string(kSchema) + "CREATE TABLE done (night TEXT PRIMARY KEY);\n"),
              {{.table = "expiry"}});
    EXPECT_FALSE(run_of(handler).failed());
    sim::Fault crash =
        fault_at("*#1/daily-reconcile@*/db.execute/1", sim::Phase::Applied, sim::FaultKind::Crash);
    crash.restart_after = std::chrono::seconds{1};
    const RunResult result = run_of(handler, {crash});
    EXPECT_EQ(sentence(result), "expiry (1, 2026-03-02) is missing at the end of the run.");
}

TEST(OwnHandler, ThatLeavesNothingEvenWithoutFaultsIsBlamedForIt) {
    const HandlerSpec& handler = known(gated(
                                           "own-bare",
                                           [](JobContext& job) {
                                               job.db().execute("DELETE FROM expiry");
                                               return Outcome::succeeded();
                                           },
                                           kSchema),
                                       {{.table = "expiry"}});
    EXPECT_EQ(sentence(run_of(handler)),
              "what must land in expiry cannot be learnt: the run without faults leaves no effect "
              "at all; the claim of acme/daily-reconcile@2026-03-02T18:00:00Z has failed: "
              "\"DELETE FROM expiry\" would change data outside the fence: put it into the "
              "transaction that commit() hands to its batch.");
}

// What the first batch left is not all that there must be.
TEST(OwnHandler, ThatFailsHalfwayEvenWithoutFaultsIsBlamedForIt) {
    const HandlerSpec& handler =
        known(gated(
                  "own-halfway",
                  [](JobContext& job) {
                      const std::int64_t member = job.checkpoint() ? 2 : 1;
                      job.commit(Checkpoint::at(member), [&](auto& tx) {
                          tx.execute("INSERT INTO expiry VALUES ($1, $2, 'tonight', 10)",
                                     job.effect_key("night"), member);
                      });
                      return Outcome::more();
                  },
                  kSchema),
              {{.table = "expiry"}});
    const std::string said = sentence(run_of(handler));
    EXPECT_TRUE(
        said.starts_with("what must land in expiry cannot be learnt: the run without "
                         "faults ends before all work is done; the claim of "
                         "acme/daily-reconcile@2026-03-02T18:00:00Z has failed: "))
        << said;
    EXPECT_NE(said.find("duplicate key"), std::string::npos) << said;
}

constexpr const char* kNightSchema =
    "CREATE TABLE night_total (night TEXT PRIMARY KEY, members BIGINT NOT NULL);\n";

void sum_up(jobs::sql::Transaction& tx, const JobContext& job) {
    tx.execute("INSERT INTO night_total SELECT $1, count(*) FROM expiry",
               jobs::utc_day(job.fire().scheduled_fire_time));
}

TEST(OwnHandler, MayWriteUnderACheckpointThatStandsAlready) {
    // Sums up when all members are done, and looks whether that is there.
    const HandlerSpec& handler =
        known(gated(
                  "own-sums-up",
                  [](JobContext& job) {
                      const std::int64_t last = job.checkpoint() ? job.checkpoint()->number() : 0;
                      if (last < 2) return expire_points(job);
                      if (job.db().execute("SELECT 1 FROM night_total").empty()) {
                          job.commit(Checkpoint::at(last), [&](auto& tx) { sum_up(tx, job); });
                      }
                      return Outcome::succeeded();
                  },
                  std::string(kSchema) + kNightSchema),
              {{.table = "expiry"}, {.table = "night_total"}});
    const RunResult result = run_of(handler);
    EXPECT_EQ(sentence(result), "nothing broke");
    EXPECT_EQ(judgement(result, "checkpoint").reason, "2 checkpoints, nothing skipped");
}

TEST(OwnHandler, WhoseCheckpointIsAheadOfItsEffectsSkipsThemOnlyWhereTheyNeverCome) {
    const HandlerSpec& handler = known(
        gated(
            "own-ahead",
            [](JobContext& job) {
                const std::int64_t member = job.checkpoint() ? job.checkpoint()->number() + 1 : 1;
                if (member > 2) return Outcome::succeeded();
                job.commit(Checkpoint::at(member), [](auto&) {});
                job.commit(Checkpoint::at(member), [&](auto& tx) { expire(tx, job, member); });
                return Outcome::more();
            },
            kSchema),
        {{.table = "expiry"}});
    EXPECT_EQ(sentence(run_of(handler)), "nothing broke");
    sim::Fault crash =
        fault_at("*#1/daily-reconcile@*/db.commit/2", sim::Phase::Applied, sim::FaultKind::Crash);
    crash.restart_after = std::chrono::seconds{1};
    const checkers::Judgement checkpoint = judgement(run_of(handler, {crash}), "checkpoint");
    ASSERT_EQ(checkpoint.verdict, checkers::Verdict::Fail);
    const std::string said = checkers::first_finding(checkpoint).message;
    EXPECT_TRUE(said.starts_with("Skipped: the checkpoint was set to 1 by ")) << said;
}

TEST(OwnHandler, ThatKeepsSomethingBeyondARunIsBlamedForIt) {
    static std::set<std::string> done;
    const HandlerSpec& handler =
        known(ungated(
                  "own-static",
                  [](const jobs::Fire& fire, const jobs::Ports& ports) -> std::string {
                      if (!done.insert(jobs::BusinessKey::of(fire).text()).second) return "done";
                      ports.database.connect()->execute(
                          "INSERT INTO expiry VALUES ('a', 1, '2026-03-02', 10)");
                      return "done";
                  },
                  kSchema),
              {{.table = "expiry"}});
    const std::string said = sentence(run_of(handler));
    EXPECT_TRUE(
        said.starts_with("what must land in expiry cannot be learnt: the run without faults "
                         "is another one when it is run again: "))
        << said;
}

TEST(OwnHandler, MayConsumeMessagesAndRequests) {
    const HandlerSpec& handler =
        known(consumer(
                  "own-credits",
                  [](jobs::sql::Transaction& tx, const jobs::broker::Message& message) {
                      tx.execute("INSERT INTO credit (event) VALUES ($1)", message.event_id);
                  },
                  "CREATE TABLE credit (id BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY, event "
                  "TEXT NOT NULL);\n"),
              {{.table = "credit", .identity = {"event"}, .key = "event"}});
    for (const char* scenario : {"message-twice", "request-twice"}) {
        const RunResult result = run_of(handler, {}, scenario);
        EXPECT_EQ(sentence(result), "nothing broke");
        EXPECT_EQ(judgement(result, "once").reason, "3 effects, each there once");
    }
}

TEST(OwnHandler, MayBeWhatANodeStartsWith) {
    const auto start = [](const char* insert) {
        return [insert](const jobs::Ports& ports) {
            jobs::StartUp{ports,
                          {.component = "rates",
                           .schema = {"CREATE TABLE IF NOT EXISTS rate (code TEXT PRIMARY KEY)"},
                           .seeds = {{.statement = insert}},
                           .upgrades = {}}}
                .run();
        };
    };
    const HandlerSpec& right = known(
        start_up("own-rates", start("INSERT INTO rate VALUES ('EUR') ON CONFLICT DO NOTHING")), {});
    EXPECT_EQ(sentence(run_of(right, {}, "start-up-twice")), "nothing broke");
    const HandlerSpec& wrong =
        known(start_up("own-bare-rates", start("INSERT INTO rate VALUES ('EUR')")), {});
    const std::string said = sentence(run_of(wrong, {}, "start-up-twice"));
    EXPECT_NE(said.find("duplicate key"), std::string::npos) << said;
}

TEST(OwnHandler, ThatKnowsNoEffectTableOfTheSchemaIsRefusedWithASuggestion) {
    const HandlerSpec& handler =
        known(gated("own-misspelt", expire_points, kSchema), {{.table = "expire"}});
    try {
        check_setting(plan_for("same-instant", handler.name));
        FAIL();
    } catch (const sim::PlanError& error) {
        EXPECT_STREQ(error.what(),
                     "effects: there is no table \"expire\" in the schema (did you mean "
                     "\"expiry\"?)");
    }
}

TEST(OwnHandler, WhoseSchemaIsNoSqlIsRefusedWithThePlaceInIt) {
    const HandlerSpec& handler = known(gated("own-no-schema", expire_points, "CREATE TABLE;"), {});
    EXPECT_THROW(check_setting(plan_for("same-instant", handler.name)), sim::PlanError);
}

TEST(OwnHandler, IsToldWhatToSayToTakePartInMoreOfTheChecklist) {
    const HandlerSpec& handler = known(gated("own-one-tenant", expire_points, kSchema), {});
    EXPECT_EQ(*obstacle(*find_scenario("same-instant-other-id"), handler),
              "same-instant-other-id is about several tenants with the same job, which "
              "own-one-tenant does not have; if it has, say Ability::Tenants in its abilities");
}

TEST(OwnHandler, WithoutANameOrAProgramCannotBeMadeKnown) {
    EXPECT_THROW(add_handler({.name = "own-empty"}), std::invalid_argument);
    EXPECT_THROW(add_handler(gated("", expire_points, kSchema)), std::invalid_argument);
}

// What a misuse ends with: its claim has failed, and the report says why.
std::string refusal_of(std::string name, jobs::Handler body, std::vector<sim::Fault> faults = {}) {
    // The right handler says what was to be expected.
    HandlerSpec spec = gated(std::move(name), std::move(body), kSchema);
    spec.expectations = [](const Parameters&, const std::vector<DueWork>& due) {
        return checkers::Expectations{
            .effects = {{.table = "expiry",
                         .identity = {"member"},
                         .expected = {{.unit = due.at(0).unit(), .identity = {"1"}}}}},
            .claims = worker_claims()};
    };
    return sentence(run_of(known(std::move(spec), {}), std::move(faults)));
}

TEST(Misuse, OfTheSessionForReadingIsRefusedAndExplained) {
    EXPECT_EQ(
        refusal_of("own-bare-effect",
                   [](JobContext& job) {
                       job.db().execute("INSERT INTO expiry VALUES ('a', 1, '2026-03-02', 10)");
                       return Outcome::succeeded();
                   }),
        "expiry (1) is missing at the end of the run; the claim of its work has failed: "
        "\"INSERT INTO expiry VALUES ('a', 1, '2026-03-02', 10)\" would change data outside "
        "the fence: put it into the transaction that commit() hands to its batch.");
}

TEST(Misuse, OfTheSessionForATransactionOfOnesOwnIsRefused) {
    EXPECT_NE(refusal_of("own-transaction",
                         [](JobContext& job) {
                             jobs::sql::Transaction tx{job.db()};
                             return Outcome::succeeded();
                         })
                  .find("\"BEGIN\" would change data outside the fence"),
              std::string::npos);
}

TEST(Misuse, OfABatchsTransactionIsRefusedAndExplained) {
    const std::string reason =
        "the claim of its work has failed: \"ROLLBACK\" inside a "
        "transaction: its owner alone commits it, and an exception rolls it back.";
    EXPECT_NE(refusal_of("own-rollback",
                         [](JobContext& job) {
                             job.commit(Checkpoint::at(1), [&](auto& tx) {
                                 expire(tx, job, 1);
                                 tx.execute("ROLLBACK");
                             });
                             return Outcome::succeeded();
                         })
                  .find(reason),
              std::string::npos);
}

TEST(Misuse, OfACommitInsideABatchIsRefusedAndExplained) {
    EXPECT_NE(refusal_of("own-nested",
                         [](JobContext& job) {
                             job.commit(Checkpoint::at(1), [&](auto&) {
                                 job.commit(Checkpoint::at(2),
                                            [&](auto& tx) { expire(tx, job, 1); });
                             });
                             return Outcome::succeeded();
                         })
                  .find("the claim of its work has failed: commit() inside of another commit()'s "
                        "batch: a batch is one transaction; return from it first."),
              std::string::npos);
}

Outcome swallowing(JobContext& job) {
    try {
        job.commit(Checkpoint::at(1), [&](auto& tx) { expire(tx, job, 1); });
    } catch (const std::exception&) {
        // "The next run will see to it."
    }
    return Outcome::succeeded();
}

TEST(Misuse, ThatSwallowsALostLeaseIsRefusedAndExplained) {
    sim::Fault pause = fault_at("A#1/daily-reconcile@*/redis.lease-acquire/2", sim::Phase::Sent,
                                sim::FaultKind::Pause);
    pause.lasting = std::chrono::seconds{10};
    EXPECT_EQ(refusal_of("own-swallows", swallowing, {pause}),
              "expiry (1) is missing at the end of the run; the claim of its work has failed: the "
              "attempt had ended (the lease lease:acme/daily-reconcile is not held any more) and "
              "the handler went on: what is committed is not known any more. Let what commit() "
              "throws pass; the worker looks up what is there and begins again.");
}

// The session is gone with the answer, so that the refusal cannot be recorded: the worker begins
// again from what is committed.
TEST(Misuse, ThatSwallowsAnUnknownOutcomeIsNoSuccess) {
    const sim::Fault lost = fault_at("*#1/daily-reconcile@*/db.commit/2", sim::Phase::Sent,
                                     sim::FaultKind::LoseRequest);
    EXPECT_EQ(refusal_of("own-swallows", swallowing, {lost}), "nothing broke");
    EXPECT_EQ(refusal_of("own-swallows", swallowing), "nothing broke");
}

}  // namespace
}  // namespace fencepost::scenarios
