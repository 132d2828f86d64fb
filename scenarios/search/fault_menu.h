// Which faults make sense at a fault point, and the few arguments of each that matter.
//
// A duration matters by what it outlasts: a round trip, the lease, what peers and servers wait
// before they take a node for dead. Between two such bounds every duration does the same, so one
// for each interval is enough.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "scenarios/scenario.h"
#include "scenarios/search/points.h"
#include "sim/fault.h"

namespace fencepost::scenarios {

struct FaultOption {
    sim::Fault fault;  // without its place
    // Of an exhaustive search as well; the others are variations that only random plans draw.
    bool essential = false;
    std::uint8_t phases = 0;  // bit (1 << Phase): where it differs from the same at another phase

    [[nodiscard]] bool at(sim::Phase phase) const {
        return (phases & (1U << static_cast<unsigned>(phase))) != 0;
    }
};

// Whom and what faults strike in a scenario, and the bound that its leases set.
struct Struck {
    std::vector<std::string> nodes;
    std::vector<std::string> servers;
    std::vector<std::string> keys;  // of Redis
    sim::Duration lease_ttl{};
    std::vector<std::string> units{};      // of work, that can be cancelled
    std::vector<std::int64_t> versions{};  // of the program, that can be deployed
    std::vector<std::string> jobs{};       // whose schedule can be saved
};

class FaultMenu {
public:
    // Only the scenario's families are on the menu. `overrides` are parameters of the plan, `keys`
    // those of Redis that can be evicted.
    FaultMenu(const Scenario& scenario,
              const std::map<std::string, std::int64_t, std::less<>>& overrides,
              std::vector<std::string> keys);

    // What can strike a call of that operation by that node, kinds in the order of the table.
    [[nodiscard]] std::vector<FaultOption> at_point(const std::string& node,
                                                    std::string_view operation) const;
    // What can strike at a time, on or around that node; phases are empty.
    [[nodiscard]] std::vector<FaultOption> at_time(const std::string& node) const;

    [[nodiscard]] bool has(sim::FaultFamily family) const;
    [[nodiscard]] sim::Duration lease_ttl() const { return struck_.lease_ttl; }

private:
    std::vector<sim::FaultFamily> families_;
    Struck struck_;
};

// "database" for "db.commit"; empty for an operation of no known server.
std::string_view server_of(std::string_view operation);

}  // namespace fencepost::scenarios
