// checkpoint: the committed position of a unit never goes back. When it is set to p, every effect
// of the unit at a position up to p has landed, in that commit or before; and none lands later. Of
// an effect that may follow its checkpoint it is enough that it lands.

#include <fmt/format.h>

#include <algorithm>

#include "checkers/findings.h"
#include "checkers/identity.h"
#include "checkers/judges.h"
#include "checkers/landed.h"

namespace fencepost::checkers {
namespace {

struct Progress {
    std::optional<std::int64_t> last;       // as committed last
    std::optional<std::int64_t> covered;    // the highest ever committed
    sim::RecordId record = sim::kNoRecord;  // that committed it
    std::size_t next = 0;                   // in by_position_: the first that is not covered
    std::size_t end = 0;
};

class Checkpoints {
public:
    explicit Checkpoints(const Reading& reading)
        : reading_(reading), landed_(reading), progress_(reading.units().size()) {
        const auto effects = reading.effects().first(reading.expected_effects());
        by_position_.resize(effects.size());
        for (std::uint32_t effect = 0; effect < effects.size(); ++effect) {
            by_position_[effect] = effect;
        }
        const auto place = [effects](std::uint32_t effect) {
            return std::tuple{effects[effect].unit, effects[effect].position, effect};
        };
        // Scenarios mostly list them so already.
        if (!std::ranges::is_sorted(by_position_, {}, place)) {
            std::ranges::sort(by_position_, {}, place);
        }
        for (std::size_t i = 0; i < by_position_.size(); ++i) {
            Progress& progress = progress_[effects[by_position_[i]].unit];
            if (progress.end == 0) progress.next = i;
            progress.end = i + 1;
        }
    }

    void apply(const Commit& commit) {
        for (const EffectChange& change : commit.effects) {
            landed_.apply(change);
            if (change.lands()) judge_landing(change);
        }
        for (const ClaimChange& change : commit.claims) {
            if (change.after) judge_claim(change);
        }
    }

    // What was to follow a checkpoint and never came.
    void judge_end() {
        for (const Awaited& awaited : awaited_) {
            if (landed_.count(awaited.effect) == 0) find_skipped(awaited);
        }
    }

    [[nodiscard]] Findings& findings() { return findings_; }
    [[nodiscard]] std::size_t judged() const { return judged_; }

private:
    // An effect that was not there when the checkpoint that covers it was set.
    struct Awaited {
        std::uint32_t effect = kNone;
        std::int64_t checkpoint = 0;
        sim::RecordId record = sim::kNoRecord;
    };

    void judge_landing(const EffectChange& change) {
        const Effect& effect = reading_.effects()[change.after];
        if (effect.unit == kNone || effect.passing || effect.may_follow) return;
        const Progress& progress = progress_[effect.unit];
        if (!progress.covered || effect.position > *progress.covered) return;
        findings_.add(
            change.source.record, reading_.effect_key(change.after),
            fmt::format(
                "{} at position {} was written by {}, when the checkpoint was {} already{}.",
                reading_.effect_text(change.after), effect.position,
                reading_.who_and_when(change.source.record), *progress.covered,
                progress.record == sim::kNoRecord
                    ? " before the run"
                    : ", set by " + reading_.who_and_when(progress.record)));
    }

    void judge_claim(const ClaimChange& change) {
        Progress& progress = progress_[change.unit];
        if (!progress.last && change.before) {
            progress.last = integer_of(change.before->checkpoint);
            if (!progress.covered && progress.last) cover_silently(progress, *progress.last);
        }
        const std::optional<std::int64_t> position = integer_of(change.after->checkpoint);
        const std::string_view* text = std::get_if<std::string_view>(&change.after->checkpoint);
        if (!position && text != nullptr && !text->empty()) {
            findings_.add(change.source.record, reading_.unit_name(change.unit),
                          fmt::format("The checkpoint of {} was set to '{}', which is no position, "
                                      "by {}.",
                                      reading_.unit_name(change.unit), *text,
                                      reading_.who_and_when(change.source.record)));
            return;
        }
        if (progress.last && (!position || *position < *progress.last)) {
            findings_.add(
                change.source.record, reading_.unit_name(change.unit),
                fmt::format("The checkpoint of {} went back from {} to {}, set by {}.",
                            reading_.unit_name(change.unit), *progress.last, text_of(position),
                            reading_.who_and_when(change.source.record)));
        }
        if (position && position != progress.last) ++judged_;
        progress.last = position;
        if (!position || (progress.covered && *position <= *progress.covered)) return;
        progress.covered = position;
        progress.record = change.source.record;
        look_for_skipped(progress, change);
    }

    // Each effect is looked at by the first checkpoint that covers it.
    void look_for_skipped(Progress& progress, const ClaimChange& change) {
        for (; progress.next < progress.end; ++progress.next) {
            const std::uint32_t effect = by_position_[progress.next];
            if (reading_.effects()[effect].position > *progress.covered) return;
            if (landed_.count(effect) > 0) continue;
            const Awaited awaited{
                .effect = effect, .checkpoint = *progress.covered, .record = change.source.record};
            if (reading_.effects()[effect].may_follow) {
                awaited_.push_back(awaited);
            } else {
                find_skipped(awaited);
            }
        }
    }

    void find_skipped(const Awaited& skipped) {
        findings_.add(
            skipped.record, reading_.effect_key(skipped.effect),
            fmt::format("Skipped: the checkpoint was set to {} by {}, when {} at position {} was "
                        "not written.",
                        skipped.checkpoint, reading_.who_and_when(skipped.record),
                        reading_.effect_text(skipped.effect),
                        reading_.effects()[skipped.effect].position));
    }

    // The effects of a checkpoint that was there before the run are not in the history.
    void cover_silently(Progress& progress, std::int64_t position) {
        progress.covered = position;
        while (progress.next < progress.end &&
               reading_.effects()[by_position_[progress.next]].position <= position) {
            ++progress.next;
        }
    }

    const Reading& reading_;
    Landed landed_;
    std::vector<Progress> progress_;          // of each unit
    std::vector<std::uint32_t> by_position_;  // expected effects by unit and position
    std::vector<Awaited> awaited_;
    std::size_t judged_ = 0;
    Findings findings_;
};

}  // namespace

Judgement judge_checkpoint(const Reading& reading) {
    const std::optional<ClaimTable>& claims = reading.expectations().claims;
    if (!claims || claims->checkpoint.empty()) {
        return not_applicable("the handler keeps no checkpoint");
    }
    Checkpoints checkpoints{reading};
    for (const Commit& commit : reading.commits()) checkpoints.apply(commit);
    if (reading.end()) checkpoints.judge_end();
    if (!checkpoints.findings().empty()) return std::move(checkpoints.findings()).failed();
    if (checkpoints.judged() == 0) return unknown("no checkpoint was committed");
    return passed(count_of(checkpoints.judged(), "checkpoint") + ", nothing skipped");
}

}  // namespace fencepost::checkers
