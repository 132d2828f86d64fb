#include "reports/trace.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "model/events.h"

namespace fencepost::reports {
namespace {

using sim::PartyId;

enum class Life : std::uint8_t { Down, Up, Paused };

// What happens to the lanes in one line.
struct Drawing {
    std::optional<PartyId> at;
    char mark = 'o';
    std::optional<PartyId> from;  // an arrow; one of its ends is `at`
    std::optional<PartyId> to;
};

struct Line {
    Drawing drawing;
    std::string text;
    Ink ink = Ink::Plain;
};

bool is_answer(std::string_view outcome) {
    return outcome != "connection reset" && outcome != "timed out" &&
           outcome != "connection refused" && outcome != "pending";
}

std::string_view prefix_of(std::string_view operation) {
    return operation.substr(0, operation.find('.'));
}

// Who takes part: learnt from the whole history before the first line.
class Cast {
public:
    explicit Cast(const sim::History& history)
        : life_(history.parties(), Life::Up), places_(history.parties(), 0) {
        for (sim::RecordId id = 0; id < history.size(); ++id) {
            const sim::Record record = history[id];
            if (record.as<sim::NodeStarted>()) life_[record.party()] = Life::Down;
            // What a node answers differs from call to call: no line tells where it went.
            const auto applied = record.as<sim::CallApplied>();
            if (applied && life_[record.party()] != Life::Down)
                servers_.try_emplace(std::string(prefix_of(applied->operation)), record.party());
        }
        // A server that never answered a call is known by its name alone.
        for (std::size_t party = 1; party < history.parties(); ++party) {
            const std::string& name = history.party_name(static_cast<PartyId>(party));
            servers_.try_emplace(name == "database" ? "db" : name, static_cast<PartyId>(party));
        }
        line_up();
    }

    // Parties from left to right.
    [[nodiscard]] const std::vector<PartyId>& lanes() const { return lanes_; }
    [[nodiscard]] std::size_t place_of(PartyId party) const { return places_[party]; }

    // The server to which calls of this operation go.
    [[nodiscard]] std::optional<PartyId> server_of(std::string_view operation) const {
        const auto found = servers_.find(prefix_of(operation));
        if (found == servers_.end()) return std::nullopt;
        return found->second;
    }

    void see(const sim::Record& record) {
        Life& life = life_.at(record.party());
        if (record.as<sim::NodeStarted>() || record.as<sim::NodeResumed>()) life = Life::Up;
        if (record.as<sim::NodePaused>()) life = Life::Paused;
        if (record.as<sim::NodeEnded>()) life = Life::Down;
    }

    [[nodiscard]] char line_of(PartyId party) const {
        switch (life_[party]) {
            case Life::Down:
                return ' ';
            case Life::Up:
                return '|';
            case Life::Paused:
                return ':';
        }
        return '?';
    }

private:
    // The servers stand between the nodes, so that arrows cross few lanes.
    void line_up() {
        std::vector<PartyId> nodes;
        std::vector<PartyId> servers;
        for (std::size_t party = 1; party < life_.size(); ++party)
            (life_[party] == Life::Down ? nodes : servers).push_back(static_cast<PartyId>(party));
        const auto left = static_cast<std::ptrdiff_t>((nodes.size() + 1) / 2);
        lanes_.assign(nodes.begin(), nodes.begin() + left);
        lanes_.insert(lanes_.end(), servers.begin(), servers.end());
        lanes_.insert(lanes_.end(), nodes.begin() + left, nodes.end());
        for (std::size_t place = 0; place < lanes_.size(); ++place) places_[lanes_[place]] = place;
    }

    std::vector<Life> life_;
    std::map<std::string, PartyId, std::less<>> servers_;
    std::vector<PartyId> lanes_;
    std::vector<std::size_t> places_;  // by party
};

struct KnownTable {
    std::string name;
    std::vector<std::string> columns;
};

std::string cell_text(const model::Cell& cell) {
    std::string out;
    sim::Codec<model::Cells>::print(out, {cell});
    return on_one_line(std::string_view{out}.substr(1, out.size() - 2));
}

class Tracer {
public:
    Tracer(const sim::History& history, const TraceOptions& options)
        : history_(history), options_(options), cast_(history) {}

