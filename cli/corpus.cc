#include "cli/corpus.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <system_error>

#include "cli/command_error.h"
#include "cli/converting.h"
#include "cli/files.h"
#include "cli/plans.h"
#include "scenarios/runner.h"
#include "scenarios/scenario.h"
#include "scenarios/search/nearby.h"

namespace fencepost::cli {
namespace {

namespace fs = std::filesystem;

// The failure as this run of its plan shows it: on the same key where it can.
scenarios::Failure seen_in(const scenarios::RunResult& result, scenarios::Failure failure) {
    failure.fingerprint = result.fingerprint;
    for (const checkers::Judgement& judgement : result.judgements) {
        if (judgement.verdict != checkers::Verdict::Fail) continue;
        if (judgement.checker != failure.invariant) continue;
        auto finding = std::ranges::find(judgement.findings, failure.key, &checkers::Finding::key);
        if (finding == judgement.findings.end()) finding = judgement.findings.begin();
        if (finding == judgement.findings.end()) {
            failure.message = judgement.reason;
            continue;
        }
        failure.key = finding->key;
        failure.message = finding->message;
        failure.first_violating_event = finding->record;
    }
    return failure;
}

SavedFailure read_saved(const fs::path& path) {
    SavedFailure saved{.path = path, .name = path.stem().string(), .failure = {}, .problem = {}};
    try {
        saved.failure = scenarios::failure_from_json(read_file(path));
        if (saved.failure.is_bare_plan())
            saved.problem = "it is a plan, and does not say what breaks";
    } catch (const std::runtime_error& error) {
        saved.problem = error.what();
    }
    return saved;
}

}  // namespace

std::optional<fs::path> corpus_folder(const Arguments& arguments) {
    if (const auto asked = arguments.text("corpus")) return fs::path{*asked};
    const char* const usual = std::getenv("FENCEPOST_CORPUS");
    if (usual == nullptr || *usual == '\0') return std::nullopt;
    return fs::path{usual};
}

std::vector<SavedFailure> read_corpus(const fs::path& folder) {
    std::error_code error;
    std::vector<fs::path> paths;
    for (fs::directory_iterator entry{folder, error}; !error && entry != fs::directory_iterator{};
         entry.increment(error)) {
        if (entry->path().extension() == ".json") paths.push_back(entry->path());
    }
    if (error) {
        throw CommandError(
            fmt::format("cannot read the corpus {}: {}", folder.string(), error.message()));
    }
    std::ranges::sort(paths);
    std::vector<SavedFailure> corpus;
    for (const fs::path& path : paths) corpus.push_back(read_saved(path));
    return corpus;
}

std::expected<Replayed, scenarios::Mishap> replay_saved(const scenarios::Failure& failure) {
    // One digit each, then the failure.
    const auto packed = scenarios::call_in_worker([&failure] {
        const scenarios::NearbyReplay nearby =
            scenarios::replay_nearby(failure, scenarios::fresh_runner().run);
        scenarios::Failure now = seen_in(nearby.result, failure);
        now.plan = nearby.plan;
        const scenarios::Replay& replay = nearby.replay;
        return fmt::format("{:d}{:d}{:d}", static_cast<int>(replay.verdict), replay.same_history,
                           replay.same_key) +
               scenarios::to_json(now);
    });
    if (!packed) return std::unexpected(packed.error());
    sim::require(packed->size() > 3, "a worker's answer is whole");
    return Replayed{
        .replay = {.verdict = static_cast<scenarios::ReplayVerdict>(packed->at(0) - '0'),
                   .same_history = packed->at(1) == '1',
                   .same_key = packed->at(2) == '1'},
        .now = scenarios::failure_from_json(std::string_view{*packed}.substr(3))};
}

reports::SavedReplay replay_of(const SavedFailure& saved, const Console& console) {
    const scenarios::Failure& failure = saved.failure;
    reports::SavedReplay report{.name = saved.name,
                                .file = saved.path.string(),
                                .scenario = failure.plan.scenario,
                                .handler = failure.plan.handler,
                                .checker = failure.invariant,
                                .faults = failure.plan.faults.size(),
                                .found_by = found_by_text(failure.found_by),
                                .saved_version = failure.version,
                                .replay = command_line(console, {"replay", saved.path.string()}),
                                .trouble = saved.problem};
    if (!report.trouble.empty()) return report;
    try {
        scenarios::validate(failure.plan);
    } catch (const sim::PlanError& error) {
        report.trouble = error.what();
        return report;
    }
    const auto replayed = replay_saved(failure);
    if (!replayed) {
        const reports::BrokenRun broken = broken_run_of(replayed.error(), {}, {});
        report.trouble = broken.what;
        report.handler_died = broken.handlers_doing;
        report.interrupted = is_interruption(replayed.error());
        return report;
    }
    report.outcome = outcome_of(replayed->replay.verdict);
    report.same_history = replayed->replay.same_history;
    report.same_key = replayed->replay.same_key;
    report.moved = scenarios::moves_between(failure.plan, replayed->now.plan);
    return report;
}

const SavedFailure* same_in(const std::vector<SavedFailure>& corpus,
                            const scenarios::Failure& failure) {
    const auto same = std::ranges::find_if(corpus, [&](const SavedFailure& saved) {
        return saved.problem.empty() && saved.failure.plan == failure.plan &&
               saved.failure.invariant == failure.invariant;
    });
    return same == corpus.end() ? nullptr : &*same;
}

fs::path new_corpus_path(const fs::path& folder, const scenarios::Failure& failure) {
    const std::string name = scenarios::plain_name(
        fmt::format("{}.{}.{}", failure.plan.handler, failure.invariant, failure.plan.scenario));
    fs::path path = folder / (name + ".json");
    for (int number = 2; fs::exists(path); ++number)
        path = folder / fmt::format("{}-{}.json", name, number);
    return path;
}

}  // namespace fencepost::cli
