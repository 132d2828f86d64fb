// Requests of clients from outside: each node is a server of the network, and a client sends its
// request to one node after another until it has an answer.
//
// A node takes requests from the time that its program is ready until it is asked to stop. Each is
// a foreground task of the node's process, called by the request's id. When the process ends, its
// clients' connections are reset; a client that got no answer cannot know whether it was done.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "model/network.h"

namespace fencepost::model {

struct ClientRequest {
    std::string id;  // the client's; the same on every repeat
    std::string body;
    sim::Time at{};
    std::size_t first = 0;  // the node that is asked first, by its number
};

struct FrontDoorOptions {
    sim::Duration call_timeout = std::chrono::seconds{5};
    sim::Duration between_attempts = std::chrono::milliseconds{500};
};

class RequestExchange : public Exchange {
public:
    void start(const ClientRequest& what) {
        request = &what;
        answer.clear();
    }
    const ClientRequest* request = nullptr;
    std::string answer;  // empty: not done, ask again
};

class FrontDoor : public Server {
public:
    // What a node answers; empty when it could not be done for now.
    using Handler = std::function<std::string(const ClientRequest&)>;

    FrontDoor(sim::Kernel& kernel, Network& network) : kernel_(kernel), network_(network) {}

    // Starts a run in which nobody takes requests.
    void reset(const FrontDoorOptions& options);
    void add_node(sim::Node& node);
    // The client: a party called "client" that sends the requests, each at its time. After the last
    // add_node().
    void add_client(std::vector<ClientRequest> requests);

    // The process takes requests from here on.
    void open(sim::Incarnation& incarnation, Handler handler);
    // No new ones; clients are told to go elsewhere.
    void close(sim::Incarnation& incarnation);
    // Waits until those that were taken are answered.
    void drain(sim::Incarnation& incarnation);

    void serve(Exchange& exchange) override;
    void disconnected(Connection&, std::string_view) override {}

private:
    struct Door {
        sim::Node* node = nullptr;
        sim::Incarnation* incarnation = nullptr;  // null: nobody answers
        bool takes = false;
        Handler handler;
        std::vector<RequestExchange*> open;  // taken and not answered
        std::vector<sim::Task*> tasks;
    };

    Door& door_of(const sim::Incarnation& incarnation);
    void run(Door& door, RequestExchange& exchange, bool answers);
    void incarnation_ended(sim::Incarnation& incarnation);
    void send_until_answered(const ClientRequest& request);

    sim::Kernel& kernel_;
    Network& network_;
    FrontDoorOptions options_;
    std::deque<Door> doors_;  // in the order of the nodes
    std::vector<ClientRequest> requests_;
    std::deque<RequestExchange> exchanges_;
    std::size_t used_exchanges_ = 0;
};

}  // namespace fencepost::model
