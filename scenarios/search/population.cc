#include "scenarios/search/population.h"

#include <algorithm>
#include <utility>

#include "sim/require.h"

namespace fencepost::scenarios {
namespace {

// What one feature that a single run has covered is worth.
constexpr std::uint64_t kOne = 1'000'000;

// `draw` is uniform over all 64 bits.
std::uint64_t below(std::uint64_t bound, std::uint64_t draw) {
    __extension__ using Wide = unsigned __int128;
    return static_cast<std::uint64_t>((Wide{draw} * bound) >> 64U);
}

template <typename Visit>
void for_each_trait(const sim::Plan& plan, Visit visit) {
    if (plan.faults.empty()) visit(sim::hash_of("no faults"));
    for (const sim::Fault& fault : plan.faults) {
        const std::uint64_t place = place_of(fault);
        visit(sim::combine(place, static_cast<std::uint64_t>(fault.kind)));
        const std::uint64_t where =
            fault.at_time ? 0 : sim::hash_of(fault.at.substr(fault.at.find('#') + 1));
        visit(sim::combine(sim::combine(place, sort_of(fault)), where));
    }
}

}  // namespace

bool Population::is_common(Feature feature) const {
    const auto found = runs_.find(feature);
    return found != runs_.end() && found->second >= kCommon;
}

bool Population::add(const sim::Plan& plan, std::span<const Feature> features,
                     std::vector<ReachedPoint> points) {
    std::vector<Feature> brought;
    for (const Feature feature : features) {
        std::uint32_t& runs = runs_[feature];
        if (runs == 0) {
            brought.push_back(feature);
            ++features_.at(static_cast<std::size_t>(kind_of(feature)));
        }
        if (runs < kCommon) ++runs;
    }
    if (brought.empty()) return false;
    members_.push_back({plan, std::move(points), std::move(brought)});
    return true;
}

std::uint64_t Population::worth_of(const Member& member) const {
    std::uint64_t worth = 0;
    for (const Feature feature : member.brought) {
        const std::uint32_t runs = runs_.at(feature);
        if (runs < kCommon) worth += kOne / runs;
    }
    return worth / (1 + member.children);
}

void Population::weigh() {
    worth_.resize(members_.size());
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i < members_.size(); ++i) worth_[i] = sum += worth_of(members_[i]);
}

Member* Population::choose(std::uint64_t draw) {
    if (worth_.empty() || worth_.back() == 0) return nullptr;
    const auto chosen = std::ranges::upper_bound(worth_, below(worth_.back(), draw));
    return &members_.at(static_cast<std::size_t>(chosen - worth_.begin()));
}

const Member& Population::any(std::uint64_t draw) const {
    sim::require(!members_.empty(), "a population that is chosen from has members");
    return members_[below(members_.size(), draw)];
}

void Tried::add(const sim::Plan& plan) {
    for_each_trait(plan, [this](std::uint64_t trait) { ++times_[trait]; });
}

std::uint64_t Tried::novelty_of(const sim::Plan& plan) const {
    std::uint64_t sum = 0;
    std::uint64_t traits = 0;
    for_each_trait(plan, [&](std::uint64_t trait) {
        const auto found = times_.find(trait);
        sum += kOne / (1 + (found == times_.end() ? 0 : found->second));
        ++traits;
    });
    return sum / traits;
}

}  // namespace fencepost::scenarios
