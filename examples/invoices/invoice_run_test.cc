// Goal: every customer gets one invoice a month, whatever happens to the cluster.
#include <fencepost/gtest.h>

#include "handler.h"

namespace invoices {
namespace {

TEST(InvoiceRunTest, PassesTheAcceptanceChecklist) {
    EXPECT_FENCEPOST_ACCEPTS(invoice_run_handler(), {.seeds = 100});
}

}  // namespace
}  // namespace invoices