    TraceLines lines() {
        TraceLines all;
        if (history_.size() == 0) return all;
        start_ = history_[0].at();
        heading();
        all.heading = std::exchange(out_, {});
        for (sim::RecordId id = 0; id < history_.size(); ++id) {
            const sim::Record record = history_[id];
            if (!skips(record)) {
                add(record, line_for(record));
                for (const TraceMark& mark : options_.marks) {
                    if (mark.record == id) remark(mark);
                }
            }
            cast_.see(record);
            all.lines.push_back(std::exchange(out_, {}));
        }
        return all;
    }

private:
    static constexpr std::size_t kLaneWidth = 10;

    void heading() {
        std::string line = fmt::format("{:>6} {:>11}  ", "#", "time (s)");
        for (const PartyId party : cast_.lanes()) {
            const std::string& name = history_.party_name(party);
            line += fmt::format("{:<{}}", shortened(name, kLaneWidth - 1), kLaneWidth);
        }
        while (line.back() == ' ') line.pop_back();
        out_ += inked(line, Ink::Strong, options_.style) + "\n";
    }

    // Names that only other lines need.
    bool skips(const sim::Record& record) {
        const auto table = record.as<model::TableKnown>();
        if (!table) return false;
        KnownTable& known = tables_[table->index];
        known = {.name = std::string(table->name), .columns = {}};
        std::string_view rest = table->columns;
        while (!rest.empty()) {
            const std::size_t comma = std::min(rest.find(','), rest.size());
            known.columns.emplace_back(rest.substr(0, comma));
            rest.remove_prefix(std::min(comma + 1, rest.size()));
        }
        return record.task() == sim::kNoTask;  // not one that a task made
    }

    void add(const sim::Record& record, const Line& line) {
        const double seconds = std::chrono::duration<double>(record.at() - start_).count();
        std::string head =
            fmt::format("{:>6} {:>11.6f}  {}", record.id(), seconds, lanes(line.drawing));
        if (line.text.empty())
            while (head.back() == ' ') head.pop_back();
        out_ += head + inked(line.text, line.ink, options_.style) + "\n";
    }

    void remark(const TraceMark& mark) {
        const std::string lead =
            std::string(20, ' ') + std::string((history_.parties() - 1) * kLaneWidth, ' ');
        out_ += lead + inked("<== " + on_one_line(mark.text), Ink::Bad, options_.style) + "\n";
    }

    [[nodiscard]] std::string lanes(const Drawing& drawing) const {
        std::string lanes((history_.parties() - 1) * kLaneWidth, ' ');
        const auto column = [&](PartyId party) { return cast_.place_of(party) * kLaneWidth; };
        for (const PartyId party : cast_.lanes()) lanes[column(party)] = cast_.line_of(party);
        if (drawing.from && drawing.to && *drawing.from != *drawing.to) {
            const std::size_t a = column(*drawing.from);
            const std::size_t b = column(*drawing.to);
            for (std::size_t i = std::min(a, b) + 1; i < std::max(a, b); ++i) lanes[i] = '-';
            lanes[a < b ? b - 1 : b + 1] = a < b ? '>' : '<';
        }
        if (drawing.at && *drawing.at != sim::kWorld) lanes[column(*drawing.at)] = drawing.mark;
        return lanes;
    }

    [[nodiscard]] std::string call_text(const sim::Record& record, std::string_view operation,
                                        std::uint32_t ordinal) const {
        return fmt::format("{} {}/{}", on_one_line(history_.task(record.task()).name), operation,
                           ordinal);
    }

    [[nodiscard]] std::string detail(std::string_view text) const {
        const std::string line = shortened(on_one_line(text), options_.detail_width);
        return line.empty() ? line : "  " + line;
    }

