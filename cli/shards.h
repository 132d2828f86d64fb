// Which part of a sweep this process is to run: as --shard says, or as the scheduler that started
// it says in its environment.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "cli/options.h"
#include "scenarios/results/stored_sweep.h"

namespace fencepost::cli {

struct ShardChoice {
    scenarios::Shard shard;
    std::string because;  // "SLURM_ARRAY_TASK_ID is 3"; empty: nobody asked for a part
};

using Environment = std::function<std::optional<std::string>(const char* name)>;
Environment process_environment();

// --shard I/N; else the task of a Slurm job array, the index of an indexed job of Kubernetes or the
// rank of Open MPI; else the whole. --shards N says of how many parts where the environment does
// not. CommandError when that makes no sense.
ShardChoice shard_of(const Arguments& arguments,
                     const Environment& environment = process_environment());

// "shard-2-of-8", the folder of a part's results within the folder of the sweep's; empty for the
// whole.
std::string folder_of(const scenarios::Shard& shard);

// The stores in these folders, or in the folders of parts that they hold.
std::vector<std::string> stores_in(const std::vector<std::string>& folders);

}  // namespace fencepost::cli
