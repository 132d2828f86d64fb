// Goal: the runner goes on after batches, errors and lost nodes, shares a concurrency key, hears of
// cancels, and drains in the right order.
#include "jobs/task_runner.h"

#include <gtest/gtest.h>

#include "tests/scenarios/work_table_run.h"

namespace fencepost::scenarios {
namespace {

using namespace std::chrono_literals;
using jobs::BatchResult;
using jobs::TaskContext;

// One line a batch; `most` lines in all.
BatchResult one_line(TaskContext& task, std::int64_t most) {
    const std::int64_t line = (task.checkpoint() ? task.checkpoint()->number() : 0) + 1;
    return {.has_more = line < most,
            .checkpoint = jobs::Checkpoint::at(line),
            .current = line,
            .total = most,
            .next_delay_seconds = 1,
            .effects = [&task, line](jobs::sql::Transaction& tx) {
                tx.execute("INSERT INTO line (id, token) VALUES ($1, $2)", line,
                           task.token().value);
            }};
}

class TaskRunnerTest : public testing::Test {
protected:
    void enqueue(jobs::NewTask task) {
        run_.on("client", 0s, [task](const jobs::Ports& ports) {
            jobs::tasks::enqueue(*ports.database.connect(), task);
        });
    }
    void runner(const std::string& node, const jobs::BatchHandler& handler,
                jobs::TaskRunnerOptions options = {}) {
        run_.on(node, 1s, [this, handler, options, node](const jobs::Ports& ports) {
            jobs::TaskRunner runner{ports, options, handler};
            run_.world().kernel().find_node(node)->current()->on_stop([&] { runner.stop(); });
            runner.start();
            run_.stay();
        });
    }
    std::string lines() { return run_.value("SELECT COUNT(*) FROM line"); }

