// The results of a sweep, as a SQLite file that people query: docs/scale.md tells of its tables.
//
// Runs are added in the order of their seeds. They are on disk, whole and for good, from the next
// commit on, whatever becomes of the process; so what the file holds is always the outcome of the
// first so many seeds, each once.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "scenarios/results/kept_run.h"
#include "scenarios/results/stored_sweep.h"
#include "scenarios/search/workers.h"

namespace fencepost::scenarios {

enum class IfThereAreResults : std::uint8_t { Refuse, GoOn };

class ResultsStore {
public:
    // Begins a store, or goes on with one that the same sweep and the same program have begun.
    // `seconds` gives the real time since whenever, for the table of timings.
    // Throws sim::PlanError when the file is another one's, or has results already and they are not
    // to be gone on with.
    ResultsStore(
        const std::string& path, StoredSweep sweep, IfThereAreResults if_there_are,
        std::function<double()> seconds = [] { return 0.0; });
    // Opens what is there, such as a part that is to be merged.
    static ResultsStore open(const std::string& path);
    ~ResultsStore();
    ResultsStore(ResultsStore&&) noexcept;
    ResultsStore& operator=(ResultsStore&&) noexcept;

    [[nodiscard]] const StoredSweep& sweep() const;
    // How many of the shard's seeds are done: those before sweep().own_seeds().first + done().
    [[nodiscard]] std::uint64_t done() const;
    [[nodiscard]] bool complete() const { return done() == size(); }
    [[nodiscard]] std::uint64_t size() const;

    void add(const KeptRun& run);
    // Of the seed `mishap.item`.
    void add(const Mishap& mishap);
    void commit();

    // Of those that are committed, in the order of their seeds.
    void for_each_run(const std::function<void(const KeptRun&)>& visit) const;
    [[nodiscard]] std::vector<Mishap> mishaps() const;
    // Adds and commits what another store holds, whose seeds come right after those done.
    void add_all_of(const ResultsStore& part);

private:
    struct State;
    explicit ResultsStore(std::unique_ptr<State> state);
    std::unique_ptr<State> state_;
};

// Makes one store of the parts of a sweep, in any order, as if it had never been split. Throws
// sim::PlanError when they are not all parts of one, all of them, and complete. The file is there
// whole or not at all.
void merge_stores(std::span<const std::string> parts, const std::string& to);

}  // namespace fencepost::scenarios
