// The agenda: what was planned to fall due, told by who planned it.
//
// A scheduler can lose a fire before any job hears of it (a node that fires while another has it
// for dead, and then dies). Who knows the agenda finds such acts and records them.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "jobs/fire.h"
#include "jobs/ports/clock.h"
#include "jobs/ports/sql.h"

namespace fencepost::jobs {

// The acts that were planned to fall due after `since` and up to `until`. Nothing from before the
// job was installed is on it.
using Agenda = std::function<std::vector<Fire>(WallTime since, WallTime until)>;

// The act that a fire is for, by the plan: the latest one of its tenant and job that is not later
// than the scheduled time handed over, nor older than `within` before it. That of a fire which
// comes in time is its own. A misfire policy that fires once for all that was missed hands over the
// moment of handling instead, which names no act. Nothing: no such act is planned.
std::optional<Fire> planned_act(const Agenda& agenda, const Fire& fire, Duration within);

// Goes through an agenda, each act once: whoever calls it makes the acts known.
class MissedActs {
public:
    // `after`: how late an act must be before it counts as missed; `within`: how far back to look
    // at first. No agenda: nothing is ever missed.
    MissedActs(Clock& clock, Agenda agenda, Duration after, Duration within);

    // Calls `record` for each act that is too late and was not gone through before. When it throws,
    // all of them come again. Throws ConnectionLost.
    void for_each(sql::Session& session, const std::function<void(const Fire&)>& record);

private:
    Clock& clock_;
    Agenda agenda_;
    Duration after_;
    WallTime gone_through_until_;
};

}  // namespace fencepost::jobs
