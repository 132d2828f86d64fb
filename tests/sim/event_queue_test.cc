// Goal: the queue gives events back by (time, order of scheduling).
// Method: random pushes and pops against std::multimap, which keeps equal keys in order.
#include "sim/event_queue.h"

#include <gtest/gtest.h>

#include <map>

#include "sim/random.h"

namespace fencepost::sim {
namespace {

Action numbered(std::uint64_t number) {
    return {.invoke = [](void*, std::uint64_t) {}, .target = nullptr, .argument = number};
}

Time at(std::int64_t nanoseconds) {
    return Time{Duration{nanoseconds}};
}

TEST(EventQueueTest, AgreesWithAMultimapOverRandomOperations) {
    for (std::uint64_t seed = 0; seed < 50; ++seed) {
        SCOPED_TRACE(seed);
        const Random random{seed};
        EventQueue queue;
        std::multimap<Time, std::uint64_t> model;
        for (std::uint64_t step = 0; step < 2000; ++step) {
            if (model.empty() || random.chance(520'000, 1, step)) {
                // Few distinct times, so that many events are simultaneous.
                const Time time = at(static_cast<std::int64_t>(random.below(40, 2, step)));
                queue.push(time, numbered(step));
                model.emplace(time, step);
            } else {
                ASSERT_EQ(queue.next_time(), model.begin()->first);
                const Event event = queue.pop();
                ASSERT_EQ(event.at, model.begin()->first);
                ASSERT_EQ(event.action.argument, model.begin()->second);
                model.erase(model.begin());
            }
            ASSERT_EQ(queue.size(), model.size());
            ASSERT_EQ(queue.empty(), model.empty());
        }
    }
}

TEST(EventQueueTest, SimultaneousEventsComeOutInTheOrderOfScheduling) {
    EventQueue queue;
    for (std::uint64_t i = 0; i < 1000; ++i) queue.push(at(7), numbered(i));
    for (std::uint64_t i = 0; i < 1000; ++i) ASSERT_EQ(queue.pop().action.argument, i);
}

TEST(EventQueueTest, ClearForgetsEventsAndStartsTheSequenceAgain) {
    EventQueue queue;
    queue.push(at(1), numbered(1));
    queue.clear();
    EXPECT_TRUE(queue.empty());
    queue.push(at(2), numbered(2));
    EXPECT_EQ(queue.pop().sequence, 0U);
}

TEST(EventQueueTest, PoppingFromAnEmptyQueueIsABrokenInvariant) {
    EventQueue queue;
    EXPECT_THROW(queue.pop(), BrokenInvariant);
}

}  // namespace
}  // namespace fencepost::sim
