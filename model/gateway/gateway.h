// The state of an outside payment service: what each request id asked for and what was answered.
//
// A request id is worked once; repeats get the first answer. The service declines by a rule of its
// own: amounts above its limit. It forgets nothing.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <string>
#include <variant>

#include "jobs/ports/gateway.h"

namespace fencepost::model::gateway {

using jobs::gateway::Answer;
using jobs::gateway::Charge;
using jobs::gateway::Standing;

struct GatewayOptions {
    std::int64_t limit = std::numeric_limits<std::int64_t>::max();  // of one charge
};

// The request id was used for another charge before.
struct IdTaken {};

enum class Change : std::uint8_t { Applied, Declined, Refunded };

class Gateway {
public:
    using Observer = std::function<void(Change, const Charge&)>;

    // Sees what is done for the first time, not the repeats.
    void set_observer(Observer observer) { observer_ = std::move(observer); }
    void reset(const GatewayOptions& options);

    std::variant<Answer, IdTaken> submit(const Charge& charge);
    [[nodiscard]] Standing look_up(const std::string& request_id) const;
    Standing refund(const std::string& request_id);

private:
    struct Request {
        Charge charge;
        Standing standing = Standing::Unknown;
    };

    GatewayOptions options_;
    Observer observer_;
    std::map<std::string, Request> requests_;
};

}  // namespace fencepost::model::gateway
