#include "scenarios/search/random_plan.h"

#include <algorithm>
#include <array>
#include <set>
#include <tuple>
#include <utility>

namespace fencepost::scenarios {
namespace {

using namespace std::chrono_literals;
using sim::Fault;
using sim::FaultFamily;
using sim::FaultKind;
using sim::Phase;

// Sites of the keyed draws; the key is the number of the fault within its plan.
constexpr std::uint64_t kHowMany = sim::hash_of("search/how-many");
constexpr std::uint64_t kFamilies = sim::hash_of("search/families");
constexpr std::uint64_t kPlace = sim::hash_of("search/place");
constexpr std::uint64_t kPool = sim::hash_of("search/pool");
constexpr std::uint64_t kOperation = sim::hash_of("search/operation");
constexpr std::uint64_t kPoint = sim::hash_of("search/point");
constexpr std::uint64_t kKind = sim::hash_of("search/kind");
constexpr std::uint64_t kOption = sim::hash_of("search/option");
constexpr std::uint64_t kPhase = sim::hash_of("search/phase");
constexpr std::uint64_t kNode = sim::hash_of("search/node");
constexpr std::uint64_t kWhen = sim::hash_of("search/when");
constexpr std::uint64_t kAny = sim::hash_of("search/any-node");
constexpr std::uint64_t kInstant = sim::hash_of("search/instant");
constexpr std::uint64_t kParameter = sim::hash_of("search/parameter");
constexpr std::uint64_t kOffset = sim::hash_of("search/clock-offset");
constexpr std::uint64_t kLatency = sim::hash_of("search/latency");

// In a million.
constexpr std::uint64_t kPercent = 10'000;
constexpr std::uint64_t kAtTime = 250'000;  // a fault at a time rather than at a point
constexpr std::uint64_t kOtherPoint = 200'000;
constexpr std::uint64_t kLaterPoint = 500'000;       // one that only a fault leads to
constexpr std::uint64_t kFirstLaterPoint = 100'000;  // the same for the first fault of a plan
constexpr std::uint64_t kAnyNode = 700'000;          // where the node is a matter of chance
constexpr std::uint64_t kByOperation = 500'000;

// The keys of Redis that are evicted are the first so many.
constexpr std::size_t kMostKeys = 4;

// Every node has begun to boot by then: what is off from the start is off from here on.
constexpr sim::Duration kBooted = 600ms;

// Seeds of the runs that the catalogue is made from: who comes first differs with the latencies.
constexpr std::uint64_t kCatalogueSeeds = 8;

Fault fault_at(const ReachedPoint& point, Phase phase, FaultKind kind) {
    Fault fault;
    fault.at = point.address;
    fault.phase = phase;
    fault.kind = kind;
    return fault;
}

// One fault each after which further points are reached.
std::vector<Fault> openers(const ReachedPoint& point) {
    std::vector<Fault> faults;
    for (const Phase phase : sim::kPhases) {
        if (!point.reaches(phase)) continue;
        faults.push_back(fault_at(point, phase, FaultKind::Crash));
        faults.push_back(faults.back());
        faults.back().restart_after = 1s;
        faults.push_back(fault_at(point, phase, FaultKind::Pause));
        faults.back().lasting = 40s;
    }
    if (point.applied) faults.push_back(fault_at(point, Phase::Applied, FaultKind::LoseAnswer));
    faults.push_back(fault_at(point, Phase::Before, FaultKind::Reset));
    return faults;
}

}  // namespace

sim::Plan Subject::plan(std::uint64_t seed) const {
    sim::Plan plan;
    plan.scenario = scenario;
    plan.handler = handler;
    plan.seed = seed;
    plan.parameters = parameters;
    return plan;
}

std::vector<sim::Plan> catalogue_plans(const Scenario& scenario, const Subject& subject,
                                       const Reached& usual) {
    std::vector<sim::Plan> plans;
    for (std::uint64_t seed = 0; seed < kCatalogueSeeds; ++seed)
        plans.push_back(subject.plan(seed));
    const FaultMenu menu{scenario, subject.parameters, {}};
    std::set<std::pair<std::string, std::string>> opened;
    for (const ReachedPoint& point : usual.points) {
        if (!point.of_job || !opened.emplace(point.node, point.operation).second) continue;
        for (Fault& fault : openers(point)) {
            if (!menu.has(sim::info_of(fault.kind).family)) continue;
            plans.push_back(subject.plan(0));
            plans.back().faults.push_back(std::move(fault));
        }
    }
    return plans;
}

void CatalogueBuilder::add(const sim::Plan& plan, const Reached& reached) {
    const bool without_faults = plan.faults.empty();
    if (without_faults) ++catalogue_.runs_without_faults;
    for (const std::string& key : reached.keys) {
        if (std::ranges::find(catalogue_.keys, key) == catalogue_.keys.end()) {
            catalogue_.keys.push_back(key);
        }
    }
    for (const ReachedPoint& point : reached.points) {
        const auto [known, is_new] = known_.emplace(point.address, catalogue_.points.size());
        if (is_new) {
            catalogue_.points.push_back(point);
            catalogue_.seen.push_back(0);
        } else {
            catalogue_.points[known->second].applied |= point.applied;
            catalogue_.points[known->second].answered |= point.answered;
        }
        if (without_faults) ++catalogue_.seen[known->second];
        if (!point.of_job) continue;
        catalogue_.last_busy = std::max(catalogue_.last_busy, point.at);
        if (!without_faults) continue;
        if (catalogue_.busy_from == sim::Time{}) catalogue_.busy_from = point.at;
        catalogue_.busy_from = std::min(catalogue_.busy_from, point.at);
        catalogue_.busy_until = std::max(catalogue_.busy_until, point.at);
    }
}

Catalogue CatalogueBuilder::take(const Scenario& scenario) {
    if (catalogue_.busy_from == sim::Time{}) catalogue_.busy_from = scenario.start;
    catalogue_.busy_until = std::max(catalogue_.busy_until, catalogue_.busy_from + 1s);
    catalogue_.last_busy = std::max(catalogue_.last_busy, catalogue_.busy_until);
    return std::move(catalogue_);
}

Catalogue catalogue_of(const Scenario& scenario, const Subject& subject, const PlanRunner& runner) {
    CatalogueBuilder builder;
    const auto usual = reached_by(subject.plan(0), runner);
    for (const sim::Plan& plan : catalogue_plans(scenario, subject, usual)) {
        builder.add(plan, reached_by(plan, runner));
    }
    return builder.take(scenario);
}

// --- plans

PlanSource::PlanSource(const Scenario& scenario, Subject subject, const Catalogue& catalogue)
    : subject_(std::move(subject)),
      families_(scenario.families),
      nodes_(scenario.nodes),
      usual_(scenario.parameters),
      most_faults_(static_cast<std::uint64_t>(std::max(0, scenario.most_faults))),
      healed_(scenario.start + scenario.healed_after),
      reached_(catalogue.points),
      start_(scenario.start),
      busy_from_(catalogue.busy_from),
      busy_until_(catalogue.busy_until),
      last_busy_(catalogue.last_busy) {
    if (most_faults_ > 0)
        most_faults_ = std::max(subject_.profile.most_faults.value_or(most_faults_),
                                subject_.profile.least_faults);
    std::vector<std::string> keys = catalogue.keys;
    if (keys.size() > kMostKeys) keys.resize(kMostKeys);
    const FaultMenu menu{scenario, subject_.parameters, std::move(keys)};
    for (std::size_t i = 0; i < reached_.size(); ++i) add_point(catalogue, i, menu);
    for (const std::string& node : scenario.nodes) timed_.push_back(menu_of(menu.at_time(node)));
}

PlanSource::Menu PlanSource::menu_of(std::vector<FaultOption> options) const {
    std::erase_if(options, [this](const FaultOption& option) {
        return !subject_.profile.allows(option.fault);
    });
    Menu menu{std::move(options), {}};
    for (std::uint32_t i = 0; i < menu.options.size(); ++i) {
        if (i == 0 || menu.options[i].fault.kind != menu.options[i - 1].fault.kind) {
            menu.kinds.push_back(i);
        }
    }
    menu.kinds.push_back(static_cast<std::uint32_t>(menu.options.size()));
    return menu;
}

void PlanSource::add_point(const Catalogue& catalogue, std::size_t index, const FaultMenu& menu) {
    const ReachedPoint& reached = catalogue.points[index];
    const bool usual = catalogue.seen[index] > 0;
    const auto [known, is_new] = menu_ids_.emplace(std::pair{reached.node, reached.operation},
                                                   static_cast<std::uint32_t>(menus_.size()));
    if (is_new) menus_.push_back(menu_of(menu.at_point(reached.node, reached.operation)));
    Point point{known->second, 0, catalogue.seen[index] < catalogue.runs_without_faults,
                reached.at};
    for (const Phase phase : sim::kPhases) {
        if (!reached.reaches(phase)) continue;
        point.phases =
            static_cast<std::uint8_t>(point.phases | (1U << static_cast<unsigned>(phase)));
    }
    points_.push_back(point);
    const auto number = static_cast<std::uint32_t>(index);
    Pool& pool = pools_[reached.of_job ? 0 : 1][usual ? 0 : 1];
    pool.all.push_back(number);
    // A menu stands for a node and an operation.
    const auto same = std::ranges::find_if(pool.by_operation, [&](const auto& group) {
        return points_[group.front()].menu == point.menu;
    });
    if (same != pool.by_operation.end()) {
        same->push_back(number);
    } else {
        pool.by_operation.push_back({number});
    }
}

// The nearest there is to what is asked for.
const PlanSource::Pool& PlanSource::pool(bool of_job, bool usual) const {
    for (const std::size_t task : {of_job ? 0U : 1U, of_job ? 1U : 0U}) {
        for (const std::size_t when : {usual ? 0U : 1U, usual ? 1U : 0U}) {
            if (!pools_[task][when].all.empty()) return pools_[task][when];
        }
    }
    return pools_[0][0];
}

// The draws of one plan.
class PlanSource::Draw {
public:
    Draw(const PlanSource& source, std::uint64_t seed)
        : source_(source), random_(seed), plan_(source.subject_.plan(seed)) {}

