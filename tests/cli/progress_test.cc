// What a long command shows on standard error: to somebody at a terminal, and in a log.
#include "cli/progress.h"

#include <gtest/gtest.h>

#include <sstream>

namespace fencepost::cli {
namespace {

using namespace std::chrono_literals;

struct Shown {
    std::ostringstream out;
    std::ostringstream err;
    std::istringstream in;
    Console console{out, err, in};

    std::string after(std::chrono::milliseconds between_lines, auto show) {
        {
            Progress progress{console, between_lines};
            show(progress);
        }
        return err.str();
    }
};

TEST(ProgressTest, ALogGetsPlainLines) {
    Shown shown;
    EXPECT_EQ(shown.after(0ms,
                          [](Progress& progress) {
                              progress.show("same-instant: random runs", 1000, 5000, 2);
                              progress.show_count("guided", 7, 0);
                          }),
              "same-instant: random runs: 1,000 of 5,000, 2 failed\nguided: 7\n");
}

TEST(ProgressTest, ALogGetsNothingBeforeItsTimeHasCome) {
    Shown shown;
    EXPECT_EQ(shown.after(1h,
                          [](Progress& progress) {
                              progress.show("random runs", 1, 5);
                              progress.show("random runs", 5, 5);
                              progress.show_part("exhaust", 5, 1);
                          }),
              "");
}

TEST(ProgressTest, ATerminalGetsOneLineThatGoesAwayAtTheEnd) {
    Shown shown;
    shown.console.err_is_terminal = true;
    EXPECT_EQ(shown.after(1h, [](Progress& progress) { progress.show("random runs", 1, 5); }),
              "\r\x1b[Krandom runs: 1 of 5\r\x1b[K");
}

}  // namespace
}  // namespace fencepost::cli
