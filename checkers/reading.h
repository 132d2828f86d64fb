// A history as checkers read it: what was committed, in the terms of the expectations.
//
// Built once for a history and shared by all checkers. Units, effects and fenced rows are numbered
// from 0, expected ones first and passing ones next, so that a checker keeps its state in plain
// vectors. Only tables that the expectations name are read. Both arguments must outlive the
// reading; text points into them.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "checkers/expectations.h"
#include "checkers/text_index.h"
#include "model/events.h"

namespace fencepost::checkers {

// Which record a change stands in, and on whose behalf it was made.
struct Source {
    sim::RecordId record = sim::kNoRecord;
    sim::TaskId task = sim::kNoTask;
    sim::TaskId root = sim::kNoTask;
};

struct Unit {
    std::uint32_t expected = 0;                   // how many effects it must have
    std::optional<std::int64_t> total;            // how many items it is known in advance to have
    sim::RecordId cancel_asked = sim::kNoRecord;  // first, by an operator
    bool cancelled = false;                       // says its claim at the end
    std::string_view error;                       // likewise, why it failed; empty where it did not
};

struct Effect {
    std::uint32_t unit = kNone;  // none: nobody expects this effect
    std::int64_t position = 0;
    bool passing = false;     // it may be there for a while and must be gone at the end
    bool may_follow = false;  // it may land after the checkpoint that covers it
};

// A row of an effect table was there before, is there after: with the same identity or another. A
// charge lands when the outside service applies it and leaves when it is refunded; each is a commit
// of its own.
struct EffectChange {
    Source source;
    std::uint32_t before = kNone;  // an effect
    std::uint32_t after = kNone;

    [[nodiscard]] bool lands() const { return after != kNone && after != before; }
    [[nodiscard]] bool leaves() const { return before != kNone && after != before; }
};

// What names the act and the owner of a row in an effect table, before and after a change; NULL
// where there is no row or no such column.
struct RowLabels {
    std::uint32_t table = kNone;  // an index of Expectations::effects
    model::Cell key_before, key_after;
    model::Cell tenant_before, tenant_after;
};

struct FencedChange {
    Source source;
    std::uint32_t row = kNone;  // by its identity
    std::optional<std::int64_t> before;
    std::optional<std::int64_t> after;  // tokens; none where there is no row or it is NULL
};

// A row's part of the sum of a conserved column: more or less by so much.
struct ConservedChange {
    Source source;
    std::uint32_t column = kNone;  // an index of Expectations::conserved
    std::int64_t by = 0;
};

struct ClaimState {
    std::string_view status;
    model::Cell owner;
    std::optional<std::int64_t> token;
    model::Cell checkpoint;
    model::Cell until;
    bool finished = false;
    bool succeeded = false;
    bool cancelled = false;
    std::optional<std::int64_t> current, total, percent;  // none: NULL or no such column

    [[nodiscard]] bool owned() const { return !std::holds_alternative<std::monostate>(owner); }
    bool operator==(const ClaimState&) const = default;
};

// What a commit made of one claim row, all its statements together. The source is the last of them.
struct ClaimChange {
    Source source;
    std::uint32_t unit = kNone;
    std::optional<ClaimState> before;
    std::optional<ClaimState> after;
};

// The changes of one commit: they became visible together.
struct Commit {
    std::span<const EffectChange> effects;
    std::span<const FencedChange> fenced;
    std::span<const ConservedChange> conserved;
    std::span<const ClaimChange> claims;
};

// A change of a Redis key that is a lease.
struct LeaseChange {
    Source source;
    model::KeyChanged event;
};

struct DroppedTable {
    sim::RecordId record = sim::kNoRecord;
    std::size_t table = 0;
};

struct End {
    sim::RecordId record = sim::kNoRecord;
    model::RunEnded event;

    // Everything was done: name_of(sim::RunEnd::Quiet).
    [[nodiscard]] bool came_to_rest() const { return event.how == "quiet"; }
    // name_of(sim::RunEnd::StepLimit).
    [[nodiscard]] bool had_too_many_steps() const { return event.how == "step limit"; }
};

class Reading {
public:
    Reading(const sim::History& history, const Expectations& expectations);
    Reading(const Reading&) = delete;
    Reading& operator=(const Reading&) = delete;

    [[nodiscard]] const sim::History& history() const { return history_; }
    [[nodiscard]] const Expectations& expectations() const { return expectations_; }