    sim::Plan plan() && {
        draw_parameters();
        draw_skews();
        if (source_.most_faults_ == 0 || source_.families_.empty()) return std::move(plan_);
        if (random_.chance(profile().without_faults * kPercent, kHowMany)) return std::move(plan_);
        choose_families();
        const std::uint64_t least = profile().least_faults;
        const std::uint64_t count =
            least + random_.below(source_.most_faults_ - least + 1, kHowMany, 1);
        for (fault_ = 0; fault_ < count && families_ != 0; ++fault_) add_fault();
        return std::move(plan_);
    }

private:
    [[nodiscard]] const Profile& profile() const { return source_.subject_.profile; }

    void draw_parameters() {
        for (const auto& [name, range] : profile().parameters) {
            const auto usual = source_.usual_.all().find(name);
            if (usual == source_.usual_.all().end() || plan_.parameters.contains(name)) continue;
            const auto width = static_cast<std::uint64_t>(range.most - range.least + 1);
            const std::int64_t value = range.least + static_cast<std::int64_t>(random_.below(
                                                         width, kParameter, sim::hash_of(name)));
            if (value != usual->second) plan_.parameters[name] = value;
        }
    }

    // Clocks and latencies that are off as long as there are faults.
    void draw_skews() {
        const sim::Time from = source_.start_ + kBooted;
        for (const std::string& node : source_.nodes_) {
            if (is_skewed(profile().clock_offsets, FaultFamily::Clock, kOffset, node)) {
                const sim::Duration most = profile().clock_offsets.most;
                Fault& fault = add_at(from, FaultKind::ClockJump, node);
                fault.by = in_milliseconds(-most, most, kOffset, node);
            }
            if (is_skewed(profile().latencies, FaultFamily::Node, kLatency, node)) {
                Fault& fault = add_at(from, FaultKind::Slow, node);
                fault.by = in_milliseconds(1ms, profile().latencies.most, kLatency, node);
                fault.lasting = source_.healed_ - from;
            }
        }
    }
    [[nodiscard]] bool is_skewed(const Profile::Skew& skew, FaultFamily family, std::uint64_t site,
                                 const std::string& node) const {
        return std::ranges::find(source_.families_, family) != source_.families_.end() &&
               random_.chance(skew.percent * kPercent, site, sim::hash_of(node));
    }
    Fault& add_at(sim::Time at, FaultKind kind, const std::string& party) {
        Fault& fault = plan_.faults.emplace_back();
        fault.at_time = at;
        fault.kind = kind;
        fault.party = party;
        return fault;
    }
    // Never none at all.
    [[nodiscard]] sim::Duration in_milliseconds(sim::Duration from, sim::Duration until,
                                                std::uint64_t site, const std::string& node) const {
        const auto drawn = std::chrono::round<std::chrono::milliseconds>(
            random_.between(from, until, site, sim::hash_of(node), 1));
        return drawn == 0ms ? 1ms : drawn;
    }

