#include "scenarios/search/mutation.h"

#include <algorithm>
#include <array>
#include <optional>

#include "sim/fault.h"

namespace fencepost::scenarios {
namespace {

using namespace std::chrono_literals;
using sim::Fault;
using sim::FaultKind;
using sim::Phase;

constexpr std::uint64_t kHowMany = sim::hash_of("mutation/how-many");
constexpr std::uint64_t kWhat = sim::hash_of("mutation/what");
constexpr std::uint64_t kSeed = sim::hash_of("mutation/seed");
constexpr std::uint64_t kFault = sim::hash_of("mutation/fault");
constexpr std::uint64_t kPoint = sim::hash_of("mutation/point");
constexpr std::uint64_t kKind = sim::hash_of("mutation/kind");
constexpr std::uint64_t kOption = sim::hash_of("mutation/option");
constexpr std::uint64_t kPhase = sim::hash_of("mutation/phase");
constexpr std::uint64_t kNode = sim::hash_of("mutation/node");
constexpr std::uint64_t kTime = sim::hash_of("mutation/time");
constexpr std::uint64_t kSplice = sim::hash_of("mutation/splice");

// In a million.
constexpr std::uint64_t kSecondChange = 300'000;
constexpr std::uint64_t kThirdChange = 300'000;  // where there is a second
constexpr std::uint64_t kOtherSeed = 400'000;
constexpr std::uint64_t kNear = 500'000;    // right behind the last strike rather than anywhere
constexpr std::uint64_t kAtTime = 200'000;  // a further fault at a time rather than at a call

constexpr std::size_t kNearest = 16;  // calls that are near
constexpr int kTries = 8;             // for a change that does something

// Keys of Redis that are evicted are the first so many, as in random plans.
constexpr std::size_t kMostKeys = 4;

std::vector<std::string> keys_of(const Catalogue& catalogue) {
    std::vector<std::string> keys = catalogue.keys;
    if (keys.size() > kMostKeys) keys.resize(kMostKeys);
    return keys;
}

std::uint8_t phases_of(const ReachedPoint& point) {
    std::uint8_t phases = 0;
    for (const Phase phase : sim::kPhases) {
        if (!point.reaches(phase)) continue;
        phases = static_cast<std::uint8_t>(phases | (1U << static_cast<unsigned>(phase)));
    }
    return phases;
}

}  // namespace

// The changes of one child. Each change has an ordinal, which keys its draws.
class Mutator::Change {
public:
    Change(Mutator& mutator, const Member& parent, const sim::Plan& other,
           const sim::Random& random)
        : mutator_(mutator), parent_(parent), other_(other), random_(random), plan_(parent.plan) {}

    sim::Plan made() && {
        int changes = 1;
        if (random_.chance(kSecondChange, kHowMany)) {
            changes += random_.chance(kThirdChange, kHowMany, 1) ? 2 : 1;
        }
        for (int change = 0; change < changes; ++change) {
            bool changed = false;
            for (int tried = 0; tried < kTries && !changed; ++tried, ++ordinal_) changed = one();
        }
        if (random_.chance(kOtherSeed, kSeed)) plan_.seed = random_.bits(kSeed, 1);
        return std::move(plan_);
    }

private:
    bool one() {
        using Step = bool (Change::*)();
        constexpr std::array<Step, 10> kSteps{
            &Change::add_near,  &Change::add_near, &Change::add_near, &Change::other_fault,
            &Change::arguments, &Change::move,     &Change::move,     &Change::phase,
            &Change::remove,    &Change::splice,
        };
        return (this->*kSteps.at(below(kSteps.size(), kWhat)))();
    }

    [[nodiscard]] std::uint64_t below(std::size_t bound, std::uint64_t site) const {
        return random_.below(bound, site, ordinal_);
    }
    template <typename T>
    [[nodiscard]] const T& one_of(const std::vector<T>& things, std::uint64_t site) const {
        return things[below(things.size(), site)];
    }
    Fault& some_fault() { return plan_.faults[below(plan_.faults.size(), kFault)]; }

