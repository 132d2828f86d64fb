// The handler for `fencepost --handlers ./libinvoices-plugin.so`.
#include <fencepost/plugin.h>

#include "handler.h"

FENCEPOST_PLUGIN(registry) {
    registry.add(invoices::invoice_run_handler());
}
