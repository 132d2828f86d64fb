// The gateway port: an outside payment service, which no transaction of ours reaches.
//
// The caller gives each charge a request id. The service does what a request id asks for once,
// however often it is submitted, and can be asked what became of it. It does not compare business
// references: the same bill submitted under two request ids is charged twice.
// Every call may suspend, and throws ConnectionLost: Effect::None when it was never sent,
// Effect::Unknown when no answer came.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>

#include "jobs/ports/errors.h"

namespace fencepost::jobs::gateway {

struct Charge {
    std::string request_id;
    std::string reference;  // what is paid for, in business terms: for people and statements
    std::int64_t amount = 0;
};

// The service's decision; it is final for that request id.
enum class Answer : std::uint8_t { Accepted, Declined };
constexpr std::string_view name_of(Answer answer) {
    return answer == Answer::Accepted ? "accepted" : "declined";
}

// What a look-up finds. Unknown: no such request has arrived. It still may.
enum class Standing : std::uint8_t { Unknown, Accepted, Declined, Refunded };
constexpr std::string_view name_of(Standing standing) {
    switch (standing) {
        case Standing::Unknown:
            return "unknown";
        case Standing::Accepted:
            return "accepted";
        case Standing::Declined:
            return "declined";
        case Standing::Refunded:
            return "refunded";
    }
    return "?";
}

// The request id stands for another charge already: nothing was done, and no repeat will mend it.
class RequestIdTaken : public std::logic_error {
public:
    explicit RequestIdTaken(const std::string& request_id)
        : std::logic_error("the request id " + request_id + " stands for another charge") {}
};

class Client {
public:
    virtual ~Client() = default;

    // Asks for the charge; a repeat under the same request id gets the first answer. Throws
    // RequestIdTaken when the repeat asks for something else.
    [[nodiscard]] virtual Answer submit(const Charge& charge) = 0;

    [[nodiscard]] virtual Standing look_up(const std::string& request_id) = 0;

    // Gives an accepted charge back, once however often it is asked; what the charge stands at
    // afterwards.
    virtual Standing refund(const std::string& request_id) = 0;
};

}  // namespace fencepost::jobs::gateway
