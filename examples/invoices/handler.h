// The invoice run as Fencepost tries it.
#pragma once

#include "scenarios/handler.h"

namespace invoices {

fencepost::scenarios::HandlerSpec invoice_run_handler();

}  // namespace invoices
