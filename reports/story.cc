#include "reports/story.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "checkers/evidence.h"
#include "reports/layout.h"

namespace fencepost::reports {
namespace {

using sim::Record;
using sim::RecordId;

// How much a step matters; the last goes first when there are too many.
enum class Rank : std::uint8_t { Evidence, Fault, Gate, Turn, Detail, Noise };

struct Step {
    RecordId record = sim::kNoRecord;
    Rank rank = Rank::Noise;
    std::string shape;
    std::string what;  // empty: as the narrator says
};

class Slicer {
public:
    Slicer(Narrator& narrator, const checkers::Finding& finding)
        : narrator_(narrator),
          history_(narrator.history()),
          finding_(finding),
          evidence_(checkers::evidence_of(finding, history_.size())),
          involved_(history_.tasks(), false) {}

    Story tell(std::size_t most_lines) {
        find_unit();
        narrator_.about(unit_);
        find_faults();
        find_involved();
        find_leases();
        find_tables();
        last_ = finding_.record < history_.size() ? finding_.record
                                                  : static_cast<RecordId>(history_.size() - 1);
        if (!evidence_.empty()) last_ = std::max(last_, evidence_.back());
        for (RecordId id = 0; id <= last_; ++id) look_at(id);
        return finish(most_lines);
    }

private:
    using Decide = std::optional<Step>;

    // The unit whose name begins the key of the finding; else the one that the evidence's tasks
    // were asked for.
    void find_unit() {
        const checkers::Reading& reading = narrator_.reading();
        for (std::uint32_t unit = 0; unit < reading.units().size(); ++unit) {
            const std::string name = reading.unit_name(unit);
            const bool is_it = finding_.key == name || finding_.key.starts_with(name + "/");
            if (is_it && name.size() > unit_.size()) unit_ = name;
        }
        if (!unit_.empty()) return;
        std::set<sim::TaskId> tasks;
        for (const RecordId id : evidence_) add_root(tasks, history_[id].task());
        for (RecordId id = 0; id < history_.size() && unit_.empty(); ++id) {
            const Record record = history_[id];
            if (record.task() == sim::kNoTask || !tasks.contains(record.task())) continue;
            if (const auto fire = record.as<model::FireStarted>()) unit_ = unit_of(*fire);
        }
    }

    static std::string unit_of(const model::FireStarted& fire) {
        return fmt::format("{}/{}@{}", fire.tenant, fire.job, sim::to_text(fire.scheduled));
    }

    void find_faults() {
        for (RecordId id = 0; id < history_.size(); ++id) {
            if (const auto struck = history_[id].as<sim::FaultStruck>())
                struck_[struck->index] = id;
            if (const auto effect = history_[id].as<sim::FaultTookEffect>())
                effective_.insert(effect->index);
        }
    }

    // The tasks of the evidence and those that were asked for the same unit, with all that work for
    // them.
    void find_involved() {
        std::set<sim::TaskId> roots;
        for (const RecordId id : evidence_) add_root(roots, history_[id].task());
        for (RecordId id = 0; id < history_.size(); ++id) {
            const Record record = history_[id];
            if (const auto fire = record.as<model::FireStarted>()) {
                if (unit_of(*fire) == unit_) add_root(roots, record.task());
            }
        }
        if (!unit_.empty()) {
            for (sim::TaskId task = 1; task < history_.tasks(); ++task) {
                if (history_.task(task).name.find(unit_) != std::string::npos)
                    add_root(roots, task);
            }
            for (const checkers::Commit& commit : narrator_.reading().commits()) {
                for (const checkers::ClaimChange& change : commit.claims) {
                    if (narrator_.reading().unit_name(change.unit) == unit_)
                        add_root(roots, change.source.task);
                }
            }
        }
        // Where nothing is known of a unit, everybody who was asked for anything may have a part.
        if (roots.empty()) {
            for (sim::TaskId task = 1; task < history_.tasks(); ++task) {
                const std::string& name = history_.task(task).name;
                if (name == "start-up" || name.find('@') != std::string::npos) roots.insert(task);
            }
        }
        for (sim::TaskId task = 1; task < history_.tasks(); ++task) {
            const sim::TaskInfo& info = history_.task(task);
            involved_[task] = roots.contains(info.root) || roots.contains(task);
            if (involved_[task]) parties_.insert(info.party);
        }
    }

