// Deliberate flaws of the engine, for tests of what finds them: a comparison with the real
// PostgreSQL that could not tell these from the sound engine would prove nothing.
#pragma once

#include <cstdint>

namespace fencepost::model {

enum class DatabaseFlaw : std::uint8_t {
    None,
    ReadsUncommitted,        // a SELECT sees what others have not committed
    NoWaitOnUniqueKey,       // an INSERT fails at once by a key whose writer is still open
    NoRecheckAfterWait,      // an UPDATE that has waited does not look at its WHERE again
    SequenceGivenBack,       // a rollback turns the sequences back
    IdsFromCommittedRows,    // two open transactions are given the same id
    ForUpdateLocksNothing,   // others change the row
    SkipLockedSkipsNothing,  // SKIP LOCKED returns rows that others have locked
    SavepointKeepsRows,      // ROLLBACK TO undoes nothing
    ErrorKeepsTransaction,   // after an error, the transaction goes on
    ForeignKeyLocksNothing,  // the parent's row can be deleted beside a new child
    LastWaiterFirst,         // who began to wait last goes on first
    KilledSessionCommits,    // the end of a session is taken for a COMMIT
    SnapshotForgotten,       // REPEATABLE READ sees what others commit, as READ COMMITTED does
    WriteSkewPasses,         // SERIALIZABLE forgets what has been read
};

inline constexpr DatabaseFlaw kLastDatabaseFlaw = DatabaseFlaw::WriteSkewPasses;

}  // namespace fencepost::model
