// Planted leaks of nondeterminism: the double run must find each and name the first event that
// differs. The handlers exist only here.
#include <gtest/gtest.h>

#include <ctime>
#include <unordered_map>

#include "scenarios/search/plan_runner.h"
#include "tests/scenarios/probe_handler.h"

namespace fencepost::scenarios {
namespace {

// The difference that running twice shows, in a fresh runner.
std::optional<Difference> difference_of(const std::string& name, ProbeBody body) {
    if (find_handler(name) == nullptr) add_handler(probe_handler(name, std::move(body)));
    return first_difference(plan_for("same-instant", name), fresh_runner());
}

// Everything up to the first mark is the same; the difference shows in the statement's row.
void expect_named(const std::optional<Difference>& difference) {
    ASSERT_TRUE(difference.has_value());
    EXPECT_NE(difference->first, difference->second);
    EXPECT_GT(difference->record, 0U);
    EXPECT_NE((difference->first + difference->second).find("row"), std::string::npos)
        << difference->first << " / " << difference->second;
}

TEST(LeaksTest, AHandlerWithoutALeakShowsNoDifference) {
    EXPECT_FALSE(difference_of("leak-none", [](const jobs::Fire& fire, const jobs::Ports& ports) {
                     const auto session = ports.database.connect();
                     mark(*session, fire.job + ports.ids.next());
                 }).has_value());
}

TEST(LeaksTest, APointersValueIsFound) {
    expect_named(difference_of("leak-pointer", [](const jobs::Fire&, const jobs::Ports& ports) {
        static std::vector<std::unique_ptr<int>> kept;  // so that addresses are not used again
        kept.push_back(std::make_unique<int>(0));
        const auto session = ports.database.connect();
        mark(*session, std::to_string(reinterpret_cast<std::uintptr_t>(kept.back().get())));
    }));
}

TEST(LeaksTest, TheOrderOfAnUnorderedMapIsFound) {
    expect_named(difference_of("leak-unordered", [](const jobs::Fire&, const jobs::Ports& ports) {
        static std::vector<std::unique_ptr<int>> kept;
        std::unordered_map<const int*, int> by_address;
        for (int i = 0; i < 32; ++i) {
            kept.push_back(std::make_unique<int>(i));
            // Spread the addresses, as a busy heap does.
            static_cast<void>(kept.emplace_back(std::make_unique<int>(-1)));
            by_address[kept[kept.size() - 2].get()] = i;
        }
        std::string order;
        for (const auto& [address, number] : by_address) order += std::to_string(number) + " ";
        const auto session = ports.database.connect();
        mark(*session, order);
    }));
}

TEST(LeaksTest, TheTimeOfThisMachineIsFound) {
    expect_named(difference_of("leak-time", [](const jobs::Fire&, const jobs::Ports& ports) {
        timespec now{};
        ::clock_gettime(CLOCK_REALTIME, &now);
        const auto session = ports.database.connect();
        mark(*session, std::to_string(now.tv_sec) + "." + std::to_string(now.tv_nsec));
    }));
}

TEST(LeaksTest, AStaticThatSurvivesRunsIsFound) {
    expect_named(difference_of("leak-static", [](const jobs::Fire&, const jobs::Ports& ports) {
        static int calls = 0;
        const auto session = ports.database.connect();
        mark(*session, "call " + std::to_string(++calls));
    }));
}

TEST(LeaksTest, MemoryThatWasNeverInitialisedIsFound) {
    // What uninitialised memory holds is whatever was there before; here the test puts it there.
    static unsigned char memory[64];
    static unsigned char filler = 0;
    expect_named(difference_of("leak-memory", [](const jobs::Fire&, const jobs::Ports& ports) {
        struct Record {
            int initialised;
            int forgotten;
        };
        auto* record = reinterpret_cast<Record*>(memory);
        record->initialised = 1;
        const auto session = ports.database.connect();
        mark(*session,
             std::to_string(record->initialised) + "/" + std::to_string(record->forgotten));
        for (unsigned char& byte : memory) byte = ++filler;
    }));
}

TEST(LeaksTest, ADifferenceInTheCallsThemselvesIsNamedWhereItBegins) {
    static int runs = 0;
    const auto difference =
        difference_of("leak-calls", [](const jobs::Fire&, const jobs::Ports& ports) {
            const auto session = ports.database.connect();
            if (++runs % 4 < 2) mark(*session, "only sometimes");
        });
    ASSERT_TRUE(difference.has_value());
    EXPECT_NE(difference->first, difference->second);
}

}  // namespace
}  // namespace fencepost::scenarios
