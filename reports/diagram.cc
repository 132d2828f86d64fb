#include "reports/diagram.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "checkers/evidence.h"
#include "reports/diagram_model.h"
#include "reports/explanation.h"
#include "reports/layout.h"
#include "reports/markup.h"

namespace fencepost::reports {
namespace {

using sim::Record;
using sim::RecordId;

constexpr double kGutter = 150;
constexpr double kColumn = 220;
constexpr double kLeaseLane = 74;
constexpr double kTop = 16;
constexpr std::size_t kMostCalls = 400;
constexpr std::size_t kLabelLength = 42;

// Which of the owners' colours and patterns: six of each.
std::size_t ink_of_owner(std::vector<std::string>& owners, const std::string& owner) {
    const auto known = std::ranges::find(owners, owner);
    const auto index = static_cast<std::size_t>(known - owners.begin());
    if (known == owners.end()) owners.push_back(owner);
    return index % 6;
}

class Painter {
public:
    Painter(const Narrator& narrator, const Story& story, const checkers::Finding& finding,
            const std::string& name)
        : narrator_(narrator),
          history_(narrator.history()),
          story_(story),
          name_(name),
          evidence_(checkers::evidence_of(finding, history_.size())),
          model_(drawn(narrator)) {}

    Diagram paint() {
        choose_calls();
        lay_out();
        for (const DrawnSpan& life : model_.lives) paint_life(life);
        for (const DrawnSpan& pause : model_.pauses) paint_pause(pause);
        for (const DrawnLease& lease : model_.leases) paint_lease(lease);
        for (const DrawnSpan& transaction : model_.transactions) paint_transaction(transaction);
        for (const DrawnCall& call : model_.calls) paint_call(call);
        for (RecordId id = 0; id < history_.size(); ++id) paint_record(id);
        for (const RecordId id : evidence_) paint_violation(id);
        for (const StoryLine& line : story_.lines) paint_label(line);
        out_.svg = frame();
        return std::move(out_);
    }

private:
    // The scheduler's own calls go first where there is too much to see anything.
    void choose_calls() {
        if (model_.calls.size() <= kMostCalls) return;
        out_.left_out = static_cast<std::size_t>(
            std::erase_if(model_.calls, [](const DrawnCall& call) { return call.schedulers; }));
    }

    // Where each record stands: gaps of time are drawn by their order of magnitude.
    void lay_out() {
        for (std::size_t i = 0; i < model_.columns.size(); ++i) {
            const bool right_of_redis =
                i > 0 && history_.party_name(model_.columns[i - 1]) == "redis";
            if (right_of_redis) extra_ += static_cast<double>(model_.lease_lanes) * kLeaseLane;
            columns_[model_.columns[i]] =
                kGutter + kColumn / 2 + static_cast<double>(i) * kColumn + extra_;
        }
        std::set<RecordId> shown;
        for (const DrawnCall& call : model_.calls)
            shown.insert({call.call, call.applied, call.ended});
        y_.assign(history_.size() + 1, kTop);
        double y = kTop;
        std::optional<sim::Time> last;
        std::set<sim::PartyId> here;  // columns with a mark at this time
        for (RecordId id = 0; id < history_.size(); ++id) {
            const Record record = history_[id];
            const bool is_call = record.kind() == sim::CallStarted::kKind ||
                                 record.kind() == sim::CallApplied::kKind ||
                                 record.kind() == sim::CallEnded::kKind;
            const bool counts =
                is_call ? shown.contains(id) : !kind_of(record).empty() || is_end_of_a_life(record);
            if (counts) {
                y += step(record, last, here);
                last = record.at();
                here.insert(record.party());
            }
            y_[id] = y;
        }
        y_.back() = y + 12;
        height_ = y + 40;
        width_ = kGutter + static_cast<double>(model_.columns.size()) * kColumn + extra_;
    }

    static double step(const Record& record, const std::optional<sim::Time>& last,
                       std::set<sim::PartyId>& here) {
        if (!last || *last == record.at()) return here.contains(record.party()) ? 11 : 0;
        here.clear();
        const double milliseconds =
            std::chrono::duration<double, std::milli>(record.at() - *last).count();
        return 6 + 7 * std::log10(1 + milliseconds * 4);
    }

    static bool is_end_of_a_life(const Record& record) {
        return record.kind() == sim::NodeEnded::kKind || record.kind() == sim::NodeStarted::kKind ||
               record.kind() == sim::NodePaused::kKind || record.kind() == sim::NodeResumed::kKind;
    }

