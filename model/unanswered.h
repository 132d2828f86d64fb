// What a client knows of an exchange that got no answer.
#pragma once

#include <string_view>

#include "jobs/ports/errors.h"
#include "model/network.h"

namespace fencepost::model {

inline jobs::Effect effect_of(const Exchange& exchange) {
    return exchange.never_arrives() && exchange.outcome() != ExchangeOutcome::TimedOut
               ? jobs::Effect::None
               : jobs::Effect::Unknown;
}

inline std::string_view why(const Exchange& exchange) {
    switch (exchange.outcome()) {
        case ExchangeOutcome::Reset:
            return "connection reset";
        case ExchangeOutcome::Refused:
            return "connection refused";
        case ExchangeOutcome::TimedOut:
            return "no answer in time";
        default:
            return "no answer";
    }
}

}  // namespace fencepost::model
