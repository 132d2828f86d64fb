#include "tests/fidelity/postgres/compare.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <memory>
#include <optional>

#include "sim/require.h"
#include "tests/fidelity/postgres/interleaving.h"
#include "tests/fidelity/postgres/sides.h"

namespace fencepost::fidelity {

namespace {

// Beyond this, a difference is reported as it is: small enough to read by then.
constexpr int kMostShrinkSteps = 2000;

// Plays cases on both sides until they differ.
class Duel {
public:
    Duel(ModelSide& model, ServerSide& server, model::IsolationLevel level)
        : model_(model), server_(server), level_(level) {}

    // The session up to the step at which both sides differ, with both answers; nothing if they
    // agree to the end.
    std::optional<std::string> play(const Case& example) {
        dialogue_.clear();
        try {
            return play_to_the_end(example);
        } catch (const sim::BrokenInvariant& broken) {
            return dialogue_ + "the model breaks: " + broken.what() + "\n";
        }
    }

    [[nodiscard]] std::int64_t steps() const { return steps_; }
    [[nodiscard]] const std::map<std::string, std::int64_t>& seen() const { return seen_; }
    [[nodiscard]] const std::map<std::string, std::int64_t>& known() const { return known_; }

private:
    std::optional<std::string> play_to_the_end(const Case& example) {
        model_.reset(example.sessions);
        server_.reset(example.sessions);
        ended_early_ = false;
        if (!play_steps(example)) return ended_early_ ? std::nullopt : std::optional(dialogue_);
        // A session that waits ends its transaction in a later round.
        for (std::size_t round = 0; round < example.sessions; ++round) {
            for (std::size_t session = 0; session < example.sessions; ++session) {
                if (!model_.in_transaction(session)) continue;
                if (!step(session, example.commit ? "COMMIT" : "ROLLBACK")) {
                    return ended_early_ ? std::nullopt : std::optional(dialogue_);
                }
            }
        }
        return compare_tables() ? std::nullopt : std::optional(dialogue_);
    }

    bool play_steps(const Case& example) {
        for (std::size_t session = 0; example.begin && session < example.sessions; ++session) {
            if (!step(session, "BEGIN")) return false;
        }
        for (const Step& next : example.steps) {
            const bool same =
                next.kills() ? kill(next.session) : step(next.session, statement_of(next));
            if (!same) return false;
        }
        return true;
    }
    // Without this, most statements would meet a failed transaction, or none.
    [[nodiscard]] std::string statement_of(const Step& next) const {
        if (next.number > 0 && model_.failed(next.session)) return "ROLLBACK";
        if ((next.key + next.number) % 3 != 0 && !model_.in_transaction(next.session)) {
            return "BEGIN";
        }
        return next.sql();
    }
    // A session that waits cannot be asked anything.
    bool step(std::size_t session, const std::string& sql) {
        if (model_.waiting(session)) return true;
        ++steps_;
        const Observation ours = model_.step(session, sql);
        const Observation theirs = server_.step(session, sql);
        return compare(fmt::format("{}: {}", session_name(session), sql), ours, theirs);
    }
    bool kill(std::size_t session) {
        ++steps_;
        const Observation ours = model_.kill(session);
        const Observation theirs = server_.kill(session);
        return compare(fmt::format("{}: is killed", session_name(session)), ours, theirs);
    }
    bool compare(const std::string& what, const Observation& ours, const Observation& theirs) {
        dialogue_ += what;
        const std::string all = ours.text();
        if (const char* name = known_difference(what, ours, theirs)) {
            ++known_[name];
            ended_early_ = true;
            return false;
        }
        count(theirs);
        if (agree(ours, theirs)) {
            dialogue_ += " -> " + all + "\n";
            return true;
        }
        dialogue_ += "\n    the model:  " + all + "\n    PostgreSQL: " + theirs.text() + "\n";
        return false;
    }
    // The names stand in docs/fidelity.md. What follows such a difference cannot be compared.
    const char* known_difference(std::string_view what, const Observation& ours,
                                 const Observation& theirs) const {
        if (fails_with(ours, "0A000")) return "a deleted row beside a new one with its key";
        if (agree(ours, theirs)) return nullptr;
        if (level_ == model::IsolationLevel::Serializable && model_.order_decided() &&
            fails_with(ours, "40001") != fails_with(theirs, "40001")) {
            return "the order of rows in the file chooses who fails";
        }
        if (what.find(" FOR SHARE") != std::string_view::npos && passes_waiters(ours, theirs)) {
            return "FOR SHARE queues where a stronger lock was given back";
        }
        return nullptr;
    }
    // Ours has its lock beside others who wait, and theirs waits as well or is refused.
    static bool passes_waiters(const Observation& ours, const Observation& theirs) {
        if (ours.answers.size() != 1 || ours.waiting.empty()) return false;
        const auto& [session, answer] = ours.answers.front();
        const bool waits = std::ranges::any_of(
            theirs.waiting, [&](const Waiting& one) { return one.session == session; });
        return answer.sqlstate.empty() && (waits || fails_with(theirs, "55P03"));
    }
    static bool fails_with(const Observation& seen, std::string_view sqlstate) {
        return std::ranges::any_of(
            seen.answers, [&](const auto& one) { return one.second.sqlstate == sqlstate; });
    }
    // What the server has shown, so that nothing is taken for compared that never happened.
    void count(const Observation& seen) {
        for (const auto& [session, answer] : seen.answers) {
            if (!answer.sqlstate.empty()) ++seen_["error " + answer.sqlstate];
            if (!answer.tag.empty()) ++seen_["COMMIT that rolls back"];
        }
        if (!seen.waiting.empty()) ++seen_["a session waits"];
        if (seen.waiting.size() > 1) ++seen_["two sessions wait"];
        if (seen.answers.size() > 1) ++seen_["a session goes on"];
        if (seen.answers.size() > 2) ++seen_["two sessions go on"];
    }
    bool compare_tables() {
        const std::vector<std::string> ours = model_.tables();
        const std::vector<std::string> theirs = server_.tables();
        for (std::size_t i = 0; i < ours.size(); ++i) {
            if (ours[i] == theirs[i]) continue;
            dialogue_ += final_queries()[i] + "\n    the model:  " + ours[i] +
                         "\n    PostgreSQL: " + theirs[i] + "\n";
            return false;
        }
        return true;
    }

