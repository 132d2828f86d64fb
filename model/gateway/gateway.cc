#include "model/gateway/gateway.h"

namespace fencepost::model::gateway {

void Gateway::reset(const GatewayOptions& options) {
    options_ = options;
    requests_.clear();
}

std::variant<Answer, IdTaken> Gateway::submit(const Charge& charge) {
    const auto [found, is_new] = requests_.try_emplace(charge.request_id, Request{charge, {}});
    Request& request = found->second;
    if (!is_new) {
        if (request.charge.reference != charge.reference ||
            request.charge.amount != charge.amount) {
            return IdTaken{};
        }
        // What was accepted stays accepted, also when it was given back since.
        return request.standing == Standing::Declined ? Answer::Declined : Answer::Accepted;
    }
    const bool declined = charge.amount > options_.limit;
    request.standing = declined ? Standing::Declined : Standing::Accepted;
    observer_(declined ? Change::Declined : Change::Applied, charge);
    return declined ? Answer::Declined : Answer::Accepted;
}

Standing Gateway::look_up(const std::string& request_id) const {
    const auto found = requests_.find(request_id);
    return found == requests_.end() ? Standing::Unknown : found->second.standing;
}

Standing Gateway::refund(const std::string& request_id) {
    const auto found = requests_.find(request_id);
    if (found == requests_.end()) return Standing::Unknown;
    Request& request = found->second;
    if (request.standing == Standing::Accepted) {
        request.standing = Standing::Refunded;
        observer_(Change::Refunded, request.charge);
    }
    return request.standing;
}

}  // namespace fencepost::model::gateway