    void add_root(std::set<sim::TaskId>& roots, sim::TaskId task) const {
        if (task == sim::kNoTask) return;
        roots.insert(task);
        if (history_.task(task).root != sim::kNoTask) roots.insert(history_.task(task).root);
    }

    // The leases that those concerned took, and the one that the finding is about.
    void find_leases() {
        for (const checkers::LeaseChange& change : narrator_.reading().leases()) {
            const std::string_view key = change.event.key;
            const bool taken = change.event.change == model::KeyChangeKind::Set &&
                               change.source.task != sim::kNoTask && involved_[change.source.task];
            if (taken || finding_.key == key) leases_.emplace(key);
        }
    }

    // The tables that the evidence's rows are of: who looked at them before has decided by them.
    void find_tables() {
        for (const RecordId id : evidence_) {
            if (const auto row = history_[id].as<model::RowChanged>())
                tables_.insert(narrator_.table_of(*row));
        }
    }

    [[nodiscard]] bool is_involved(const Record& record) const {
        return record.task() != sim::kNoTask && involved_[record.task()];
    }
    [[nodiscard]] bool is_evidence(RecordId id) const {
        return std::ranges::binary_search(evidence_, id);
    }

    void look_at(RecordId id) {
        const Record record = history_[id];
        if (record.kind() == model::RowChanged::kKind) return look_at_row(id);
        std::optional<Step> step = decide(record);
        if (is_evidence(id)) {
            if (!step) step = Step{.shape = std::string(model::event_name(record))};
            step->rank = Rank::Evidence;
        }
        if (!step) return;
        step->record = id;
        steps_.push_back(std::move(*step));
    }

    // One step a commit: at its first row that is evidence, else at its first.
    void look_at_row(RecordId id) {
        const Narrator::Rows rows = narrator_.commit_of(id);
        if (id != rows.first) return;
        std::optional<RecordId> shown;
        for (RecordId row = rows.first; row <= rows.last; ++row) {
            if (is_evidence(row) && !shown) shown = row;
        }
        const bool evidence = shown.has_value();
        const std::string what = narrator_.what(shown.value_or(id));
        if (!evidence && !is_involved(history_[id])) return;
        Rank rank = Rank::Noise;
        if (what.find("takes the claim") != std::string::npos || finishes_unit(rows) ||
            what.find("takes over") != std::string::npos ||
            what.find("makes the claim") != std::string::npos) {
            rank = Rank::Gate;
        } else if (what.find("status ") != std::string::npos ||
                   what.find("checkpoint ") != std::string::npos) {
            rank = Rank::Turn;
        } else if (what.find("writes ") != std::string::npos ||
                   what.find("deletes ") != std::string::npos) {
            rank = Rank::Detail;
        }
        const std::string kind = what.find("claim") != std::string::npos ? "claim" : "write";
        steps_.push_back({.record = shown.value_or(id),
                          .rank = evidence ? Rank::Evidence : rank,
                          .shape = kind,
                          .what = what});
    }

    // What the claim of the unit says in the end was said by one of these.
    [[nodiscard]] bool finishes_unit(const Narrator::Rows& rows) const {
        const checkers::Reading& reading = narrator_.reading();
        for (const checkers::Commit& commit : reading.commits()) {
            for (const checkers::ClaimChange& change : commit.claims) {
                const RecordId record = change.source.record;
                if (record < rows.first || record > rows.last || !change.after) continue;
                if (change.after->finished && reading.unit_name(change.unit) == unit_) return true;
            }
        }
        return false;
    }

    [[nodiscard]] std::optional<Step> decide(const Record& record) const {
        if (const auto struck = record.as<sim::FaultStruck>()) {
            if (!effective_.contains(struck->index)) return std::nullopt;
            return Step{.rank = Rank::Fault, .shape = "fault"};
        }
        if (auto step = decide_node(record)) return step;
        if (auto step = decide_lease(record)) return step;
        if (auto step = decide_message(record)) return step;
        if (auto step = decide_call(record)) return step;
        return decide_other(record);
    }