    [[nodiscard]] std::span<const Commit> commits() const { return commits_; }
    // Where a table of effects was dropped, with all that stood in it: the record, and the index in
    // Expectations::effects.
    [[nodiscard]] std::span<const DroppedTable> dropped() const { return dropped_; }
    [[nodiscard]] std::span<const Unit> units() const { return units_; }
    [[nodiscard]] std::span<const Effect> effects() const { return effects_; }
    [[nodiscard]] std::uint32_t expected_effects() const { return expected_effects_; }
    [[nodiscard]] std::size_t fenced_rows() const { return fenced_names_.size(); }
    [[nodiscard]] std::span<const LeaseChange> leases() const { return leases_; }
    [[nodiscard]] std::uint32_t due() const { return due_; }
    [[nodiscard]] std::span<const sim::RecordId> unfinished() const { return unfinished_; }
    [[nodiscard]] const std::optional<End>& end() const { return end_; }

    // Of a change of a row, read anew from the history: most checkers never ask. Text points into
    // the history.
    [[nodiscard]] RowLabels labels_of(const EffectChange& change) const;

    // For messages.
    [[nodiscard]] std::string unit_name(std::uint32_t unit) const;
    [[nodiscard]] std::string effect_key(std::uint32_t effect) const;   // "unit/7/2026-03-02"
    [[nodiscard]] std::string effect_text(std::uint32_t effect) const;  // "ledger (7, 2026-03-02)"
    [[nodiscard]] std::vector<std::string> effect_values(std::uint32_t effect) const;
    [[nodiscard]] std::size_t table_of(std::uint32_t effect) const;  // of Expectations::effects
    [[nodiscard]] std::string fenced_text(std::uint32_t row) const;
    // "A#1/reconcile@… at 2026-03-02T18:00:03Z (record 17)"
    [[nodiscard]] std::string who_and_when(sim::RecordId record) const;

private:
    static constexpr std::size_t kAbsent = static_cast<std::size_t>(-1);

    // A table of the history, and what the expectations see in it.
    struct Table {
        std::uint32_t effect = kNone;  // an index of Expectations::effects
        std::vector<std::size_t> effect_columns;
        std::size_t effect_key = kAbsent, effect_tenant = kAbsent;
        std::uint32_t fenced = kNone;
        std::vector<std::size_t> fenced_columns;
        std::size_t fenced_token = kAbsent;
        std::uint32_t conserved = kNone;  // an index of Expectations::conserved
        std::size_t conserved_column = kAbsent;
        bool claims = false;
        std::size_t key = kAbsent, status = kAbsent, owner = kAbsent;
        std::size_t token = kAbsent, checkpoint = kAbsent, until = kAbsent;
        std::size_t current = kAbsent, total = kAbsent, percent = kAbsent, error = kAbsent;

        [[nodiscard]] bool matters() const {
            return effect != kNone || fenced != kNone || conserved != kNone || claims;
        }
    };
    struct Extent {
        std::size_t effects, fenced, conserved, claims;  // where a commit's changes begin
    };

    void expect_effects();
    void expect(std::size_t table, const std::vector<ExpectedEffect>& effects, bool passing);
    void expect_totals();
    void read_table(const model::TableKnown& known);
    void read_drop(const sim::Record& record);
    void read_row(const sim::Record& record);
    void read_charge(const sim::Record& record);
    void begin_commit();
    void read_effect(const Table& table, const Source& source);
    void read_fenced(const Table& table, const Source& source);
    void read_conserved(const Table& table, const Source& source);
    void read_claim(const Table& table, const Source& source);
    [[nodiscard]] std::string_view error_in(const Table& table, const ClaimState& state) const;
    void change_claim(const ClaimChange& change);
    void close_commits();

    [[nodiscard]] Source source_of(const sim::Record& record) const;
    std::uint32_t unit_of(std::string_view name);
    std::uint32_t effect_of(const Table& table, const model::Cells& cells);
    std::uint32_t fenced_of(const Table& table, const model::Cells& cells);
    [[nodiscard]] ClaimState claim_state(const Table& table, const model::Cells& cells) const;

    const sim::History& history_;
    const Expectations& expectations_;

    TextIndex unit_names_, effect_names_, fenced_names_;
    std::vector<Unit> units_;
    std::vector<Effect> effects_;
    std::uint32_t expected_effects_ = 0;
    std::uint32_t charges_ = kNone;  // an index of Expectations::effects

    std::vector<Table> tables_;
    std::vector<EffectChange> effect_changes_;
    std::vector<FencedChange> fenced_changes_;
    std::vector<ConservedChange> conserved_changes_;
    std::vector<ClaimChange> claim_changes_;
    std::vector<Extent> extents_;
    std::vector<Commit> commits_;
    std::vector<DroppedTable> dropped_;
    std::vector<LeaseChange> leases_;
    std::uint32_t due_ = 0;
    std::vector<sim::RecordId> unfinished_;
    std::optional<End> end_;

    model::RowChanged row_;  // the row that is read: its cells' memory is used again
    std::uint32_t transaction_ = 0;
    std::string identity_, key_;
};

}  // namespace fencepost::checkers
