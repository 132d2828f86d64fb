// The background-task table: work that goes on in batches, on whichever node has time for it.
//
// One row a task, known under its idempotency key, unique with the tenant. What is done with a row
// is always one conditional statement:
//
//   enqueue   an insert; a second one with the same key changes nothing
//   look      the oldest row that somebody should see to: runnable, or left behind
//   claim     Running under a new owner, a lease that ends by itself, and a token one higher, if
//             the row is still as it was seen; 1 row: mine
//   hold      every later write (renewal, batch, retry, deferral, end) carries status = Running and
//             the owner and the token; 0 rows: somebody else's by now (Fenced)
//
// Runnable are Pending and Retrying rows whose time has come and Running rows whose lease is over.
// All times are the database's (db_now_us()), never a node's. A row that asks for a newer version
// of the program than the one that looks is not seen by it. Only success shows 100 %.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "jobs/claim.h"
#include "jobs/ports/sql.h"
#include "jobs/transaction.h"

namespace fencepost::jobs {

// Names one task; the key comes from the business act, as BusinessKey has it.
struct TaskId {
    std::string tenant;
    std::string key;
    bool operator==(const TaskId&) const = default;
};

struct NewTask {
    TaskId id;
    std::string job;            // what is to be done: chooses the handler
    std::string concurrency{};  // tasks with the same text do not run at once; empty: any number
    std::int64_t version = 1;   // the first version of the program that knows such work
    std::int64_t most_attempts = 10;
};

// A task as its holder knows it.
struct HeldTask {
    TaskId id;
    std::string job;
    std::string concurrency;
    std::string owner;
    FencingToken token;
    std::optional<Checkpoint> checkpoint;
    std::int64_t current = 0;
    std::int64_t attempts = 0;    // that failed or were left behind
    std::int64_t executions = 0;  // this one included
};

// A row that somebody should see to.
struct FoundTask {
    enum class Need : std::uint8_t {
        Run,     // claim it
        Cancel,  // its holder is gone and an operator wants it cancelled
        GiveUp,  // its holder is gone and it was the last attempt
    };
    TaskId id;
    FencingToken seen;
    Need need = Need::Run;
};

enum class Renewal : std::uint8_t { Held, CancelRequested, Lost };

// What became of an operator's wish.
enum class CancelAnswer : std::uint8_t {
    Canceled,   // at once: nobody was working on it
    Requested,  // its holder will see it, or its lease will run out
    TooLate,    // it had ended, or nobody knows such a task
};

// What a batch leaves behind it.
struct BatchEnd {
    bool has_more = false;
    Checkpoint checkpoint;
    Progress progress;
    Duration next_delay = std::chrono::seconds{1};  // at least one second
};

// The schema of the table, for the installation.
std::string_view task_schema();

namespace tasks {

// False when the key was known already. Throws ConnectionLost; repeating it is harmless.
bool enqueue(sql::Session& session, const NewTask& task);

// Whether the task has ended, in whatever way; false for one that nobody knows.
[[nodiscard]] bool has_ended(sql::Session& session, const TaskId& id);

// Nothing when there is nothing to do for a program of that version.
[[nodiscard]] std::optional<FoundTask> look(sql::Session& session, std::int64_t version);

// Nothing when somebody else was faster. After a lost answer the row is Running under an owner that
// nobody knows, until its lease is over: `owner` must be new for every call.
[[nodiscard]] std::optional<HeldTask> claim(sql::Session& session, const FoundTask& found,
                                            const std::string& owner, Duration lease);

// Ends a row that was found to need it, unless it has changed since.
void settle(sql::Session& session, const FoundTask& found);

[[nodiscard]] Renewal renew(sql::Session& session, const HeldTask& task, Duration lease);

// Within a transaction: stores what a batch leaves behind and gives the row back: Pending, or
// Canceled where that was asked for, or Succeeded after the last batch. Throws Fenced.
void end_batch(sql::Transaction& transaction, const HeldTask& task, const BatchEnd& end);

// Back to Pending, or Canceled where that was asked for; no attempt is used up. Throws Fenced.
void defer(sql::Session& session, const HeldTask& task, Duration delay);

// One attempt more is used up: Retrying after `delay`, or Failed after the last. Throws Fenced.
void retry(sql::Session& session, const HeldTask& task, Duration delay, std::string_view error);

// Failed, and a person must look. Throws Fenced.
void fail(sql::Session& session, const HeldTask& task, std::string_view error);

// Canceled, if that was asked for. Throws Fenced.
void cancel(sql::Session& session, const HeldTask& task);

// --- for operators

CancelAnswer request_cancel(sql::Session& session, const TaskId& id);

struct FailedTask {
    TaskId id;
    std::string job;
    std::string error;
};
// The person's queue: what failed for good, oldest first.
[[nodiscard]] std::vector<FailedTask> for_a_person(sql::Session& session, std::int64_t limit);
// A person has looked and wants it tried again, from its checkpoint on. False when it is not in the
// queue.
bool try_again(sql::Session& session, const TaskId& id);

}  // namespace tasks
}  // namespace fencepost::jobs
