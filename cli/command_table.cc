#include <fmt/format.h>

#include "cli/options.h"
#include "reports/layout.h"

namespace fencepost::cli {
namespace {

constexpr OptionSpec kHandler{"handler", "H",
                              "the handler under test (default: the scenario's reference)"};
constexpr OptionSpec kHandlers{"handlers", "LIB,…",
                               "shared libraries with handlers of your own (docs/handlers.md)"};
constexpr OptionSpec kScenarios{"scenarios", "FILE,…",
                                "scenarios of your own (docs/scenario-files.md)"};
constexpr OptionSpec kJobs{"jobs", "N", "worker processes (default: one a processor)"};
constexpr OptionSpec kFaults{"faults", "K",
                             "every plan with at most K faults, 1 to 3 (default: 1)"};
constexpr OptionSpec kKinds{"kinds", "KIND,…",
                            "enumerate these kinds of faults alone (default: all of the "
                            "scenario's)"};
constexpr OptionSpec kSet{"set", "NAME=N,…",
                          "change parameters of the scenario, such as accounts=2"};
constexpr OptionSpec kResume{"resume", "",
                             "go on from what an enumeration that was stopped or killed has noted "
                             "in --out"};
constexpr OptionSpec kShard{"shard", "I/N",
                            "only the I-th of N parts, into DIR/shard-I-of-N (default: as Slurm, "
                            "Kubernetes or Open MPI say)"};
constexpr OptionSpec kShards{"shards", "N", "of how many parts, where the scheduler says which"};
constexpr OptionSpec kProfile{"profile", "P",
                              "how hard random plans are: gentle, default, harsh or a file"};
constexpr OptionSpec kUntilFailure{"until-failure", "", "stop when an invariant breaks"};
constexpr OptionSpec kVerify{"verify", "", "run everything twice and compare the histories"};
constexpr OptionSpec kJson{"json", "FILE",
                           "the result as JSON; - is standard output, in place of text"};
constexpr OptionSpec kOut{"out", "DIR",
                          "write failures and summary.json there (default: failures alone, to "
                          "fencepost-failures)"};
constexpr OptionSpec kCorpus{"corpus", "DIR",
                             "saved failures (default: FENCEPOST_CORPUS of the environment; "
                             "./fencepost: the project's corpus/)"};
constexpr OptionSpec kBudget{"budget", "TIME",
                             "end after so much time (30s, 5m, 1h) with what is found by then; "
                             "without --seeds the time alone decides"};
constexpr OptionSpec kTrace{"trace", "", "print every event, one a line"};
constexpr OptionSpec kTraceJson{"trace-json", "FILE",
                                "every event as a line of JSON; - is standard output"};

}  // namespace

const std::vector<CommandSpec>& all_commands() {
    static const std::vector<CommandSpec> kCommands{
        {.name = "accept",
         .operand = "",
         .summary =
             "the two-node acceptance checklist: random sweeps and every plan with one fault",
         .options = {kHandler,
                     kHandlers,
                     kScenarios,
                     kProfile,
                     {"seeds", "N|A..B",
                      "seeds of the random runs of each condition (default: 1000)"},
                     kBudget,
                     kFaults,
                     kKinds,
                     kCorpus,
                     kJobs,
                     kOut,
                     kResume,
                     kVerify,
                     kJson,
                     {"html", "FILE", "the checklist as a page: each cell leads to its evidence"},
                     {"junit", "FILE", "the checklist as JUnit XML: a test case a cell"},
                     {"sarif", "FILE", "what broke as SARIF 2.1.0, at the handler's source line"},
                     {"github", "", "print what broke as GitHub annotations, too"}}},
        {.name = "run",
         .operand = "SCENARIO",
         .summary = "one run: of a plan, of a seed's random plan, or without faults",
         .options = {kHandler,
                     kHandlers,
                     kScenarios,
                     kProfile,
                     {"seed", "S", "the random plan of this seed, as a sweep draws it"},
                     {"plan", "FILE", "the plan in this file"},
                     kSet,
                     kTrace,
                     kTraceJson,
                     kVerify,
                     kJson}},
        {.name = "sweep",
         .operand = "SCENARIO",
         .summary = "many random plans, one for each seed",
         .options = {kHandler,
                     kHandlers,
                     kScenarios,
                     kProfile,
                     {"seeds", "N|A..B", "which seeds (default: 1..1000)"},
                     kBudget,
                     kSet,
                     kJobs,
                     {"out", "DIR",
                      "store every run in DIR/results.sqlite; failures and summary.json beside it "
                      "(default: failures alone, to fencepost-failures)"},
                     {"resume", "", "go on with the results in --out, if there are any"},
                     kShard,
                     kShards,
                     kUntilFailure,
                     {"fingerprints", "",
                      "print \"seed fingerprint\" for each run and nothing else"},
                     kVerify,
                     kJson}},
        {.name = "search",
         .operand = "SCENARIO",
         .summary =
             "random plans that learn: those whose runs do something new are changed further",
         .options = {kHandler,
                     kHandlers,
                     kScenarios,
                     kProfile,
                     {"runs", "N", "how many runs (default: 1000)"},
                     {"seed", "S", "of all that is drawn (default: 1)"},
                     kBudget,
                     kUntilFailure,
                     kSet,
                     kJobs,
                     kOut,
                     kVerify,
                     kJson}},
        {.name = "exhaust",
         .operand = "SCENARIO",
         .summary = "every plan with one fault, or up to three, at every fault point that a run "
                    "reaches; ends with a certificate",
         .options = {kHandler,
                     kHandlers,
                     kScenarios,
                     kFaults,
                     kKinds,
                     {"seed", "S", "the seed of all plans: latencies, mostly (default: 0)"},
                     kSet,
                     kJobs,
                     kOut,
                     kResume,
                     kVerify,
                     kJson}},
        {.name = "merge",
         .operand = "DIR...",
         .several_operands = true,
         .summary = "makes one folder of results of the parts of a sweep, and reports on the whole",
         .options = {kHandlers, kScenarios, {"out", "DIR", "where to"}, kJobs, kJson}},
        {.name = "replay",
         .operand = "FAILURE.json",
         .summary = "runs a saved failure and says whether it is still there",
         .options = {kHandlers,
                     kScenarios,
                     kTrace,
                     kTraceJson,
                     {"step", "", "step through the events, with a look at the world in between"},
                     kVerify,
                     kJson}},
        {.name = "explain",
         .operand = "FAILURE.json",
         .summary = "why a saved failure breaks its invariant: what happened, what it takes, and "
                    "what usually causes it",
         .options = {kHandlers,
                     kScenarios,
                     {"html", "FILE",
                      "a page with a space-time diagram; - is standard output, in "
                      "place of text"},
                     kJson}},
        {.name = "shrink",
         .operand = "FAILURE.json",
         .summary = "leaves out of a failing plan all that it does not need to fail",
         .options = {kHandlers,
                     kScenarios,
                     {"out", "FILE", "write the smaller failure there (default: print it)"},
                     kVerify,
                     kJson}},
        {.name = "mistakes",
         .operand = "NAME...",
         .operand_required = false,
         .several_operands = true,
         .summary = "finds the planted mistakes: by which condition, after how many seeds, and the "
                    "least plan",
         .options = {kHandlers,
                     kScenarios,
                     {"seeds", "N", "seeds of each scenario at most (default: 10000)"},
                     kJobs,
                     {"out", "DIR", "write the least failure of each and summary.json there"},
                     kJson}},
        {.name = "corpus",
         .operand = "add|list|prune",
         .operand_required = false,
         .several_operands = true,
         .summary =
             "failures that were once found: add FILE... keeps them, list replays all, prune "
             "removes those that do not fail any more",
         .options = {kHandlers,
                     kScenarios,
                     kCorpus,
                     {"yes", "", "prune: remove them; without it, say what would be removed"},
                     {"dry-run", "", "prune: say what would be removed"},
                     kJson}},
        {.name = "check",
         .operand = "FILE...",
         .several_operands = true,
         .summary = "whether scenario files are sound, with their SQL; or where they are not",
         .options = {kHandlers, kScenarios}},
        {.name = "show",
         .operand = "SCENARIO",
         .summary = "a scenario as a file, to begin one of your own with",
         .options = {kHandlers, kScenarios}},
        {.name = "list",
         .operand = "WHAT",
         .summary = "what there is: scenarios, handlers, faults, checkers, probes or operations",
         .options = {kHandlers, kScenarios, kJson}},
        {.name = "new",
         .operand = "NAME",
         .summary = "a project to start from: a job, its tables, a scenario and a test, in the "
                    "folder NAME",
         .options = {{"mistake", "M",
                      "one that fails instructively: bare-effect, clock-key, look-first, no-claim "
                      "or swallowed-outcome"}}},
        {.name = "help",
         .operand = "COMMAND",
         .operand_required = false,
         .summary = "this text, or a command's options",
         .options = {}},
        {.name = "version", .operand = "", .summary = "the version of this program", .options = {}},
    };
    return kCommands;
}

std::string help_text() {
    std::string out =
        "Fencepost runs a clustered job's real claim, lease, fencing and checkpoint code in a\n"
        "simulated cluster, makes every failure happen, and judges whether each effect landed "
        "once.\n"
        "\nfencepost COMMAND [OPTIONS]\n\n";
    for (const CommandSpec& command : all_commands()) {
        reports::add_field(out, fmt::format("{} {}", command.name, command.operand),
                           command.summary, 22);
    }
    out +=
        "\nfencepost help COMMAND lists a command's options.\n"
        "\nExit codes: 0 everything held; 1 an invariant broke; 2 the command or a file is wrong;\n"
        "3 inconclusive: something was never exercised; 4 the harness itself failed.\n";
    return out;
}

std::string help_text(const CommandSpec& command) {
    std::string out = fmt::format("fencepost {}", command.name);
    if (!command.operand.empty())
        out += command.operand_required ? fmt::format(" {}", command.operand)
                                        : fmt::format(" [{}]", command.operand);
    out += command.options.empty() ? "\n\n" : " [OPTIONS]\n\n";
    for (const std::string& line : reports::wrapped(command.summary, reports::kPageWidth))
        out += line + "\n";
    if (!command.options.empty()) out += "\n";
    for (const OptionSpec& option : command.options) {
        reports::add_field(out, fmt::format("--{} {}", option.name, option.value), option.help, 20);
    }
    return out;
}

}  // namespace fencepost::cli
