#include "checkers/reading.h"

#include <fmt/format.h>

#include <algorithm>

#include "checkers/identity.h"

namespace fencepost::checkers {
namespace {

// The first fields of RowChanged, to pass over a row without decoding its cells.
struct RowHead {
    static constexpr sim::EventKind kKind = model::RowChanged::kKind;
    static constexpr std::string_view kName = model::RowChanged::kName;
    model::RowChangeKind change = model::RowChangeKind::Insert;
    std::uint32_t table = 0;
    static auto fields(auto& self) { return std::tie(self.change, self.table); }
};

std::size_t column_of(std::string_view columns, std::string_view name) {
    std::size_t column = 0;
    while (true) {
        const std::size_t comma = columns.find(',');
        if (columns.substr(0, comma) == name) return column;
        sim::require(comma != std::string_view::npos, "the expectations name an unknown column");
        columns.remove_prefix(comma + 1);
        ++column;
    }
}

std::vector<std::size_t> columns_of(std::string_view columns,
                                    const std::vector<std::string>& names) {
    std::vector<std::size_t> out;
    out.reserve(names.size());
    for (const std::string& name : names) out.push_back(column_of(columns, name));
    return out;
}

// NULL for a column that was added after the row was read.
const model::Cell& cell_at(const model::Cells& cells, std::size_t column) {
    static const model::Cell null;
    return column < cells.size() ? cells[column] : null;
}

}  // namespace

Reading::Reading(const sim::History& history, const Expectations& expectations)
    : history_(history), expectations_(expectations) {
    constexpr std::size_t kUsualTables = 16;  // they are large, and come one by one
    tables_.reserve(kUsualTables);
    expect_effects();
    expect_totals();
    for (sim::RecordId id = 0; id < history.size(); ++id) {
        switch (history.kind_of(id)) {
            case model::TableKnown::kKind:
                read_table(*history[id].as<model::TableKnown>());
                break;
            case model::RelationDropped::kKind:
                read_drop(history[id]);
                break;
            case model::RowChanged::kKind:
                read_row(history[id]);
                break;
            case model::KeyChanged::kKind:
                if (expectations.lease_prefix.empty()) break;
                if (const auto event = *history[id].as<model::KeyChanged>();
                    event.key.starts_with(expectations.lease_prefix)) {
                    leases_.push_back({.source = source_of(history[id]), .event = event});
                }
                break;
            case model::GatewayApplied::kKind:
            case model::GatewayRefunded::kKind:
                read_charge(history[id]);
                break;
            case model::WorkDue::kKind:
                ++due_;
                break;
            case model::CancelAsked::kKind: {
                Unit& unit = units_[unit_of(history[id].as<model::CancelAsked>()->unit)];
                if (unit.cancel_asked == sim::kNoRecord) unit.cancel_asked = id;
                break;
            }
            case model::Unfinished::kKind:
                unfinished_.push_back(id);
                break;
            case model::RunEnded::kKind:
                end_ = {.record = id, .event = *history[id].as<model::RunEnded>()};
                break;
            default:
                break;
        }
    }
    close_commits();
}

void Reading::expect_effects() {
    const auto& tables = expectations_.effects;
    for (std::size_t table = 0; table < tables.size(); ++table) {
        expect(table, tables[table].expected, false);
        if (tables[table].place != EffectPlace::Charges) continue;
        sim::require(charges_ == kNone, "charges are expected once");
        charges_ = static_cast<std::uint32_t>(table);
    }
    expected_effects_ = static_cast<std::uint32_t>(effects_.size());
    for (std::size_t table = 0; table < tables.size(); ++table) {
        expect(table, tables[table].passing, true);
    }
}

void Reading::expect(std::size_t table, const std::vector<ExpectedEffect>& effects, bool passing) {
    effects_.reserve(effects_.size() + effects.size());
    std::uint32_t unit = kNone;
    const std::string* unit_name = nullptr;
    for (const ExpectedEffect& expected : effects) {
        begin_identity(identity_, table);
        for (const std::string& value : expected.identity) {
            append_to_identity(identity_, std::string_view{value});
        }
        const std::uint32_t effect = effect_names_.add(identity_);
        sim::require(effect == effects_.size(), "one effect is expected twice");
        // Effects of a unit mostly stand together.
        if (unit_name == nullptr || *unit_name != expected.unit) {
            unit_name = &expected.unit;
            unit = unit_of(expected.unit);
        }
        if (!passing) ++units_[unit].expected;
        effects_.push_back({.unit = unit,
                            .position = expected.position,
                            .passing = passing,
                            .may_follow = expected.may_follow});
    }
}

void Reading::expect_totals() {
    if (!expectations_.claims || !expectations_.claims->progress) return;
    for (const ProgressColumns::Total& known : expectations_.claims->progress->totals) {
        units_[unit_of(known.unit)].total = known.items;
    }
}

void Reading::read_table(const model::TableKnown& known) {
    if (known.index >= tables_.size()) tables_.resize(known.index + 1);
    Table& table = tables_[known.index];
    table = {};
    for (std::uint32_t i = 0; i < expectations_.effects.size(); ++i) {
        if (expectations_.effects[i].table != known.name || i == charges_) continue;
        // What takes the place of a table that was dropped may be anything.
        if (std::ranges::find(dropped_, i, &DroppedTable::table) != dropped_.end()) continue;
        sim::require(table.effect == kNone, "an effect table is named twice");
        table.effect = i;
        const EffectTable& effects = expectations_.effects[i];
        table.effect_columns = columns_of(known.columns, effects.identity);
        if (!effects.key.empty()) table.effect_key = column_of(known.columns, effects.key);
        if (!effects.tenant.empty()) {
            table.effect_tenant = column_of(known.columns, effects.tenant);
        }
    }
    for (std::uint32_t i = 0; i < expectations_.fenced.size(); ++i) {
        if (expectations_.fenced[i].table != known.name) continue;
        sim::require(table.fenced == kNone, "a fenced table is named twice");
        table.fenced = i;
        table.fenced_columns = columns_of(known.columns, expectations_.fenced[i].identity);
        table.fenced_token = column_of(known.columns, expectations_.fenced[i].token);
    }
    for (std::uint32_t i = 0; i < expectations_.conserved.size(); ++i) {
        if (expectations_.conserved[i].table != known.name) continue;
        sim::require(table.conserved == kNone, "a table has one conserved column");
        table.conserved = i;
        table.conserved_column = column_of(known.columns, expectations_.conserved[i].column);
    }
    if (expectations_.claims && expectations_.claims->table == known.name) {
        const ClaimTable& claims = *expectations_.claims;
        table.claims = true;
        table.key = column_of(known.columns, claims.key);
        table.status = column_of(known.columns, claims.status);
        table.owner = column_of(known.columns, claims.owner);
        table.token = column_of(known.columns, claims.token);
        if (!claims.checkpoint.empty()) {
            table.checkpoint = column_of(known.columns, claims.checkpoint);
        }
        if (!claims.error.empty()) table.error = column_of(known.columns, claims.error);
        if (!claims.until.empty()) table.until = column_of(known.columns, claims.until);
        if (claims.progress) {
            table.current = column_of(known.columns, claims.progress->current);
            table.total = column_of(known.columns, claims.progress->total);
            if (!claims.progress->percent.empty()) {
                table.percent = column_of(known.columns, claims.progress->percent);
            }
        }
    }
}

void Reading::read_drop(const sim::Record& record) {
    const auto dropped = *record.as<model::RelationDropped>();
    for (std::size_t i = 0; i < expectations_.effects.size(); ++i) {
        if (expectations_.effects[i].table != dropped.name || i == charges_) continue;
        dropped_.push_back({.record = record.id(), .table = i});
    }
}

void Reading::read_row(const sim::Record& record) {
    const auto head = sim::Record::decode<RowHead>(record.payload());
    sim::require(head.table < tables_.size(), "a row of a table that nobody knows");
    const Table& table = tables_[head.table];
    if (!table.matters()) return;
    sim::PayloadReader in{record.payload()};
    std::apply(
        [&in](auto&... field) {
            (sim::Codec<std::remove_cvref_t<decltype(field)>>::read(in, field), ...);
        },
        model::RowChanged::fields(row_));
    if (extents_.empty() || row_.transaction != transaction_) {
        transaction_ = row_.transaction;
        begin_commit();
    }
    const Source source = source_of(record);
    if (table.effect != kNone) read_effect(table, source);
    if (table.fenced != kNone) read_fenced(table, source);
    if (table.conserved != kNone) read_conserved(table, source);
    if (table.claims) read_claim(table, source);
}

void Reading::begin_commit() {
    extents_.push_back({.effects = effect_changes_.size(),
                        .fenced = fenced_changes_.size(),
                        .conserved = conserved_changes_.size(),
                        .claims = claim_changes_.size()});
}

// The rows of one commit stand together, so a charge is never among them.
void Reading::read_charge(const sim::Record& record) {
    if (charges_ == kNone) return;
    const auto identity_of = [this](const auto& charge) {
        begin_identity(identity_, charges_);
        append_to_identity(identity_, charge.reference);
        append_to_identity(identity_, model::Cell{charge.amount});
        const std::uint32_t effect = effect_names_.add(identity_);
        if (effect == effects_.size()) effects_.emplace_back();
        return effect;
    };
    EffectChange change{.source = source_of(record)};
    if (const auto applied = record.as<model::GatewayApplied>()) {
        change.after = identity_of(*applied);
    } else {
        change.before = identity_of(*record.as<model::GatewayRefunded>());
    }
    begin_commit();
    transaction_ = 0;
    effect_changes_.push_back(change);
}

void Reading::read_effect(const Table& table, const Source& source) {
    EffectChange change{.source = source};
    if (!row_.before.empty()) change.before = effect_of(table, row_.before);
    if (!row_.after.empty()) change.after = effect_of(table, row_.after);
    effect_changes_.push_back(change);
}

void Reading::read_fenced(const Table& table, const Source& source) {
    const std::uint32_t before = row_.before.empty() ? kNone : fenced_of(table, row_.before);
    const std::uint32_t after = row_.after.empty() ? kNone : fenced_of(table, row_.after);
    FencedChange change{.source = source, .row = before, .before = {}, .after = {}};
    if (before != kNone) change.before = integer_of(cell_at(row_.before, table.fenced_token));
    if (before != after && before != kNone) {
        fenced_changes_.push_back(change);
        change.before.reset();
    }
    if (after == kNone) return;
    change.row = after;
    change.after = integer_of(cell_at(row_.after, table.fenced_token));
    fenced_changes_.push_back(change);
}

void Reading::read_conserved(const Table& table, const Source& source) {
    const auto part = [&](const model::Cells& cells) {
        return integer_of(cell_at(cells, table.conserved_column)).value_or(0);
    };
    const std::int64_t by = part(row_.after) - part(row_.before);
    conserved_changes_.push_back({.source = source, .column = table.conserved, .by = by});
}

void Reading::read_claim(const Table& table, const Source& source) {
    const auto unit_in = [&](const model::Cells& cells) {
        if (cells.empty()) return kNone;
        const model::Cell& cell = cell_at(cells, table.key);
        if (const auto* text = std::get_if<std::string_view>(&cell)) return unit_of(*text);
        key_ = text_of(cell);
        return unit_of(key_);
    };
    const std::uint32_t before = unit_in(row_.before);
    const std::uint32_t after = unit_in(row_.after);
    ClaimChange change{.source = source, .unit = before, .before = {}, .after = {}};
    if (before != kNone) change.before = claim_state(table, row_.before);
    if (before != after && before != kNone) {
        change_claim(change);
        change.before.reset();
    }
    if (after == kNone) return;
    change.unit = after;
    change.after = claim_state(table, row_.after);
    units_[after].cancelled = change.after->cancelled;
    units_[after].error = error_in(table, *change.after);
    change_claim(change);
}

// Of the row that is read, whose claim has come to that state.
std::string_view Reading::error_in(const Table& table, const ClaimState& state) const {
    if (table.error == kAbsent || !state.finished || state.succeeded) return {};
    const auto* text = std::get_if<std::string_view>(&cell_at(row_.after, table.error));
    return text == nullptr ? std::string_view{} : *text;
}

void Reading::change_claim(const ClaimChange& change) {
    for (std::size_t i = extents_.back().claims; i < claim_changes_.size(); ++i) {
        ClaimChange& earlier = claim_changes_[i];
        if (earlier.unit != change.unit) continue;
        earlier.source = change.source;
        earlier.after = change.after;
        return;
    }
    claim_changes_.push_back(change);
}

void Reading::close_commits() {
    commits_.reserve(extents_.size());
    for (std::size_t i = 0; i < extents_.size(); ++i) {
        const Extent& from = extents_[i];
        const Extent to = i + 1 < extents_.size() ? extents_[i + 1]
                                                  : Extent{.effects = effect_changes_.size(),
                                                           .fenced = fenced_changes_.size(),
                                                           .conserved = conserved_changes_.size(),
                                                           .claims = claim_changes_.size()};
        commits_.push_back(
            {.effects = std::span{effect_changes_}.subspan(from.effects, to.effects - from.effects),
             .fenced = std::span{fenced_changes_}.subspan(from.fenced, to.fenced - from.fenced),
             .conserved = std::span{conserved_changes_}.subspan(from.conserved,
                                                                to.conserved - from.conserved),
             .claims = std::span{claim_changes_}.subspan(from.claims, to.claims - from.claims)});
    }
}

Source Reading::source_of(const sim::Record& record) const {
    const sim::TaskId task = record.task();
    return {.record = record.id(),
            .task = task,
            .root = task == sim::kNoTask ? sim::kNoTask : history_.task(task).root};
}

std::uint32_t Reading::unit_of(std::string_view name) {
    const std::uint32_t unit = unit_names_.add(name);
    if (unit == units_.size()) units_.emplace_back();
    return unit;
}

std::uint32_t Reading::effect_of(const Table& table, const model::Cells& cells) {
    begin_identity(identity_, table.effect);
    for (const std::size_t column : table.effect_columns) {
        append_to_identity(identity_, cell_at(cells, column));
    }
    const std::uint32_t effect = effect_names_.add(identity_);
    if (effect == effects_.size()) effects_.emplace_back();
    return effect;
}

std::uint32_t Reading::fenced_of(const Table& table, const model::Cells& cells) {
    begin_identity(identity_, table.fenced);
    for (const std::size_t column : table.fenced_columns) {
        append_to_identity(identity_, cell_at(cells, column));
    }
    return fenced_names_.add(identity_);
}

ClaimState Reading::claim_state(const Table& table, const model::Cells& cells) const {
    ClaimState state;
    if (const auto* text = std::get_if<std::string_view>(&cell_at(cells, table.status))) {
        state.status = *text;
    }
    state.owner = cell_at(cells, table.owner);
    state.token = integer_of(cell_at(cells, table.token));
    state.checkpoint = cell_at(cells, table.checkpoint);
    state.until = cell_at(cells, table.until);
    const std::vector<std::string>& finished = expectations_.claims->finished;
    state.finished = std::ranges::find(finished, state.status) != finished.end();
    state.succeeded = !finished.empty() && finished.front() == state.status;
    state.cancelled =
        !expectations_.claims->cancelled.empty() && state.status == expectations_.claims->cancelled;
    if (expectations_.claims->progress) {
        state.current = integer_of(cell_at(cells, table.current));
        state.total = integer_of(cell_at(cells, table.total));
        state.percent = integer_of(cell_at(cells, table.percent));
    }
    return state;
}

RowLabels Reading::labels_of(const EffectChange& change) const {
    RowLabels labels;
    const auto row = history_[change.source.record].as<model::RowChanged>();
    if (!row) return labels;
    const Table& table = tables_[row->table];
    labels.table = table.effect;
    const auto label = [](const model::Cells& cells, std::size_t column) {
        return column == kAbsent ? model::Cell{} : cell_at(cells, column);
    };
    labels.key_before = label(row->before, table.effect_key);
    labels.key_after = label(row->after, table.effect_key);
    labels.tenant_before = label(row->before, table.effect_tenant);
    labels.tenant_after = label(row->after, table.effect_tenant);
    return labels;
}

std::string Reading::unit_name(std::uint32_t unit) const {
    return std::string{unit_names_[unit]};
}

std::string Reading::effect_key(std::uint32_t effect) const {
    const std::string_view identity = effect_names_[effect];
    const std::uint32_t unit = effects_[effect].unit;
    return fmt::format(
        "{}/{}",
        unit == kNone ? std::string_view{expectations_.effects[checkers::table_of(identity)].table}
                      : unit_names_[unit],
        values_of(identity, "/"));
}

std::string Reading::effect_text(std::uint32_t effect) const {
    const std::string_view identity = effect_names_[effect];
    return fmt::format("{} ({})", expectations_.effects[checkers::table_of(identity)].table,
                       values_of(identity, ", "));
}

std::vector<std::string> Reading::effect_values(std::uint32_t effect) const {
    return list_of_values(effect_names_[effect]);
}

std::size_t Reading::table_of(std::uint32_t effect) const {
    return checkers::table_of(effect_names_[effect]);
}

std::string Reading::fenced_text(std::uint32_t row) const {
    const std::string_view identity = fenced_names_[row];
    return fmt::format("{} ({})", expectations_.fenced[checkers::table_of(identity)].table,
                       values_of(identity, ", "));
}

std::string Reading::who_and_when(sim::RecordId record) const {
    const sim::Record found = history_[record];
    return fmt::format("{} at {} (record {})", history_.actor(found), sim::to_text(found.at()),
                       record);
}

}  // namespace fencepost::checkers
