#include "reports/narrator.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "checkers/identity.h"
#include "reports/layout.h"

namespace fencepost::reports {
namespace {

using sim::Record;
using sim::RecordId;

std::string time_text(sim::Time time) {
    return sim::to_text(time);
}

// "40001 could not serialize access": five characters of which the first is a digit.
bool starts_with_sqlstate(std::string_view text) {
    if (text.size() < 6 || text[5] != ' ') return false;
    return std::ranges::all_of(
        text.substr(0, 5), [](char c) { return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z'); });
}

std::string word_after(std::string_view text, std::string_view lead) {
    const std::size_t at = text.find(lead);
    if (at == std::string_view::npos) return {};
    const std::string_view rest = text.substr(at + lead.size());
    return std::string(rest.substr(0, rest.find_first_of(" (,;\n")));
}

std::string changed(std::string_view what, std::string_view before, std::string_view after) {
    return fmt::format("{} {} -> {}", what, before, after);
}

// "daily-reconcile" or, with the time of day, "daily-reconcile@18:00:45", of
// "globex:daily-reconcile@2026-03-02T18:00:45Z".
std::string task_name(std::string_view name, bool with_time) {
    const std::size_t at = std::min(name.find('@'), name.size());
    std::string brief{name.substr(0, at)};
    brief.erase(0, brief.find_last_of("/:") + 1);  // npos + 1 is 0
    const std::size_t time = name.find('T', at);
    if (with_time && time != std::string_view::npos)
        brief += "@" + std::string(name.substr(time + 1, name.find_last_of('Z') - time - 1));
    return brief;
}

std::string shown_owner(const checkers::ClaimState& state) {
    return state.owned() ? checkers::text_of(state.owner) : "nobody";
}

}  // namespace

AnswerKind kind_of_answer(std::string_view operation, std::string_view outcome) {
    if (outcome == "connection reset" || outcome == "timed out" ||
        outcome == "connection refused" || outcome == "pending") {
        return AnswerKind::Lost;
    }
    if (starts_with_sqlstate(outcome)) return AnswerKind::Error;
    if (operation.starts_with("redis.lease") && (outcome == "nil" || outcome == "0"))
        return AnswerKind::Refused;
    if (operation == "db.execute" && outcome == "0 changed") return AnswerKind::Refused;
    if (operation == "db.query" && outcome == "0 rows") return AnswerKind::Nothing;
    return AnswerKind::Answered;
}

std::string brief(std::string_view detail) {
    const std::string line = on_one_line(detail);
    if (line.starts_with("SELECT")) {
        const std::string table = word_after(line, " FROM ");
        if (table.empty()) return shortened(line, 40);
        return fmt::format("SELECT … FROM {}{}", table,
                           line.find("FOR UPDATE") == std::string::npos ? "" : " FOR UPDATE");
    }
    for (const std::string_view lead : {"INSERT INTO ", "UPDATE ", "DELETE FROM "}) {
        if (line.starts_with(lead)) return fmt::format("{}{}", lead, word_after(line, lead));
    }
    return shortened(line, 40);
}

Narrator::Narrator(const sim::History& history, const checkers::Expectations& expectations)
    : history_(history), reading_(std::make_unique<checkers::Reading>(history, expectations)) {
    for (RecordId id = 0; id < history.size(); ++id) {
        if (history.kind_of(id) != model::TableKnown::kKind) continue;
        const auto table = history[id].as<model::TableKnown>();
        tables_[table->index] = table->name;
    }
    for (const checkers::Commit& commit : reading_->commits()) {
        for (const auto& change : commit.effects) effects_.emplace(change.source.record, &change);
        for (const auto& change : commit.claims) claims_.emplace(change.source.record, &change);
    }
    for (const checkers::LeaseChange& change : reading_->leases())
        lease_keys_.emplace(change.event.key);
}

bool Narrator::is_lease(std::string_view key) const {
    return lease_keys_.contains(key);
}

std::string Narrator::who(const Record& record) const {
    if (record.task() == sim::kNoTask) return history_.party_name(record.party());
    const sim::TaskInfo& task = history_.task(record.task());
    std::string who = fmt::format("{}#{}", history_.party_name(task.party), task.incarnation);
    const auto name = task_names_.find(root_of(record.task()));
    if (name != task_names_.end()) who += "/" + name->second;
    return who;
}

sim::TaskId Narrator::root_of(sim::TaskId task) const {
    const sim::TaskId root = history_.task(task).root;
    return root == sim::kNoTask ? task : root;
}

void Narrator::distinguish(const std::vector<RecordId>& records) {
    std::map<std::pair<sim::PartyId, std::uint32_t>, std::set<sim::TaskId>> processes;
    for (const RecordId id : records) {
        const sim::TaskId task = history_[id].task();
        if (task == sim::kNoTask) continue;
        const sim::TaskInfo& info = history_.task(task);
        if (info.name == "main" || info.name == "shutdown") continue;  // the process itself
        processes[{info.party, info.incarnation}].insert(root_of(task));
    }
    task_names_.clear();
    for (const auto& [process, roots] : processes) {
        if (roots.size() < 2) continue;
        std::map<std::string, int> uses;
        for (const sim::TaskId root : roots) ++uses[task_name(history_.task(root).name, false)];
        for (const sim::TaskId root : roots) {
            const std::string& name = history_.task(root).name;
            const std::string brief = task_name(name, false);
            task_names_[root] = uses[brief] == 1 ? brief : task_name(name, true);
        }
    }
}

// "the claim", or with its name where the text is about another.
std::string Narrator::named(std::string_view noun, std::string_view name) const {
    if (name == unit_) return fmt::format("the {}", noun);
    return fmt::format("the {} {}", noun, name);
}

Narrator::Rows Narrator::commit_of(RecordId row) const {
    const auto number = [this](RecordId id) {
        return history_[id].as<model::RowChanged>()->transaction;
    };
    const auto is_row = [this](RecordId id) {
        return history_.kind_of(id) == model::RowChanged::kKind;
    };
    Rows rows{.first = row, .last = row};
    const std::uint32_t transaction = number(row);
    while (rows.first > 0 && is_row(rows.first - 1) && number(rows.first - 1) == transaction)
        --rows.first;
    while (rows.last + 1 < history_.size() && is_row(rows.last + 1) &&
           number(rows.last + 1) == transaction)
        ++rows.last;
    return rows;
}

std::string Narrator::unit_of_commit(RecordId row) const {
    const Rows rows = commit_of(row);
    for (RecordId id = rows.first; id <= rows.last; ++id) {
        const auto claim = claims_.find(id);
        if (claim != claims_.end()) return reading_->unit_name(claim->second->unit);
        const auto effect = effects_.find(id);
        if (effect == effects_.end()) continue;
        const std::uint32_t changed = effect->second->after == checkers::kNone
                                          ? effect->second->before
                                          : effect->second->after;
        const std::uint32_t unit = reading_->effects()[changed].unit;
        if (unit != checkers::kNone) return reading_->unit_name(unit);
    }
    return {};
}

std::string Narrator::table_of(const model::RowChanged& row) const {
    const auto found = tables_.find(row.table);
    return found == tables_.end() ? fmt::format("table {}", row.table) : found->second;
}

std::string Narrator::what(RecordId id) const {
    const Record record = history_[id];
    switch (record.kind()) {
        case sim::CallStarted::kKind:
        case sim::CallApplied::kKind:
            return call_text(record);
        case sim::CallEnded::kKind:
            return answer_text(record);
        case model::RowChanged::kKind:
            return commit_text(id);
        case model::KeyChanged::kKind:
            return key_text(record);
        default:
            break;
    }
    if (std::string text = node_text(record); !text.empty()) return text;
    if (std::string text = message_text(record); !text.empty()) return text;
    return world_text(record);
}

std::string Narrator::call_text(const Record& record) const {
    if (const auto applied = record.as<sim::CallApplied>()) {
        return fmt::format("{}/{} is done: {}", applied->operation, applied->ordinal,
                           on_one_line(applied->result));
    }
    const auto call = record.as<sim::CallStarted>();
    std::string text = fmt::format("sends {}/{}", call->operation, call->ordinal);
    if (!call->detail.empty() && call->operation != "db.begin" && call->operation != "db.commit")
        text += ": " + brief(call->detail);
    return text;
}

std::string Narrator::answer_text(const Record& record) const {
    const auto answer = record.as<sim::CallEnded>();
    std::string of = fmt::format("{}/{}", answer->operation, answer->ordinal);
    if (record.cause() != sim::kNoRecord) {
        const auto call = history_[record.cause()].as<sim::CallStarted>();
        if (call && !call->detail.empty() && call->operation.starts_with("db.") &&
            call->operation != "db.begin" && call->operation != "db.commit")
            of += " " + brief(call->detail);
    }
    const std::string outcome = on_one_line(answer->outcome);
    switch (kind_of_answer(answer->operation, answer->outcome)) {
        case AnswerKind::Refused:
            if (answer->operation == "redis.lease-acquire") return "does not get the lease";
            if (answer->operation == "redis.lease-renew") return "may not renew its lease";
            if (answer->operation == "redis.lease-release") return "has no lease to release";
            return of + " changes no row";
        case AnswerKind::Nothing:
            return of + " finds no row";
        case AnswerKind::Lost:
            return of + " gets no answer: " + outcome;
        case AnswerKind::Error:
            return of + " fails: " + outcome;
        case AnswerKind::Answered:
            break;
    }
    return fmt::format("{} is answered: {}", of, outcome);
}

std::string Narrator::node_text(const Record& record) const {
    if (const auto started = record.as<sim::NodeStarted>()) {
        return started->incarnation == 1 ? "starts" : "starts again";
    }
    if (const auto ended = record.as<sim::NodeEnded>()) {
        if (ended->how == "crash") return "is killed";
        return fmt::format("ends: {}", on_one_line(ended->how));
    }
    if (const auto paused = record.as<sim::NodePaused>())
        return fmt::format("stands still for {}", sim::to_text(paused->duration));
    if (record.as<sim::NodeResumed>()) return "goes on";
    if (const auto stopping = record.as<sim::NodeStopping>())
        return fmt::format("is asked to end within {}", sim::to_text(stopping->grace));
    if (record.as<sim::NodeDraining>()) return "knows that it must end";
    if (const auto slowed = record.as<sim::NodeSlowed>()) {
        return fmt::format("is slower by {} a step, for {}", sim::to_text(slowed->by),
                           sim::to_text(slowed->duration));
    }
    if (const auto version = record.as<sim::NodeVersion>())
        return fmt::format("runs version {}", version->version);
    if (const auto jumped = record.as<sim::ClockJumped>())
        return fmt::format("has its clock moved by {}", sim::to_text(jumped->by));
    if (const auto struck = record.as<sim::FaultStruck>())
        return fmt::format("fault {}: {}", struck->index + 1, on_one_line(struck->fault));
    if (const auto effect = record.as<sim::FaultTookEffect>())
        return fmt::format("fault {} takes effect on {}", effect->index + 1, effect->on);
    if (record.as<sim::TaskStarted>())
        return fmt::format("task {} starts", on_one_line(history_.task(record.task()).name));
    if (record.as<sim::TaskEnded>())
        return fmt::format("task {} ends", on_one_line(history_.task(record.task()).name));
    if (const auto phase = record.as<sim::PhaseBegan>()) {
        if (phase->name == "heal") return "everything is healed";
        return fmt::format("phase: {}", phase->name);
    }
    return {};
}

std::string Narrator::message_text(const Record& record) const {
    const auto message = [this](std::uint32_t number, std::string_view event) {
        return event == unit_ ? fmt::format("message {}", number)
                              : fmt::format("message {} ({})", number, on_one_line(event));
    };
    if (const auto published = record.as<model::MessagePublished>())
        return fmt::format("stores {}", message(published->number, published->event_id));
    if (const auto delivered = record.as<model::MessageDelivered>()) {
        return fmt::format("receives {}, delivery {}",
                           message(delivered->number, delivered->event_id), delivered->delivery);
    }
    if (const auto done = record.as<model::MessageAcknowledged>()) {
        return fmt::format("acknowledges {}{}", message(done->number, done->event_id),
                           done->late ? ", late" : "");
    }
    if (const auto expired = record.as<model::MessageExpired>()) {
        return fmt::format("nobody acknowledged {}: it is visible again",
                           message(expired->number, expired->event_id));
    }
    const auto charge = [](std::string_view verb, const auto& event) {
        return fmt::format("{} {} for {} under request id {}", verb, event.amount,
                           on_one_line(event.reference), on_one_line(event.request_id));
    };
    if (const auto applied = record.as<model::GatewayApplied>()) return charge("charges", *applied);
    if (const auto declined = record.as<model::GatewayDeclined>())
        return charge("is declined", *declined);
    if (const auto refunded = record.as<model::GatewayRefunded>())
        return charge("has refunded", *refunded);
    return {};
}

std::string Narrator::world_text(const Record& record) const {
    if (const auto fire = record.as<model::FireStarted>()) {
        return fmt::format("is asked to run {} of {}{} (fire {})", on_one_line(fire->job),
                           time_text(fire->scheduled), fire->recovering ? ", recovering it" : "",
                           on_one_line(fire->fire_instance_id));
    }
    if (const auto ended = record.as<model::FireEnded>())
        return fmt::format("says of its fire: {}", on_one_line(ended->outcome));
    if (const auto failed = record.as<model::NodeDeclaredFailed>()) {
        return fmt::format("declares {} dead, {} to recover", on_one_line(failed->instance),
                           counted(failed->recovered_fires, "fire", "fires"));
    }
    if (const auto table = record.as<model::TableKnown>())
        return fmt::format("commits: table {} ({})", table->name, table->columns);
    if (const auto index = record.as<model::IndexKnown>())
        return fmt::format("commits: index {} on {} {}", index->name, index->table, index->on);
    if (const auto dropped = record.as<model::RelationDropped>())
        return fmt::format("commits: {} is dropped", dropped->name);
    if (const auto ended = record.as<model::SessionEnded>())
        return fmt::format("session {} ends: {}", ended->session, on_one_line(ended->why));
    if (const auto wait = record.as<model::LockWait>())
        return fmt::format("waits for {}", on_one_line(wait->waits_for));
    if (const auto due = record.as<model::WorkDue>())
        return fmt::format("{}/{} is due at {}", due->tenant, due->job, time_text(due->at));
    if (record.as<model::StartUpDone>()) return "is through its start-up";
    if (const auto failed = record.as<model::StartUpFailed>()) {
        return fmt::format("fails to start: {}{}", on_one_line(failed->error),
                           failed->sqlstate.empty() ? "" : fmt::format(" ({})", failed->sqlstate));
    }
    if (const auto unfinished = record.as<model::Unfinished>())
        return fmt::format("not done at the end: {}", on_one_line(unfinished->what));
    if (const auto ended = record.as<model::RunEnded>())
        return fmt::format("the run ends ({}, {} after healing)", ended->how,
                           sim::to_text(ended->settled_after));
    if (const auto broken = record.as<model::InvariantBroken>())
        return fmt::format("the invariant {} does not hold: {}", on_one_line(broken->invariant),
                           on_one_line(broken->row));
    if (const auto looked = record.as<model::InvariantLooked>())
        return fmt::format("the invariant {} was looked at {}", on_one_line(looked->invariant),
                           counted(looked->times, "time", "times"));
    if (const auto acted = record.as<model::OperatorActed>())
        return fmt::format("an operator: {}", on_one_line(acted->what));
    if (const auto asked = record.as<model::CancelAsked>())
        return fmt::format("an operator asks to cancel {}",
                           asked->unit == unit_ ? "it" : on_one_line(asked->unit));
    return fmt::format("{} {}", model::event_name(record), on_one_line(model::event_text(record)));
}

std::string Narrator::key_text(const Record& record) const {
    const auto event = record.as<model::KeyChanged>();
    std::string key = on_one_line(event->key);
    const bool lease = is_lease(event->key);
    const std::string noun = lease && lease_keys_.size() == 1 ? "the lease"
                             : lease                          ? "the lease " + key
                                                              : "key " + key;
    const std::string before = on_one_line(event->before);
    const std::string after = on_one_line(event->after);
    const auto until = [&]() -> std::string {
        if (event->expires_ms == 0) return {};
        const sim::Time expires{std::chrono::milliseconds{event->expires_ms}};
        return fmt::format(
            ", for {}",
            sim::to_text(std::chrono::round<std::chrono::milliseconds>(expires - record.at())));
    };
    switch (event->change) {
        case model::KeyChangeKind::Set:
            if (!lease) return fmt::format("sets {} to {}", noun, after);
            if (!before.empty())
                return fmt::format("overwrites {} {} with {}{}", noun, before, after, until());
            return fmt::format("takes {}: {}{}", noun, after, until());
        case model::KeyChangeKind::ExpirySet:
            return fmt::format("renews {} {}{}", noun, before, until());
        case model::KeyChangeKind::Deleted:
            return fmt::format("{} {} {}", lease ? "releases" : "deletes", noun, before);
        case model::KeyChangeKind::Expired:
            return fmt::format("{} {} runs out", noun, before);
        case model::KeyChangeKind::Evicted:
            return fmt::format("{} {} is evicted", noun, before);
        case model::KeyChangeKind::Lost:
            if (after.empty()) return fmt::format("{} {} is lost", noun, before);
            return fmt::format("{} is {} again: Redis went back to an earlier state", noun, after);
    }
    return key;
}

std::string Narrator::claim_text(const checkers::ClaimChange& change) const {
    const std::string claim = named("claim", reading_->unit_name(change.unit));
    if (!change.after) return fmt::format("deletes {}", claim);
    const checkers::ClaimState& after = *change.after;
    if (!change.before) {
        return fmt::format("makes {} ({}, owner {}, token {})", claim, after.status,
                           shown_owner(after), checkers::text_of(after.token));
    }
    const checkers::ClaimState& before = *change.before;
    std::vector<std::string> parts;
    if (after.owned() && before.owner != after.owner) {
        parts.push_back(fmt::format(
            "{} {}: owner {} -> {}, token {} -> {}", before.owned() ? "takes over" : "takes", claim,
            shown_owner(before), shown_owner(after), checkers::text_of(before.token),
            checkers::text_of(after.token)));
    } else if (before.token != after.token) {
        parts.push_back(
            changed("token", checkers::text_of(before.token), checkers::text_of(after.token)));
    }
    if (before.status != after.status) parts.push_back(fmt::format("status {}", after.status));
    if (before.checkpoint != after.checkpoint)
        parts.push_back("checkpoint " + checkers::text_of(after.checkpoint));
    if (before.current != after.current && after.current)
        parts.push_back(fmt::format("{} done", *after.current));
    if (before.total != after.total) parts.push_back("total " + checkers::text_of(after.total));
    if (before.percent != after.percent && after.percent)
        parts.push_back(fmt::format("{} %", *after.percent));
    if (parts.empty() && before.until != after.until) parts.push_back("renews " + claim);
    if (parts.empty()) return {};
    std::string text = joined(parts);
    if (!text.starts_with("takes") && !text.starts_with("renews")) text = claim + ": " + text;
    return text;
}

std::string Narrator::commit_text(RecordId row) const {
    const Rows rows = commit_of(row);
    std::vector<std::string> parts;
    std::vector<std::string> written;
    std::vector<std::string> taken_back;
    std::map<std::string, std::size_t> others;
    for (RecordId id = rows.first; id <= rows.last; ++id) {
        const auto claim = claims_.find(id);
        if (claim != claims_.end()) {
            if (std::string text = claim_text(*claim->second); !text.empty())
                parts.push_back(std::move(text));
            continue;
        }
        const auto effect = effects_.find(id);
        if (effect != effects_.end() && effect->second->lands()) {
            // The row that was asked about comes first.
            const auto place = id == row ? written.begin() : written.end();
            written.insert(place, reading_->effect_text(effect->second->after));
        } else if (effect != effects_.end() && effect->second->leaves()) {
            taken_back.push_back(reading_->effect_text(effect->second->before));
        } else {
            const auto change = history_[id].as<model::RowChanged>();
            ++others[fmt::format("{} {}", name_of(change->change), table_of(*change))];
        }
    }
    const auto add = [&](std::string_view verb, const std::vector<std::string>& rows_of) {
        if (rows_of.empty()) return;
        parts.push_back(fmt::format(
            "{} {}{}", verb, rows_of.front(),
            rows_of.size() == 1 ? "" : fmt::format(" and {} more", rows_of.size() - 1)));
    };
    add("writes", written);
    add("deletes", taken_back);
    if (parts.empty()) {
        for (const auto& [what, count] : others)
            parts.push_back(count == 1 ? what : fmt::format("{} ({} rows)", what, count));
    }
    return "commits: " + joined(parts, "; ");
}

}  // namespace fencepost::reports
