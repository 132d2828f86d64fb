// What a scenario file leaves out and what follows from the rest of it: when the run begins, when
// schedules without an end of their own end, what is due, and what is usual for such a scenario.
#pragma once

#include "scenarios/files/located_json.h"
#include "scenarios/scenario.h"

namespace fencepost::scenarios {

// `scenario` holds what stands in the file. Throws ScenarioFileError.
void fill_in(const FileValue& file, Scenario& scenario);

}  // namespace fencepost::scenarios
