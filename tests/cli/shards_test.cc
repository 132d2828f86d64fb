// Goal: a process finds out from its command line or its environment which part of a sweep is its
// own, and refuses to guess.
//
// Method: environments as Slurm, Kubernetes and Open MPI make them, by hand; tests/scale runs the
// real ones.
#include "cli/shards.h"

#include <gtest/gtest.h>

#include <map>

#include "cli/command_error.h"

namespace fencepost::cli {
namespace {

using Variables = std::map<std::string, std::string>;
using scenarios::Shard;

ShardChoice choice(const std::vector<const char*>& options, const Variables& variables) {
    std::vector<const char*> words{"same-instant"};
    words.insert(words.end(), options.begin(), options.end());
    return shard_of(Arguments{*find_command("sweep"), words},
                    [&](const char* name) -> std::optional<std::string> {
                        const auto found = variables.find(name);
                        if (found == variables.end()) return std::nullopt;
                        return found->second;
                    });
}

void expect_refused(const std::vector<const char*>& options, const Variables& variables,
                    std::string_view says) {
    try {
        (void)choice(options, variables);
        ADD_FAILURE() << "not refused: " << says;
    } catch (const CommandError& error) {
        EXPECT_NE(std::string{error.what()}.find(says), std::string::npos) << error.what();
    }
}

Variables slurm(const std::string& id, const std::string& least = "1",
                const std::string& step = "1", const std::string& count = "4") {
    return {{"SLURM_ARRAY_TASK_ID", id},
            {"SLURM_ARRAY_TASK_MIN", least},
            {"SLURM_ARRAY_TASK_STEP", step},
            {"SLURM_ARRAY_TASK_COUNT", count}};
}

Variables open_mpi(const std::string& rank, const std::string& size) {
    return {{"OMPI_COMM_WORLD_RANK", rank}, {"OMPI_COMM_WORLD_SIZE", size}};
}

TEST(ShardsTest, WhatNobodySplitsIsWhole) {
    const ShardChoice whole = choice({}, {{"SLURM_JOB_ID", "5"}});
    EXPECT_EQ(whole.shard, Shard{});
    EXPECT_EQ(whole.because, "");
    EXPECT_EQ(folder_of(whole.shard), "");
}

TEST(ShardsTest, AShardCanBeWritten) {
    const ShardChoice second = choice({"--shard", "2/8"}, {});
    EXPECT_EQ(second.shard, (Shard{2, 8}));
    EXPECT_EQ(second.because, "--shard 2/8");
    EXPECT_EQ(folder_of(second.shard), "shard-2-of-8");
    for (const char* wrong : {"0/2", "3/2", "2", "/2", "2/", "a/b", "1/2/3", "-1/2", "1/0", " 1/2"})
        expect_refused({"--shard", wrong}, {}, "is no part; write I/N");
}

TEST(ShardsTest, WhatIsWrittenComesBeforeTheEnvironment) {
    EXPECT_EQ(choice({"--shard", "1/1"}, slurm("3")).shard, Shard{});
    EXPECT_EQ(choice({"--shard", "2/3"}, open_mpi("0", "2")).shard, (Shard{2, 3}));
    expect_refused({"--shard", "1/2", "--shards", "2"}, {}, "leave out --shards");
}

TEST(ShardsTest, TheTasksOfASlurmArrayAreParts) {
    EXPECT_EQ(choice({}, slurm("1")).shard, (Shard{1, 4}));
    EXPECT_EQ(choice({}, slurm("4")).shard, (Shard{4, 4}));
    EXPECT_EQ(choice({}, slurm("4")).because, "SLURM_ARRAY_TASK_ID is 4");
    EXPECT_EQ(choice({}, slurm("0", "0")).shard, (Shard{1, 4}));
    EXPECT_EQ(choice({}, slurm("15", "10", "5", "3")).shard, (Shard{2, 3}));
}

// Two tasks of sixteen, started anew by `sbatch --array=3,7`.
TEST(ShardsTest, WithTheirNumberGivenTasksKeepTheirParts) {
    EXPECT_EQ(choice({"--shards", "16"}, slurm("7", "3", "4", "2")).shard, (Shard{7, 16}));
    expect_refused({"--shards", "16"}, slurm("0", "0"), "is 0, which is none of 16 parts");
    expect_refused({"--shards", "16"}, slurm("17"), "is 17, which is none of 16 parts");
}

TEST(ShardsTest, AnIrregularArrayIsRefused) {
    expect_refused({}, slurm("9", "0", "1", "3"), "is 9, which is none of 3 parts");
    expect_refused({}, slurm("12", "10", "5", "3"), "is 12, which is not one of 10, 15, …");
    expect_refused({}, slurm("x"), "SLURM_ARRAY_TASK_ID is \"x\"");
    Variables old = slurm("1");
    old.erase("SLURM_ARRAY_TASK_COUNT");
    expect_refused({}, old, "SLURM_ARRAY_TASK_COUNT is not");
}

TEST(ShardsTest, TheIndexOfAKubernetesJobCountsFromZero) {
    const Variables index{{"JOB_COMPLETION_INDEX", "0"}};
    EXPECT_EQ(choice({"--shards", "5"}, index).shard, (Shard{1, 5}));
    EXPECT_EQ(choice({"--shards", "5"}, {{"JOB_COMPLETION_INDEX", "4"}}).shard, (Shard{5, 5}));
    expect_refused({}, index, "add --shards with the job's completions");
    expect_refused({"--shards", "5"}, {{"JOB_COMPLETION_INDEX", "5"}}, "none of 5 parts");
}

TEST(ShardsTest, TheRanksOfOpenMpiAreParts) {
    EXPECT_EQ(choice({}, open_mpi("0", "2")).shard, (Shard{1, 2}));
    EXPECT_EQ(choice({"--shards", "2"}, open_mpi("1", "2")).shard, (Shard{2, 2}));
    expect_refused({"--shards", "3"}, open_mpi("1", "2"), "is one of 2, and --shards says 3");
    expect_refused({}, {{"OMPI_COMM_WORLD_RANK", "1"}}, "OMPI_COMM_WORLD_SIZE is not");
}

TEST(ShardsTest, WhatCannotBeKnownIsNotGuessed) {
    Variables both = slurm("1");
    both.merge(open_mpi("1", "2"));
    expect_refused({}, both, "SLURM_ARRAY_TASK_ID and OMPI_COMM_WORLD_RANK are both set");
    expect_refused({"--shards", "4"}, {}, "no scheduler has said which of them this is");
}

}  // namespace
}  // namespace fencepost::cli
