// What a handler sees while it works: the fire, where to go on, and the one way to commit.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "jobs/claim.h"
#include "jobs/lease.h"
#include "jobs/outcome.h"

namespace fencepost::jobs {

// A fenced transaction: its statements are committed together with the checkpoint, or not at all.
using Batch = std::function<void(sql::Transaction&)>;

class JobContext {
public:
    JobContext(const Fire& fire, Claim claim, const Lease& lease, sql::Session& session)
        : fire_(fire), claim_(std::move(claim)), lease_(lease), session_(session) {}

    [[nodiscard]] const Fire& fire() const { return fire_; }
    [[nodiscard]] const BusinessKey& key() const { return claim_.key; }
    [[nodiscard]] FencingToken token() const { return claim_.token; }
    // For reading. Effects go through commit().
    [[nodiscard]] sql::Session& db() { return session_; }

    // The last committed position of this business act, whoever committed it.
    [[nodiscard]] const std::optional<Checkpoint>& checkpoint() const { return claim_.checkpoint; }

    // The key of one effect: unique in its table, the same on every rerun.
    template <typename Name>
    [[nodiscard]] std::string effect_key(const Name& name) const {
        return claim_.key.effect(name);
    }

    // Counts `done` further items with the next commit; a total only if it is known.
    void progress(std::int64_t done, std::optional<std::int64_t> total = std::nullopt) {
        progress_ = {claim_.current + done, total};
    }

    // Runs `batch` in a transaction that first moves the checkpoint under the fence, and commits
    // both. May suspend. Throws LeaseLost or Fenced when the right to write is gone,
    // CommitOutcomeUnknown, ConnectionLost or sql::ServerError: let them pass, the worker knows
    // what each calls for.
    void commit(const Checkpoint& next, const Batch& batch) {
        lease_.ensure_held();
        sql::Transaction transaction{session_};
        claims::advance(transaction, claim_, next, progress_);
        batch(transaction);
        transaction.commit();
        claim_.checkpoint = next;
        claim_.current = progress_.current;
    }

    [[nodiscard]] const Claim& claim() const { return claim_; }

private:
    const Fire& fire_;
    Claim claim_;
    Progress progress_;
    const Lease& lease_;
    sql::Session& session_;
};

// A job's body: called until everything is done. Ordinary blocking code.
using Handler = std::function<Outcome(JobContext&)>;

}  // namespace fencepost::jobs
