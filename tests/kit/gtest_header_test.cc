// Goal: the macros of <fencepost/gtest.h> pass where the handler holds, and fail with the whole
// text where it does not.
#include <fencepost/gtest.h>
#include <gtest/gtest-spi.h>

#include <filesystem>

#include "scenarios/handlers/reconcile.h"
#include "tests/kit/folder.h"

namespace fencepost::gtest {
namespace {

const kit::Folder& folder() {
    static const kit::Folder kFolder;
    return kFolder;
}

kit::TrialOptions briefly() {
    return {.seeds = 60,
            .scenarios = {"holder-leaves"},
            .failures_folder = folder().path(),
            .test_command = {}};
}

TEST(GtestHeaderTest, AcceptsTheReferenceBySpecAndByName) {
    EXPECT_FENCEPOST_ACCEPTS(scenarios::reconcile_handler(), briefly());
    ASSERT_FENCEPOST_ACCEPTS("reconcile", {.scenarios = {"same-instant"}});
}

FENCEPOST_SCENARIO_TEST(GtestHeaderTest, AScenarioIsATestOfItsOwn, "crash-before-response",
                        scenarios::reconcile_handler(), 100)
FENCEPOST_SCENARIO_TEST(GtestHeaderTest, SeedsMayBeARange, "same-instant", "reconcile",
                        (kit::Seeds{50, 80}))

TEST(GtestHeaderTest, AFailureIsToldInFull) {
    EXPECT_NONFATAL_FAILURE(EXPECT_FENCEPOST_ACCEPTS("lock-only", briefly()),
                            "FAIL once  holder-leaves, handler lock-only");
    EXPECT_NONFATAL_FAILURE(EXPECT_FENCEPOST_ACCEPTS("lock-only", briefly()),
                            "What usually causes this");
    EXPECT_NONFATAL_FAILURE(
        EXPECT_FENCEPOST_ACCEPTS("lock-only", briefly()),
        "fencepost replay " + folder().path() + "/holder-leaves-lock-only-once");
}

TEST(GtestHeaderTest, ATestKnowsTheCommandThatRunsItAlone) {
    EXPECT_TRUE(this_test().ends_with(
        " --gtest_filter=GtestHeaderTest.ATestKnowsTheCommandThatRunsItAlone"))
        << this_test();
}

}  // namespace
}  // namespace fencepost::gtest
