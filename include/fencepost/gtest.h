// Fencepost in GoogleTest: a handler is tried as `fencepost accept` and `fencepost sweep` do it,
// and a failed test says what broke, on which key, by which faults, why, and how to see it again.
//
//     TEST(InvoicesTest, SurviveTheirCluster) {
//         EXPECT_FENCEPOST_ACCEPTS(invoices());
//     }
//     FENCEPOST_SCENARIO_TEST(InvoicesTest, TheHolderLeaves, "holder-leaves", invoices(), 500)
//
// A handler is a scenarios::HandlerSpec, which is made known by that, or the name of one that is
// known. Options come after it: EXPECT_FENCEPOST_ACCEPTS(invoices(), {.seeds = 50}).
//
// Runs go to worker processes, so a handler that crashes or hangs is a failed test with its plan
// and no end of the others. FENCEPOST_REPLAY=FILE in the environment runs a saved failure again in
// place of the search; the message of a failed test has the command. See kit/candidate.h for the
// options.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <string_view>
#include <utility>

#include "kit/acceptance.h"
#include "kit/candidate.h"

namespace fencepost::gtest {

// "./invoices-test --gtest_filter=InvoicesTest.SurviveTheirCluster"; empty outside of a test.
inline std::string this_test() {
    const testing::TestInfo* const test = testing::UnitTest::GetInstance()->current_test_info();
    std::error_code error;
    const std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe", error);
    if (test == nullptr || error) return {};
    return program.string() + " --gtest_filter=" + test->test_suite_name() + "." + test->name();
}

inline kit::Candidate in_this_test(kit::Candidate candidate) {
    if (candidate.options().test_command.empty()) candidate.options().test_command = this_test();
    return candidate;
}

inline testing::AssertionResult said(const kit::Verdict& verdict) {
    return (verdict.accepted ? testing::AssertionSuccess() : testing::AssertionFailure())
           << verdict.text;
}

// For EXPECT_PRED_FORMAT1, of which it takes the message as it is.
inline testing::AssertionResult accepts(const char* /*words*/, const kit::Candidate& candidate) {
    return said(kit::accept(in_this_test(candidate)));
}

struct Held {
    std::string_view scenario;
    kit::Candidate candidate;
    kit::Seeds seeds;
};

inline testing::AssertionResult holds(const char* /*words*/, const Held& held) {
    return said(kit::hold(held.scenario, in_this_test(held.candidate), held.seeds));
}

}  // namespace fencepost::gtest

// (handler) or (handler, options): no invariant breaks in the scenarios of the acceptance
// checklist.
#define EXPECT_FENCEPOST_ACCEPTS(...) \
    EXPECT_PRED_FORMAT1(::fencepost::gtest::accepts, (::fencepost::kit::Candidate{__VA_ARGS__}))
#define ASSERT_FENCEPOST_ACCEPTS(...) \
    ASSERT_PRED_FORMAT1(::fencepost::gtest::accepts, (::fencepost::kit::Candidate{__VA_ARGS__}))

// A test of one scenario: its random plans of `seeds`, a number or (::fencepost::kit::Seeds{a, b}).
#define FENCEPOST_SCENARIO_TEST(suite, name, scenario, handler, seeds)                \
    TEST(suite, name) {                                                               \
        EXPECT_PRED_FORMAT1(                                                          \
            ::fencepost::gtest::holds,                                                \
            (::fencepost::gtest::Held{scenario, ::fencepost::kit::Candidate(handler), \
                                      ::fencepost::kit::Seeds(seeds)}));              \
    }
