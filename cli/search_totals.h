// The counts of an exhaustive search in the words of reports, beside those of any search.
#pragma once

#include "kit/reporting.h"
#include "reports/results.h"
#include "scenarios/search/exhaust.h"

namespace fencepost::cli {

reports::DrawnReport drawn_report_of(const scenarios::Totals& totals,
                                     const scenarios::Profile& profile);

reports::CertificateReport report_of(const scenarios::Certificate& certificate,
                                     const scenarios::ExhaustOptions& options);

using kit::report_of;

}  // namespace fencepost::cli
