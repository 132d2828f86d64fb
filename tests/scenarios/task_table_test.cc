// Goal: every write of the background-task table does what its header says, and nothing to a row
// that is somebody else's.
#include "jobs/task_table.h"

#include <gtest/gtest.h>

#include "jobs/error_class.h"
#include "tests/scenarios/work_table_run.h"

namespace fencepost::scenarios {
namespace {

using namespace std::chrono_literals;
using jobs::CancelAnswer;
using jobs::FoundTask;
using jobs::HeldTask;
using jobs::Renewal;

// Runs the body on one node, on one session, and returns when it is over.
void with_table(WorkTableRun& run,
                const std::function<void(const jobs::Ports&, jobs::sql::Session&)>& body) {
    bool over = false;
    run.on("A", 0s, [&](const jobs::Ports& ports) {
        const auto session = ports.database.connect();
        body(ports, *session);
        over = true;
    });
    run.run(1h);
    EXPECT_TRUE(over) << "an exception ended the body";
}

HeldTask claimed(jobs::sql::Session& session, const std::string& owner, sim::Duration lease = 90s) {
    const auto found = jobs::tasks::look(session, 1);
    sim::require(found.has_value(), "there is something to claim");
    auto task = jobs::tasks::claim(session, *found, owner, lease);
    sim::require(task.has_value(), "nobody else claims it");
    return *task;
}

template <typename Write>
bool is_fenced(Write write) {
    try {
        write();
    } catch (const jobs::Fenced&) {
        return true;
    }
    return false;
}

TEST(TaskTableTest, AKeyIsEnqueuedOnceATenant) {
    WorkTableRun run;
    with_table(run, [](const jobs::Ports&, jobs::sql::Session& db) {
        EXPECT_TRUE(jobs::tasks::enqueue(db, task_named("one")));
        EXPECT_FALSE(jobs::tasks::enqueue(db, task_named("one")));
        jobs::NewTask other = task_named("one");
        other.id.tenant = "globex";
        EXPECT_TRUE(jobs::tasks::enqueue(db, other));
    });
    EXPECT_EQ(run.value("SELECT COUNT(*) FROM background_task"), "2");
}

TEST(TaskTableTest, TheOldestRunnableRowIsClaimedUnderAHigherToken) {
    WorkTableRun run;
    with_table(run, [](const jobs::Ports& ports, jobs::sql::Session& db) {
        jobs::tasks::enqueue(db, task_named("old"));
        ports.clock.sleep_for(1s);
        jobs::tasks::enqueue(db, task_named("new"));
        const HeldTask task = claimed(db, "A.1");
        EXPECT_EQ(task.id.key, "old");
        EXPECT_EQ(task.token.value, 1);
        EXPECT_EQ(task.attempts, 0);
        EXPECT_EQ(task.executions, 1);
        EXPECT_EQ(claimed(db, "A.2").id.key, "new");
        EXPECT_FALSE(jobs::tasks::look(db, 1).has_value());
    });
}

TEST(TaskTableTest, OnlyOneOfTwoWhoSawTheSameRowGetsIt) {
    WorkTableRun run;
    with_table(run, [](const jobs::Ports&, jobs::sql::Session& db) {
        jobs::tasks::enqueue(db, task_named("one"));
        const auto found = jobs::tasks::look(db, 1);
        EXPECT_TRUE(jobs::tasks::claim(db, *found, "A.1", 90s).has_value());
        EXPECT_FALSE(jobs::tasks::claim(db, *found, "B.1", 90s).has_value());
    });
}

TEST(TaskTableTest, WorkOfANewerVersionIsNotSeen) {
    WorkTableRun run;
    with_table(run, [](const jobs::Ports&, jobs::sql::Session& db) {
        jobs::NewTask task = task_named("one");
        task.version = 2;
        jobs::tasks::enqueue(db, task);
        EXPECT_FALSE(jobs::tasks::look(db, 1).has_value());
        EXPECT_TRUE(jobs::tasks::look(db, 2).has_value());
    });
}

TEST(TaskTableTest, AStaleRowIsTakenOverAndItsFormerHolderMayWriteNothing) {
    WorkTableRun run;
    with_table(run, [](const jobs::Ports& ports, jobs::sql::Session& db) {
        jobs::tasks::enqueue(db, task_named("one"));
        const HeldTask former = claimed(db, "A.1");
        ports.clock.sleep_for(89s);
        EXPECT_FALSE(jobs::tasks::look(db, 1).has_value());
        ports.clock.sleep_for(2s);
        const HeldTask task = claimed(db, "B.1");
        EXPECT_EQ(task.token.value, 2);
        EXPECT_EQ(task.attempts, 1);
        EXPECT_EQ(jobs::tasks::renew(db, former, 90s), Renewal::Lost);
        EXPECT_TRUE(is_fenced([&] { jobs::tasks::defer(db, former, 1s); }));
        EXPECT_TRUE(is_fenced([&] { jobs::tasks::retry(db, former, 1s, "late"); }));
        EXPECT_TRUE(is_fenced([&] { jobs::tasks::fail(db, former, "late"); }));
        EXPECT_TRUE(is_fenced([&] { jobs::tasks::cancel(db, former); }));
        EXPECT_TRUE(is_fenced([&] {
            jobs::sql::Transaction tx{db};
            jobs::tasks::end_batch(tx, former, {});
        }));
    });
    EXPECT_EQ(run.value("SELECT owner FROM background_task"), "B.1");
}

TEST(TaskTableTest, ARenewalKeepsTheLease) {
    WorkTableRun run;
    with_table(run, [](const jobs::Ports& ports, jobs::sql::Session& db) {
        jobs::tasks::enqueue(db, task_named("one"));
        const HeldTask task = claimed(db, "A.1");
        ports.clock.sleep_for(80s);
        EXPECT_EQ(jobs::tasks::renew(db, task, 90s), Renewal::Held);
        ports.clock.sleep_for(80s);
        EXPECT_FALSE(jobs::tasks::look(db, 1).has_value());
    });
}

TEST(TaskTableTest, ABatchIsGivenBackWithItsCheckpointAndShowsLessThanAll) {
    WorkTableRun run;
    with_table(run, [](const jobs::Ports& ports, jobs::sql::Session& db) {
        jobs::tasks::enqueue(db, task_named("one"));
        const HeldTask task = claimed(db, "A.1");
        jobs::sql::Transaction tx{db};
        jobs::tasks::end_batch(tx, task,
                               {.has_more = true,
                                .checkpoint = jobs::Checkpoint::at(10),
                                .progress = {.current = 10, .total = 10},
                                .next_delay = 0s});
        tx.commit();
        EXPECT_FALSE(jobs::tasks::look(db, 1).has_value()) << "at least a second later";
        ports.clock.sleep_for(1s);
        const HeldTask next = claimed(db, "B.1");
        EXPECT_EQ(next.checkpoint, jobs::Checkpoint::at(10));
        EXPECT_EQ(next.current, 10);
        EXPECT_EQ(next.attempts, 0);
    });
    EXPECT_EQ(run.value("SELECT percent FROM background_task"), "99");
}

TEST(TaskTableTest, TheLastBatchSucceedsAtOnceAndShowsAll) {
    WorkTableRun run;
    with_table(run, [](const jobs::Ports&, jobs::sql::Session& db) {
        jobs::tasks::enqueue(db, task_named("one"));
        const HeldTask task = claimed(db, "A.1");
        jobs::sql::Transaction tx{db};
        jobs::tasks::end_batch(tx, task, {.has_more = false, .checkpoint = {"7"}});
        tx.commit();
        EXPECT_FALSE(jobs::tasks::look(db, 1).has_value());
        EXPECT_TRUE(jobs::tasks::has_ended(db, task.id));
        EXPECT_FALSE(jobs::tasks::has_ended(db, {"globex", "one"}));
    });
    EXPECT_EQ(run.status(), "Succeeded");
    EXPECT_EQ(run.value("SELECT percent FROM background_task"), "100");
    EXPECT_EQ(run.value("SELECT total_count FROM background_task"), "NULL");
}

TEST(TaskTableTest, AnUnknownTotalShowsNoPercentage) {
    WorkTableRun run;
    with_table(run, [](const jobs::Ports&, jobs::sql::Session& db) {
        jobs::tasks::enqueue(db, task_named("one"));
        const HeldTask task = claimed(db, "A.1");
        jobs::sql::Transaction tx{db};
        jobs::tasks::end_batch(
            tx, task,
            {.has_more = true, .checkpoint = {"7"}, .progress = {.current = 7, .total = {}}});
        tx.commit();
    });
    EXPECT_EQ(run.value("SELECT percent FROM background_task"), "NULL");
    EXPECT_EQ(run.value("SELECT current_count FROM background_task"), "7");
}

TEST(TaskTableTest, ADeferralUsesUpNoAttempt) {
    WorkTableRun run;
    with_table(run, [](const jobs::Ports& ports, jobs::sql::Session& db) {
        jobs::tasks::enqueue(db, task_named("one"));
        for (int i = 0; i < 20; ++i) {
            jobs::tasks::defer(db, claimed(db, "A.1"), 5s);
            ports.clock.sleep_for(6s);
        }
    });
    EXPECT_EQ(run.status(), "Pending");
    EXPECT_EQ(run.value("SELECT attempts FROM background_task"), "0");
    EXPECT_EQ(run.value("SELECT executions FROM background_task"), "20");
}

TEST(TaskTableTest, TheLastRetryFailsAndIsPutBeforeAPersonWhoMayTryAgain) {
    WorkTableRun run;
    with_table(run, [](const jobs::Ports& ports, jobs::sql::Session& db) {
        jobs::NewTask task = task_named("one");
        task.most_attempts = 2;
        jobs::tasks::enqueue(db, task);
        jobs::tasks::retry(db, claimed(db, "A.1"), 5s, "no answer");
        EXPECT_TRUE(jobs::tasks::for_a_person(db, 10).empty());
        EXPECT_FALSE(jobs::tasks::look(db, 1).has_value()) << "only after the back-off";
        ports.clock.sleep_for(6s);
        jobs::tasks::retry(db, claimed(db, "A.2"), 5s, "no answer again");
        const auto waiting = jobs::tasks::for_a_person(db, 10);
        ASSERT_EQ(waiting.size(), 1U);
        EXPECT_EQ(waiting[0].error, "no answer again");
        EXPECT_TRUE(jobs::tasks::try_again(db, waiting[0].id));
        EXPECT_FALSE(jobs::tasks::try_again(db, waiting[0].id));
        EXPECT_TRUE(jobs::tasks::look(db, 1).has_value());
    });
}

TEST(TaskTableTest, ARowThatIsLeftBehindOnceTooOftenFails) {
    WorkTableRun run;
    with_table(run, [](const jobs::Ports& ports, jobs::sql::Session& db) {
        jobs::NewTask task = task_named("one");
        task.most_attempts = 2;
        jobs::tasks::enqueue(db, task);
        for (const char* owner : {"A.1", "B.1"}) {
            claimed(db, owner, 10s);
            ports.clock.sleep_for(11s);
        }
        const auto found = jobs::tasks::look(db, 1);
        EXPECT_EQ(found->need, FoundTask::Need::GiveUp);
        jobs::tasks::settle(db, *found);
        EXPECT_EQ(jobs::tasks::for_a_person(db, 10).size(), 1U);
    });
    EXPECT_EQ(run.status(), "Failed");
    EXPECT_EQ(run.value("SELECT percent FROM background_task"), "NULL");
}

TEST(TaskTableTest, AWaitingTaskIsCancelledAtOnce) {
    WorkTableRun run;
    with_table(run, [](const jobs::Ports&, jobs::sql::Session& db) {
        jobs::tasks::enqueue(db, task_named("one"));
        const jobs::TaskId id{"acme", "one"};
        EXPECT_EQ(jobs::tasks::request_cancel(db, id), CancelAnswer::Canceled);
        EXPECT_EQ(jobs::tasks::request_cancel(db, id), CancelAnswer::TooLate);
        EXPECT_FALSE(jobs::tasks::look(db, 1).has_value());
    });
    EXPECT_EQ(run.status(), "Canceled");
}

TEST(TaskTableTest, ARunningTaskIsCancelledByItsHolder) {
    WorkTableRun run;
    with_table(run, [](const jobs::Ports&, jobs::sql::Session& db) {
        jobs::tasks::enqueue(db, task_named("one"));
        const HeldTask task = claimed(db, "A.1");
        EXPECT_TRUE(is_fenced([&] { jobs::tasks::cancel(db, task); })) << "nobody asked";
        EXPECT_EQ(jobs::tasks::request_cancel(db, task.id), CancelAnswer::Requested);
        EXPECT_EQ(jobs::tasks::renew(db, task, 90s), Renewal::CancelRequested);
        jobs::tasks::cancel(db, task);
    });
    EXPECT_EQ(run.status(), "Canceled");
}

TEST(TaskTableTest, ARunningTaskWhoseHolderIsGoneIsCancelledWhenItsLeaseIsOver) {
    WorkTableRun run;
    with_table(run, [](const jobs::Ports& ports, jobs::sql::Session& db) {
        jobs::tasks::enqueue(db, task_named("one"));
        const HeldTask task = claimed(db, "A.1", 10s);
        EXPECT_EQ(jobs::tasks::request_cancel(db, task.id), CancelAnswer::Requested);
        ports.clock.sleep_for(11s);
        const auto found = jobs::tasks::look(db, 1);
        EXPECT_EQ(found->need, FoundTask::Need::Cancel);
        EXPECT_FALSE(jobs::tasks::claim(db, *found, "B.1", 10s).has_value());
        jobs::tasks::settle(db, *found);
    });
    EXPECT_EQ(run.status(), "Canceled");
}

TEST(TaskTableTest, ABatchThatEndsAfterACancelIsKeptAndTheRestIsNotDone) {
    WorkTableRun run;
    with_table(run, [](const jobs::Ports&, jobs::sql::Session& db) {
        jobs::tasks::enqueue(db, task_named("one"));
        const HeldTask task = claimed(db, "A.1");
        jobs::tasks::request_cancel(db, task.id);
        jobs::sql::Transaction tx{db};
        jobs::tasks::end_batch(tx, task, {.has_more = true, .checkpoint = {"3"}});
        tx.commit();
    });
    EXPECT_EQ(run.status(), "Canceled");
    EXPECT_EQ(run.value("SELECT checkpoint FROM background_task"), "3");
}

TEST(TaskTableTest, ClaimsAreTimedByTheDatabaseAlone) {
    WorkTableRun run;
    run.at(0s, [](sim::Kernel& kernel) { kernel.find_node("A")->clock.jump(10h); });
    with_table(run, [](const jobs::Ports& ports, jobs::sql::Session& db) {
        jobs::tasks::enqueue(db, task_named("one"));
        claimed(db, "A.1");
        ports.clock.sleep_for(30s);
        EXPECT_FALSE(jobs::tasks::look(db, 1).has_value());
    });
}

TEST(ErrorClassTest, WhatMayPassIsTransientAndTheRestIsAPersons) {
    using jobs::class_of;
    using jobs::ErrorClass;
    EXPECT_EQ(class_of(jobs::ConnectionLost("gone", jobs::Effect::Unknown)), ErrorClass::Transient);
    EXPECT_EQ(class_of(jobs::CommitOutcomeUnknown("gone")), ErrorClass::Transient);
    EXPECT_EQ(class_of(jobs::LeaseLost("gone")), ErrorClass::Transient);
    EXPECT_EQ(class_of(jobs::sql::ServerError("40001", "again")), ErrorClass::Transient);
    EXPECT_EQ(class_of(jobs::sql::ServerError("40P01", "deadlock")), ErrorClass::Transient);
    EXPECT_EQ(class_of(jobs::sql::ServerError("23505", "twice")), ErrorClass::Permanent);
    EXPECT_EQ(class_of(jobs::sql::ServerError("42P01", "no table")), ErrorClass::Permanent);
    EXPECT_EQ(class_of(std::runtime_error("the file is no file")), ErrorClass::Permanent);
}

}  // namespace
}  // namespace fencepost::scenarios