    ModelSide& model_;
    ServerSide& server_;
    model::IsolationLevel level_;
    std::string dialogue_;
    std::int64_t steps_ = 0;
    bool ended_early_ = false;
    std::map<std::string, std::int64_t> seen_;
    std::map<std::string, std::int64_t> known_;
};

// The smallest case below this one that still differs, as a dialogue.
std::string shrink(Duel& duel, rc::Shrinkable<Case> failing, std::string dialogue) {
    int tried = 0;
    for (bool smaller = true; smaller && tried < kMostShrinkSteps;) {
        smaller = false;
        rc::Seq<rc::Shrinkable<Case>> candidates = failing.shrinks();
        for (auto candidate = candidates.next(); candidate && tried < kMostShrinkSteps;
             candidate = candidates.next()) {
            ++tried;
            auto differs = duel.play(candidate->value());
            if (!differs) continue;
            dialogue = std::move(*differs);
            failing = *candidate;
            smaller = true;
            break;
        }
    }
    return dialogue;
}

void compare_cases(const PostgresOptions& options, PostgresComparison& result, Duel& duel) {
    const rc::Gen<Case> cases = any_case(options.level);
    rc::Random random(options.seed);
    for (std::int64_t i = 0; i < options.cases; ++i) {
        const rc::Shrinkable<Case> example = cases(random.split());
        auto difference = duel.play(example.value());
        options.progress({result.what, result.cases, options.cases, result.differences});
        ++result.cases;
        if (!difference) continue;
        if (result.differences++ == 0) {
            result.first_difference = std::move(*difference);
            if (options.shrink) {
                result.first_difference = shrink(duel, example, std::move(result.first_difference));
            }
        }
        if (options.first_only) break;
    }
    result.steps = duel.steps();
    result.seen = duel.seen();
    result.known = duel.known();
}

}  // namespace

PostgresComparison compare_postgres(const PostgresOptions& options) {
    PostgresComparison result;
    result.what = fmt::format("PostgreSQL interleavings, {}", name_of(options.level));
    result.seed = options.seed;
    const auto start = std::chrono::steady_clock::now();
    PostgresCluster* cluster = options.cluster;
    std::unique_ptr<PostgresCluster> own;
    if (cluster == nullptr) {
        auto started = PostgresCluster::start();
        if (!started) {
            result.skipped = started.error();
            return result;
        }
        own = *std::move(started);
        cluster = own.get();
    }
    ModelSide model(options.level, options.flaw);
    ServerSide server(cluster->fresh_database(), options.level);
    result.version = server.version();
    Duel duel(model, server, options.level);
    compare_cases(options, result, duel);
    const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
    result.seconds = taken.count();
    return result;
}

}  // namespace fencepost::fidelity
