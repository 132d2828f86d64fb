// Random plans: a seed gives a plan, and nothing else does.
//
// Faults strike at points and times that runs really come to. A catalogue of them is made once for
// a scenario and handler, from runs without faults and from a fixed set of runs with one, so that
// points which exist only after a fault (a take-over, a second incarnation) can be drawn as well.
// Each seed first draws which families of faults it uses: a plan of one kind alone reaches what a
// mixture hides. How much of everything is drawn is the profile's to say.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "scenarios/scenario.h"
#include "scenarios/search/fault_menu.h"
#include "scenarios/search/plan_runner.h"
#include "scenarios/search/profile.h"
#include "sim/plan.h"
#include "sim/random.h"

namespace fencepost::scenarios {

// What plans are for: all of a plan but its seed and faults.
struct Subject {
    std::string scenario;
    std::string handler;
    std::map<std::string, std::int64_t, std::less<>> parameters{};  // overrides
    Profile profile{};  // of random plans; others know nothing of it

    [[nodiscard]] sim::Plan plan(std::uint64_t seed) const;
    bool operator==(const Subject&) const = default;
};

struct Catalogue {
    // Each address once, in the order in which runs reached them; those of the runs without faults
    // first.
    std::vector<ReachedPoint> points;
    // For each point, how many of the runs without faults reached it.
    std::vector<std::uint32_t> seen;
    std::uint32_t runs_without_faults = 0;
    std::vector<std::string> keys;  // of Redis
    // When jobs call anything, without faults, and the last such moment after any one fault.
    sim::Time busy_from{};
    sim::Time busy_until{};
    sim::Time last_busy{};

    bool operator==(const Catalogue&) const = default;
};

// The plans that make up a catalogue, given what the first of them reached: no faults, seed 0.
std::vector<sim::Plan> catalogue_plans(const Scenario& scenario, const Subject& subject,
                                       const Reached& usual);

class CatalogueBuilder {
public:
    // In the order of the plans, the one without faults and of seed 0 first.
    void add(const sim::Plan& plan, const Reached& reached);
    [[nodiscard]] Catalogue take(const Scenario& scenario);

private:
    Catalogue catalogue_;
    std::map<std::string, std::size_t> known_;
};

// All of that in one process: some hundred runs.
Catalogue catalogue_of(const Scenario& scenario, const Subject& subject, const PlanRunner& runner);

class PlanSource {
public:
    PlanSource(const Scenario& scenario, Subject subject, const Catalogue& catalogue);

    // The same for the same scenario, handler, parameters and seed, whatever was drawn before.
    [[nodiscard]] sim::Plan draw(std::uint64_t seed) const;

private:
    // The options of one node and operation, those of a kind side by side.
    struct Menu {
        std::vector<FaultOption> options;
        std::vector<std::uint32_t> kinds;  // where each kind begins in `options`; and the end
    };
    struct Point {
        std::uint32_t menu = 0;
        std::uint8_t phases = 0;
        bool by_chance = false;  // which node comes to it differs from seed to seed
        sim::Time at{};
    };
    // Points of one kind of task, by operation: rare operations are drawn as often as frequent
    // ones.
    struct Pool {
        std::vector<std::uint32_t> all;
        std::vector<std::vector<std::uint32_t>> by_operation;
    };
    class Draw;

    [[nodiscard]] Menu menu_of(std::vector<FaultOption> options) const;
    void add_point(const Catalogue& catalogue, std::size_t index, const FaultMenu& menu);
    [[nodiscard]] const Pool& pool(bool of_job, bool usual) const;

    Subject subject_;
    std::vector<sim::FaultFamily> families_;
    std::vector<std::string> nodes_;
    Parameters usual_;
    std::uint64_t most_faults_;
    sim::Time healed_;
    std::vector<ReachedPoint> reached_;
    sim::Time start_;
    sim::Time busy_from_;
    sim::Time busy_until_;
    sim::Time last_busy_;
    std::vector<Point> points_;  // one for each of reached_
    std::vector<Menu> menus_;
    std::map<std::pair<std::string, std::string>, std::uint32_t> menu_ids_;
    // Of jobs and of the scheduler's own tasks; those that runs without faults come to, and those
    // that only runs with faults do.
    std::array<std::array<Pool, 2>, 2> pools_;
    std::vector<Menu> timed_;  // one a node
};

}  // namespace fencepost::scenarios
