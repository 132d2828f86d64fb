// The job as Fencepost tries it.
#pragma once

#include "scenarios/handler.h"

namespace loyalty {

fencepost::scenarios::HandlerSpec expire_points_handler();

// The same as somebody wrote it at first, without the gates: looks whether the points have expired,
// and if not, lets them expire.
fencepost::scenarios::HandlerSpec look_first_handler();

}  // namespace loyalty