    // The class of a record that is a mark of its own; empty for all others.
    [[nodiscard]] std::string_view kind_of(const Record& record) const {
        switch (record.kind()) {
            case model::RowChanged::kKind:
                return narrator_.commit_of(record.id()).first == record.id() ? "write" : "";
            case model::KeyChanged::kKind:
                return record.as<model::KeyChanged>()->change == model::KeyChangeKind::ExpirySet
                           ? "renewal"
                           : "key";
            case model::FireStarted::kKind:
            case model::FireEnded::kKind:
            case model::NodeDeclaredFailed::kKind:
                return "fire";
            case model::MessagePublished::kKind:
            case model::MessageDelivered::kKind:
            case model::MessageAcknowledged::kKind:
            case model::MessageExpired::kKind:
                return "message";
            case model::GatewayApplied::kKind:
            case model::GatewayDeclined::kKind:
            case model::GatewayRefunded::kKind:
                return "charge";
            case sim::FaultStruck::kKind:
                return "fault";
            case sim::NodeStopping::kKind:
            case sim::NodeDraining::kKind:
            case sim::NodeSlowed::kKind:
            case sim::NodeVersion::kKind:
            case sim::ClockJumped::kKind:
            case model::StartUpDone::kKind:
            case model::StartUpFailed::kKind:
            case model::OperatorActed::kKind:
            case model::CancelAsked::kKind:
            case model::Unfinished::kKind:
                return "node";
            default:
                return {};
        }
    }

    [[nodiscard]] double x_of(sim::PartyId party) const {
        const auto found = columns_.find(party);
        return found == columns_.end() ? kGutter - 30 : found->second;
    }
    // Of a record; the end of the picture where there is none.
    [[nodiscard]] double y_of(RecordId id) const {
        return id < history_.size() ? y_[id] : y_.back();
    }

    // What the record is about, for the filter: a key of Redis, a business act or an event.
    [[nodiscard]] std::string about(RecordId id) const {
        const Record record = history_[id];
        if (const auto key = record.as<model::KeyChanged>()) return std::string(key->key);
        if (const auto fire = record.as<model::FireStarted>()) {
            return fmt::format("{}/{}@{}", fire->tenant, fire->job, sim::to_text(fire->scheduled));
        }
        if (const auto message = record.as<model::MessageDelivered>())
            return std::string(message->event_id);
        if (record.kind() == model::RowChanged::kKind) return narrator_.unit_of_commit(id);
        return {};
    }

    void begin(std::string_view kind, RecordId id, const std::string& title,
               std::string_view more = {}) {
        ++out_.marks[std::string(kind)];
        const Record record = history_[id];
        std::string task;
        if (record.task() != sim::kNoTask) {
            const sim::TaskId root = narrator_.root_of(record.task());
            task = std::to_string(root);
            out_.tasks.try_emplace(task, history_.actor(root));
        }
        const std::string key = about(id);
        if (!key.empty() && std::ranges::find(out_.keys, key) == out_.keys.end())
            out_.keys.push_back(key);
        const bool told =
            std::ranges::find(story_.lines, id, &StoryLine::record) != story_.lines.end();
        body_ += fmt::format("<g class=\"mark k-{}{}{}\" tabindex=\"-1\" data-r=\"{}\"", kind,
                             told ? " told " : " ", more, id);
        if (!task.empty()) body_ += fmt::format(" data-task=\"{}\"", task);
        if (!key.empty()) body_ += fmt::format(" data-key=\"{}\"", html(key));
        body_ += fmt::format("><title>{} s, record {}: {}</title>", seconds(record.at()), id,
                             html(title));
    }
    void end() { body_ += "</g>\n"; }

    [[nodiscard]] std::string seconds(sim::Time at) const {
        const double value = std::chrono::duration<double>(at - story_.moment).count();
        return fmt::format("{:+.4f}", value == 0.0 ? 0.0 : value);
    }

    [[nodiscard]] std::string sentence(RecordId id) const { return told(narrator_, id); }

