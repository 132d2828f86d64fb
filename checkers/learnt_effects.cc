#include "checkers/learnt_effects.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <stdexcept>

#include "checkers/identity.h"
#include "checkers/reading.h"

namespace fencepost::checkers {
namespace {

// What keeps effects from being learnt, in half a sentence that goes on after "the run without
// faults ".
class NothingLearnt : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

// How the outcome of a fire begins whose attempt threw (model/scheduler/scheduler_node.cc).
constexpr std::string_view kFailed = "failed: ";

class Learning {
public:
    Learning(const sim::History& history, const std::vector<std::string>& units,
             Expectations& expectations)
        : reading_(history, expectations), units_(units), expectations_(expectations) {
        for (sim::RecordId id = 0; id < history.size(); ++id) {
            if (const auto fire = history[id].as<model::FireStarted>()) {
                fires_.try_emplace(history[id].task(), *fire);
            }
            if (const auto ended = history[id].as<model::FireEnded>();
                ended && ended->outcome.starts_with(kFailed)) {
                failed_fires_.emplace_back(ended->outcome.substr(kFailed.size()));
            }
        }
    }

    void learn() {
        if (!reading_.end() || !reading_.end()->came_to_rest()) {
            const bool too_long = reading_.end() && reading_.end()->had_too_many_steps();
            throw NothingLearnt(
                too_long ? "has more steps than a run may have: what is due lies too far apart (a "
                           "run may be some days of a cluster), or a task goes round without "
                           "getting anywhere"
                         : "does not come to rest: look at it with `run` and `--trace`");
        }
        if (!reading_.dropped().empty()) {
            throw NothingLearnt("drops " +
                                expectations_.effects[reading_.dropped().front().table].table);
        }
        for (const Commit& commit : reading_.commits()) apply(commit);
        for (auto& [effect, standing] : standing_) {
            const std::size_t table = reading_.table_of(effect);
            if (!expectations_.effects[table].learnt) continue;
            all_have_a_position_ = all_have_a_position_ && standing.has_position;
            learnt_[table].push_back(std::move(standing.effect));
        }
        // What is left when every attempt has failed is half of the work at best.
        if (const std::size_t fires = fires_.size(); fires > 0 && failed_fires_.size() == fires) {
            throw NothingLearnt(
                fmt::format("ends every fire by an exception: {}", failed_fires_.front()));
        }
        if (learnt_.empty()) throw NothingLearnt("leaves no effect at all" + failed_claim());
        require_all_done();
    }

    // After the reading, which looks at the expectations, has ended.
    [[nodiscard]] bool all_have_a_position() const { return all_have_a_position_; }
    std::map<std::size_t, std::vector<ExpectedEffect>> take() { return std::move(learnt_); }

private:
    struct Standing {
        ExpectedEffect effect;
        bool has_position = false;
    };

    void apply(const Commit& commit) {
        for (const EffectChange& change : commit.effects) {
            if (change.leaves()) standing_.erase(change.before);
            if (change.lands()) standing_.insert_or_assign(change.after, landed(commit, change));
        }
        for (const ClaimChange& change : commit.claims) {
            if (change.after) checkpoints_[change.unit] = integer_of(change.after->checkpoint);
        }
    }

    [[nodiscard]] Standing landed(const Commit& commit, const EffectChange& change) const {
        Standing standing{.effect = {.unit = unit_of(commit, change),
                                     .identity = reading_.effect_values(change.after)}};
        if (commit.claims.size() == 1 && commit.claims[0].after) {
            if (const auto position = integer_of(commit.claims[0].after->checkpoint)) {
                standing.effect.position = *position;
                const auto known = checkpoints_.find(commit.claims[0].unit);
                standing.effect.may_follow =
                    known != checkpoints_.end() && known->second == position;
                standing.has_position = true;
            }
        }
        return standing;
    }

    [[nodiscard]] std::string unit_of(const Commit& commit, const EffectChange& change) const {
        if (commit.claims.size() == 1) return reading_.unit_name(commit.claims[0].unit);
        if (const auto fired = fires_.find(change.source.root); fired != fires_.end()) {
            if (const std::string* unit = unit_of(fired->second)) return *unit;
        }
        const RowLabels labels = reading_.labels_of(change);
        if (const auto* key = std::get_if<std::string_view>(&labels.key_after)) {
            for (const std::string& unit : units_) {
                if (key->starts_with(unit)) return unit;
            }
        }
        if (units_.size() == 1) return units_.front();
        throw NothingLearnt(fmt::format(
            "writes {}, by {}, and nobody can tell for which due work: name the column of its key, "
            "which begins with the work's business key",
            reading_.effect_text(change.after), reading_.who_and_when(change.source.record)));
    }

    // "; the claim of acme/…@… has failed: …", or nothing.
    [[nodiscard]] std::string failed_claim() const {
        for (std::uint32_t unit = 0; unit < reading_.units().size(); ++unit) {
            if (!reading_.units()[unit].error.empty()) return failed_claim(unit);
        }
        return {};
    }

    [[nodiscard]] std::string failed_claim(std::uint32_t unit) const {
        return fmt::format("; the claim of {} has failed: {}", reading_.unit_name(unit),
                           reading_.units()[unit].error);
    }

    // Work that fails halfway shows some of its effects, and not which others there would be.
    void require_all_done() const {
        for (std::uint32_t unit = 0; unit < reading_.units().size(); ++unit) {
            if (reading_.units()[unit].error.empty() || reading_.units()[unit].cancelled) continue;
            if (leaves_some(reading_.unit_name(unit))) {
                throw NothingLearnt("ends before all work is done" + failed_claim(unit));
            }
        }
    }

    [[nodiscard]] bool leaves_some(std::string_view unit) const {
        return std::ranges::any_of(learnt_, [&](const auto& table) {
            return std::ranges::find(table.second, unit, &ExpectedEffect::unit) !=
                   table.second.end();
        });
    }

    // A fire of a misfire may carry another time than the planned one: the last before it.
    [[nodiscard]] const std::string* unit_of(const model::FireStarted& fire) const {
        const std::string job = fmt::format("{}/{}@", fire.tenant, fire.job);
        const std::string at = job + sim::to_text(fire.scheduled);
        const std::string* last = nullptr;
        for (const std::string& unit : units_) {
            if (unit.starts_with(job) && unit <= at && (last == nullptr || *last < unit)) {
                last = &unit;
            }
        }
        return last;
    }

    const Reading reading_;
    const std::vector<std::string>& units_;
    const Expectations& expectations_;
    std::map<sim::TaskId, model::FireStarted> fires_;
    std::vector<std::string> failed_fires_;       // what was thrown
    std::map<std::uint32_t, Standing> standing_;  // by effect
    std::map<std::uint32_t, std::optional<std::int64_t>>
        checkpoints_;  // by unit, as committed last
    std::map<std::size_t, std::vector<ExpectedEffect>> learnt_;
    bool all_have_a_position_ = true;
};

}  // namespace

void learn_effects(const sim::History& undisturbed, const std::vector<std::string>& units,
                   Expectations& expectations) {
    Learning learning{undisturbed, units, expectations};
    try {
        learning.learn();
    } catch (const NothingLearnt& why) {
        for (EffectTable& table : expectations.effects) {
            if (table.learnt) table.not_learnt = why.what();
        }
        return;
    }
    for (auto& [table, effects] : learning.take()) {
        expectations.effects[table].expected = std::move(effects);
    }
    if (!learning.all_have_a_position() && expectations.claims) {
        expectations.claims->checkpoint.clear();
    }
}

}  // namespace fencepost::checkers