    [[nodiscard]] std::optional<Step> decide_node(const Record& record) const {
        const bool ours = parties_.contains(record.party());
        const auto step = [&](Rank rank, std::string_view shape) -> std::optional<Step> {
            if (!ours) return std::nullopt;
            return Step{.rank = rank, .shape = std::string(shape)};
        };
        if (record.as<sim::NodePaused>() || record.as<sim::NodeSlowed>())
            return follows_fault(record) ? std::nullopt : step(Rank::Turn, "pause");
        if (const auto ended = record.as<sim::NodeEnded>()) {
            if (ended->how == "restarted") return std::nullopt;
            return follows_fault(record) ? std::nullopt : step(Rank::Turn, "end");
        }
        if (record.as<sim::NodeStopping>())
            return follows_fault(record) ? std::nullopt : step(Rank::Turn, "stop");
        if (record.as<sim::NodeResumed>()) return step(Rank::Gate, "resume");
        if (record.as<sim::NodeDraining>()) return step(Rank::Turn, "drain");
        if (record.as<sim::NodeVersion>()) return step(Rank::Gate, "version");
        if (const auto started = record.as<sim::NodeStarted>()) {
            if (started->incarnation == 1) return std::nullopt;
            return step(Rank::Turn, "start");
        }
        if (record.as<sim::ClockJumped>())
            return follows_fault(record) ? std::nullopt : step(Rank::Turn, "clock");
        if (record.as<model::StartUpFailed>()) return step(Rank::Gate, "start-up-failed");
        if (record.as<model::StartUpDone>()) return step(Rank::Turn, "start-up-done");
        return std::nullopt;
    }

    // The fault's own line says it already.
    [[nodiscard]] bool follows_fault(const Record& record) const {
        return record.id() > 0 && history_.kind_of(record.id() - 1) == sim::FaultStruck::kKind;
    }

    [[nodiscard]] std::optional<Step> decide_lease(const Record& record) const {
        const auto key = record.as<model::KeyChanged>();
        if (!key) return std::nullopt;
        if (!narrator_.is_lease(key->key)) {
            if (!is_involved(record) || key->key.starts_with("lease-version:")) return std::nullopt;
            return Step{.rank = Rank::Detail, .shape = "key"};
        }
        if (!leases_.empty() && !leases_.contains(key->key)) return std::nullopt;
        switch (key->change) {
            case model::KeyChangeKind::Set:
                return Step{.rank = Rank::Gate, .shape = "lease-taken"};
            case model::KeyChangeKind::ExpirySet:
                return Step{.rank = Rank::Noise, .shape = {}};
            case model::KeyChangeKind::Deleted:
                return Step{.rank = Rank::Turn, .shape = "lease-released"};
            default:
                return Step{.rank = Rank::Gate, .shape = "lease-gone"};
        }
    }

    [[nodiscard]] std::optional<Step> decide_message(const Record& record) const {
        const auto ours = [this](std::string_view event) {
            return event == unit_ || unit_.empty();
        };
        if (const auto event = record.as<model::MessageDelivered>(); event && ours(event->event_id))
            return Step{.rank = Rank::Gate, .shape = "delivered"};
        if (const auto event = record.as<model::MessageAcknowledged>();
            event && ours(event->event_id))
            return Step{.rank = Rank::Turn, .shape = "acknowledged"};
        if (const auto event = record.as<model::MessageExpired>(); event && ours(event->event_id))
            return Step{.rank = Rank::Turn, .shape = "visible"};
        if (const auto event = record.as<model::MessagePublished>(); event && ours(event->event_id))
            return Step{.rank = Rank::Detail, .shape = "published"};
        if (!is_involved(record)) return std::nullopt;
        if (record.as<model::GatewayApplied>() || record.as<model::GatewayDeclined>() ||
            record.as<model::GatewayRefunded>())
            return Step{.rank = Rank::Gate, .shape = "charge"};
        return std::nullopt;
    }

