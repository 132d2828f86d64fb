// Results as text for people: aligned, at most 100 columns (a longer word or command stays whole),
// colour only where the style asks for it. Every text ends in a line end.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "reports/layout.h"
#include "reports/results.h"

namespace fencepost::reports {

std::string run_text(const RunReport& report, TextStyle style = {});
std::string search_text(const SearchReport& report, TextStyle style = {});
// A row for each condition, a column for each of the five verdicts; then the conditions in detail.
std::string accept_text(const AcceptReport& report, TextStyle style = {});
// A row for each planted mistake: by what it was found, and the least plan that shows it.
std::string mistakes_text(const MistakesReport& report, TextStyle style = {});
// A row for each saved failure: what it breaks, and whether it still does.
std::string corpus_text(const CorpusReport& report, TextStyle style = {});
// What became of failures that were once found: a sentence, and each that is still there; empty
// when there are none.
std::string saved_text(const std::vector<SavedReplay>& saved, TextStyle style = {});
std::string replay_text(const ReplayReport& report, TextStyle style = {});

// The counts of an exhaustive search and what they claim.
std::string certificate_text(const CertificateReport& certificate, TextStyle style = {});

// What broke, with which faults, and the command that shows it again.
std::string failure_text(const FailureReport& failure, TextStyle style = {});

// A run that gave no history, and the command that tries it again.
std::string broken_run_text(const BrokenRun& run, TextStyle style = {});

// That a plan gave two histories, and the first event that differs in them.
std::string difference_text(std::uint64_t record, std::string_view first, std::string_view second);

// "seed fingerprint", the fingerprint in 16 hexadecimal digits.
std::string fingerprint_line(std::uint64_t seed, std::uint64_t fingerprint);
std::string fingerprint_text(std::uint64_t fingerprint);

// Names and what they mean, under a heading for each group when there are several.
std::string list_text(const std::vector<ListItem>& items, TextStyle style = {});

}  // namespace fencepost::reports
