// What the parts of an explanation say, by hand; whole stories are in tests/cli/explain_test.cc.
#include "reports/story.h"

#include <gtest/gtest.h>

#include "reports/diagram.h"
#include "reports/explanation.h"
#include "reports/markup.h"

namespace fencepost::reports {
namespace {

TEST(NarratorTest, AnAnswerIsToldByWhatItMeans) {
    EXPECT_EQ(kind_of_answer("db.commit", "connection reset"), AnswerKind::Lost);
    EXPECT_EQ(kind_of_answer("db.query", "40001 could not serialize access"), AnswerKind::Error);
    EXPECT_EQ(kind_of_answer("db.execute", "0 changed"), AnswerKind::Refused);
    EXPECT_EQ(kind_of_answer("db.commit", "0 changed"), AnswerKind::Answered);
    EXPECT_EQ(kind_of_answer("db.query", "0 rows"), AnswerKind::Nothing);
    EXPECT_EQ(kind_of_answer("redis.lease-acquire", "nil"), AnswerKind::Refused);
    EXPECT_EQ(kind_of_answer("redis.get", "nil"), AnswerKind::Answered);
    EXPECT_EQ(kind_of_answer("db.query", "5 rows"), AnswerKind::Answered);
}

TEST(NarratorTest, AStatementIsToldInAFewWords) {
    EXPECT_EQ(brief("INSERT INTO ledger (business_key, tenant) VALUES ($1, $2)"),
              "INSERT INTO ledger");
    EXPECT_EQ(brief("UPDATE job_claim SET owner = $1"), "UPDATE job_claim");
    EXPECT_EQ(brief("SELECT a,\n b FROM job_claim WHERE a = $1 FOR UPDATE"),
              "SELECT … FROM job_claim FOR UPDATE");
    EXPECT_EQ(brief("SELECT 1"), "SELECT 1");
}

TEST(StoryTest, TwoStoriesAreAlikeByTheStepsThatTheyShareInOrder) {
    EXPECT_DOUBLE_EQ(likeness({}, {}), 1.0);
    EXPECT_DOUBLE_EQ(likeness({"asked", "write"}, {"asked", "write"}), 1.0);
    EXPECT_DOUBLE_EQ(likeness({"asked"}, {"write"}), 0.0);
    EXPECT_DOUBLE_EQ(likeness({"asked", "fault", "write"}, {"asked", "write"}), 0.8);
    EXPECT_LT(likeness({"a", "b"}, {"b", "a"}), 1.0);
}

TEST(StoryTest, TimesAreToldFromTheMoment) {
    const sim::Time moment{std::chrono::seconds{100}};
    EXPECT_EQ(moment_text(moment, moment), "+0.0000 s");
    EXPECT_EQ(moment_text(moment - std::chrono::microseconds{869}, moment), "-0.0009 s");
    EXPECT_EQ(moment_text(moment + std::chrono::seconds{2}, moment), "+2.0000 s");
}

TEST(DiagramTest, TextOfARunCannotLeaveItsPlace) {
    EXPECT_EQ(html("<script>\"a\" & b\n</script>"),
              "&lt;script&gt;&quot;a&quot; &amp; b &lt;/script&gt;");
}

}  // namespace
}  // namespace fencepost::reports
