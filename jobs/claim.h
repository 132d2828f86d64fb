// The claim: which attempt may go on at all, decided by a unique index and conditional updates.
//
// The work is recorded first, then taken. Recording is an insert under the unique business key:
// never look first. Taking is a conditional update that puts the owner in and raises the fencing
// token; it takes over whatever is not finished, also from a holder that is gone, and is therefore
// done only by who holds the lease. A finished claim is never taken again.
//
// The token grows in the database, one counter a job, so that tokens of different days compare.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "jobs/business_key.h"
#include "jobs/ports/sql.h"
#include "jobs/transaction.h"

namespace fencepost::jobs {

// Grows with every holder of a job's claims; a write with a lower one is refused.
struct FencingToken {
    std::int64_t value = 0;
    auto operator<=>(const FencingToken&) const = default;
};

// How far a job has got, in the job's own words: committed with the effects that it stands for.
struct Checkpoint {
    std::string position;

    static Checkpoint at(std::int64_t number) { return {std::to_string(number)}; }
    // The position as a number; throws std::invalid_argument for another text.
    [[nodiscard]] std::int64_t number() const { return std::stoll(position); }
    bool operator==(const Checkpoint&) const = default;
};

// Progress counts: a total only if it is known.
struct Progress {
    std::int64_t current = 0;
    std::optional<std::int64_t> total;
};

// A claim as its holder knows it.
struct Claim {
    BusinessKey key;
    std::string owner;
    FencingToken token;
    std::optional<Checkpoint> checkpoint;
    std::int64_t current = 0;
    std::int64_t attempts = 0;  // times that it was taken, this one included
};

// The schema of the claim table and the token counters, for the installation.
std::string_view claim_schema();

namespace claims {

// Makes the work known under its key; changes nothing when it is known already.
// Throws ConnectionLost; repeating it is harmless.
void record(sql::Session& session, const BusinessKey& key, const Fire& fire);

// Takes the recorded claim, from nobody or from whoever held it; nullopt when it is finished.
// Throws ConnectionLost and CommitOutcomeUnknown: take it again, under a new owner.
[[nodiscard]] std::optional<Claim> take(sql::Session& session, const BusinessKey& key,
                                        const Fire& fire, const std::string& owner);

// Within a transaction: moves the claim's checkpoint from what the holder knows to `next`, if it
// still holds it with that token. Throws Fenced otherwise. The row stays locked until the
// transaction ends, so that a takeover waits and then sees the new checkpoint.
void advance(sql::Transaction& transaction, const Claim& claim, const Checkpoint& next,
             const Progress& progress);

// Ends the claim with a final status ("succeeded", "failed"), if it is still held. Throws Fenced.
void finish(sql::Session& session, const Claim& claim, std::string_view status,
            std::string_view error = {});

// The clock that claims are timed by. Throws ConnectionLost.
[[nodiscard]] WallTime database_now(sql::Session& session);

// Work of these jobs (of all, if there are none) that is recorded and not finished, and has not
// moved for `idle`, oldest first.
[[nodiscard]] std::vector<Fire> unfinished(sql::Session& session, Duration idle,
                                           const std::vector<std::string>& jobs,
                                           std::int64_t limit);

// The person's queue: claims that failed for good, oldest first.
struct FailedClaim {
    std::string key;
    std::string error;
};
[[nodiscard]] std::vector<FailedClaim> for_a_person(sql::Session& session, std::int64_t limit);

}  // namespace claims
}  // namespace fencepost::jobs
