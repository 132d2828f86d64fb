// The reference handler consume-order: adds each order once, however often it is told of it.
#pragma once

#include <string>
#include <vector>

#include "scenarios/handler.h"

namespace fencepost::scenarios {

HandlerSpec consume_order_handler();

// A query for due acts whose event nobody has handled.
std::string unhandled_events(const std::vector<DueWork>& due);

}  // namespace fencepost::scenarios
