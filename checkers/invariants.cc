// invariants: what the author of the scenario states in SQL was looked at, and never found a row.
// The queries ran during the run, on the committed state; the history says what came of them.

#include <fmt/format.h>

#include <algorithm>

#include "checkers/findings.h"
#include "checkers/judges.h"

namespace fencepost::checkers {
namespace {

class Invariants {
public:
    explicit Invariants(const Reading& reading) : reading_(reading) {
        const sim::History& history = reading.history();
        for (sim::RecordId id = 0; id < history.size(); ++id) {
            if (const auto phase = history[id].as<sim::PhaseBegan>()) {
                audited_ = audited_ || phase->name == "audit";
            }
            if (const auto broken = history[id].as<model::InvariantBroken>()) add(id, *broken);
            if (const auto looked = history[id].as<model::InvariantLooked>()) add(*looked);
        }
    }

    [[nodiscard]] Findings& findings() { return findings_; }
    [[nodiscard]] std::size_t looks() const { return looks_; }
    // Those that were never looked at, in words; empty when there are none.
    [[nodiscard]] std::string missed() const {
        std::string names;
        for (const StatedInvariant& stated : reading_.expectations().invariants) {
            if (std::ranges::find(looked_at_, stated.name) != looked_at_.end()) continue;
            names += names.empty() ? stated.name : ", " + stated.name;
        }
        return names;
    }

private:
    void add(sim::RecordId id, const model::InvariantBroken& broken) {
        const auto& all = reading_.expectations().invariants;
        const auto stated = std::ranges::find(all, broken.invariant, &StatedInvariant::name);
        findings_.add(
            id, fmt::format("{} {}", broken.invariant, broken.row),
            fmt::format("{} {} there is {}{}.",
                        stated == all.end() ? broken.invariant : stated->message, when(id),
                        broken.row,
                        broken.rows > 1 ? fmt::format(" and {} more", broken.rows - 1) : ""));
    }

    [[nodiscard]] std::string when(sim::RecordId id) const {
        if (audited_) return "At the end of the run";
        const sim::RecordId change = reading_.history()[id].cause();
        if (change == sim::kNoRecord) return "Before the run";
        return fmt::format("After the commit by {}", reading_.who_and_when(change));
    }

    void add(const model::InvariantLooked& looked) {
        looks_ += looked.times;
        if (looked.times > 0) looked_at_.emplace_back(looked.invariant);
    }

    const Reading& reading_;
    Findings findings_;
    bool audited_ = false;  // the run is over
    std::size_t looks_ = 0;
    std::vector<std::string> looked_at_;
};

}  // namespace

Judgement judge_invariants(const Reading& reading) {
    const std::size_t stated = reading.expectations().invariants.size();
    if (stated == 0) return not_applicable("the scenario states no invariants in SQL");
    Invariants invariants{reading};
    if (!invariants.findings().empty()) return std::move(invariants.findings()).failed();
    if (const std::string missed = invariants.missed(); !missed.empty()) {
        return unknown("never looked at: " + missed);
    }
    return passed(fmt::format("{} held in {}", count_of(stated, "invariant"),
                              count_of(invariants.looks(), "look")));
}

}  // namespace fencepost::checkers
