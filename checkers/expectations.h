// What a scenario and its handler say in advance of the effects that must land, so that checkers
// can judge a history without any help from the handler while it runs.
//
// A *unit* is one business act that the schedule makes due:
// "acme/daily-reconcile@2026-03-02T18:00:00Z". Tables and columns are named as in the schema; table
// indices come from the history (TableKnown).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sim/time.h"

namespace fencepost::checkers {

// One effect that must be there exactly once at the end: the identity of its row, as text.
struct ExpectedEffect {
    std::string unit;
    std::vector<std::string> identity;  // values of EffectTable::identity, numbers in decimal
    std::int64_t position = 0;  // its place in the unit's order: a checkpoint at or above covers it
    // It may land after the checkpoint that covers it, as what is written when all batches are
    // done: that one skips it only if it never lands.
    bool may_follow = false;

    bool operator==(const ExpectedEffect&) const = default;
};

// Where effects show: as rows of a table, or as charges that the outside service applied and did
// not refund.
enum class EffectPlace : std::uint8_t { Rows, Charges };

// Rows whose insertion is a business effect. Identity is business meaning (account, day), never a
// key that the handler made up; of a charge it is its reference and its amount.
struct EffectTable {
    std::string table;  // of charges: what to call them
    std::vector<std::string> identity;
    std::vector<ExpectedEffect> expected{};
    // States on the way, which may be there once at a time and must be gone at the end: a
    // reservation, a charge that is refunded. Their positions mean nothing.
    std::vector<ExpectedEffect> passing{};
    EffectPlace place = EffectPlace::Rows;
    std::string key{};     // the column of the row's key, which names its act; empty: it has none
    std::string tenant{};  // the column that says whose row it is; empty: it has none
    // What is expected is what an undisturbed run leaves (checkers/learnt_effects.h). An identity
    // that is left empty is then the table's first unique key, else its primary key.
    bool learnt = false;
    std::string not_learnt{};  // why that run says nothing; empty: it does

    bool operator==(const EffectTable&) const = default;
};

// Rows that only the newest holder may write: a token column that must never go back in a row.
struct FencedTable {
    std::string table;
    std::vector<std::string> identity;
    std::string token;
};

// A column of whole numbers whose sum over the table no commit may change: balances between which
// money moves. NULL counts as 0.
struct ConservedColumn {
    std::string table;
    std::string column;
};

// What the claims show of their progress.
struct ProgressColumns {
    std::string current;  // integer: items done
    std::string total;    // integer or NULL: items in all, only if that is known
    std::string percent;  // integer or NULL; empty name: shown from current and total
    // How many items the units have of which that is known; of the others nobody knows it.
    struct Total {
        std::string unit;
        std::int64_t items = 0;
    };
    std::vector<Total> totals{};
};

// The table of claims, one row a unit.
struct ClaimTable {
    std::string table;
    std::string key;         // text; unique: the business key
    std::string status;      // text
    std::string owner;       // text or NULL
    std::string token;       // integer
    std::string checkpoint;  // text (decimal position) or NULL; empty name: the table has none
    std::vector<std::string> finished;  // statuses that are final, "succeeded" first
    // Claims that run out: when, on some clock; set whenever the owner takes or renews its claim.
    // Empty: claims do not run out by themselves.
    std::string until;
    sim::Duration held_for{};  // so long at least a claim stays its owner's from then on
    std::string cancelled{};   // the one of them that says so; empty: there is none
    std::optional<ProgressColumns> progress{};
    std::string error{};  // text or NULL: why it failed; empty name: the table does not say
    // The unit that a business key stands for: the key itself unless the handler says otherwise.
};

// A table that start-up makes, and what must be in it: these rows, each once, and no others.
struct StartUpTable {
    std::string table;
    std::vector<std::string> columns;            // that it must have
    std::vector<std::string> compared;           // those in which rows are compared
    std::vector<std::vector<std::string>> rows;  // values of `compared`, numbers in decimal
};

struct StartUpIndex {
    std::string name;
    std::string table;
};

struct StartUpValue {
    std::string key;
    std::string value;
};

// A version that start-up records, and what must be there at the moment it is recorded.
struct StartUpVersion {
    std::int64_t version = 0;
    std::vector<StartUpTable> tables;
};

// What one undisturbed start-up leaves.
struct StartUpState {
    std::vector<StartUpTable> tables;
    std::vector<StartUpIndex> indexes;  // those that CREATE INDEX makes
    std::vector<StartUpValue> cached;   // in Redis; it may lose them again
    std::string version_table;          // with one row; empty: no version is kept
    std::string version_column;
    std::vector<StartUpVersion> versions;
};

// What an author says must hold: the history says when it was looked at and when it did not.
struct StatedInvariant {
    std::string name;
    std::string message;  // one sentence
};

struct Expectations {
    std::vector<EffectTable> effects{};
    std::vector<FencedTable> fenced{};
    std::vector<ConservedColumn> conserved{};  // at most one of a table
    std::optional<ClaimTable> claims{};
    // Where nobody states it, it is learnt (checkers/learnt_start_up.h), unless `not_learnt` says
    // in half a sentence why that cannot be.
    std::optional<StartUpState> start_up{};
    std::string start_up_not_learnt{};
    std::string lease_prefix{};  // Redis keys that are leases; empty: the handler takes none
    std::vector<StatedInvariant> invariants{};
};

}  // namespace fencepost::checkers
