// honest status: a claim says succeeded only when all effects of its unit are there, with it or
// before; failed or cancelled never while they are; cancelled only after an operator asked for it;
// and when the run has come to rest, no unit that is complete is left in a status that is not
// final. What it shows of its progress is true (checkers/shown_progress.h).

#include <fmt/format.h>

#include "checkers/findings.h"
#include "checkers/judges.h"
#include "checkers/landed.h"
#include "checkers/shown_progress.h"

namespace fencepost::checkers {
namespace {

class HonestStatus {
public:
    explicit HonestStatus(const Reading& reading)
        : reading_(reading), landed_(reading), claims_(reading.units().size()) {}

    void apply(const Commit& commit) {
        for (const EffectChange& change : commit.effects) landed_.apply(change);
        for (const ClaimChange& change : commit.claims) {
            judge_status(change);
            judge_progress(change);
            claims_[change.unit] = change.after ? &change : nullptr;
        }
        for (const EffectChange& change : commit.effects) {
            if (change.lands()) judge_completion(change);
        }
    }

    void judge_end() {
        for (std::uint32_t unit = 0; unit < claims_.size(); ++unit) {
            const ClaimChange* claim = claims_[unit];
            if (claim == nullptr || reading_.units()[unit].expected == 0) continue;
            ++judged_;
            if (claim->after->finished || !landed_.complete(unit)) continue;
            findings_.add(
                reading_.end()->record, reading_.unit_name(unit),
                fmt::format("All {} of {} are there, but at the end its claim still says "
                            "{}, set by {}.",
                            effects_of(unit), reading_.unit_name(unit), claim->after->status,
                            reading_.who_and_when(claim->source.record)));
        }
    }

    [[nodiscard]] Findings& findings() { return findings_; }
    [[nodiscard]] std::size_t judged() const { return judged_; }

private:
    // One claim is blamed once: what is shown wrong mostly stays so.
    void judge_progress(const ClaimChange& change) {
        std::string fault = fault_of_progress(reading_, landed_, change);
        if (fault.empty()) return;
        misled_.resize(claims_.size());
        if (misled_[change.unit]) return;
        misled_[change.unit] = true;
        findings_.add(change.source.record, reading_.unit_name(change.unit), std::move(fault));
    }

    void judge_status(const ClaimChange& change) {
        const std::uint32_t unit = change.unit;
        if (!change.after || !change.after->finished || reading_.units()[unit].expected == 0) {
            return;
        }
        const ClaimState& after = *change.after;
        if (change.before && change.before->status == after.status) return;
        ++judged_;
        const Unit& of = reading_.units()[unit];
        if (after.cancelled && change.source.record < of.cancel_asked) {
            findings_.add(change.source.record, reading_.unit_name(unit),
                          fmt::format("Claim {} was set to {} by {}, and nobody had asked for it.",
                                      reading_.unit_name(unit), after.status,
                                      reading_.who_and_when(change.source.record)));
        }
        if (after.succeeded == landed_.complete(unit)) return;
        if (!after.succeeded) {
            blame_denial(unit, change, change.source.record);
            return;
        }
        findings_.add(
            change.source.record, reading_.unit_name(unit),
            fmt::format("Claim {} was set to {} by {}, when {} of its {} were not there: {}{}.",
                        reading_.unit_name(unit), after.status,
                        reading_.who_and_when(change.source.record), landed_.missing(unit),
                        effects_of(unit), reading_.effect_text(landed_.first_missing(unit)),
                        landed_.missing(unit) > 1 ? " and more" : ""));
    }

    // The last effect of a unit lands when its claim says already that it failed.
    void judge_completion(const EffectChange& change) {
        const Effect& effect = reading_.effects()[change.after];
        if (effect.unit == kNone || !landed_.complete(effect.unit)) return;
        const ClaimChange* claim = claims_[effect.unit];
        if (claim == nullptr || !claim->after->finished || claim->after->succeeded) return;
        blame_denial(effect.unit, *claim, change.source.record);
    }

    // `shown`: the record from which on both hold.
    void blame_denial(std::uint32_t unit, const ClaimChange& said, sim::RecordId shown) {
        denied_.resize(claims_.size());
        if (denied_[unit]) return;
        denied_[unit] = true;
        const std::string when =
            shown == said.source.record
                ? std::string{}
                : fmt::format(", the last written by {}", reading_.who_and_when(shown));
        findings_.add(
            shown, reading_.unit_name(unit),
            fmt::format("Claim {} was set to {} by {}, and yet all its {} are there{}.",
                        reading_.unit_name(unit), said.after->status,
                        reading_.who_and_when(said.source.record), effects_of(unit), when));
    }

    [[nodiscard]] std::string effects_of(std::uint32_t unit) const {
        return count_of(reading_.units()[unit].expected, "effect");
    }

    const Reading& reading_;
    Landed landed_;
    std::vector<const ClaimChange*> claims_;  // of each unit: its last change, while there is a row
    std::vector<bool> denied_, misled_;
    std::size_t judged_ = 0;
    Findings findings_;
};

}  // namespace

Judgement judge_honest_status(const Reading& reading) {
    if (!reading.expectations().claims) return not_applicable("the handler keeps no claims");
    HonestStatus status{reading};
    for (const Commit& commit : reading.commits()) status.apply(commit);
    if (reading.end() && reading.end()->came_to_rest()) status.judge_end();
    if (!status.findings().empty()) return std::move(status.findings()).failed();
    if (status.judged() == 0) return unknown("no claim of a unit with effects showed its status");
    return passed(count_of(status.judged(), "status", "statuses") + " true to what was there");
}

}  // namespace fencepost::checkers
