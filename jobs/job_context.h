// What a handler sees while it works: the fire, where to go on, and the one way to commit.
#pragma once

#include <chrono>
#include <concepts>
#include <functional>
#include <optional>
#include <string>

#include "jobs/claim.h"
#include "jobs/lease.h"
#include "jobs/misuse.h"
#include "jobs/outcome.h"
#include "jobs/reading_session.h"

namespace fencepost::jobs {

// A fenced transaction: its statements are committed together with the checkpoint, or not at all.
using Batch = std::function<void(sql::Transaction&)>;

class JobContext {
public:
    JobContext(const Fire& fire, Claim claim, const Lease& lease, sql::Session& session)
        : fire_(fire),
          claim_(std::move(claim)),
          lease_(lease),
          session_(session),
          reading_(session) {}

    [[nodiscard]] const Fire& fire() const { return fire_; }
    [[nodiscard]] const BusinessKey& key() const { return claim_.key; }
    [[nodiscard]] FencingToken token() const { return claim_.token; }
    // For reading; throws Misuse for a statement that writes. Effects go through commit().
    [[nodiscard]] sql::Session& db() { return reading_; }
    // For what is to go past the fence: nothing holds a stale holder's write back then.
    [[nodiscard]] sql::Session& unguarded() { return session_; }

    // The last committed position of this business act, whoever committed it.
    [[nodiscard]] const std::optional<Checkpoint>& checkpoint() const { return claim_.checkpoint; }

    // The key of one effect: unique in its table, the same on every rerun. Its name is what the
    // effect is about (an account, an invoice), never when or how often it was tried.
    [[nodiscard]] std::string effect_key(std::string_view name) const {
        return claim_.key.effect(name);
    }
    [[nodiscard]] std::string effect_key(std::integral auto number) const {
        return claim_.key.effect(static_cast<std::int64_t>(number));
    }
    // A time is no name: it is another one on the next attempt.
    template <typename Clock, typename Length>
    std::string effect_key(std::chrono::time_point<Clock, Length> time) const = delete;

    // Counts `done` further items with the next commit; a total only if it is known.
    void progress(std::int64_t done, std::optional<std::int64_t> total = std::nullopt) {
        progress_ = {claim_.current + done, total};
    }

    // Runs `batch` in a transaction that first moves the checkpoint under the fence, and commits
    // both. May suspend. Throws LeaseLost or Fenced when the right to write is gone,
    // CommitOutcomeUnknown, ConnectionLost or sql::ServerError: let them pass, the worker knows
    // what each calls for. After any but the last the attempt is over: a further commit throws
    // Misuse, and so does the worker when the handler returns all the same. So does a commit inside
    // of a batch.
    void commit(const Checkpoint& next, const Batch& batch) {
        ensure_going();
        if (in_batch_) {
            throw Misuse(
                "commit() inside of another commit()'s batch: a batch is one transaction; "
                "return from it first");
        }
        try {
            lease_.ensure_held();
            sql::Transaction transaction{session_};
            claims::advance(transaction, claim_, next, progress_);
            {
                const Inside inside{in_batch_};
                batch(transaction);
            }
            transaction.commit();
        } catch (const sql::ServerError&) {
            throw;
        } catch (const AttemptError& error) {
            ended_by_ = error.what();
            throw;
        }
        claim_.checkpoint = next;
        claim_.current = progress_.current;
    }

    // Throws Misuse when an exception of commit() has been kept from the worker.
    void ensure_going() const {
        if (!ended_by_) return;
        throw Misuse("the attempt had ended (" + *ended_by_ +
                     ") and the handler went on: what is committed is not known any more. Let what "
                     "commit() throws pass; the worker looks up what is there and begins again");
    }

    [[nodiscard]] const Claim& claim() const { return claim_; }

private:
    class Inside {
    public:
        explicit Inside(bool& flag) : flag_(flag) { flag_ = true; }
        ~Inside() { flag_ = false; }
        Inside(const Inside&) = delete;
        Inside& operator=(const Inside&) = delete;

    private:
        bool& flag_;
    };

    const Fire& fire_;
    Claim claim_;
    Progress progress_;
    const Lease& lease_;
    sql::Session& session_;
    ReadingSession reading_;
    std::optional<std::string> ended_by_;  // what commit() threw
    bool in_batch_ = false;
};

// A job's body: called until everything is done. Ordinary blocking code.
using Handler = std::function<Outcome(JobContext&)>;

}  // namespace fencepost::jobs
