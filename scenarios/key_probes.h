// Probes of what names an act: fire ids, notations, changes of the clock; the table of probes is in
// scenarios/probes.cc.
#pragma once

#include "sim/history.h"

namespace fencepost::scenarios {

bool one_instant_under_two_fire_ids(const sim::History& history);
bool one_instant_in_two_notations(const sim::History& history);
bool one_local_time_two_instants(const sim::History& history);
bool offset_changed_between_two_fires(const sim::History& history);
bool misfire_handled(const sim::History& history);

}  // namespace fencepost::scenarios
