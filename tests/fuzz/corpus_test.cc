// Goal: what fuzzing once found stays mended, and every kept input is read or refused.
// Method: every file of tests/fuzz/corpus/ goes through its reader (readers.h); what a reader must
// not do throws, or ends this program.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "tests/fuzz/readers.h"

namespace fencepost::fuzz {
namespace {

struct Target {
    const char* name;
    void (*read)(std::string_view bytes);
};

class KeptInputsTest : public testing::TestWithParam<Target> {};

TEST_P(KeptInputsTest, IsReadOrRefused) {
    const std::filesystem::path folder =
        std::filesystem::path(FENCEPOST_SOURCE_DIR) / "tests/fuzz/corpus" / GetParam().name;
    std::size_t inputs = 0;
    for (const auto& entry : std::filesystem::directory_iterator(folder)) {
        SCOPED_TRACE(entry.path().filename().string());
        std::ifstream file(entry.path(), std::ios::binary);
        const std::string bytes{std::istreambuf_iterator<char>(file),
                                std::istreambuf_iterator<char>()};
        EXPECT_NO_THROW(GetParam().read(bytes));
        ++inputs;
    }
    EXPECT_GT(inputs, 10U);
}

INSTANTIATE_TEST_SUITE_P(EveryReader, KeptInputsTest,
                         testing::Values(Target{"scenario", &read_any_scenario},
                                         Target{"plan", &read_any_plan},
                                         Target{"failure", &read_any_failure}),
                         [](const auto& target) { return std::string(target.param.name); });

// A file that is nested deeper than any stack is long.
TEST(DeepInputTest, IsRefusedByEveryReader) {
    for (const std::string& opening : {std::string("["), std::string("{\"plan\":")}) {
        std::string deep;
        for (int i = 0; i < 100'000; ++i) deep += opening;
        read_any_scenario(deep);
        read_any_plan(deep);
        read_any_failure(deep);
        const std::string closing = opening == "[" ? "]" : "}";
        std::string whole = deep + "1";
        for (int i = 0; i < 100'000; ++i) whole += closing;
        read_any_scenario(whole);
        read_any_plan(whole);
        read_any_failure(whole);
    }
}

}  // namespace
}  // namespace fencepost::fuzz