    // One that applies in these phases, each kind as likely as the next; at a time when there are
    // none.
    [[nodiscard]] const FaultOption* choose(const Options& options, std::uint8_t phases) const {
        const auto applies = [phases](const FaultOption& option) {
            return phases == 0 || (option.phases & phases) != 0;
        };
        std::vector<FaultKind> kinds;
        for (const FaultOption& option : options) {
            if (applies(option) && (kinds.empty() || kinds.back() != option.fault.kind)) {
                kinds.push_back(option.fault.kind);
            }
        }
        if (kinds.empty()) return nullptr;
        return choose_of(options, one_of(kinds, kKind), phases);
    }
    [[nodiscard]] const FaultOption* choose_of(const Options& options, FaultKind kind,
                                               std::uint8_t phases) const {
        std::vector<const FaultOption*> possible;
        for (const FaultOption& option : options) {
            if (option.fault.kind != kind) continue;
            if (phases == 0 || (option.phases & phases) != 0) possible.push_back(&option);
        }
        return possible.empty() ? nullptr : one_of(possible, kOption);
    }

    [[nodiscard]] Phase phase_of(std::uint8_t phases) const {
        std::vector<Phase> possible;
        for (const Phase phase : sim::kPhases) {
            if ((phases & (1U << static_cast<unsigned>(phase))) != 0) possible.push_back(phase);
        }
        return one_of(possible, kPhase);
    }

    [[nodiscard]] std::optional<Fault> fault_at(const ReachedPoint& point) const {
        const std::uint8_t phases = phases_of(point);
        const FaultOption* option =
            choose(mutator_.options_at(point.node, point.operation), phases);
        if (option == nullptr) return std::nullopt;
        Fault fault = option->fault;
        fault.at = point.address;
        fault.phase = phase_of(static_cast<std::uint8_t>(option->phases & phases));
        return fault;
    }

    // Null where the run came to no call.
    [[nodiscard]] const ReachedPoint* some_point() const {
        const auto& points = parent_.points.empty() ? mutator_.usual_points_ : parent_.points;
        if (points.empty()) return nullptr;
        const bool near = random_.chance(kNear, kPoint, ordinal_, 1);
        return &points[below(near ? std::min(points.size(), kNearest) : points.size(), kPoint)];
    }

    bool add_near() {
        if (plan_.faults.size() >= mutator_.most_faults_) return false;
        const ReachedPoint* point = some_point();
        if (point == nullptr) return false;
        if (random_.chance(kAtTime, kTime, ordinal_)) return add_at_time(point->at);
        std::optional<Fault> fault = fault_at(*point);
        if (!fault) return false;
        plan_.faults.push_back(std::move(*fault));
        return true;
    }
    bool add_at_time(sim::Time at) {
        std::vector<const Options*> nodes;
        for (const auto& [node, options] : mutator_.timed_) nodes.push_back(&options);
        const FaultOption* option = nodes.empty() ? nullptr : choose(*one_of(nodes, kNode), 0);
        if (option == nullptr) return false;
        plan_.faults.push_back(option->fault);
        plan_.faults.back().at_time = std::chrono::floor<std::chrono::milliseconds>(at);
        return true;
    }

    bool remove() {
        if (plan_.faults.size() < 2) return false;
        const auto index = static_cast<std::ptrdiff_t>(below(plan_.faults.size(), kFault));
        plan_.faults.erase(plan_.faults.begin() + index);
        return true;
    }

    // What can strike where this one does, at its phase.
    [[nodiscard]] const Options* options_for(const Fault& fault) const {
        if (fault.at_time) {
            const auto node = mutator_.timed_.find(fault.party);
            if (node != mutator_.timed_.end()) return &node->second;
            return mutator_.timed_.empty() ? nullptr : &mutator_.timed_.begin()->second;
        }
        const auto address = sim::parse_address(fault.at);
        if (!address) return nullptr;
        // Of a point on any node, what applies on the first.
        const std::string node =
            address->node == "*" ? mutator_.scenario_.nodes.front() : std::string(address->node);
        return &mutator_.options_at(node, address->operation);
    }
    static std::uint8_t phases_at(const Fault& fault) {
        return fault.at_time ? std::uint8_t{0}
                             : static_cast<std::uint8_t>(1U << static_cast<unsigned>(fault.phase));
    }
    static bool put(Fault& fault, const FaultOption* option) {
        if (option == nullptr) return false;
        Fault changed = option->fault;
        changed.at = fault.at;
        changed.at_time = fault.at_time;
        changed.phase = fault.phase;
        if (changed == fault) return false;
        fault = std::move(changed);
        return true;
    }

