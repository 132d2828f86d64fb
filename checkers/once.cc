// once: every expected effect is there exactly once at the end, no effect was there twice after any
// commit, and none that nobody expects was ever there. A row that is deleted no longer counts, nor
// does a charge that is refunded; what may only pass is gone at the end. Work that an operator
// asked to cancel and that ended so may miss what it had not done.

#include <fmt/format.h>

#include "checkers/findings.h"
#include "checkers/judges.h"
#include "checkers/landed.h"

namespace fencepost::checkers {
namespace {

struct Landing {
    std::uint32_t effect = kNone;
    sim::RecordId earlier = sim::kNoRecord;  // the landing of a row that still stands
    sim::RecordId record = sim::kNoRecord;
};

class Once {
public:
    explicit Once(const Reading& reading)
        : reading_(reading),
          landed_(reading),
          standing_(reading.effects().size(), sim::kNoRecord) {}

    void apply(const Commit& commit) {
        suspects_.clear();
        for (const EffectChange& change : commit.effects) apply(change);
        // What a transaction itself took back was never there.
        for (const Landing& landing : suspects_) {
            if (landed_.count(landing.effect) > (landing.earlier == sim::kNoRecord ? 0U : 1U)) {
                blame(landing);
            }
        }
    }

    void judge_end() {
        for (const DroppedTable& dropped : reading_.dropped()) {
            const std::string& table = reading_.expectations().effects[dropped.table].table;
            findings_.add(dropped.record, table,
                          fmt::format("{} was dropped, with all effects in it, by {}.", table,
                                      reading_.who_and_when(dropped.record)));
        }
        for (std::uint32_t effect = 0; effect < reading_.expected_effects(); ++effect) {
            if (landed_.count(effect) > 0) continue;
            if (cancelled(reading_.effects()[effect].unit)) {
                ++left_undone_;
                continue;
            }
            const std::string_view error = reading_.units()[reading_.effects()[effect].unit].error;
            findings_.add(
                reading_.end()->record, reading_.effect_key(effect),
                fmt::format("{} is missing at the end of the run{}{}.",
                            reading_.effect_text(effect),
                            error.empty() ? "" : "; the claim of its work has failed: ", error));
        }
        for (std::uint32_t effect = reading_.expected_effects(); effect < reading_.effects().size();
             ++effect) {
            if (!reading_.effects()[effect].passing || landed_.count(effect) == 0) continue;
            findings_.add(
                reading_.end()->record, reading_.effect_key(effect),
                fmt::format("{} is still there at the end of the run and had to be gone: it was "
                            "made by {}.",
                            reading_.effect_text(effect),
                            reading_.who_and_when(standing_[effect])));
        }
    }

    [[nodiscard]] Findings& findings() { return findings_; }
    [[nodiscard]] std::size_t left_undone() const { return left_undone_; }

private:
    [[nodiscard]] bool cancelled(std::uint32_t unit) const {
        const Unit& of = reading_.units()[unit];
        return of.cancelled && of.cancel_asked != sim::kNoRecord;
    }

    void apply(const EffectChange& change) {
        landed_.apply(change);
        if (change.leaves() && landed_.count(change.before) == 0) {
            standing_[change.before] = sim::kNoRecord;
        }
        if (!change.lands()) return;
        sim::RecordId& standing = standing_[change.after];
        const bool foreseen =
            change.after < reading_.expected_effects() || reading_.effects()[change.after].passing;
        if (standing != sim::kNoRecord || !foreseen) {
            suspects_.push_back(
                {.effect = change.after, .earlier = standing, .record = change.source.record});
        }
        standing = change.source.record;
    }

    void blame(const Landing& landing) {
        const std::string effect = reading_.effect_text(landing.effect);
        const std::string writer = reading_.who_and_when(landing.record);
        if (landing.earlier == sim::kNoRecord) {
            findings_.add(
                landing.record, reading_.effect_key(landing.effect),
                fmt::format("{}, which nobody expects, was written by {}.", effect, writer));
            return;
        }
        const std::uint32_t count = landed_.count(landing.effect);
        findings_.add(landing.record, reading_.effect_key(landing.effect),
                      fmt::format("{} is there {}: written by {} and again by {}.", effect,
                                  count == 2 ? "twice" : fmt::format("{} times", count),
                                  reading_.who_and_when(landing.earlier), writer));
    }

    const Reading& reading_;
    Landed landed_;
    std::vector<sim::RecordId> standing_;  // the last landing of each effect that is there
    std::vector<Landing> suspects_;
    std::size_t left_undone_ = 0;  // of work that was cancelled
    Findings findings_;
};

// Even without faults the work is not done, so that no run shows what must be there.
Judgement nothing_to_compare(const Reading& reading, const EffectTable& table) {
    Findings findings;
    findings.add(reading.end() ? reading.end()->record : sim::kNoRecord, table.table,
                 fmt::format("what must land in {} cannot be learnt: the run without faults {}.",
                             table.table, table.not_learnt));
    return std::move(findings).failed();
}

}  // namespace

Judgement judge_once(const Reading& reading) {
    Once once{reading};
    for (const Commit& commit : reading.commits()) once.apply(commit);
    if (reading.end()) once.judge_end();
    for (const EffectTable& table : reading.expectations().effects) {
        if (!table.not_learnt.empty()) return nothing_to_compare(reading, table);
    }
    if (!once.findings().empty()) return std::move(once.findings()).failed();
    if (reading.expected_effects() == 0) return unknown("no effect was expected");
    if (!reading.end()) return unknown("the run has no end: what is missing cannot be told");
    if (once.left_undone() == reading.expected_effects()) {
        return unknown("all work was cancelled before its first effect");
    }
    std::string reason =
        count_of(reading.expected_effects() - once.left_undone(), "effect") + ", each there once";
    if (once.left_undone() > 0) {
        reason += fmt::format("; {} of cancelled work left undone", once.left_undone());
    }
    return passed(std::move(reason));
}

}  // namespace fencepost::checkers