    [[nodiscard]] std::optional<Step> decide_call(const Record& record) const {
        const auto answer = record.as<sim::CallEnded>();
        if (!answer || !is_involved(record)) return std::nullopt;
        if (answer->outcome.starts_with("NOSCRIPT") || is_schedulers_own(record))
            return std::nullopt;
        const AnswerKind kind = kind_of_answer(answer->operation, answer->outcome);
        const bool is_error = kind == AnswerKind::Lost || kind == AnswerKind::Error;
        if (is_error) return Step{.rank = Rank::Turn, .shape = "no-answer"};
        if (kind == AnswerKind::Refused) {
            const bool lease = answer->operation.starts_with("redis.lease");
            return Step{.rank = lease ? Rank::Turn : Rank::Detail, .shape = "refused"};
        }
        if (!is_look(record)) return std::nullopt;
        return Step{.rank = kind == AnswerKind::Nothing ? Rank::Turn : Rank::Detail,
                    .shape = "look"};
    }

    // What the scheduler asks of its own tables says nothing of the job.
    [[nodiscard]] bool is_schedulers_own(const Record& answer) const {
        if (answer.cause() == sim::kNoRecord) return false;
        const auto call = history_[answer.cause()].as<sim::CallStarted>();
        return call && call->detail.find("qrtz_") != std::string_view::npos;
    }

    // A query of a table that the evidence is about.
    [[nodiscard]] bool is_look(const Record& answer) const {
        if (answer.cause() == sim::kNoRecord) return false;
        const auto call = history_[answer.cause()].as<sim::CallStarted>();
        if (!call || call->operation != "db.query") return false;
        return std::ranges::any_of(tables_, [&](const std::string& table) {
            const std::size_t at = call->detail.find("FROM " + table);
            if (at == std::string_view::npos) return false;
            const std::size_t end = at + 5 + table.size();
            return end == call->detail.size() || call->detail[end] == ' ';
        });
    }

    [[nodiscard]] std::optional<Step> decide_other(const Record& record) const {
        if (const auto fire = record.as<model::FireStarted>()) {
            if (!is_involved(record)) return std::nullopt;
            return Step{.rank = Rank::Gate, .shape = fire->recovering ? "recovered" : "asked"};
        }
        if (record.as<model::FireEnded>() && is_involved(record))
            return Step{.rank = Rank::Turn, .shape = "said"};
        if (const auto failed = record.as<model::NodeDeclaredFailed>()) {
            const bool ours = std::ranges::any_of(parties_, [&](sim::PartyId party) {
                return history_.party_name(party) == failed->instance;
            });
            if (ours) return Step{.rank = Rank::Turn, .shape = "declared"};
        }
        const auto wait = record.as<model::LockWait>();
        if (wait && is_involved(record) && wait->waits_for.find("qrtz_") == std::string_view::npos)
            return Step{.rank = Rank::Detail, .shape = "waits"};
        if (const auto asked = record.as<model::CancelAsked>();
            asked && (asked->unit == unit_ || unit_.empty()))
            return Step{.rank = Rank::Gate, .shape = "cancel"};
        if (record.as<model::OperatorActed>()) return Step{.rank = Rank::Turn, .shape = "operator"};
        const bool made = record.as<model::TableKnown>() || record.as<model::IndexKnown>() ||
                          record.as<model::RelationDropped>();
        if (made && is_involved(record)) return Step{.rank = Rank::Turn, .shape = "schema"};
        if (const auto phase = record.as<sim::PhaseBegan>(); phase && phase->name == "heal")
            return Step{.rank = Rank::Detail, .shape = {}};
        if (record.as<model::Unfinished>()) return Step{.rank = Rank::Turn, .shape = "unfinished"};
        return std::nullopt;
    }

    Story finish(std::size_t most_lines) {
        Story story;
        story.unit = unit_;
        for (const Step& step : steps_) {
            if (!step.shape.empty()) story.shape.push_back(step.shape);
        }
        for (const auto& [index, record] : struck_) {
            if (record <= last_ && effective_.contains(index)) story.faults.push_back(index);
        }
        choose(most_lines, story);
        set_moment(story);
        std::vector<RecordId> told;
        for (const Step& step : steps_) told.push_back(step.record);
        narrator_.distinguish(told);
        for (const Step& step : steps_) {
            const Record record = history_[step.record];
            if (StoryLine* const again = repeated(story, step)) {
                again->times += 1;
                continue;
            }
            story.lines.push_back(
                {.record = step.record,
                 .at = record.at(),
                 .who = narrator_.who(record),
                 .what = step.what.empty() ? narrator_.what(step.record) : step.what,
                 .is_fault = record.kind() == sim::FaultStruck::kKind,
                 .is_evidence = is_evidence(step.record)});
        }
        return story;
    }