    void rect(double x, double y, double width, double height, std::string_view style = {}) {
        body_ +=
            fmt::format("<rect x=\"{:.0f}\" y=\"{:.1f}\" width=\"{:.0f}\" height=\"{:.1f}\"{}/>", x,
                        y, width, std::max(height, 2.0), style);
    }
    void path(std::string_view d, std::string_view style = {}) {
        body_ += fmt::format("<path d=\"{}\"{}/>", d, style);
    }
    void cross(double x, double y, double size) {
        path(fmt::format("M{0:.1f} {1:.1f}l{2:.0f} {2:.0f}m0 -{2:.0f}l-{2:.0f} {2:.0f}",
                         x - size / 2, y - size / 2, size),
             " class=\"cross\"");
    }

    void paint_life(const DrawnSpan& life) {
        std::string title = sentence(life.begin);
        if (life.end < history_.size()) title += "; then it " + narrator_.what(life.end);
        begin("life", life.begin, title);
        const double x = x_of(life.party);
        rect(x - 6, y_of(life.begin), 12, y_of(life.end) - y_of(life.begin));
        if (life.broken) cross(x, y_of(life.end), 14);
        end();
    }

    void paint_pause(const DrawnSpan& pause) {
        begin("pause", pause.begin, sentence(pause.begin));
        rect(x_of(pause.party) - 6, y_of(pause.begin), 12, y_of(pause.end) - y_of(pause.begin),
             fmt::format(" style=\"fill:url(#{}-hatch)\"", name_));
        end();
    }

    void paint_lease(const DrawnLease& lease) {
        std::string title = fmt::format("{} holds {} = {}", lease.owner, on_one_line(lease.key),
                                        on_one_line(lease.span.label));
        title += lease.span.end < history_.size()
                     ? fmt::format(" until {} s: {}", seconds(history_[lease.span.end].at()),
                                   narrator_.what(lease.span.end))
                     : " to the end";
        const std::size_t ink = ink_of_owner(owners_, lease.owner);
        begin("lease", lease.span.begin, title, fmt::format(" owner-{}", ink));
        const double x = x_of(lease.span.party) + 16 + static_cast<double>(lease.lane) * kLeaseLane;
        const double y = y_of(lease.span.begin);
        const double length = y_of(lease.span.end) - y;
        rect(x, y, 12, length, fmt::format(" style=\"fill:url(#{}-owner-{})\"", name_, ink));
        if (lease.span.broken && lease.span.end < history_.size())
            cross(x + 6, y_of(lease.span.end), 8);
        body_ += fmt::format("<text x=\"{:.0f}\" y=\"{:.1f}\">{}</text>", x + 15, y + 22,
                             html(shortened(lease.span.label, 10)));
        end();
    }

    void paint_transaction(const DrawnSpan& span) {
        const std::string title =
            fmt::format("transaction of {}{}", narrator_.who(history_[span.begin]),
                        span.broken ? ", not committed as far as it knows" : ", committed");
        begin("transaction", span.begin, title, span.broken ? " broken" : "");
        const double inwards = x_of(span.party) < width_ / 2 ? 1 : -1;
        const double x = x_of(span.party) + inwards * 14;
        path(fmt::format("M{:.1f} {:.1f}h{:.0f}V{:.1f}h{:.0f}", x - inwards * 6, y_of(span.begin),
                         inwards * 6, y_of(span.end), -inwards * 6));
        end();
    }

    // There, and back; broken off where nothing arrived.
    void paint_call(const DrawnCall& call) {
        std::string title = sentence(call.call);
        if (call.ended < history_.size()) {
            title += fmt::format("; at {} s: {}", seconds(history_[call.ended].at()),
                                 narrator_.what(call.ended));
        } else {
            title += "; nothing came back";
        }
        const bool lost = call.answer == AnswerKind::Lost;
        begin("call", call.call, title, call.schedulers ? " schedulers" : lost ? " lost" : "");
        const double from = x_of(call.from);
        const double to = x_of(call.to);
        const double side = to > from ? 7 : -7;
        const auto arrow = [&](double x1, double y1, double x2, double y2) {
            path(fmt::format("M{:.1f} {:.1f}L{:.1f} {:.1f}", x1, y1, x2, y2),
                 fmt::format(" marker-end=\"url(#{}-arrow)\"", name_));
        };
        const auto broken = [&](double x1, double y1, double x2, double y2) {
            const double x = (x1 + x2) / 2;
            const double y = (y1 + y2) / 2;
            path(fmt::format("M{:.1f} {:.1f}L{:.1f} {:.1f}", x1, y1, x, y), " class=\"cut\"");
            cross(x, y, 9);
        };
        if (call.applied >= history_.size()) {
            broken(from + side, y_of(call.call), to - side, y_of(call.call) + 12);
            return end();
        }
        arrow(from + side, y_of(call.call), to - side, y_of(call.applied));
        if (lost) {
            broken(to - side, y_of(call.applied), from + side, y_of(call.applied) + 12);
        } else {
            arrow(to - side, y_of(call.applied), from + side, y_of(call.ended));
        }
        end();
    }

