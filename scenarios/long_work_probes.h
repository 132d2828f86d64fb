// Probes about work that lasts: versions side by side, batches, drains and cancels.
#pragma once

#include "sim/history.h"

namespace fencepost::scenarios {

bool both_versions_at_work(const sim::History& history);
bool version_rolled_back(const sim::History& history);
bool begun_by_one_version_finished_by_the_other(const sim::History& history);
bool batch_ended_while_its_node_drained(const sim::History& history);
bool continued_on_the_other_node(const sim::History& history);
bool cancelled_while_it_ran(const sim::History& history);
bool cancelled_while_nobody_ran_it(const sim::History& history);
bool claimed_after_its_lease_ran_out(const sim::History& history);

}  // namespace fencepost::scenarios
