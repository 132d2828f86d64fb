// Goal: the worker tells errors apart, leaves unknown work to others, and drains.
#include "jobs/worker.h"

#include <gtest/gtest.h>

#include "tests/scenarios/work_table_run.h"

namespace fencepost::scenarios {
namespace {

using namespace std::chrono_literals;
using jobs::Disposition;
using jobs::Fire;
using jobs::JobContext;
using jobs::Outcome;

Fire fire_of(std::string job) {
    return {.tenant = "acme",
            .job = std::move(job),
            .fire_instance_id = "A1",
            .scheduled_fire_time = WorkTableRun::kStart};
}

Disposition handled(WorkTableRun& run, const jobs::Handler& handler,
                    jobs::WorkerOptions options = {}) {
    std::optional<Disposition> disposition;
    run.on("A", 0s, [&](const jobs::Ports& ports) {
        jobs::Worker worker{ports, options, handler};
        disposition = worker.handle(fire_of("daily"));
    });
    run.run(10min);
    sim::require(disposition.has_value(), "the fire is over");
    return *disposition;
}

TEST(WorkerTest, ATransientErrorIsTriedAgain) {
    WorkTableRun run;
    int calls = 0;
    const jobs::Handler handler = [&](JobContext&) {
        if (++calls <= 2) throw jobs::sql::ServerError("40001", "could not serialize access");
        return Outcome::succeeded();
    };
    EXPECT_EQ(handled(run, handler), Disposition::Succeeded);
    EXPECT_EQ(calls, 3);
}

TEST(WorkerTest, APermanentAnswerOfTheDatabaseGoesToAPersonAtOnce) {
    WorkTableRun run;
    int calls = 0;
    const jobs::Handler handler = [&](JobContext& job) {
        ++calls;
        job.commit(jobs::Checkpoint::at(1), [](jobs::sql::Transaction& tx) {
            tx.execute("INSERT INTO line (id, token) VALUES (1, NULL)");
        });
        return Outcome::succeeded();
    };
    EXPECT_EQ(handled(run, handler), Disposition::Failed);
    EXPECT_EQ(calls, 1);
    bool asked = false;
    run.on("person", 11min, [&](const jobs::Ports& ports) {
        const auto failed = jobs::claims::for_a_person(*ports.database.connect(), 10);
        ASSERT_EQ(failed.size(), 1U);
        EXPECT_EQ(failed[0].key, "acme/daily@2026-03-02T00:00:00Z");
        EXPECT_FALSE(failed[0].error.empty());
        asked = true;
    });
    run.run(12min);
    EXPECT_TRUE(asked);
}

TEST(WorkerTest, WorkThatThisVersionDoesNotKnowIsRecordedAndLeftAlone) {
    WorkTableRun run;
    int calls = 0;
    jobs::WorkerOptions options;
    options.known_jobs = {"weekly"};
    const jobs::Handler handler = [&](JobContext&) {
        ++calls;
        return Outcome::succeeded();
    };
    EXPECT_EQ(handled(run, handler, options), Disposition::NotKnown);
    EXPECT_EQ(calls, 0);
    EXPECT_EQ(run.value("SELECT status FROM job_claim"), "pending");
}

TEST(WorkerTest, RecoveryTakesUpWhatItsVersionKnows) {
    WorkTableRun run;
    std::vector<std::string> done;
    run.on("A", 0s, [&](const jobs::Ports& ports) {
        const auto session = ports.database.connect();
        for (const char* job : {"daily", "weekly", "yearly"}) {
            jobs::claims::record(*session, jobs::BusinessKey::of(fire_of(job)), fire_of(job));
        }
        jobs::WorkerOptions options;
        options.known_jobs = {"daily", "yearly"};
        jobs::Worker worker{ports, options, [&](JobContext& job) {
                                done.push_back(job.fire().job);
                                return Outcome::succeeded();
                            }};
        worker.start_recovery();
        run.stay();
    });
    run.run(1min);
    EXPECT_EQ(done, (std::vector<std::string>{"daily", "yearly"}));
    EXPECT_EQ(run.value("SELECT status FROM job_claim WHERE job = 'weekly'"), "pending");
}

TEST(WorkerTest, AStopLeavesTheRestToOthersAtTheEndOfABatch) {
    WorkTableRun run;
    std::optional<Disposition> disposition;
    int batches = 0;
    run.on("A", 0s, [&](const jobs::Ports& ports) {
        jobs::Worker worker{ports, {}, [&](JobContext& job) {
                                job.commit(jobs::Checkpoint::at(++batches),
                                           [](jobs::sql::Transaction&) {});
                                return Outcome::more(5s);
                            }};
        const auto stopping = ports.tasks.spawn("stopping", [&](jobs::StopSignal& stop) {
            stop.wait_for(12s);
            worker.stop();
        });
        disposition = worker.handle(fire_of("daily"));
    });
    run.run(1min);
    EXPECT_EQ(disposition, Disposition::Unfinished);
    EXPECT_EQ(batches, 4);
    EXPECT_EQ(run.value("SELECT status FROM job_claim"), "running");
    EXPECT_EQ(run.value("SELECT checkpoint FROM job_claim"), "4");
}

}  // namespace
}  // namespace fencepost::scenarios