    // The line that says the same already, if it is the last one.
    [[nodiscard]] StoryLine* repeated(Story& story, const Step& step) const {
        if (story.lines.empty() || step.rank == Rank::Evidence) return nullptr;
        StoryLine& last = story.lines.back();
        const bool same =
            !last.is_evidence && last.who == narrator_.who(history_[step.record]) &&
            last.what == (step.what.empty() ? narrator_.what(step.record) : step.what);
        return same ? &last : nullptr;
    }

    // Of the least rank first, and of those the furthest from the end first.
    void choose(std::size_t most_lines, Story& story) {
        const std::size_t before = steps_.size();
        std::erase_if(steps_, [](const Step& step) { return step.rank == Rank::Noise; });
        for (int rank = static_cast<int>(Rank::Detail); rank >= 0; --rank) {
            while (steps_.size() > most_lines) {
                const auto least = std::ranges::find(steps_, static_cast<Rank>(rank), &Step::rank);
                if (least == steps_.end()) break;
                steps_.erase(least);
            }
        }
        story.left_out = before - steps_.size();
    }

    void set_moment(Story& story) const {
        const bool at_the_end = finding_.record >= history_.size() ||
                                history_.kind_of(finding_.record) == model::RunEnded::kKind ||
                                history_.kind_of(finding_.record) == model::Unfinished::kKind;
        story.moment_text = "the violation";
        story.moment = history_[last_].at();
        if (!at_the_end) {
            story.moment = history_[finding_.record].at();
            return;
        }
        if (story.faults.empty()) {
            story.moment_text = "the end of the run";
            return;
        }
        story.moment_text = "the first fault";
        for (const std::uint32_t fault : story.faults)
            story.moment = std::min(story.moment, history_[struck_.at(fault)].at());
    }

    Narrator& narrator_;
    const sim::History& history_;
    const checkers::Finding& finding_;
    std::vector<RecordId> evidence_;
    std::vector<bool> involved_;  // by task
    std::set<sim::PartyId> parties_;
    std::set<std::string> tables_;
    std::set<std::string, std::less<>> leases_;
    std::map<std::uint32_t, RecordId> struck_;
    std::set<std::uint32_t> effective_;
    std::string unit_;
    RecordId last_ = 0;
    std::vector<Step> steps_;
};

}  // namespace

Story story_of(Narrator& narrator, const checkers::Finding& finding, std::size_t most_lines) {
    return Slicer{narrator, finding}.tell(most_lines);
}

std::string short_message(const Narrator& narrator, const checkers::Finding& finding) {
    std::string message = on_one_line(finding.message);
    const sim::History& history = narrator.history();
    for (const RecordId id : checkers::evidence_of(finding, history.size())) {
        const std::string whole = narrator.reading().who_and_when(id);
        const std::string brief = fmt::format("{} (record {})", narrator.who(history[id]), id);
        for (std::size_t at = message.find(whole); at != std::string::npos;
             at = message.find(whole, at + brief.size())) {
            message.replace(at, whole.size(), brief);
        }
    }
    return message;
}

// Twice the longest common subsequence over the sum of lengths.
double likeness(const std::vector<std::string>& shape, const std::vector<std::string>& other) {
    if (shape.empty() && other.empty()) return 1.0;
    std::vector<std::size_t> row(other.size() + 1, 0);
    for (const std::string& step : shape) {
        std::size_t diagonal = 0;
        for (std::size_t i = 1; i <= other.size(); ++i) {
            const std::size_t above = row[i];
            row[i] = step == other[i - 1] ? diagonal + 1 : std::max(row[i], row[i - 1]);
            diagonal = above;
        }
    }
    return 2.0 * static_cast<double>(row.back()) / static_cast<double>(shape.size() + other.size());
}

}  // namespace fencepost::reports