    void paint_record(RecordId id) {
        const Record record = history_[id];
        const std::string_view kind = kind_of(record);
        if (kind.empty()) return;
        begin(kind, id, sentence(id));
        const double x = x_of(record.party());
        const double y = y_of(id);
        if (kind == "write") {
            path(fmt::format("M{:.1f} {:.1f}l6 6l-6 6l-6 -6z", x, y - 6));
        } else if (kind == "fault") {
            paint_fault(*record.as<sim::FaultStruck>(), y);
        } else if (kind == "fire") {
            const bool ended = record.kind() != model::FireStarted::kKind;
            path(
                fmt::format("M{:.1f} {:.1f}{}", x + 7, y - 5, ended ? "h9v8h-9z" : "l12 5l-12 5z"));
        } else if (kind == "message") {
            rect(x - 7, y - 5, 14, 10);
            path(fmt::format("M{:.1f} {:.1f}l7 5l7 -5", x - 7, y - 5));
        } else if (kind == "charge") {
            body_ += fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"6\"/>", x, y);
        } else if (kind == "key") {
            rect(x - 4, y - 4, 8, 8);
        } else if (kind == "renewal") {
            path(fmt::format("M{:.1f} {:.1f}h8", x - 4, y));
        } else {
            path(fmt::format("M{:.1f} {:.1f}l6 9h-12z", x, y - 6));
        }
        end();
    }

    void paint_fault(const sim::FaultStruck& struck, double y) {
        path(fmt::format("M{:.0f} {:.1f}H{:.0f}", kGutter - 18, y, width_ - 8),
             " class=\"fault-line\"");
        path(fmt::format("M{:.0f} {:.1f}l7 -11h14l7 11l-7 11h-14z", kGutter - 46, y));
        body_ += fmt::format("<text x=\"{:.0f}\" y=\"{:.1f}\" text-anchor=\"middle\">{}</text>",
                             kGutter - 32, y + 4, struck.index + 1);
    }

    void paint_violation(RecordId id) {
        const Record record = history_[id];
        begin("violation", id, "the finding rests on this: " + sentence(id));
        const double x = x_of(record.party());
        body_ += fmt::format(
            "<circle cx=\"{0:.1f}\" cy=\"{1:.1f}\" r=\"11\"/>"
            "<circle cx=\"{0:.1f}\" cy=\"{1:.1f}\" r=\"15\"/>",
            x, y_of(id));
        end();
    }

    void paint_label(const StoryLine& line) {
        if (line.is_fault) {
            body_ += fmt::format("<text class=\"label\" x=\"{:.0f}\" y=\"{:.1f}\">{}</text>\n",
                                 kGutter - 14, y_of(line.record) - 5,
                                 html(shortened(on_one_line(line.what), 80)));
            return;
        }
        const double x = x_of(history_[line.record].party());
        const bool last = x > width_ - kColumn;
        const bool beside_leases = history_.party_name(history_[line.record].party()) == "redis";
        const double right =
            20 + (beside_leases ? static_cast<double>(model_.lease_lanes) * kLeaseLane : 0);
        body_ += fmt::format("<text class=\"label\" x=\"{:.0f}\" y=\"{:.1f}\"{}>{}</text>\n",
                             last ? x - 20 : x + right, y_of(line.record) + 4,
                             last ? " text-anchor=\"end\"" : "",
                             html(shortened(on_one_line(line.what), kLabelLength)));
    }

    // The names of the columns stay in sight while the picture is scrolled.
    [[nodiscard]] std::string heads() const {
        std::string out = fmt::format(
            "<svg class=\"heads\" xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {:.0f} 28\" "
            "aria-hidden=\"true\">\n",
            width_);
        for (const auto& [party, x] : columns_) {
            out += fmt::format(
                "<text class=\"party\" x=\"{:.0f}\" y=\"19\" text-anchor=\"middle\">{}</text>\n", x,
                html(history_.party_name(party)));
        }
        return out + "</svg>\n";
    }

