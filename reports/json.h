// Results as JSON: stable keys in a stable order, two blanks a level, a line end at the end. A key
// is added without notice; one that changes its meaning or goes raises "version".
//
// Every document has "version": 1, "report" (which kind it is) and "exit_code" (what the command
// that made it returns). Fingerprints are texts of 16 hexadecimal digits, plans are as in plan
// files, times are texts. Verdicts are "pass", "fail", "unknown" and "not applicable".
//
//   run       plan, fingerprint, end, steps, records, virtual_time, verified, faults [{fault,
//   fate}],
//             probes {reached [], missed []}, verdicts [{checker, verdict, reason,
//             findings [{key, message, record}]}], replay
//             The schemas of accept and of explanations are in docs/schemas/.
//   search    scenario, handler, what, runs, asked, failed, in_vain, verified, interrupted,
//   fingerprint,
//             verdicts [{checker, verdict, passed, failed, unknown, not_applicable, reason}],
//             faults [{kind, planned, took_effect}], probes [{probe, reached}],
//             failures [{scenario, handler, checker, also [], invariant, key, message,
//             fingerprint, runs, first_seen, minimal, file, replay, explanation, plan}],
//             broken_runs [{run, what, handlers_doing, replay}], gaps []
//   corpus    folder, failures [{name, file, scenario, handler, checker, faults, outcome or null,
//             same_history, same_key, moved, found_by, saved_version, trouble, replay}]
//   accept    handler or null, interrupted, saved [as failures of corpus], conditions [{condition,
//   title,
//             verdicts {"effect once", "takeover", …: verdict}, obstacles [],
//             evidence [{scenario, handler, title, verdicts, random (as search),
//             one_fault (as search), gaps []}]}]
//   mistakes  seeds, interrupted, checkers_unproven [],
//             fault_proofs [{fault, mistake, scenario, checker}], faults_unproven [],
//             mistakes [{name, lesson, breaks [], found, minimal, by_seeds {scenario, condition,
//             checker, first, count, runs} or null, by_one_fault (as by_seeds), failing [], least
//             (a plan) or null, trouble}]
//   replay    file, outcome, expected_checker, same_history, same_key, moved, saved_version,
//             code_version, run (as run)
//   shrink    failure (as in search), runs
//   list      what, items [{name, text, group}]
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "reports/results.h"

namespace fencepost::reports {

std::string run_json(const RunReport& report);
std::string search_json(const SearchReport& report);
std::string corpus_json(const CorpusReport& report, int exit_code);
std::string accept_json(const AcceptReport& report);
std::string mistakes_json(const MistakesReport& report);
std::string replay_json(const ReplayReport& report);
std::string shrink_json(const FailureReport& failure, std::uint64_t runs);
std::string list_json(std::string_view what, const std::vector<ListItem>& items);

}  // namespace fencepost::reports
