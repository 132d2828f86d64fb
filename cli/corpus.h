// The corpus: a folder of failure files, each of which was once found. Replayed, each says whether
// its invariant still breaks; a failure that was repaired and comes back is seen before any search.
#pragma once

#include <expected>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "cli/console.h"
#include "cli/options.h"
#include "reports/results.h"
#include "scenarios/search/failure.h"
#include "scenarios/search/workers.h"

namespace fencepost::cli {

// The folder of --corpus, or of the environment's FENCEPOST_CORPUS, which ./fencepost sets to the
// project's; nullopt when there is neither. It need not be there.
std::optional<std::filesystem::path> corpus_folder(const Arguments& arguments);

// One file of a corpus.
struct SavedFailure {
    std::filesystem::path path;
    std::string name;            // the file's, without ".json"
    scenarios::Failure failure;  // its names may be unknown to this program
    std::string problem;         // why it cannot be read; empty: it could
};

// The files of a folder that end in ".json", in the order of their names. CommandError when there
// is no such folder.
std::vector<SavedFailure> read_corpus(const std::filesystem::path& folder);

// A run of the failure's plan, or of one nearby if only that breaks the invariant; and the failure
// as that run shows it: with that plan, and today's key, message, event and fingerprint.
struct Replayed {
    scenarios::Replay replay;
    scenarios::Failure now;
};

// In a process of its own. The names in the plan are valid.
std::expected<Replayed, scenarios::Mishap> replay_saved(const scenarios::Failure& failure);

// The same as a report. What is wrong with the file is its trouble.
reports::SavedReplay replay_of(const SavedFailure& saved, const Console& console);

// The failure in the corpus that says the same: scenario, handler, invariant and plan. Null: none.
const SavedFailure* same_in(const std::vector<SavedFailure>& corpus,
                            const scenarios::Failure& failure);

// "lock-only.once.holder-leaves.json", with a number when the folder has that name already.
std::filesystem::path new_corpus_path(const std::filesystem::path& folder,
                                      const scenarios::Failure& failure);

}  // namespace fencepost::cli
