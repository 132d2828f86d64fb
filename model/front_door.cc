#include "model/front_door.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace fencepost::model {

void FrontDoor::reset(const FrontDoorOptions& options) {
    options_ = options;
    doors_.clear();
    requests_.clear();
    used_exchanges_ = 0;
}

void FrontDoor::add_node(sim::Node& node) {
    if (doors_.empty()) {
        kernel_.on_incarnation_end(
            [this](sim::Incarnation& incarnation) { incarnation_ended(incarnation); });
    }
    doors_.push_back({.node = &node, .handler = {}, .open = {}, .tasks = {}});
    network_.add_server(node.party(), *this);
    network_.take_down(node.party(), "not started");
}

void FrontDoor::add_client(std::vector<ClientRequest> requests) {
    requests_ = std::move(requests);
    sim::Node& client = kernel_.add_node("client", [this](sim::Incarnation& incarnation) {
        for (const ClientRequest& request : requests_) {
            kernel_.spawn(incarnation, request.id, sim::TaskKind::Foreground,
                          [this, &request] { send_until_answered(request); });
        }
        static const sim::WaitText kReason{"the end of its process"};
        for (;;) kernel_.wait(kReason);
    });
    kernel_.boot(client);
}

void FrontDoor::send_until_answered(const ClientRequest& request) {
    kernel_.sleep(request.at - kernel_.now());
    for (std::size_t attempt = 0;; ++attempt) {
        const Door& door = doors_[(request.first + attempt) % doors_.size()];
        if (used_exchanges_ == exchanges_.size()) exchanges_.emplace_back();
        RequestExchange& exchange = exchanges_[used_exchanges_++];
        exchange.start(request);
        Connection& connection = network_.open(door.node->party());
        network_.perform(exchange, connection, "client.request",
                         fmt::format("{} to {}", request.body, door.node->name()),
                         options_.call_timeout);
        network_.close(connection);
        if (exchange.answered() && !exchange.answer.empty()) return;
        kernel_.sleep(options_.between_attempts);
    }
}

FrontDoor::Door& FrontDoor::door_of(const sim::Incarnation& incarnation) {
    const auto found = std::ranges::find(doors_, &incarnation.node(), &Door::node);
    sim::require(found != doors_.end(), "a node that takes requests was added before");
    return *found;
}

void FrontDoor::open(sim::Incarnation& incarnation, Handler handler) {
    Door& door = door_of(incarnation);
    door.incarnation = &incarnation;
    door.takes = true;
    door.handler = std::move(handler);
    network_.bring_up(door.node->party());
}

void FrontDoor::close(sim::Incarnation& incarnation) {
    door_of(incarnation).takes = false;
}

void FrontDoor::drain(sim::Incarnation& incarnation) {
    Door& door = door_of(incarnation);
    while (!door.tasks.empty()) kernel_.join(*door.tasks.back());
}

void FrontDoor::serve(Exchange& base) {
    auto& exchange = static_cast<RequestExchange&>(base);
    const auto door = std::ranges::find_if(doors_, [&exchange](const Door& one) {
        return one.node->party() == exchange.connection().server();
    });
    sim::require(door != doors_.end(), "a request goes to a node that was added");
    if (!door->takes) {
        exchange.summary = "the node is stopping";
        network_.answer(exchange);
        return;
    }
    door->open.push_back(&exchange);
    if (exchange.call().asked.duplicate) {
        // The client library has sent it again; the caller gets the second answer.
        kernel_.call_faults_took_effect(exchange.call(), sim::Phase::Sent);
        run(*door, exchange, false);
    }
    run(*door, exchange, true);
}

void FrontDoor::run(Door& door, RequestExchange& exchange, bool answers) {
    sim::Incarnation& process = *door.incarnation;
    sim::Task& task = kernel_.spawn(process, exchange.request->id, sim::TaskKind::Foreground,
                                    [this, &door, &exchange, &process, answers] {
                                        std::string answer = door.handler(*exchange.request);
                                        if (!process.alive()) return;
                                        std::erase(door.tasks, kernel_.current());
                                        if (!answers) return;
                                        std::erase(door.open, &exchange);
                                        exchange.answer = std::move(answer);
                                        exchange.summary =
                                            exchange.answer.empty() ? "not done" : exchange.answer;
                                        network_.answer(exchange);
                                    });
    door.tasks.push_back(&task);
}

void FrontDoor::incarnation_ended(sim::Incarnation& incarnation) {
    const auto found = std::ranges::find(doors_, &incarnation, &Door::incarnation);
    if (found == doors_.end()) return;
    found->incarnation = nullptr;
    found->takes = false;
    found->tasks.clear();
    for (RequestExchange* exchange : std::exchange(found->open, {})) network_.abandon(*exchange);
    network_.take_down(found->node->party(), "its process ended");
}

}  // namespace fencepost::model