    Line line_for(const sim::Record& record) const {
        Line line{.drawing = {.at = record.party(), .from = {}, .to = {}}, .text = {}};
        if (const auto call = record.as<sim::CallStarted>()) {
            line.drawing.from = record.party();
            line.drawing.to = cast_.server_of(call->operation);
            line.text = call_text(record, call->operation, call->ordinal) + detail(call->detail);
        } else if (const auto applied = record.as<sim::CallApplied>()) {
            line.drawing.mark = '*';
            line.text = call_text(record, applied->operation, applied->ordinal) + " done" +
                        detail(applied->result);
        } else if (const auto ended = record.as<sim::CallEnded>()) {
            const bool answered = is_answer(ended->outcome);
            if (answered) {
                line.drawing.from = cast_.server_of(ended->operation);
                line.drawing.to = record.party();
            } else {
                line.drawing.mark = 'x';
                line.ink = Ink::Doubt;
            }
            line.text = call_text(record, ended->operation, ended->ordinal) +
                        (answered ? " answered" : "") + detail(ended->outcome);
        } else if (const auto row = record.as<model::RowChanged>()) {
            line.drawing.mark = '*';
            line.text = row_text(*row);
        } else if (const auto phase = record.as<sim::PhaseBegan>()) {
            line.text = fmt::format("==== {} ====", on_one_line(phase->name));
            line.ink = Ink::Strong;
        } else if (const auto struck = record.as<sim::FaultStruck>()) {
            line = {.drawing = {.at = record.party(), .mark = '!', .from = {}, .to = {}},
                    .text = fmt::format("fault {} strikes: {}", struck->index + 1,
                                        on_one_line(struck->fault)),
                    .ink = Ink::Bad};
        } else if (const auto effect = record.as<sim::FaultTookEffect>()) {
            line = {.drawing = {.at = record.party(), .mark = '!', .from = {}, .to = {}},
                    .text = fmt::format("fault {} takes effect on {}", effect->index + 1,
                                        on_one_line(effect->on)),
                    .ink = Ink::Bad};
        } else {
            other_line(record, line);
        }
        return line;
    }

    void other_line(const sim::Record& record, Line& line) const {
        const std::string name = std::string(model::event_name(record));
        const std::string fields = on_one_line(model::event_text(record));
        const bool has_task = record.task() != sim::kNoTask;
        line.text = has_task ? on_one_line(history_.task(record.task()).name) + " " + name : name;
        if (!fields.empty()) line.text += " " + fields;
        if (record.as<sim::NodeEnded>() || record.as<sim::NodePaused>()) {
            line.drawing.mark = '!';
            line.ink = Ink::Bad;
        }
    }

    [[nodiscard]] std::string row_text(const model::RowChanged& row) const {
        const auto found = tables_.find(row.table);
        static const KnownTable kUnknown{};
        const KnownTable& table = found == tables_.end() ? kUnknown : found->second;
        const auto column = [&](std::size_t i) {
            return i < table.columns.size() ? table.columns[i] : fmt::format("[{}]", i);
        };
        std::string text = fmt::format(
            "{} {}", table.name.empty() ? fmt::format("table {}", row.table) : table.name,
            name_of(row.change));
        const model::Cells& shown = row.after.empty() ? row.before : row.after;
        const bool update = row.change == model::RowChangeKind::Update;
        for (std::size_t i = 0; i < shown.size(); ++i) {
            const bool changed = update && i < row.before.size() && row.before[i] != shown[i];
            // Of an update: what changed, and the first column, by which rows are told apart.
            if (update && !changed && i > 0) continue;
            text += fmt::format(" {}=", column(i));
            if (changed) text += cell_text(row.before[i]) + " -> ";
            text += cell_text(shown[i]);
        }
        return text;
    }

    const sim::History& history_;
    const TraceOptions& options_;
    Cast cast_;
    std::map<std::uint32_t, KnownTable> tables_;
    sim::Time start_{};
    std::string out_;
};

}  // namespace

std::string trace_text(const sim::History& history, const TraceOptions& options) {
    if (history.size() == 0) return "nothing happened\n";
    const TraceLines all = trace_lines(history, options);
    std::string text = all.heading;
    for (const std::string& lines : all.lines) text += lines;
    return text;
}

TraceLines trace_lines(const sim::History& history, const TraceOptions& options) {
    return Tracer{history, options}.lines();
}

std::string trace_json(const sim::History& history) {
    std::string out;
    for (sim::RecordId id = 0; id < history.size(); ++id) {
        const sim::Record record = history[id];
        nlohmann::ordered_json line;
        line["record"] = id;
        line["at"] = sim::to_text(record.at());
        line["party"] = history.party_name(record.party());
        line["actor"] = history.actor(record);
        if (record.cause() == sim::kNoRecord) {
            line["cause"] = nullptr;
        } else {
            line["cause"] = record.cause();
        }
        line["event"] = model::event_name(record);
        line["text"] = model::event_text(record);
        out += line.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
    }
    return out;
}

}  // namespace fencepost::reports
