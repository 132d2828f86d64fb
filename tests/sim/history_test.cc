// Goal: a history gives back what was recorded, and its fingerprint tells any two apart.
// Method: every event type of the engine is filled with distinct values, written and read.
#include "sim/history.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <set>

#include "sim/events.h"

namespace fencepost::sim {
namespace {

template <typename T>
T sample(int number) {
    if constexpr (std::is_same_v<T, std::string_view>) {
        static const std::array<std::string_view, 4> kTexts{"", "text", "longer text = 1\n", "é"};
        return kTexts.at(static_cast<std::size_t>(number) % kTexts.size());
    } else if constexpr (std::is_same_v<T, bool>) {
        return number % 2 == 1;
    } else {
        return static_cast<T>(number);
    }
}

// An event whose fields are samples, the one at `odd_one` of another number than the rest.
template <EventType E>
E sample_event(int number, std::size_t odd_one) {
    E event{};
    std::size_t index = 0;
    std::apply(
        [&](auto&... field) {
            ((field = sample<std::remove_cvref_t<decltype(field)>>(index == odd_one ? number + 1
                                                                                    : number),
              ++index),
             ...);
        },
        E::fields(event));
    return event;
}

template <typename E>
class EventTypeTest : public testing::Test {};
using EngineEvents =
    testing::Types<NodeStarted, NodeEnded, NodePaused, NodeResumed, NodeStopping, TaskStarted,
                   TaskEnded, CallStarted, CallApplied, CallEnded, FaultStruck, FaultTookEffect,
                   PhaseBegan, ClockJumped, ProbeReached>;
TYPED_TEST_SUITE(EventTypeTest, EngineEvents);

constexpr std::size_t kNoOddOne = 99;

template <EventType E>
std::uint64_t fingerprint_of(const E& event) {
    History history;
    history.clear();
    history.append(Time{}, kWorld, kNoTask, kNoRecord, event);
    return history.fingerprint();
}

TYPED_TEST(EventTypeTest, IsReadAsItWasWritten) {
    History history;
    history.clear();
    for (int number = 0; number < 4; ++number) {
        history.append(Time{}, kWorld, kNoTask, kNoRecord,
                       sample_event<TypeParam>(number, kNoOddOne));
    }
    for (RecordId id = 0; id < 4; ++id) {
        const auto read = history[id].template as<TypeParam>();
        ASSERT_TRUE(read);
        const auto written = sample_event<TypeParam>(static_cast<int>(id), kNoOddOne);
        EXPECT_TRUE(TypeParam::fields(*read) == TypeParam::fields(written));
        EXPECT_EQ(history.kind_of(id), TypeParam::kKind);
    }
}

TYPED_TEST(EventTypeTest, ChangesTheFingerprintWithEachOfItsFields) {
    std::set<std::uint64_t> fingerprints{fingerprint_of(sample_event<TypeParam>(0, kNoOddOne))};
    for (std::size_t field = 0; field < TypeParam::kFields.size(); ++field)
        fingerprints.insert(fingerprint_of(sample_event<TypeParam>(0, field)));
    EXPECT_EQ(fingerprints.size(), TypeParam::kFields.size() + 1);
}

TYPED_TEST(EventTypeTest, HasAPrinterThatNamesEachField) {
    const auto* printer = std::ranges::find(kEnginePrinters, TypeParam::kKind, &EventPrinter::kind);
    ASSERT_NE(printer, kEnginePrinters.end());
    EXPECT_EQ(printer->name, TypeParam::kName);
    History history;
    history.clear();
    history.append(Time{}, kWorld, kNoTask, kNoRecord, sample_event<TypeParam>(1, kNoOddOne));
    const std::string text = printer->text(history[0].payload());
    for (const std::string_view field : TypeParam::kFields)
        EXPECT_NE(text.find(std::string(field) + "="), std::string::npos) << text;
}

class HistoryTest : public testing::Test {
protected:
    HistoryTest() { history.clear(); }
    History history;
};

TEST(EventKindsTest, AreDistinct) {
    std::set<EventKind> kinds;
    std::set<std::string_view> names;
    for (const EventPrinter& printer : kEnginePrinters) {
        kinds.insert(printer.kind);
        names.insert(printer.name);
        EXPECT_LT(printer.kind, 100);
    }
    EXPECT_EQ(kinds.size(), kEnginePrinters.size());
    EXPECT_EQ(names.size(), kEnginePrinters.size());
}

TEST_F(HistoryTest, KeepsTheHeaderOfARecord) {
    const PartyId party = history.add_party("A");
    const TaskId task = history.add_task({"job", party, 3, kNoTask});
    const RecordId first = history.append(Time{5s}, party, task, kNoRecord, TaskEnded{});
    const RecordId second = history.append(Time{6s}, party, kNoTask, first, NodeResumed{});
    EXPECT_EQ(history.size(), 2U);
    EXPECT_EQ(history[first].at(), Time{5s});
    EXPECT_EQ(history[first].task(), task);
    EXPECT_EQ(history[first].cause(), kNoRecord);
    EXPECT_EQ(history[second].cause(), first);
    EXPECT_EQ(history[second].party(), party);
    EXPECT_EQ(history[second].id(), second);
    EXPECT_EQ(history.actor(history[first]), "A#3/job");
    EXPECT_EQ(history.actor(history[second]), "A");
}

TEST_F(HistoryTest, ARecordOfAnotherKindIsNotTheEventAskedFor) {
    history.append(Time{}, kWorld, kNoTask, kNoRecord, NodeStarted{1});
    EXPECT_FALSE(history[0].as<NodeEnded>());
    EXPECT_FALSE(history[0].as<TaskStarted>());
    EXPECT_TRUE(history[0].as<NodeStarted>());
}

TEST_F(HistoryTest, ARecordShorterThanItsTypeIsABrokenInvariant) {
    EXPECT_THROW(Record::decode<NodeStarted>({}), BrokenInvariant);
}

TEST_F(HistoryTest, AskingForARecordThatIsNotThereThrows) {
    EXPECT_THROW((void)history[0], std::out_of_range);
}

TEST_F(HistoryTest, PrintsDurationsFlagsAndTexts) {
    history.append(Time{}, kWorld, kNoTask, kNoRecord, NodeEnded{2, "crash"});
    history.append(Time{}, kWorld, kNoTask, kNoRecord, NodePaused{90s});
    history.append(Time{}, kWorld, kNoTask, kNoRecord, TaskStarted{true});
    history.append(Time{}, kWorld, kNoTask, kNoRecord, TaskEnded{});
    EXPECT_EQ(print_fields<NodeEnded>(history[0].payload()), "incarnation=2 how=crash");
    EXPECT_EQ(print_fields<NodePaused>(history[1].payload()), "for=1m30s");
    EXPECT_EQ(print_fields<TaskStarted>(history[2].payload()), "foreground=yes");
    EXPECT_EQ(print_fields<TaskEnded>(history[3].payload()), "");
}

std::uint64_t fingerprint_after(const std::function<void(History&)>& actions) {
    History history;
    history.clear();
    actions(history);
    return history.fingerprint();
}

TEST_F(HistoryTest, TheFingerprintDependsOnEachFieldOfTheHeader) {
    const auto one = [](std::int64_t at, PartyId party, TaskId task, RecordId cause) {
        return fingerprint_after([&](History& out) {
            out.append(Time{Duration{at}}, party, task, cause, NodeResumed{});
        });
    };
    const std::set<std::uint64_t> fingerprints{one(0, 0, 0, 0), one(1, 0, 0, 0), one(0, 1, 0, 0),
                                               one(0, 0, 1, 0), one(0, 0, 0, 1)};
    EXPECT_EQ(fingerprints.size(), 5U);
}

TEST_F(HistoryTest, TheFingerprintDependsOnTheOrderOfRecords) {
    const auto both = [](const std::string& first, const std::string& second) {
        return fingerprint_after([&](History& out) {
            out.append(Time{}, kWorld, kNoTask, kNoRecord, ProbeReached{first});
            out.append(Time{}, kWorld, kNoTask, kNoRecord, ProbeReached{second});
        });
    };
    EXPECT_NE(both("a", "b"), both("b", "a"));
    EXPECT_EQ(both("a", "b"), both("a", "b"));
}

TEST_F(HistoryTest, TheFingerprintDependsOnWhereOneTextEndsAndTheNextBegins) {
    EXPECT_NE(fingerprint_of(CallStarted{"ab", 1, "c"}), fingerprint_of(CallStarted{"a", 1, "bc"}));
}

TEST_F(HistoryTest, TheFingerprintDependsOnWhoThePartiesAndTasksAre) {
    const auto task = [](TaskInfo info) {
        return fingerprint_after([&](History& out) { out.add_task(std::move(info)); });
    };
    const std::set<std::uint64_t> fingerprints{
        fingerprint_after([](History&) {}),
        fingerprint_after([](History& out) { out.add_party("A"); }),
        fingerprint_after([](History& out) { out.add_party("B"); }),
        task({"job", 1, 1, kNoTask}),
        task({"other", 1, 1, kNoTask}),
        task({"job", 2, 1, kNoTask}),
        task({"job", 1, 2, kNoTask}),
        task({"job", 1, 1, 7})};
    EXPECT_EQ(fingerprints.size(), 8U);
}

TEST_F(HistoryTest, FingerprintsOfEachRecordAreKeptWhenAskedFor) {
    history.keep_fingerprints(true);
    history.append(Time{}, kWorld, kNoTask, kNoRecord, NodeStarted{1});
    history.append(Time{}, kWorld, kNoTask, kNoRecord, NodeResumed{});
    ASSERT_EQ(history.fingerprints().size(), 2U);
    EXPECT_NE(history.fingerprints()[0], history.fingerprints()[1]);
    EXPECT_EQ(history.fingerprints()[1], history.fingerprint());
}

TEST_F(HistoryTest, ClearForgetsEverythingButTheWorldItself) {
    const std::uint64_t empty = history.fingerprint();
    const PartyId party = history.add_party("A");
    history.add_task({"job", party, 1, kNoTask});
    history.append(Time{}, party, kNoTask, kNoRecord, NodeStarted{1});
    history.clear();
    EXPECT_EQ(history.size(), 0U);
    EXPECT_EQ(history.parties(), 1U);
    EXPECT_EQ(history.party_name(kWorld), "world");
    EXPECT_EQ(history.fingerprint(), empty);
}

TEST_F(HistoryTest, MorePartiesThanCanBeToldApartAreABrokenInvariant) {
    for (int i = 0; i < 249; ++i) history.add_party("party");
    EXPECT_THROW(history.add_party("one too many"), BrokenInvariant);
}

}  // namespace
}  // namespace fencepost::sim
