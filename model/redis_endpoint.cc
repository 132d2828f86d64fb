#include "model/redis_endpoint.h"

#include <charconv>

#include "model/events.h"

namespace fencepost::model {
namespace {

using jobs::redis::Reply;

KeyChangeKind kind_of(KeyChange::Kind kind) {
    switch (kind) {
        case KeyChange::Kind::Set:
            return KeyChangeKind::Set;
        case KeyChange::Kind::ExpirySet:
            return KeyChangeKind::ExpirySet;
        case KeyChange::Kind::Deleted:
            return KeyChangeKind::Deleted;
        case KeyChange::Kind::Expired:
            return KeyChangeKind::Expired;
        case KeyChange::Kind::Evicted:
            return KeyChangeKind::Evicted;
        case KeyChange::Kind::Lost:
            return KeyChangeKind::Lost;
    }
    return KeyChangeKind::Set;
}

void append_text(const Reply& reply, std::string& out) {
    switch (reply.kind) {
        case Reply::Kind::Nil:
            out += "nil";
            break;
        case Reply::Kind::Integer: {
            std::array<char, 24> digits{};
            const auto end =
                std::to_chars(digits.data(), digits.data() + digits.size(), reply.integer);
            out.append(digits.data(), end.ptr);
            break;
        }
        case Reply::Kind::Array:
            out += '[';
            for (const Reply& element : reply.elements) {
                append_text(element, out);
                out += ' ';
            }
            out += ']';
            break;
        default:
            out += reply.text;
    }
}

RedisLoss loss_of(std::string_view keep, Persistence persistence) {
    if (keep == "all") return RedisLoss::Nothing;
    if (keep == "last-second-lost") return RedisLoss::SinceFsync;
    if (keep == "none") return RedisLoss::Everything;
    return loss_at_kill(persistence);
}

}  // namespace

RedisEndpoint::RedisEndpoint(sim::Kernel& kernel, Network& network)
    : kernel_(kernel), network_(network) {
    server_.set_observer([this](const KeyChange& change) { record(change); });
}

void RedisEndpoint::reset(const RedisEndpointOptions& options) {
    options_ = options;
    started_ = kernel_.now();
    server_.reset(options.server);
    party_ = kernel_.add_party("redis");
    network_.add_server(party_, *this);
    clock_.reset(kernel_.now());
    used_exchanges_ = 0;
    running_ = nullptr;
}

RedisNow RedisEndpoint::now() const {
    const auto wall = std::chrono::floor<std::chrono::microseconds>(clock_.wall(kernel_.now()));
    return {.wall_us = wall.time_since_epoch().count(), .elapsed = kernel_.now() - started_};
}

RedisExchange& RedisEndpoint::exchange() {
    if (used_exchanges_ == exchanges_.size()) exchanges_.emplace_back();
    return exchanges_[used_exchanges_++];
}

void RedisEndpoint::serve(Exchange& base) {
    auto& exchange = static_cast<RedisExchange&>(base);
    running_ = &exchange;
    exchange.reply = server_.execute(exchange.connection().id(), exchange.arguments, now());
    if (exchange.call().asked.duplicate) {
        // The client library has sent it again; the caller gets the second answer.
        kernel_.call_faults_took_effect(exchange.call(), sim::Phase::Sent);
        exchange.reply = server_.execute(exchange.connection().id(), exchange.arguments, now());
    }
    running_ = nullptr;
    exchange.summary.clear();
    append_text(exchange.reply, exchange.summary);
    network_.answer(exchange);
}

void RedisEndpoint::restart(sim::Duration down_for, std::string_view keep) {
    server_.crash(now(), loss_of(keep, options_.server.persistence));
    network_.take_down(party_, "Redis restart");
    kernel_.schedule(kernel_.now() + down_for, [this] { come_up(); });
}

void RedisEndpoint::come_up() {
    if (server_.is_up()) return;
    server_.start(now());
    network_.bring_up(party_);
}

void RedisEndpoint::fail_over(std::optional<sim::Duration> lag) {
    if (lag) server_.set_replica_lag(*lag);
    server_.failover(now(), RedisServer::OldPrimary::Gone);
    // Clients of the old primary are cut off and find the new one.
    network_.take_down(party_, "Redis failover");
    network_.bring_up(party_);
}

bool RedisEndpoint::evict(const std::string& key) {
    return server_.evict(key, now());
}

void RedisEndpoint::record(const KeyChange& change) {
    const KeyChanged event{.change = kind_of(change.kind),
                           .key = change.key,
                           .before = change.before.value_or(std::string_view{}),
                           .after = change.after.value_or(std::string_view{}),
                           .expires_ms = change.expiry_after_ms.value_or(0)};
    // Whoever comes upon an expired key did not make it expire.
    const bool by_client = running_ != nullptr && change.kind != KeyChange::Kind::Expired;
    kernel_.record_at(party_, by_client ? running_->call().record : sim::kNoRecord, event,
                      by_client ? running_->call().task->id : sim::kNoTask);
}

}  // namespace fencepost::model