    void choose_families() {
        std::vector<FaultFamily> possible;
        for (const FaultFamily family : source_.families_) {
            const std::uint64_t percent = profile().percent_of(family);
            if (percent > 0) possible.push_back(family);
            if (random_.chance(percent * kPercent, kFamilies, static_cast<std::uint64_t>(family))) {
                switch_on(family);
            }
        }
        if (families_ != 0 || possible.empty()) return;
        switch_on(possible[random_.below(possible.size(), kFamilies, 99)]);
    }
    void switch_on(FaultFamily family) { families_ |= 1U << static_cast<unsigned>(family); }
    [[nodiscard]] bool on(FaultKind kind) const {
        return (families_ & (1U << static_cast<unsigned>(sim::info_of(kind).family))) != 0;
    }

    std::uint64_t below(std::size_t bound, std::uint64_t site, std::uint64_t ordinal = 0) const {
        return random_.below(bound, site, fault_, ordinal);
    }
    template <typename T>
    const T& one_of(const std::vector<T>& things, std::uint64_t site) const {
        return things[below(things.size(), site)];
    }

    void add_fault() {
        const bool timed_first = random_.chance(kAtTime, kPlace, fault_);
        // When nothing of the families that are on can strike here either, the plan is smaller.
        if (timed_first) {
            (void)(add_at_time() || add_at_point());
        } else {
            (void)(add_at_point() || add_at_time());
        }
    }

