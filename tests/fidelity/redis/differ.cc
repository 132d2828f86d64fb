#include "tests/fidelity/redis/differ.h"

#include <algorithm>

#include "jobs/lease.h"
#include "model/redis/sha1.h"
#include "model/redis/text.h"
#include "tests/fidelity/comparisons.h"

namespace fencepost::fidelity {
namespace {

namespace lease_scripts = jobs::lease_scripts;

// What Redis promises no order for.
Reply in_order(const Step& step, Reply reply) {
    if (!step.arguments.empty() && model::redis::is_word(step.arguments[0], "keys")) {
        std::ranges::sort(reply.elements, {}, &Reply::text);
    }
    return reply;
}

// The model says of itself that it does not have that, in a script too.
bool is_refusal(const Reply& reply) {
    return reply.is_error() && reply.text.starts_with("ERR the simulated Redis");
}

}  // namespace

Reply Differ::ask(const Step& step, std::size_t position, bool at_the_end) {
    Reply reply = model_.execute(step);
    scripts_ = scripts_ || concerns_scripts(step);
    refused_ = refused_ || is_refusal(reply);
    real_->send(step);
    asked_.push_back({step, reply, position, at_the_end});
    if (!at_the_end) ++steps_;
    return reply;
}

void Differ::ask_what_is_left(Step::To to, std::size_t position) {
    const auto look = [&](std::vector<std::string> arguments) {
        return ask({.to = to, .arguments = std::move(arguments)}, position, true);
    };
    if (scripts_) {
        (void)look({"SCRIPT", "EXISTS", model::redis::sha1_hex(lease_scripts::kAcquire.source),
                    model::redis::sha1_hex(lease_scripts::kRenew.source),
                    model::redis::sha1_hex(lease_scripts::kRelease.source)});
    }
    (void)look({"DBSIZE"});
    const Reply keys = look({"KEYS", "*"});
    for (const Reply& key : keys.elements) {
        (void)look({"PEXPIRETIME", key.text});
        const Reply type = look({"TYPE", key.text});
        (void)look({type.text == "hash" ? "HGETALL" : "GET", key.text});
    }
}

std::optional<Difference> Differ::check(const Session& session) {
    const std::vector<Reply> replies = real_->collect();
    const std::vector<Asked> asked = std::exchange(asked_, {});
    if (replies.size() != asked.size()) throw HarnessFailure("a reply of redis-server is missing");
    for (std::size_t i = 0; i < asked.size(); ++i) {
        Reply model = in_order(asked[i].step, asked[i].model);
        Reply real = in_order(asked[i].step, replies[i]);
        if (model == real) continue;
        Difference difference{
            .model = std::move(model), .real = std::move(real), .at_the_end = asked[i].at_the_end};
        const auto end = session.begin() + static_cast<std::ptrdiff_t>(asked[i].position);
        difference.session.assign(session.begin(), end);
        difference.session.push_back(asked[i].step);
        return difference;
    }
    return std::nullopt;
}

// Shrinking leaves out steps on which later ones stand.
bool Differ::makes_sense(const Step& step) const {
    if (step.kind == Step::Kind::Cut || step.kind == Step::Kind::Promote) return has_replica_;
    if (step.kind == Step::Kind::Demote) return has_former_primary_;
    if (step.kind != Step::Kind::Command) return true;
    if (step.to == Step::To::Replica) return has_replica_;
    return step.to == Step::To::Primary || has_former_primary_;
}

void Differ::note(const Step& step) {
    if (step.kind == Step::Kind::Promote) {
        has_replica_ = false;
        has_former_primary_ = true;
    } else if (step.kind == Step::Kind::Demote) {
        has_replica_ = true;
        has_former_primary_ = false;
    }
}

std::optional<Difference> Differ::compare(const Session& session) {
    asked_.clear();
    refused_ = scripts_ = false;
    model_.reset();
    real_->reset();
    has_replica_ = model_.has_replica();
    has_former_primary_ = false;
    for (std::size_t position = 0; position < session.size(); ++position) {
        const Step& step = session[position];
        if (!makes_sense(step)) continue;
        if (step.kind == Step::Kind::Command) {
            (void)ask(step, position, false);
            if (!refused_) continue;
            (void)real_->collect();
            return std::nullopt;
        }
        if (auto difference = check(session)) return difference;
        real_->apply(step, model_.elapsed(), model_.fsync_horizon());
        model_.apply(step);
        real_->set_clock(model_.wall_us());
        note(step);
    }
    ask_what_is_left(Step::To::Primary, session.size());
    if (has_replica_) ask_what_is_left(Step::To::Replica, session.size());
    if (has_former_primary_) ask_what_is_left(Step::To::FormerPrimary, session.size());
    return check(session);
}

Difference shrink(Differ& differ, const rc::Shrinkable<Session>& differing) {
    rc::Shrinkable<Session> smallest = differing;
    std::optional<Difference> difference = differ.compare(smallest.value());
    if (!difference) throw HarnessFailure("a difference did not come up a second time");
    for (bool found = true; found;) {
        found = false;
        auto candidates = smallest.shrinks();
        for (auto next = candidates.next(); next && !found; next = candidates.next()) {
            auto smaller = differ.compare(next->value());
            if (!smaller) continue;
            difference = std::move(smaller);
            smallest = *next;
            found = true;
        }
    }
    return *std::move(difference);
}

}  // namespace fencepost::fidelity
