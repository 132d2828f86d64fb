#include "cli/shards.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <filesystem>

#include "cli/command_error.h"
#include "cli/names.h"
#include "cli/searching.h"

namespace fencepost::cli {
namespace {

using scenarios::Shard;

constexpr std::uint64_t kMostShards = 1'000'000;

std::optional<std::uint64_t> number_in(std::string_view text) {
    std::uint64_t number = 0;
    const char* const end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, number);
    if (text.empty() || error != std::errc{} || stop != end) return std::nullopt;
    return number;
}

Shard written_shard(const std::string& text) {
    const std::size_t slash = std::min(text.find('/'), text.size());
    const auto number = number_in(std::string_view{text}.substr(0, slash));
    const auto of = number_in(std::string_view{text}.substr(std::min(slash + 1, text.size())));
    if (!number || !of || *number < 1 || *number > *of || *of > kMostShards) {
        throw CommandError(fmt::format(
            "--shard: \"{}\" is no part; write I/N, such as 2/8 for the second of eight",
            shown(text)));
    }
    return {*number, *of};
}

// What one scheduler says of the process that it has started.
struct Scheduler {
    const char* name;
    const char* index;  // the variable that tells its processes apart
};
constexpr Scheduler kSlurm{"a Slurm job array", "SLURM_ARRAY_TASK_ID"};
constexpr Scheduler kKubernetes{"an indexed job of Kubernetes", "JOB_COMPLETION_INDEX"};
constexpr Scheduler kOpenMpi{"Open MPI", "OMPI_COMM_WORLD_RANK"};

class FromEnvironment {
public:
    FromEnvironment(const Environment& environment, const Scheduler& scheduler,
                    std::optional<std::uint64_t> shards)
        : environment_(environment), scheduler_(scheduler), shards_(shards) {}

    [[nodiscard]] ShardChoice choice() const {
        const std::uint64_t index = number(scheduler_.index);
        Shard shard;
        if (scheduler_.index == kSlurm.index) {
            shard = of_slurm(index);
        } else if (scheduler_.index == kOpenMpi.index) {
            shard = of_open_mpi(index);
        } else {
            shard = of_kubernetes(index);
        }
        if (shard.of < 1 || shard.of > kMostShards || shard.number < 1 || shard.number > shard.of) {
            refuse(fmt::format("is {}, which is none of {} parts", index, shard.of));
        }
        return {shard, fmt::format("{} is {}", scheduler_.index, index)};
    }

private:
    // With --shards the tasks count from 1, so that some of them can be started anew by
    // themselves; else from the least one of the array.
    [[nodiscard]] Shard of_slurm(std::uint64_t index) const {
        if (shards_) return {index, *shards_};
        const std::uint64_t least = number("SLURM_ARRAY_TASK_MIN");
        const std::uint64_t step = number("SLURM_ARRAY_TASK_STEP");
        if (step == 0 || index < least || (index - least) % step != 0)
            refuse(fmt::format("is {}, which is not one of {}, {}, …", index, least, least + step));
        return {(index - least) / step + 1, number("SLURM_ARRAY_TASK_COUNT")};
    }
    [[nodiscard]] Shard of_open_mpi(std::uint64_t index) const {
        const std::uint64_t size = number("OMPI_COMM_WORLD_SIZE");
        if (shards_ && *shards_ != size)
            refuse(fmt::format("is one of {}, and --shards says {}", size, *shards_));
        return {index + 1, size};
    }
    [[nodiscard]] Shard of_kubernetes(std::uint64_t index) const {
        if (!shards_) refuse("does not tell of how many; add --shards with the job's completions");
        return {index + 1, *shards_};
    }

    [[nodiscard]] std::uint64_t number(const char* variable) const {
        const auto text = environment_(variable);
        const auto value = text ? number_in(*text) : std::nullopt;
        if (!value) {
            refuse(fmt::format("is set, and {} {}", variable,
                               text ? fmt::format("is \"{}\"", shown(*text)) : "is not"));
        }
        return *value;
    }
    [[noreturn]] void refuse(const std::string& why) const {
        throw CommandError(
            fmt::format("this is {}, but {} {}; write --shard I/N, or --shard 1/1 for all seeds",
                        scheduler_.name, scheduler_.index, why));
    }

    const Environment& environment_;
    const Scheduler& scheduler_;
    std::optional<std::uint64_t> shards_;
};

}  // namespace

Environment process_environment() {
    return [](const char* name) -> std::optional<std::string> {
        const char* value = std::getenv(name);
        if (value == nullptr) return std::nullopt;
        return std::string{value};
    };
}

ShardChoice shard_of(const Arguments& arguments, const Environment& environment) {
    const auto shards = arguments.number("shards", 1, kMostShards);
    if (const auto written = arguments.text("shard")) {
        if (shards) throw CommandError("--shard says of how many parts; leave out --shards");
        return {written_shard(*written), "--shard " + *written};
    }
    std::vector<const Scheduler*> found;
    for (const Scheduler* scheduler : {&kSlurm, &kKubernetes, &kOpenMpi}) {
        if (environment(scheduler->index)) found.push_back(scheduler);
    }
    if (found.size() > 1) {
        throw CommandError(fmt::format(
            "{} and {} are both set: which part this is does not follow from that; write "
            "--shard I/N, or --shard 1/1 for all seeds",
            found[0]->index, found[1]->index));
    }
    if (found.size() == 1) return FromEnvironment{environment, *found.front(), shards}.choice();
    if (shards) {
        throw CommandError(
            "--shards: no scheduler has said which of them this is; write --shard I/N");
    }
    return {};
}

std::string folder_of(const Shard& shard) {
    return shard.of == 1 ? std::string{} : fmt::format("shard-{}-of-{}", shard.number, shard.of);
}

std::vector<std::string> stores_in(const std::vector<std::string>& folders) {
    namespace fs = std::filesystem;
    std::vector<std::string> stores;
    for (const std::string& folder : folders) {
        const std::size_t before = stores.size();
        if (fs::exists(fs::path(folder) / kResultsFile))
            stores.push_back((fs::path(folder) / kResultsFile).string());
        std::error_code error;
        for (const fs::directory_entry& entry : fs::directory_iterator(folder, error)) {
            if (entry.path().filename().string().starts_with("shard-") &&
                fs::exists(entry.path() / kResultsFile)) {
                stores.push_back((entry.path() / kResultsFile).string());
            }
        }
        if (error) throw CommandError(fmt::format("{}: {}", folder, error.message()));
        if (stores.size() == before) {
            throw CommandError(fmt::format("{}: there is no {}, and no shard-I-of-N with one",
                                           folder, kResultsFile));
        }
    }
    return stores;
}

}  // namespace fencepost::cli
