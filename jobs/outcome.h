// What a handler says when it returns, and what became of a fire.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "jobs/ports/time.h"

namespace fencepost::jobs {

// The result of one call of a handler.
class [[nodiscard]] Outcome {
public:
    enum class Kind : std::uint8_t { Succeeded, More, Failed };

    // Everything that was due is committed.
    static Outcome succeeded() { return {Kind::Succeeded, {}, {}}; }
    // A batch is committed and there is more: call again after `delay`.
    static Outcome more(Duration delay = Duration::zero()) { return {Kind::More, delay, {}}; }
    // It will never succeed; a person must look. For what may pass by itself, throw.
    static Outcome failed(std::string reason) { return {Kind::Failed, {}, std::move(reason)}; }

    [[nodiscard]] Kind kind() const { return kind_; }
    [[nodiscard]] Duration delay() const { return delay_; }
    [[nodiscard]] const std::string& reason() const { return reason_; }

private:
    Outcome(Kind kind, Duration delay, std::string reason)
        : kind_(kind), delay_(delay), reason_(std::move(reason)) {}
    Kind kind_;
    Duration delay_;
    std::string reason_;
};

// What became of one hand-over of work to a worker. Only Failed is bad news: giving way to a live
// holder and finding the work done are the normal ends of a second execution.
enum class Disposition : std::uint8_t {
    Succeeded,    // this worker finished the work
    AlreadyDone,  // somebody had finished it: nothing was done again
    GaveWay,      // somebody else holds the lease; recovery looks again later
    Fenced,       // a newer holder took over midway; nothing of this one's counts any more
    Failed,       // a permanent error, recorded in the claim
    Unfinished,   // retries are used up for now or the process ends; recovery goes on later
    NotKnown,     // recorded, and left to a newer version of the program
};

constexpr std::string_view name_of(Disposition disposition) {
    switch (disposition) {
        case Disposition::Succeeded:
            return "succeeded";
        case Disposition::AlreadyDone:
            return "already done";
        case Disposition::GaveWay:
            return "gave way";
        case Disposition::Fenced:
            return "fenced";
        case Disposition::Failed:
            return "failed";
        case Disposition::Unfinished:
            return "unfinished";
        case Disposition::NotKnown:
            return "left to a newer version";
    }
    return "?";
}

}  // namespace fencepost::jobs
