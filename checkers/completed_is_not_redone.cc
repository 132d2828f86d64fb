// completed is not redone: once all effects of a unit are there, no other root task changes one of
// them; and a claim that is finished is not claimed again by another one.

#include <fmt/format.h>

#include "checkers/findings.h"
#include "checkers/identity.h"
#include "checkers/judges.h"
#include "checkers/landed.h"

namespace fencepost::checkers {
namespace {

struct Completion {
    bool complete = false;
    sim::TaskId root = sim::kNoTask;  // none: it was so before the run
    sim::RecordId record = sim::kNoRecord;
};

class Completions {
public:
    explicit Completions(const Reading& reading)
        : reading_(reading),
          landed_(reading),
          work_(reading.units().size()),
          claims_(reading.units().size()) {}

    void apply(const Commit& commit) {
        for (const EffectChange& change : commit.effects) judge_effect(change);
        for (const EffectChange& change : commit.effects) {
            landed_.apply(change);
        }
        for (const EffectChange& change : commit.effects) {
            if (change.lands()) complete_work(change);
        }
        for (const ClaimChange& change : commit.claims) {
            judge_claim(change);
            complete_claim(change);
        }
    }

    [[nodiscard]] Findings& findings() { return findings_; }
    [[nodiscard]] std::size_t units() const { return units_; }
    [[nodiscard]] std::size_t claims() const { return finished_claims_; }

private:
    void judge_effect(const EffectChange& change) {
        for (const std::uint32_t effect : {change.before, change.after}) {
            if (effect == kNone) continue;
            const std::uint32_t unit = reading_.effects()[effect].unit;
            if (unit == kNone || !work_[unit].complete || work_[unit].root == change.source.root) {
                continue;
            }
            const char* verb = change.before == kNone  ? "inserted again"
                               : change.after == kNone ? "deleted"
                                                       : "updated";
            findings_.add(
                change.source.record, reading_.effect_key(effect),
                fmt::format("{} was {} by {}, after {} had completed {}.",
                            reading_.effect_text(effect), verb,
                            reading_.who_and_when(change.source.record),
                            reading_.who_and_when(work_[unit].record), reading_.unit_name(unit)));
            return;
        }
    }

    void complete_work(const EffectChange& change) {
        const std::uint32_t unit = reading_.effects()[change.after].unit;
        if (unit == kNone || work_[unit].complete || !landed_.complete(unit)) return;
        work_[unit] = {
            .complete = true, .root = change.source.root, .record = change.source.record};
        ++units_;
    }

    void judge_claim(const ClaimChange& change) {
        if (change.before && change.before->finished) finish(change.unit, {.complete = true});
        const Completion& finished = claims_[change.unit];
        if (!finished.complete || !change.after || change.before == change.after ||
            (finished.record != sim::kNoRecord && finished.root == change.source.root)) {
            return;
        }
        findings_.add(
            change.source.record, reading_.unit_name(change.unit),
            fmt::format("Claim {} was finished {} and was claimed again ({}, owner {}, "
                        "token {}) by {}.",
                        reading_.unit_name(change.unit),
                        finished.record == sim::kNoRecord
                            ? "before the run"
                            : "by " + reading_.who_and_when(finished.record),
                        change.after->status, text_of(change.after->owner),
                        text_of(change.after->token), reading_.who_and_when(change.source.record)));
    }

    void complete_claim(const ClaimChange& change) {
        if (!change.after || !change.after->finished) return;
        finish(change.unit,
               {.complete = true, .root = change.source.root, .record = change.source.record});
    }

    void finish(std::uint32_t unit, const Completion& completion) {
        if (claims_[unit].complete) return;
        claims_[unit] = completion;
        ++finished_claims_;
    }

    const Reading& reading_;
    Landed landed_;
    std::vector<Completion> work_;    // of each unit: its effects
    std::vector<Completion> claims_;  // of each unit: its claim
    std::size_t units_ = 0;
    std::size_t finished_claims_ = 0;
    Findings findings_;
};

}  // namespace

Judgement judge_completed_is_not_redone(const Reading& reading) {
    Completions completions{reading};
    for (const Commit& commit : reading.commits()) completions.apply(commit);
    if (!completions.findings().empty()) return std::move(completions.findings()).failed();
    if (completions.units() == 0 && completions.claims() == 0) {
        return unknown("no unit was completed");
    }
    return passed(fmt::format("{} and {} completed and left alone",
                              count_of(completions.units(), "unit"),
                              count_of(completions.claims(), "claim")));
}

}  // namespace fencepost::checkers
