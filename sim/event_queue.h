// The pending events of a world, ordered by (time, sequence of scheduling).
//
// A four-ary heap over small records: fewer cache lines a pop than a binary one. There is no
// removal: whoever schedules something that may become void marks it so that its action does
// nothing.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/require.h"
#include "sim/time.h"

namespace fencepost::sim {

// What an event does: a plain function on a target that outlives the run.
struct Action {
    void (*invoke)(void* target, std::uint64_t argument) = nullptr;
    void* target = nullptr;
    std::uint64_t argument = 0;

    void operator()() const { invoke(target, argument); }
};

struct Event {
    Time at;
    std::uint64_t sequence = 0;
    Action action;

    [[nodiscard]] bool before(const Event& other) const {
        return at != other.at ? at < other.at : sequence < other.sequence;
    }
};

class EventQueue {
public:
    void clear() {
        heap_.clear();
        next_sequence_ = 0;
    }
    [[nodiscard]] bool empty() const { return heap_.empty(); }
    [[nodiscard]] std::size_t size() const { return heap_.size(); }
    [[nodiscard]] Time next_time() const { return heap_.front().at; }

    void push(Time at, Action action) {
        const Event event{at, next_sequence_++, action};
        heap_.push_back(event);
        std::size_t hole = heap_.size() - 1;
        while (hole > 0) {
            const std::size_t parent = (hole - 1) / kArity;
            if (!event.before(heap_[parent])) break;
            heap_[hole] = heap_[parent];
            hole = parent;
        }
        heap_[hole] = event;
    }

    Event pop() {
        require(!heap_.empty(), "pop from an empty event queue");
        const Event top = heap_.front();
        const Event moved = heap_.back();
        heap_.pop_back();
        if (!heap_.empty()) sift_down(moved);
        return top;
    }

private:
    static constexpr std::size_t kArity = 4;

    void sift_down(const Event& moved) {
        std::size_t hole = 0;
        for (;;) {
            const std::size_t first = hole * kArity + 1;
            if (first >= heap_.size()) break;
            const std::size_t last = first + kArity < heap_.size() ? first + kArity : heap_.size();
            std::size_t least = first;
            for (std::size_t child = first + 1; child < last; ++child) {
                if (heap_[child].before(heap_[least])) least = child;
            }
            if (!heap_[least].before(moved)) break;
            heap_[hole] = heap_[least];
            hole = least;
        }
        heap_[hole] = moved;
    }

    std::vector<Event> heap_;
    std::uint64_t next_sequence_ = 0;
};

}  // namespace fencepost::sim