    WorkTableRun run_;
};

TEST_F(TaskRunnerTest, BatchesFollowEachOtherUntilTheWorkIsDone) {
    enqueue(task_named("one"));
    runner("A", [](TaskContext& task) { return one_line(task, 5); });
    run_.run(1min);
    EXPECT_EQ(run_.status(), "Succeeded");
    EXPECT_EQ(lines(), "5");
    EXPECT_EQ(run_.value("SELECT executions FROM background_task"), "5");
    EXPECT_EQ(run_.value("SELECT attempts FROM background_task"), "0");
}

TEST_F(TaskRunnerTest, AnotherNodeGoesOnWhereAKilledOneWas) {
    enqueue(task_named("one"));
    runner("A", [](TaskContext& task) {
        if (task.checkpoint()) task.clock().sleep_for(10min);
        return one_line(task, 3);
    });
    run_.at(30s, [](sim::Kernel& kernel) { kernel.crash(*kernel.find_node("A"), std::nullopt); });
    run_.on("B", 20s, [&](const jobs::Ports& ports) {
        jobs::TaskRunner runner{ports, {}, [](TaskContext& task) { return one_line(task, 3); }};
        runner.start();
        run_.stay();
    });
    run_.run(5min);
    EXPECT_EQ(run_.status(), "Succeeded");
    EXPECT_EQ(lines(), "3");
    EXPECT_EQ(run_.value("SELECT attempts FROM background_task"), "1");
}

TEST_F(TaskRunnerTest, ATransientErrorIsRetriedAfterABoundedBackOff) {
    enqueue(task_named("one"));
    int calls = 0;
    runner("A", [&](TaskContext& task) {
        if (++calls <= 3) throw jobs::ConnectionLost("no answer", jobs::Effect::Unknown);
        return one_line(task, 1);
    });
    run_.run(5min);
    EXPECT_EQ(run_.status(), "Succeeded");
    EXPECT_EQ(calls, 4);
    EXPECT_EQ(run_.value("SELECT attempts FROM background_task"), "3");
}

TEST_F(TaskRunnerTest, APermanentErrorGoesToAPersonAtOnceAndIsNotDone) {
    enqueue(task_named("one"));
    int calls = 0;
    runner("A", [&](TaskContext& task) -> BatchResult {
        if (++calls == 2) throw std::runtime_error("line 2 is no number");
        return one_line(task, 3);
    });
    run_.run(30min);
    EXPECT_EQ(run_.status(), "Failed");
    EXPECT_EQ(calls, 2);
    EXPECT_EQ(lines(), "1");
    EXPECT_EQ(run_.value("SELECT needs_person FROM background_task"), "1");
    EXPECT_EQ(run_.value("SELECT last_error FROM background_task"), "line 2 is no number");
    EXPECT_EQ(run_.value("SELECT percent FROM background_task"), "33");
}

TEST_F(TaskRunnerTest, AViolatedConstraintIsPermanent) {
    enqueue(task_named("one"));
    runner("A", [](TaskContext&) {
        return BatchResult{.has_more = false,
                           .checkpoint = {"1"},
                           .current = 1,
                           .total = {},
                           .effects = [](jobs::sql::Transaction& tx) {
                               tx.execute("INSERT INTO line (id, token) VALUES (1, NULL)");
                           }};
    });
    run_.run(5min);
    EXPECT_EQ(run_.status(), "Failed");
    EXPECT_EQ(lines(), "0");
    EXPECT_EQ(run_.value("SELECT checkpoint FROM background_task"), "NULL");
}

TEST_F(TaskRunnerTest, TasksOfOneConcurrencyKeyDoNotRunAtOnceAndUseUpNoAttempt) {
    run_.on("client", 0s, [](const jobs::Ports& ports) {
        const auto session = ports.database.connect();
        jobs::tasks::enqueue(*session, task_named("one", "acme/imports"));
        jobs::tasks::enqueue(*session, task_named("two", "acme/imports"));
    });
    int running = 0;
    int most = 0;
    const auto body = [&](TaskContext& task) {
        most = std::max(most, ++running);
        task.clock().sleep_for(20s);
        --running;
        return BatchResult{.has_more = false, .checkpoint = {"1"}, .current = 1, .total = {}};
    };
    runner("A", body);
    runner("B", body);
    run_.run(5min);
    EXPECT_EQ(most, 1);
    EXPECT_EQ(run_.value("SELECT COUNT(*) FROM background_task WHERE status = 'Succeeded'"), "2");
    EXPECT_EQ(run_.value("SELECT MAX(attempts) FROM background_task"), "0");
    EXPECT_NE(run_.value("SELECT MAX(executions) FROM background_task"), "1");
}

TEST_F(TaskRunnerTest, WithoutRedisNothingOfAConcurrencyKeyRuns) {
    enqueue(task_named("one", "acme/imports"));
    int calls = 0;
    runner("A", [&](TaskContext& task) {
        ++calls;
        return one_line(task, 1);
    });
    run_.world().redis().restart(2min, "all");
    run_.run(1min);
    EXPECT_EQ(calls, 0);
    EXPECT_EQ(run_.value("SELECT attempts FROM background_task"), "0");
    run_.run(5min);
    EXPECT_EQ(run_.status(), "Succeeded");
}

TEST_F(TaskRunnerTest, ACancelIsHeardWithinABatchAndNothingOfItIsKept) {
    enqueue(task_named("one"));
    runner("A", [](TaskContext& task) {
        for (int step = 0; step < 20; ++step) {
            task.clock().sleep_for(10s);
            task.ensure_going();
        }
        return one_line(task, 1);
    });
    run_.on("operator", 60s, [](const jobs::Ports& ports) {
        jobs::tasks::request_cancel(*ports.database.connect(), {"acme", "one"});
    });
    run_.run(110s);
    EXPECT_EQ(run_.status(), "Canceled");
    EXPECT_EQ(lines(), "0");
}

TEST_F(TaskRunnerTest, AStopEndsTheRunningBatchAndTakesNoOther) {
    enqueue(task_named("one"));
    runner("A",
           [](TaskContext& task) {
               task.clock().sleep_for(60s);
               return one_line(task, 3);
           },
           {.lease = 30s, .drain = 2min});
    run_.at(20s, [](sim::Kernel& kernel) {
        kernel.stop_gracefully(*kernel.find_node("A"), 10min, std::nullopt);
    });
    run_.run(10min);
    EXPECT_FALSE(run_.world().kernel().find_node("A")->up());
    EXPECT_EQ(run_.status(), "Pending");
    EXPECT_EQ(lines(), "1");
    EXPECT_EQ(run_.value("SELECT attempts FROM background_task"), "0");
}

TEST_F(TaskRunnerTest, ABatchThatIsTooLongForTheDrainIsHandedOn) {
    enqueue(task_named("one"));
    runner("A",
           [](TaskContext& task) {
               for (int step = 0; step < 20; ++step) {
                   task.clock().sleep_for(10s);
                   task.ensure_going();
               }
               return one_line(task, 3);
           },
           {.drain = 20s});
    run_.at(20s, [](sim::Kernel& kernel) {
        kernel.stop_gracefully(*kernel.find_node("A"), 10min, std::nullopt);
    });
    run_.run(60s);
    EXPECT_FALSE(run_.world().kernel().find_node("A")->up());
    EXPECT_EQ(run_.status(), "Pending");
    EXPECT_EQ(lines(), "0");
    EXPECT_EQ(run_.value("SELECT attempts FROM background_task"), "0");
}

}  // namespace
}  // namespace fencepost::scenarios
