#include "jobs/consumer.h"

#include <algorithm>
#include <array>
#include <exception>
#include <utility>

namespace fencepost::jobs {
namespace {

// What passes by itself: the same statements may well succeed next time.
bool may_pass(const sql::ServerError& error) {
    static constexpr std::array kPassing{sql::kSerializationFailure, sql::kDeadlockDetected,
                                         sql::kLockNotAvailable};
    return std::ranges::find(kPassing, error.sqlstate()) != kPassing.end();
}

}  // namespace

Consumer::Consumer(Ports ports, ConsumerOptions options, MessageHandler handler)
    : ports_(std::move(ports)), options_(std::move(options)), handler_(std::move(handler)) {}

void Consumer::start() {
    task_ = ports_.tasks.spawn("consumer", [this](StopSignal& stop) { take_messages(stop); });
}

void Consumer::stop() {
    if (task_ == nullptr) return;
    task_->request_stop();
    task_->join();
    task_ = nullptr;
}

void Consumer::take_messages(StopSignal& stop) {
    while (!stop.requested()) {
        bool took = false;
        try {
            took = take_one(stop);
        } catch (const AttemptError&) {
            // The next look is a new attempt.
        }
        if (!took && stop.wait_for(options_.idle)) return;
    }
}

bool Consumer::take_one(const StopSignal& stop) {
    const auto message = ports_.broker->receive(options_.queue, options_.visibility);
    if (!message) return false;
    if (stop.requested()) {
        ports_.broker->extend(*message, Duration::zero());
        return true;
    }
    const auto work = ports_.tasks.spawn_work(message->event_id,
                                              [this, &message](StopSignal&) { deliver(*message); });
    work->join();
    return true;
}

void Consumer::deliver(const broker::Message& message) {
    const auto hiding = ports_.tasks.spawn(
        "visibility", [this, message](StopSignal& stop) { keep_hidden(message, stop); });
    const Handled handled = handle(message);
    hiding->request_stop();
    try {
        switch (handled) {
            case Handled::Done:
            case Handled::DoneBefore:
            case Handled::Parked:
                ports_.broker->acknowledge(message);
                break;
            case Handled::Refused:
            case Handled::Unfinished:
                ports_.broker->extend(message, options_.rest);
                break;
        }
    } catch (const AttemptError&) {
        // The message comes again, and the inbox knows it.
    }
}

// Twice a timeout, so that one lost call does not end it.
void Consumer::keep_hidden(const broker::Message& message, StopSignal& stop) {
    while (!stop.wait_for(options_.visibility / 2)) {
        try {
            if (!ports_.broker->extend(message, options_.visibility)) return;
        } catch (const AttemptError&) {
            // The next one may arrive in time.
        }
    }
}

Handled Consumer::handle(const broker::Message& message) {
    for (int number = 1; number <= options_.attempts; ++number) {
        if (number > 1) ports_.clock.sleep_for(options_.backoff.before_attempt(number));
        try {
            return attempt(message);
        } catch (const AttemptError&) {
            // Whether its effect is known or not: the next attempt finds out in the inbox.
        }
    }
    return Handled::Unfinished;
}

Handled Consumer::attempt(const broker::Message& message) {
    const auto session = ports_.database.connect();
    std::string error;
    try {
        sql::Transaction transaction{*session};
        if (!inbox::enter(transaction, options_.queue, message.event_id)) {
            return Handled::DoneBefore;
        }
        handler_(transaction, message);
        transaction.commit();
        return Handled::Done;
    } catch (const sql::ServerError& refused) {
        if (may_pass(refused)) throw;
        error = refused.what();
    } catch (const AttemptError&) {
        throw;
    } catch (const std::exception& refused) {
        error = refused.what();
    }
    if (message.receives < options_.deliveries) return Handled::Refused;
    return park(*session, message, error);
}

Handled Consumer::park(sql::Session& session, const broker::Message& message,
                       std::string_view error) {
    sql::Transaction transaction{session};
    if (!inbox::enter(transaction, options_.queue, message.event_id)) return Handled::DoneBefore;
    inbox::park(transaction, options_.queue, message, error);
    transaction.commit();
    return Handled::Parked;
}

}  // namespace fencepost::jobs