    bool other_fault() {
        if (plan_.faults.empty()) return false;
        Fault& fault = some_fault();
        const Options* options = options_for(fault);
        return options != nullptr && put(fault, choose(*options, phases_at(fault)));
    }
    bool arguments() {
        if (plan_.faults.empty()) return false;
        Fault& fault = some_fault();
        const Options* options = options_for(fault);
        return options != nullptr && put(fault, choose_of(*options, fault.kind, phases_at(fault)));
    }

    bool phase() {
        if (plan_.faults.empty()) return false;
        Fault& fault = some_fault();
        const Options* options = fault.at_time ? nullptr : options_for(fault);
        if (options == nullptr) return false;
        const FaultOption* same = choose_of(*options, fault.kind, 0);
        if (same == nullptr || same->phases == 0) return false;
        const Phase phase = phase_of(same->phases);
        if (phase == fault.phase) return false;
        fault.phase = phase;
        return true;
    }

    // To another call of the run, or a little earlier or later.
    bool move() {
        if (plan_.faults.empty()) return false;
        Fault& fault = some_fault();
        if (fault.at_time) return move_in_time(fault);
        const auto& points = below(2, kPoint) == 0 || parent_.points.empty()
                                 ? mutator_.usual_points_
                                 : parent_.points;
        if (points.empty()) return false;
        const ReachedPoint& point = one_of(points, kPoint);
        const Options& options = mutator_.options_at(point.node, point.operation);
        const std::uint8_t phases = phases_of(point);
        const auto same = std::ranges::find_if(options, [&](const FaultOption& option) {
            return option.fault.kind == fault.kind && (option.phases & phases) != 0;
        });
        if (same == options.end() || point.address == fault.at) return false;
        fault.at = point.address;
        const auto possible = static_cast<std::uint8_t>(same->phases & phases);
        if ((possible & phases_at(fault)) == 0) fault.phase = phase_of(possible);
        return true;
    }
    bool move_in_time(Fault& fault) {
        constexpr std::array<sim::Duration, 4> kBy{1ms, 20ms, 1s, 10s};
        const sim::Duration by = kBy.at(below(kBy.size(), kTime));
        const sim::Time at = below(2, kPoint) == 0 ? *fault.at_time - by : *fault.at_time + by;
        fault.at_time = std::max(at, mutator_.scenario_.start);
        return true;
    }

    bool splice() {
        if (other_.faults.empty() || plan_.faults.size() >= mutator_.most_faults_) return false;
        plan_.faults.push_back(one_of(other_.faults, kSplice));
        return true;
    }

    Mutator& mutator_;
    const Member& parent_;
    const sim::Plan& other_;
    const sim::Random& random_;
    sim::Plan plan_;
    std::uint64_t ordinal_ = 0;
};

Mutator::Mutator(const Scenario& scenario, const Subject& subject, const Catalogue& catalogue)
    : scenario_(scenario),
      profile_(subject.profile),
      menu_(scenario, subject.parameters, keys_of(catalogue)),
      most_faults_(static_cast<std::size_t>(std::max(0, scenario.most_faults))) {
    for (std::size_t i = 0; i < catalogue.points.size(); ++i) {
        if (catalogue.seen[i] > 0) usual_points_.push_back(catalogue.points[i]);
    }
    if (most_faults_ > 0) most_faults_ = profile_.most_faults.value_or(most_faults_);
    for (const std::string& node : scenario.nodes)
        timed_.emplace(node, allowed(menu_.at_time(node)));
    std::erase_if(timed_, [](const auto& node) { return node.second.empty(); });
}

const Mutator::Options& Mutator::options_at(const std::string& node, std::string_view operation) {
    const auto [options, is_new] = at_points_.try_emplace(std::pair{node, std::string(operation)});
    if (is_new) options->second = allowed(menu_.at_point(node, operation));
    return options->second;
}

Mutator::Options Mutator::allowed(Options options) const {
    std::erase_if(options, [this](const FaultOption& option) {
        return !profile_.allows(option.fault) ||
               profile_.percent_of(sim::info_of(option.fault.kind).family) == 0;
    });
    return options;
}

sim::Plan Mutator::child(const Member& parent, const sim::Plan& other, const sim::Random& random) {
    return Change{*this, parent, other, random}.made();
}

}  // namespace fencepost::scenarios
