// The handlers for `fencepost --handlers ./libloyalty-plugin.so`.
#include <fencepost/plugin.h>

#include "handler.h"

FENCEPOST_PLUGIN(registry) {
    registry.add(loyalty::expire_points_handler());
    registry.add(loyalty::look_first_handler());
}
