// Goal: the parts of a sweep, merged, are the whole sweep.
//
// Method: each part is run by itself, in any order and with any number of workers; the tables of
// the merged store are compared with those of a sweep that was never split.
#include <gtest/gtest.h>

#include "tests/scenarios/results/stored.h"

namespace fencepost::scenarios {
namespace {

constexpr std::uint64_t kSeeds = 130;

std::vector<std::string> parts_in(const StoreFolder& folder, std::uint64_t of) {
    std::vector<std::string> files;
    for (std::uint64_t number = of; number >= 1; --number) {
        files.push_back(folder.file(std::to_string(number)));
        (void)run_into(files.back(), small_sweep(kSeeds, {number, of}), static_cast<int>(number));
    }
    return files;
}

void expect_refused(const std::vector<std::string>& parts, const std::string& to,
                    std::string_view says) {
    try {
        merge_stores(parts, to);
        ADD_FAILURE() << "not refused: " << says;
    } catch (const sim::PlanError& error) {
        EXPECT_NE(std::string{error.what()}.find(says), std::string::npos) << error.what();
    }
    EXPECT_FALSE(std::filesystem::exists(to));
}

TEST(MergeTest, PartsHaveEverySeedOnceInOrderAndAsManyAsTheOthersOrOneMore) {
    for (const std::uint64_t seeds : {1U, 2U, 7U, 1'000U, 1'001U}) {
        for (const std::uint64_t of : {1U, 2U, 3U, 7U, 10U, 16U}) {
            const SeedRange all = small_sweep(seeds).seeds;
            std::uint64_t next = all.first;
            for (std::uint64_t number = 1; number <= of; ++number) {
                const SeedRange own = small_sweep(seeds, {number, of}).own_seeds();
                EXPECT_EQ(own.first, next);
                const std::uint64_t size = own.last + 1 - own.first;
                EXPECT_TRUE(size == seeds / of || size == seeds / of + 1) << size;
                next = own.last + 1;
            }
            EXPECT_EQ(next, all.last + 1);
        }
    }
}

TEST(MergeTest, MergedEqualsWhole) {
    const StoreFolder folder;
    const SearchResult whole = run_into(folder.file("whole"), small_sweep(kSeeds));
    for (const std::uint64_t of : {1U, 2U, 3U}) {
        const StoreFolder each;
        const std::string merged = each.file("merged");
        merge_stores(parts_in(each, of), merged);
        EXPECT_EQ(results_of(merged), results_of(folder.file("whole"))) << of;
        const SearchResult read = run_into(merged, small_sweep(kSeeds), 1, IfThereAreResults::GoOn);
        EXPECT_EQ(read.totals, whole.totals);
        EXPECT_FALSE(std::filesystem::exists(merged + ".part"));
    }
}

// More machines than seeds: some have nothing to do, and say so by a store of their own.
TEST(MergeTest, APartWithoutSeedsIsAPart) {
    const StoreFolder folder;
    std::vector<std::string> files;
    for (std::uint64_t number = 1; number <= 3; ++number) {
        files.push_back(folder.file(std::to_string(number)));
        (void)run_into(files.back(), small_sweep(2, {number, 3}), 1);
    }
    (void)run_into(folder.file("whole"), small_sweep(2));
    merge_stores(files, folder.file("merged"));
    EXPECT_EQ(results_of(folder.file("merged")), results_of(folder.file("whole")));
}

TEST(MergeTest, WhatIsNotTheWholeIsNotMerged) {
    const StoreFolder folder;
    const std::vector<std::string> parts = parts_in(folder, 3);
    const std::string& three = parts[0];
    const std::string& two = parts[1];
    const std::string& one = parts[2];
    const std::string to = folder.file("to");
    expect_refused({}, to, "nothing to merge");
    expect_refused({one, three}, to, "part 2 of 3 is missing");
    expect_refused({one, two}, to, "part 3 of 3 is missing");
    expect_refused({one, two, three, two}, to, "part 2 is there twice");
    expect_refused({one, two, folder.file("none")}, to, "none");
}

TEST(MergeTest, PartsOfDifferentSweepsAreNotMerged) {
    const StoreFolder folder;
    const std::string to = folder.file("to");
    (void)run_into(folder.file("one"), small_sweep(10, {1, 2}));
    (void)run_into(folder.file("other"), small_sweep(11, {2, 2}));
    expect_refused({folder.file("one"), folder.file("other")}, to, "this is no part of the sweep");
    (void)run_into(folder.file("third"), small_sweep(10, {2, 3}));
    expect_refused({folder.file("one"), folder.file("third")}, to, "this is one of 3 parts");
}

TEST(MergeTest, APartThatIsNotDoneIsNotMerged) {
    const StoreFolder folder;
    (void)run_into(folder.file("one"), small_sweep(10, {1, 2}));
    const ResultsStore begun{folder.file("two"), small_sweep(10, {2, 2}),
                             IfThereAreResults::Refuse};
    expect_refused({folder.file("one"), folder.file("two")}, folder.file("to"),
                   "only 0 of its 5 seeds are done; go on with it by --resume");
}

}  // namespace
}  // namespace fencepost::scenarios
