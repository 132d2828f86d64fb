// fencepost corpus add|list|prune: the failures that were once found and are kept.
#include <fmt/format.h>

#include <algorithm>
#include <system_error>

#include "cli/command_error.h"
#include "cli/commands.h"
#include "cli/converting.h"
#include "cli/corpus.h"
#include "cli/files.h"
#include "cli/names.h"
#include "cli/output.h"
#include "cli/plans.h"
#include "kit/code_version.h"
#include "reports/json.h"
#include "reports/text.h"

namespace fencepost::cli {
namespace {

namespace fs = std::filesystem;

constexpr int kWrong = 2;
constexpr int kInconclusive = 3;

fs::path folder_for(const Arguments& arguments) {
    if (const auto folder = corpus_folder(arguments)) return *folder;
    throw CommandError("corpus: which folder? Give --corpus DIR; ./fencepost takes the project's");
}

void refuse_operands(const Arguments& arguments, const std::vector<std::string>& operands) {
    if (operands.empty()) return;
    throw CommandError(fmt::format("corpus {}: \"{}\" is one word too many",
                                   arguments.operands().front(), shown(operands.front())));
}

// What a failure file must be to be kept: it says what breaks, and that breaks today.
scenarios::Failure failing_today(const std::string& file) {
    scenarios::Failure failure = read_failure(file);
    if (failure.is_bare_plan()) {
        throw CommandError(file + ": a plan does not say what breaks; fencepost shrink " + file +
                           " --out FAILURE.json makes a failure of it");
    }
    const auto replayed = replay_saved(failure);
    if (!replayed) throw CommandError(file + ": " + replayed.error().text);
    if (!replayed->replay.reproduced()) {
        throw CommandError(fmt::format("{}: {} does not break ({}); only what fails is kept", file,
                                       failure.invariant, name_of(replayed->replay.verdict)));
    }
    const bool as_saved = replayed->replay.verdict == scenarios::ReplayVerdict::SameFailure &&
                          replayed->now.plan == failure.plan;
    if (as_saved) return failure;
    scenarios::Failure now = replayed->now;
    now.version = code_version();
    return now;
}

int add(const fs::path& folder, const std::vector<std::string>& files, Console& console) {
    if (files.empty()) throw CommandError("corpus add: which failure files?");
    // All are looked at before any is added.
    std::vector<scenarios::Failure> failures;
    for (const std::string& file : files) failures.push_back(failing_today(file));
    make_folder(folder);
    int code = 0;
    std::vector<SavedFailure> corpus = read_corpus(folder);
    for (std::size_t i = 0; i < files.size(); ++i) {
        if (const SavedFailure* same = same_in(corpus, failures[i])) {
            console.err << "fencepost: " << files[i] << ": " << same->path.string()
                        << " says the same\n";
            code = kWrong;
            continue;
        }
        const fs::path path = new_corpus_path(folder, failures[i]);
        write_file(path, scenarios::to_json(failures[i]));
        console.out << "added " << path.string() << "\n";
        corpus.push_back(
            {.path = path, .name = path.stem().string(), .failure = failures[i], .problem = {}});
    }
    return code;
}

reports::CorpusReport replayed(const fs::path& folder, Console& console) {
    reports::CorpusReport report{.folder = folder.string(), .failures = {}};
    for (const SavedFailure& saved : read_corpus(folder))
        report.failures.push_back(replay_of(saved, console));
    return report;
}

// What ends a listing before its time, or makes it incomplete.
int exit_code_of(const reports::CorpusReport& report) {
    int code = 0;
    for (const reports::SavedReplay& saved : report.failures) {
        if (saved.interrupted) return kInconclusive;
        if (!saved.trouble.empty()) code = kWrong;
    }
    return code;
}

int list(const fs::path& folder, const Arguments& arguments, Console& console) {
    check_outputs(arguments, {"json"});
    const reports::CorpusReport report = replayed(folder, console);
    const int code = exit_code_of(report);
    print_result(arguments, console, reports::corpus_text(report, console.style),
                 reports::corpus_json(report, code));
    return code;
}

int prune(const fs::path& folder, const Arguments& arguments, Console& console) {
    if (arguments.has("yes") && arguments.has("dry-run"))
        throw CommandError("corpus prune: give either --yes or --dry-run, not both");
    const reports::CorpusReport report = replayed(folder, console);
    const int code = exit_code_of(report);
    if (code == kInconclusive) return code;
    std::uint64_t gone = 0;
    for (const reports::SavedReplay& saved : report.failures) {
        if (!saved.trouble.empty()) {
            console.err << "fencepost: " << saved.file << " is kept: " << saved.trouble << "\n";
        }
        if (!saved.is_gone()) continue;
        ++gone;
        if (arguments.has("yes")) {
            std::error_code error;
            if (!fs::remove(saved.file, error))
                throw CommandError("cannot remove " + saved.file + ": " + error.message());
        }
        console.out << (arguments.has("yes") ? "removed " : "would remove ") << saved.file << "\n";
    }
    console.out << fmt::format("{} of {} failing no more\n", gone,
                               reports::counted(report.failures.size(), "failure", "failures"));
    if (gone > 0 && !arguments.has("yes"))
        console.out << "Each still guards against its return; --yes removes them.\n";
    return code;
}

}  // namespace

int corpus_command(const Arguments& arguments, Console& console) {
    if (arguments.operands().empty())
        throw CommandError("corpus needs add, list or prune; see fencepost help corpus");
    const std::string& action = arguments.operands().front();
    const std::vector<std::string> rest{arguments.operands().begin() + 1,
                                        arguments.operands().end()};
    if (action == "add") return add(folder_for(arguments), rest, console);
    if (action == "list") {
        refuse_operands(arguments, rest);
        return list(folder_for(arguments), arguments, console);
    }
    if (action == "prune") {
        refuse_operands(arguments, rest);
        return prune(folder_for(arguments), arguments, console);
    }
    throw CommandError("corpus: " + unknown_name("action", action, {"add", "list", "prune"}));
}

}  // namespace fencepost::cli
