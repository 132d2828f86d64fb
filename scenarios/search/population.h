// The plans of a guided search that are worth changing further, and how much each is worth.
//
// A plan is kept when its run covers something that no run before it did. It is worth as much as
// what it brought is rare by now, and the less the more often it was changed already: what many
// runs come to needs no more plans, what one run alone has seen is where little is known.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "scenarios/search/coverage.h"
#include "scenarios/search/points.h"
#include "sim/plan.h"
#include "sim/random.h"

namespace fencepost::scenarios {

struct Member {
    sim::Plan plan;
    // The calls that its run came to from its last strike on, or all of a plan without faults.
    std::vector<ReachedPoint> points;
    std::vector<Feature> brought;  // covered by no run before
    std::uint64_t children = 0;    // plans that were made of it
};

class Population {
public:
    // What so many runs have covered is common, and counted no further.
    static constexpr std::uint32_t kCommon = 16;

    [[nodiscard]] bool is_new(Feature feature) const { return !runs_.contains(feature); }
    [[nodiscard]] bool is_common(Feature feature) const;

    // Counts what a run covered and keeps its plan if that is new. Of `features` those that are
    // common may be missing.
    bool add(const sim::Plan& plan, std::span<const Feature> features,
             std::vector<ReachedPoint> points);

    // To be called after plans were added, before the next is chosen.
    void weigh();
    // A member, each as likely as it is worth when `draw` is any number; null when none is worth
    // anything.
    [[nodiscard]] Member* choose(std::uint64_t draw);
    // Any member.
    [[nodiscard]] const Member& any(std::uint64_t draw) const;

    [[nodiscard]] std::size_t size() const { return members_.size(); }
    [[nodiscard]] std::uint64_t features(FeatureKind kind) const {
        return features_.at(static_cast<std::size_t>(kind));
    }

private:
    [[nodiscard]] std::uint64_t worth_of(const Member& member) const;

    std::vector<Member> members_;
    std::vector<std::uint64_t> worth_;                 // of each member and those before it
    std::unordered_map<Feature, std::uint32_t> runs_;  // never iterated
    std::array<std::uint64_t, kFeatureKinds> features_{};
};

// What a search has planned so far, so that it can prefer what it has tried the least. A fault is
// counted by what it is and where it strikes, exactly and roughly.
class Tried {
public:
    void add(const sim::Plan& plan);
    // From 0 to 1'000'000, how little of the plan was tried.
    [[nodiscard]] std::uint64_t novelty_of(const sim::Plan& plan) const;

private:
    std::unordered_map<std::uint64_t, std::uint32_t> times_;  // never iterated
};

}  // namespace fencepost::scenarios
