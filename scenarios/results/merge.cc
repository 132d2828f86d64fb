#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>

#include "scenarios/results/store.h"

namespace fencepost::scenarios {
namespace {

struct Part {
    std::string path;
    ResultsStore store;
};

[[noreturn]] void not_mergeable(const std::string& path, const std::string& why) {
    throw sim::PlanError(fmt::format("{}: {}", path, why));
}

void check_parts(const std::vector<Part>& parts) {
    const StoredSweep& first = parts.front().store.sweep();
    std::uint64_t due = 1;
    for (const Part& part : parts) {
        StoredSweep alike = part.store.sweep();
        const Shard shard = alike.shard;
        alike.shard = first.shard;
        if (alike != first) {
            not_mergeable(part.path, fmt::format("this is no part of the sweep that {} is a part "
                                                 "of: another scenario, handler, parameters, "
                                                 "range of seeds or build of the program",
                                                 parts.front().path));
        }
        if (shard.of != first.shard.of) {
            not_mergeable(part.path, fmt::format("this is one of {} parts, and {} is one of {}",
                                                 shard.of, parts.front().path, first.shard.of));
        }
        if (shard.number < due)
            not_mergeable(part.path, fmt::format("part {} is there twice", shard.number));
        if (shard.number > due) {
            not_mergeable(part.path, fmt::format("part {} of {} is missing", due, first.shard.of));
        }
        if (!part.store.complete()) {
            not_mergeable(part.path,
                          fmt::format("only {} of its {} seeds are done; go on with it by --resume",
                                      part.store.done(), part.store.size()));
        }
        ++due;
    }
    if (due <= first.shard.of)
        not_mergeable(parts.back().path,
                      fmt::format("part {} of {} is missing", due, first.shard.of));
}

}  // namespace

void merge_stores(std::span<const std::string> paths, const std::string& to) {
    if (paths.empty()) throw sim::PlanError("merge: there is nothing to merge");
    std::vector<Part> parts;
    for (const std::string& path : paths) parts.push_back({path, ResultsStore::open(path)});
    std::ranges::sort(parts, {}, [](const Part& part) { return part.store.sweep().shard.number; });
    check_parts(parts);

    StoredSweep whole = parts.front().store.sweep();
    whole.shard = {};
    const std::string beside = to + ".part";
    std::filesystem::remove(beside);
    {
        ResultsStore store{beside, whole, IfThereAreResults::Refuse};
        for (const Part& part : parts) store.add_all_of(part.store);
    }
    std::filesystem::rename(beside, to);
}

}  // namespace fencepost::scenarios