    // A kind of those that are on and possible, each as likely as the next; then its arguments.
    const FaultOption* choose(const Menu& menu, std::uint8_t phases) const {
        std::array<std::uint32_t, 32> possible{};
        std::size_t count = 0;
        for (std::size_t i = 0; i + 1 < menu.kinds.size(); ++i) {
            const FaultOption& option = menu.options[menu.kinds[i]];
            if (!on(option.fault.kind)) continue;
            if (phases != 0 && (option.phases & phases) == 0) continue;
            possible[count++] = static_cast<std::uint32_t>(i);
        }
        if (count == 0) return nullptr;
        const std::uint32_t kind = possible[below(count, kKind)];
        const std::uint32_t first = menu.kinds[kind];
        return &menu.options[first + below(menu.kinds[kind + 1] - first, kOption)];
    }

    bool add_at_point() {
        const bool first = plan_.faults.empty();
        const Pool& pool =
            source_.pool(!random_.chance(kOtherPoint, kPool, fault_),
                         !random_.chance(first ? kFirstLaterPoint : kLaterPoint, kPool, fault_, 2));
        if (pool.all.empty()) return false;
        const auto& group = random_.chance(kByOperation, kPool, fault_, 1)
                                ? one_of(pool.by_operation, kOperation)
                                : pool.all;
        const std::uint32_t index = one_of(group, kPoint);
        const Point& point = source_.points_[index];
        const FaultOption* option = choose(source_.menus_[point.menu], point.phases);
        if (option == nullptr) return false;
        Fault fault = option->fault;
        fault.at = source_.reached_[index].address;
        if (point.by_chance && random_.chance(kAnyNode, kAny, fault_)) {
            fault.at.replace(0, fault.at.find('#'), "*");
        }
        fault.phase = phase_of(static_cast<std::uint8_t>(option->phases & point.phases));
        plan_.faults.push_back(std::move(fault));
        return true;
    }

    [[nodiscard]] Phase phase_of(std::uint8_t phases) const {
        std::vector<Phase> possible;
        for (const Phase phase : sim::kPhases) {
            if ((phases & (1U << static_cast<unsigned>(phase))) != 0) possible.push_back(phase);
        }
        return one_of(possible, kPhase);
    }

    bool add_at_time() {
        if (source_.timed_.empty()) return false;
        const FaultOption* option = choose(one_of(source_.timed_, kNode), 0);
        if (option == nullptr) return false;
        Fault fault = option->fault;
        fault.at_time = instant(sim::info_of(fault.kind).family);
        plan_.faults.push_back(std::move(fault));
        return true;
    }

    // Before work begins, while it goes on, right at a point, or in what follows a first fault. To
    // the millisecond, so that people can read it.
    [[nodiscard]] sim::Time instant(FaultFamily family) const {
        const auto between = [&](sim::Time from, sim::Time until) {
            const auto width = std::max<sim::Duration>(until - from, 1ms);
            return from + random_.between(sim::Duration::zero(), width, kInstant, fault_);
        };
        // The scheduler's faults are for the next fire, so most must come before it.
        const std::uint64_t when = below(family == FaultFamily::Scheduler ? 3 : 10, kWhen);
        sim::Time at;
        if (when < 2 || source_.points_.empty()) {
            at = between(source_.start_, std::max(source_.busy_from_, source_.start_ + 1s));
        } else if (when < 5) {
            at = between(source_.busy_from_, source_.busy_until_);
        } else if (when < 8) {
            at = one_of(source_.points_, kInstant).at;
        } else {
            at = between(source_.busy_from_, source_.last_busy_);
        }
        return std::chrono::floor<std::chrono::milliseconds>(std::max(at, source_.start_));
    }

    const PlanSource& source_;
    sim::Random random_;
    sim::Plan plan_;
    unsigned families_ = 0;
    std::uint64_t fault_ = 0;
};

sim::Plan PlanSource::draw(std::uint64_t seed) const {
    return Draw(*this, seed).plan();
}

}  // namespace fencepost::scenarios
