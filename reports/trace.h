// A history as lines: one an event, with a lane for each party.
//
//     #  time (s)  A         database  redis     B
//    17  0.013042  o-------->|         |         |     reconcile@… db.commit/1  COMMIT
//    18  0.013911  |         *         |         |     reconcile@… db.commit/1 done  ok
//    19  0.014702  o<--------|         |         |     reconcile@… db.commit/1 answered  ok
//
// `o` is where it happened, an arrow is a request or an answer, `x` an answer that did not come.
// A lane shows `|` while its node or server is up, `:` while it is paused, nothing while it is
// down. Nodes stand left and right of the servers that they share; `!` is a fault, or what one did.
// Times are relative to the first event. Pure: histories in, text out.
#pragma once

#include <string>
#include <vector>

#include "reports/layout.h"
#include "sim/history.h"

namespace fencepost::reports {

// A remark under an event: "<== once: …".
struct TraceMark {
    sim::RecordId record = sim::kNoRecord;
    std::string text;
};

struct TraceOptions {
    std::vector<TraceMark> marks;
    std::size_t detail_width = 100;  // statements and commands are cut at this length
    TextStyle style;
};

std::string trace_text(const sim::History& history, const TraceOptions& options = {});

// The same by events: the heading, and the lines of each event, of which some have none.
struct TraceLines {
    std::string heading;
    std::vector<std::string> lines;  // by record
};
TraceLines trace_lines(const sim::History& history, const TraceOptions& options = {});

// One JSON object a line, for each event: "record", "at", "party", "actor", "cause" (a record or
// null), "event" and "text" (its fields as in `name=value`).
std::string trace_json(const sim::History& history);

}  // namespace fencepost::reports
