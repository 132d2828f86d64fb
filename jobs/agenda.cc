#include "jobs/agenda.h"

#include <algorithm>
#include <utility>

#include "jobs/claim.h"

namespace fencepost::jobs {

std::optional<Fire> planned_act(const Agenda& agenda, const Fire& fire, Duration within) {
    const WallTime until = fire.scheduled_fire_time;
    std::optional<Fire> act;
    for (const Fire& planned : agenda(until - within, until)) {
        if (planned.tenant != fire.tenant || planned.job != fire.job) continue;
        if (act && planned.scheduled_fire_time <= act->scheduled_fire_time) continue;
        act = fire;
        act->scheduled_fire_time = planned.scheduled_fire_time;
        act->scheduled_text.clear();
    }
    return act;
}

MissedActs::MissedActs(Clock& clock, Agenda agenda, Duration after, Duration within)
    : clock_(clock),
      agenda_(std::move(agenda)),
      after_(after),
      gone_through_until_(clock.wall_now() - within) {}

// Looks by this node's clock first, which costs nothing; what is too late is decided by the
// database's, so that a node whose clock is ahead does no day's work before its time.
void MissedActs::for_each(sql::Session& session, const std::function<void(const Fire&)>& record) {
    if (!agenda_) return;
    if (agenda_(gone_through_until_, clock_.wall_now() - after_).empty()) return;
    const WallTime until = claims::database_now(session) - after_;
    for (const Fire& fire : agenda_(gone_through_until_, until)) record(fire);
    gone_through_until_ = std::max(gone_through_until_, until);
}

}  // namespace fencepost::jobs
