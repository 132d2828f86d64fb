// The handler of handler.cc under every failure that Fencepost knows.
#include <gtest/gtest.h>

#include <fencepost/gtest.h>
#include <fencepost/plugin.h>

extern "C" void fencepost_plugin_register(fencepost::Registry& registry);

namespace {

TEST(TestOfTheJob, LandsEachStatementOnceWhateverFails) {
    EXPECT_FENCEPOST_ACCEPTS("@NAME@");
}

}  // namespace

int main(int count, char** words) {
    ::testing::InitGoogleTest(&count, words);
    fencepost::Registry registry;
    fencepost_plugin_register(registry);
    return RUN_ALL_TESTS();
}
