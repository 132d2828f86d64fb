// Probes of messages, requests and outside calls; the table of probes is in scenarios/probes.cc.
#pragma once

#include "sim/history.h"

namespace fencepost::scenarios {

bool message_delivered_again(const sim::History& history);
bool message_delivered_twice_at_once(const sim::History& history);
bool message_acknowledged_late(const sim::History& history);
bool message_overtook(const sim::History& history);
bool duplicate_recognised(const sim::History& history);

bool request_worked_on_by_both(const sim::History& history);
bool request_repeated(const sim::History& history);

bool outside_outcome_unknown(const sim::History& history);
bool look_up_found_the_charge(const sim::History& history);
bool request_repeated_after_look_up(const sim::History& history);
bool declined_and_nothing_left(const sim::History& history);

}  // namespace fencepost::scenarios
