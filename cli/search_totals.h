// The counts of a search, and saved failures, in the words of reports.
#pragma once

#include "reports/results.h"
#include "scenarios/search/exhaust.h"
#include "scenarios/search/failure.h"
#include "scenarios/search/sweep.h"

namespace fencepost::cli {

// All but what names, files and commands are needed for.
reports::SearchReport report_of(const scenarios::SearchResult& result);

reports::CertificateReport report_of(const scenarios::Certificate& certificate,
                                     const scenarios::ExhaustOptions& options);

reports::FailureReport report_of(const scenarios::Failure& failure);

}  // namespace fencepost::cli