    [[nodiscard]] std::string frame() const {
        std::string out =
            heads() +
            fmt::format(
                "<svg class=\"diagram\" id=\"{0}\" xmlns=\"http://www.w3.org/2000/svg\" "
                "viewBox=\"0 0 {1:.0f} {2:.0f}\" data-width=\"{1:.0f}\" role=\"group\" "
                "tabindex=\"0\" "
                "aria-label=\"Space-time diagram; the story stands in text beside it\">\n",
                name_, width_, height_);
        out += definitions();
        for (const auto& [party, x] : columns_) {
            out +=
                fmt::format("<path class=\"lane\" d=\"M{0:.0f} 0V{1:.0f}\"/>\n", x, height_ - 10);
        }
        out += times();
        return out + body_ + "</svg>\n";
    }

    // Where time is written: at the first mark, and again where there is room.
    [[nodiscard]] std::string times() const {
        std::string out;
        double last = -100;
        for (RecordId id = 0; id < history_.size(); ++id) {
            const bool moves = id == 0 || y_[id] > y_[id - 1];
            if (!moves || y_[id] < last + 26) continue;
            last = y_[id];
            out += fmt::format("<text class=\"time\" x=\"{:.0f}\" y=\"{:.1f}\">{} s</text>\n", 92.0,
                               y_[id] + 4, seconds(history_[id].at()));
        }
        return out;
    }

    // An owner is told by its pattern as well as by its colour.
    [[nodiscard]] std::string definitions() const {
        static constexpr std::array<std::string_view, 6> kPatterns{
            "M0 4h8", "M4 0v8", "M0 8L8 0", "M0 0L8 8", "M0 4h8M4 0v8", "M3 4h2"};
        std::string out = "<defs>";
        out += fmt::format(
            "<marker id=\"{}-arrow\" viewBox=\"0 0 8 8\" refX=\"7\" refY=\"4\" markerWidth=\"7\" "
            "markerHeight=\"7\" orient=\"auto\"><path class=\"head\" d=\"M0 0L8 4L0 "
            "8z\"/></marker>",
            name_);
        out += fmt::format(
            "<pattern id=\"{}-hatch\" width=\"6\" height=\"6\" patternUnits=\"userSpaceOnUse\" "
            "patternTransform=\"rotate(45)\"><rect class=\"hatch-ground\" width=\"6\" "
            "height=\"6\"/><path class=\"hatch\" d=\"M0 0v6\"/></pattern>",
            name_);
        for (std::size_t i = 0; i < kPatterns.size(); ++i) {
            out += fmt::format(
                "<pattern id=\"{0}-owner-{1}\" class=\"owner-{1}\" width=\"8\" height=\"8\" "
                "patternUnits=\"userSpaceOnUse\"><rect width=\"8\" height=\"8\"/><path "
                "d=\"{2}\"/></pattern>",
                name_, i, kPatterns[i]);
        }
        return out + "</defs>\n";
    }

    const Narrator& narrator_;
    const sim::History& history_;
    const Story& story_;
    const std::string& name_;
    std::vector<RecordId> evidence_;
    DrawnHistory model_;
    std::map<sim::PartyId, double> columns_;
    std::vector<double> y_;  // by record, and one more: the end
    double extra_ = 0;       // the room that leases take
    double width_ = 0;
    double height_ = 0;
    std::vector<std::string> owners_;
    std::string body_;
    Diagram out_;
};

}  // namespace

const std::vector<DiagramKind>& diagram_kinds() {
    static const std::vector<DiagramKind> kKinds{{"violation", "what broke"},
                                                 {"fault", "faults"},
                                                 {"life", "lives of nodes"},
                                                 {"pause", "pauses"},
                                                 {"node", "stops, clocks, orders"},
                                                 {"lease", "leases"},
                                                 {"renewal", "renewals"},
                                                 {"key", "keys of Redis"},
                                                 {"fire", "fires"},
                                                 {"message", "messages"},
                                                 {"charge", "charges"},
                                                 {"transaction", "transactions"},
                                                 {"write", "commits of rows"},
                                                 {"call", "calls and answers"}};
    return kKinds;
}

Diagram diagram_of(const Narrator& narrator, const Story& story, const checkers::Finding& finding,
                   const std::string& name) {
    return Painter{narrator, story, finding, name}.paint();
}

}  // namespace fencepost::reports
