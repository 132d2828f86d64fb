// What the writers of a violation held, and what became of them in another run.
#include <fmt/format.h>

#include <algorithm>

#include "checkers/evidence.h"
#include "checkers/identity.h"
#include "reports/explanation.h"

namespace fencepost::reports {
namespace {

using sim::RecordId;

// The lease that a root task had taken last, and how it was with it at a record.
std::string lease_text(const Narrator& narrator, sim::TaskId root, RecordId at) {
    const checkers::Reading& reading = narrator.reading();
    if (reading.expectations().lease_prefix.empty()) return {};
    std::optional<checkers::LeaseChange> taken;
    std::optional<checkers::LeaseChange> over;
    for (const checkers::LeaseChange& change : reading.leases()) {
        if (change.source.record >= at) break;
        if (change.event.change == model::KeyChangeKind::Set && change.source.root == root) {
            taken = change;
            over.reset();
            continue;
        }
        const bool same_lease = taken && change.event.key == taken->event.key;
        const bool ends = change.event.change != model::KeyChangeKind::ExpirySet;
        if (same_lease && ends && !over) over = change;
    }
    if (!taken) return "without a lease";
    std::string text = fmt::format("lease {}", taken->event.after);
    if (!over) return "holds " + text;
    const sim::History& history = narrator.history();
    const sim::Duration since = history[at].at() - history[over->source.record].at();
    std::string_view how = "was gone for";
    if (over->event.change == model::KeyChangeKind::Expired) how = "had run out";
    if (over->event.change == model::KeyChangeKind::Deleted) how = "had been released";
    if (over->event.change == model::KeyChangeKind::Set) how = "had been overwritten";
    if (over->event.change == model::KeyChangeKind::Lost) how = "had been lost with Redis's data";
    return fmt::format("its {} {} {} before", text, how,
                       sim::to_text(std::chrono::round<std::chrono::milliseconds>(since)));
}

// The token under which a root task took a claim last, and whether another has a newer one.
std::string token_text(const Narrator& narrator, sim::TaskId root, RecordId at) {
    std::optional<std::int64_t> own;
    std::optional<std::int64_t> newest;
    std::uint32_t unit = checkers::kNone;
    for (const checkers::Commit& commit : narrator.reading().commits()) {
        for (const checkers::ClaimChange& change : commit.claims) {
            if (change.source.record > at || !change.after || !change.after->token) continue;
            const bool taken = !change.before || change.before->token != change.after->token ||
                               change.before->owner != change.after->owner;
            if (change.source.root == root && taken && change.after->owned()) {
                own = change.after->token;
                unit = change.unit;
                newest = own;
            } else if (change.unit == unit) {
                newest = std::max(newest, change.after->token);
            }
        }
    }
    if (!own) return {};
    if (newest && *newest > *own)
        return fmt::format("token {}, when the claim's is {}", *own, *newest);
    return fmt::format("token {}", *own);
}

std::string holding_text(const Narrator& narrator, const sim::Record& record) {
    if (record.task() == sim::kNoTask) return {};
    const bool writes =
        record.kind() == model::RowChanged::kKind || record.kind() == model::GatewayApplied::kKind;
    if (!writes) return {};
    const sim::TaskId root = narrator.history().task(record.task()).root;
    std::vector<std::string> parts;
    for (std::string part :
         {lease_text(narrator, root, record.id()), token_text(narrator, root, record.id())}) {
        if (!part.empty()) parts.push_back(std::move(part));
    }
    return joined(parts);
}

sim::TaskId find_task(const sim::History& history, const std::string& actor) {
    for (sim::TaskId task = 1; task < history.tasks(); ++task) {
        if (history.actor(task) == actor) return task;
    }
    return sim::kNoTask;
}

std::vector<RecordId> answers_of(const sim::History& history, sim::TaskId task) {
    std::vector<RecordId> answers;
    for (RecordId id = 0; id < history.size(); ++id) {
        if (history.kind_of(id) != sim::CallEnded::kKind || history[id].task() != task) continue;
        if (!history[id].as<sim::CallEnded>()->outcome.starts_with("NOSCRIPT"))
            answers.push_back(id);
    }
    return answers;
}

// Session numbers and the like differ for no reason that matters.
bool same_answer(const sim::Record& one, const sim::Record& other) {
    const auto a = one.as<sim::CallEnded>();
    const auto b = other.as<sim::CallEnded>();
    if (a->operation != b->operation || a->ordinal != b->ordinal) return false;
    const AnswerKind kind = kind_of_answer(a->operation, a->outcome);
    if (kind != kind_of_answer(b->operation, b->outcome)) return false;
    return kind == AnswerKind::Answered || a->outcome == b->outcome;
}

std::string who_writes_it(const checkers::Finding& finding, const Narrator& other) {
    const checkers::Reading& reading = other.reading();
    for (const checkers::Commit& commit : reading.commits()) {
        for (const checkers::EffectChange& change : commit.effects) {
            if (change.lands() && reading.effect_key(change.after) == finding.key)
                return told(other, change.source.record);
        }
    }
    return {};
}

}  // namespace

std::vector<Witness> witnesses_of(const Narrator& narrator, const checkers::Finding& finding) {
    const sim::History& history = narrator.history();
    std::vector<Witness> witnesses;
    for (const RecordId id : checkers::evidence_of(finding, history.size())) {
        const sim::Record record = history[id];
        witnesses.push_back({.record = id,
                             .at = record.at(),
                             .who = narrator.who(record),
                             .what = narrator.what(id),
                             .holding = holding_text(narrator, record)});
    }
    return witnesses;
}

std::string told(const Narrator& narrator, RecordId record) {
    if (record >= narrator.history().size()) return "the run was over";
    return fmt::format("{} {}", narrator.who(narrator.history()[record]), narrator.what(record));
}

std::string consequence_of(const Narrator& failing, const checkers::Finding& finding,
                           const Narrator& other) {
    const sim::History& here = failing.history();
    const sim::History& there = other.history();
    if (finding.record >= here.size()) return {};
    const sim::TaskId blamed = here[finding.record].task();
    if (blamed == sim::kNoTask) return who_writes_it(finding, other);
    for (const RecordId id : checkers::evidence_of(finding, here.size())) {
        const sim::TaskId task = here[id].task();
        if (task == sim::kNoTask || find_task(there, here.actor(task)) != sim::kNoTask) continue;
        return fmt::format("{} has nothing to do", here.actor(task));
    }
    const std::string actor = here.actor(blamed);
    const sim::TaskId twin = find_task(there, actor);
    const std::vector<RecordId> answers = answers_of(here, blamed);
    const std::vector<RecordId> others = answers_of(there, twin);
    for (std::size_t i = 0; i < others.size(); ++i) {
        if (i >= answers.size() || !same_answer(here[answers[i]], there[others[i]]))
            return told(other, others[i]);
    }
    if (others.empty()) return fmt::format("{} does nothing", actor);
    if (others.size() == answers.size()) return {};
    return fmt::format("{} goes no further than this: it {}", other.who(there[others.back()]),
                       other.what(others.back()));
}

std::string moment_text(sim::Time at, sim::Time moment) {
    const double seconds = std::chrono::duration<double>(at - moment).count();
    return fmt::format("{:+.4f} s", seconds == 0.0 ? 0.0 : seconds);
}

}  // namespace fencepost::reports
