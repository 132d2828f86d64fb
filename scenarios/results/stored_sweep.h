// A sweep whose results are stored, or one part of it where several machines share it.
#pragma once

#include <cstdint>
#include <string>

#include "scenarios/search/random_plan.h"
#include "scenarios/search/sweep.h"

namespace fencepost::scenarios {

// The how-manieth of how many parts.
struct Shard {
    std::uint64_t number = 1;  // from 1
    std::uint64_t of = 1;

    bool operator==(const Shard&) const = default;
};

// What a store holds the results of.
struct StoredSweep {
    Subject subject;
    SeedRange seeds;  // of the whole
    Shard shard;
    bool verified = false;      // each run was made twice
    std::string version;        // of the program
    std::uint64_t program = 0;  // the hash of its file

    // The seeds of the shard: neighbours, as many as those of the other shards or one more.
    [[nodiscard]] SeedRange own_seeds() const;
    bool operator==(const StoredSweep&) const = default;
};

class ResultsStore;

// Runs what the store does not hold yet and gives what all of it came to: the same as a sweep
// without a store would give. Whoever is killed in the midst of it loses the last few hundred runs,
// which the next call makes again. Throws as sweep() does.
SearchResult sweep_into(ResultsStore& store, const SearchOptions& options);

}  // namespace fencepost::scenarios
