// Goal: what was once found is found again, and what was repaired stays repaired.
//
// Method: replays every failure file of the project's corpus/. Those of planted mistakes break the
// same invariant; those of any other handler, which was repaired, break nothing.
#include <gtest/gtest.h>

#include <map>

#include "scenarios/search/nearby.h"
#include "tests/corpus/project_corpus.h"

namespace fencepost::scenarios {
namespace {

class ReplayTest : public testing::TestWithParam<CorpusFile> {};

TEST_P(ReplayTest, AMistakeBreaksTheSameInvariantAndARepairedHandlerNone) {
    const Failure failure = read_failure(GetParam().path);
    validate(failure.plan);
    const Replay replay = replay_nearby(failure, fresh_runner().run).replay;
    if (find_handler(failure.plan.handler)->is_mistake()) {
        EXPECT_TRUE(replay.reproduced()) << name_of(replay.verdict);
    } else {
        EXPECT_EQ(replay.verdict, ReplayVerdict::NoFailure);
    }
}

INSTANTIATE_TEST_SUITE_P(Corpus, ReplayTest, testing::ValuesIn(project_corpus()), name_of_case);

TEST(CorpusTest, HoldsAFailureOfEachPlantedMistake) {
    std::map<std::string, int> files;
    for (const CorpusFile& file : project_corpus()) ++files[read_failure(file.path).plan.handler];
    for (const HandlerSpec& handler : all_handlers()) {
        EXPECT_TRUE(!handler.is_mistake() || files.contains(handler.name)) << handler.name;
    }
}

TEST(CorpusTest, SaysOfEachFailureThatItIsMinimalAndWithWhichCodeItWasSeen) {
    for (const CorpusFile& file : project_corpus()) {
        const Failure failure = read_failure(file.path);
        EXPECT_TRUE(failure.found_by.minimal) << file.name;
        EXPECT_FALSE(failure.version.empty()) << file.name;
        EXPECT_FALSE(failure.found_by.how.empty()) << file.name;
    }
}

}  // namespace
}  // namespace fencepost::scenarios
