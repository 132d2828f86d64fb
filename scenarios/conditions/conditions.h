// Scenarios that have a file of their own, one theme each; scenarios/checklist.cc lists them all.
#pragma once

#include "scenarios/scenario.h"

namespace fencepost::scenarios {

// messages.cc: condition 2 in its two forms
Scenario message_twice();
Scenario request_twice();

Scenario rolling_upgrade();  // condition 6
Scenario long_job();         // condition 9

// start_up.cc: condition 7
Scenario start_up_twice();

// keys.cc: condition 8, with a second fire and over both changes of the clock
Scenario same_instant_other_id();
Scenario clock_set_back();
Scenario clock_set_forward();

// outside.cc: condition 10
Scenario outcome_unknown();

}  // namespace fencepost::scenarios
