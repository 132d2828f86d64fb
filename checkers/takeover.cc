// takeover: after healing, everything that is due finishes within the bound. The run ended because
// all was done, and the audit found nothing that still waits.

#include <fmt/format.h>

#include "checkers/findings.h"
#include "checkers/judges.h"

namespace fencepost::checkers {

namespace {

constexpr std::string_view kTooLong =
    " Either a task goes round without getting anywhere, or what is due lies too far apart: some "
    "days of a cluster are as many steps as a run may have.";

}  // namespace

Judgement judge_takeover(const Reading& reading) {
    if (!reading.end()) return unknown("the run has no end");
    if (reading.due() == 0) return unknown("nothing was due");
    Findings findings;
    for (const sim::RecordId id : reading.unfinished()) {
        const auto unfinished = *reading.history()[id].as<model::Unfinished>();
        findings.add(id, std::string{unfinished.what},
                     fmt::format("Not finished at the end of the run: {}.", unfinished.what));
    }
    const End& end = *reading.end();
    if (!end.came_to_rest()) {
        findings.add(
            end.record, std::string{end.event.how},
            fmt::format("The run did not come to rest: it ended by {}, {} after healing.{}",
                        end.event.how, sim::to_text(end.event.settled_after),
                        end.had_too_many_steps() ? kTooLong : ""));
    }
    if (!findings.empty()) return std::move(findings).failed();
    return passed(fmt::format("{} due, all finished {} after healing",
                              count_of(reading.due(), "instant"),
                              sim::to_text(end.event.settled_after)));
}

}  // namespace fencepost::checkers
