// Random sessions with a Redis, as rapidcheck generates and shrinks them.
//
// Every command and option that the model knows comes up, with right and wrong types, arities and
// numbers; deadlines lie close to one another and to the steps of the clock, so that boundaries are
// met. What cannot be compared to the letter is left out here, and docs/fidelity.md names it:
// addresses of Lua objects, commands and libraries that the model refuses.
#pragma once

#include <rapidcheck.h>

#include <string>
#include <vector>

#include "tests/fidelity/redis/session.h"

namespace fencepost::fidelity {

// Numbers and choices drawn from rapidcheck's generator.
class Draw {
public:
    explicit Draw(const rc::Random& random) : random_(random) {}

    [[nodiscard]] std::size_t below(std::size_t bound) { return random_.next() % bound; }
    [[nodiscard]] std::int64_t between(std::int64_t least, std::int64_t most) {
        return least + static_cast<std::int64_t>(below(static_cast<std::size_t>(most - least) + 1));
    }
    // One time in `times`.
    [[nodiscard]] bool one_in(std::size_t times) { return below(times) == 0; }
    template <typename Range>
    [[nodiscard]] const auto& of(const Range& range) {
        return range[below(std::size(range))];
    }

private:
    rc::Random random_;
};

// One command with its arguments, most often well-formed.
[[nodiscard]] std::vector<std::string> draw_command(Draw& draw);
// A value, a number or a nuisance.
[[nodiscard]] std::string draw_text(Draw& draw);
[[nodiscard]] std::string draw_key(Draw& draw);
// EVAL, EVALSHA or SCRIPT with the lease scripts or a random small one.
[[nodiscard]] std::vector<std::string> draw_script_command(Draw& draw);

// Commands of several clients, and steps of the clock.
[[nodiscard]] rc::Gen<Session> sessions();
// The same with kills, power cuts and snapshots of the primary.
[[nodiscard]] rc::Gen<Session> sessions_with_restarts(bool with_snapshots, bool with_power_cuts);
// The same with a replica that is cut off and promoted.
[[nodiscard]] rc::Gen<Session> sessions_with_failover();

}  // namespace fencepost::fidelity
