#include "model/node_ports.h"

#include <fmt/format.h>

#include <map>
#include <optional>
#include <utility>

#include "model/outside_ports.h"
#include "model/redis/sha1.h"
#include "model/unanswered.h"

namespace fencepost::model {
namespace {

using jobs::CommitOutcomeUnknown;
using jobs::ConnectionLost;
using jobs::Effect;

class SimClock : public jobs::Clock {
public:
    SimClock(sim::Kernel& kernel, sim::Node& node) : kernel_(kernel), node_(node) {}

    jobs::WallTime wall_now() override { return node_.clock.wall(kernel_.now()); }
    jobs::MonotonicTime monotonic_now() override {
        return jobs::MonotonicTime{node_.clock.steady(kernel_.now()).time_since_epoch()};
    }
    void sleep_for(jobs::Duration duration) override { kernel_.sleep(duration); }

private:
    sim::Kernel& kernel_;
    sim::Node& node_;
};

class SimStopSignal : public jobs::StopSignal {
public:
    explicit SimStopSignal(sim::Kernel& kernel) : kernel_(kernel) {}

    [[nodiscard]] bool requested() const override { return requested_; }

    bool wait_for(jobs::Duration duration) override {
        if (kernel_.dead_call() || requested_) return true;
        waiter_ = &kernel_.self();
        suspension_ = waiter_->suspension;
        kernel_.sleep(duration);
        waiter_ = nullptr;
        return requested_;
    }

    void request() {
        requested_ = true;
        if (waiter_ != nullptr) kernel_.wake(*waiter_, suspension_);
    }

private:
    sim::Kernel& kernel_;
    bool requested_ = false;
    sim::Task* waiter_ = nullptr;
    std::uint64_t suspension_ = 0;
};

class SimTask : public jobs::Task {
public:
    SimTask(sim::Kernel& kernel, sim::Task& task, std::shared_ptr<SimStopSignal> stop)
        : kernel_(kernel), task_(task), stop_(std::move(stop)) {}
    ~SimTask() override { stop_->request(); }
    void request_stop() override { stop_->request(); }
    void join() override { kernel_.join(task_); }

private:
    sim::Kernel& kernel_;
    sim::Task& task_;
    std::shared_ptr<SimStopSignal> stop_;
};

class SimTasks : public jobs::Tasks {
public:
    SimTasks(sim::Kernel& kernel, sim::Incarnation& incarnation)
        : kernel_(kernel), incarnation_(incarnation) {}

    std::unique_ptr<jobs::Task> spawn(std::string name,
                                      std::function<void(jobs::StopSignal&)> body) override {
        return spawn(std::move(name), sim::TaskKind::Daemon, std::move(body));
    }
    std::unique_ptr<jobs::Task> spawn_work(std::string name,
                                           std::function<void(jobs::StopSignal&)> body) override {
        return spawn(std::move(name), sim::TaskKind::Foreground, std::move(body));
    }

private:
    std::unique_ptr<jobs::Task> spawn(std::string name, sim::TaskKind kind,
                                      std::function<void(jobs::StopSignal&)> body) {
        auto stop = std::make_shared<SimStopSignal>(kernel_);
        if (kernel_.dead_call()) throw sim::FiberKilled{};
        sim::Task& task = kernel_.spawn(incarnation_, name, kind,
                                        [stop, body = std::move(body)] { body(*stop); });
        return std::make_unique<SimTask>(kernel_, task, stop);
    }

    sim::Kernel& kernel_;
    sim::Incarnation& incarnation_;
};

class SimIds : public jobs::UniqueIds {
public:
    explicit SimIds(const sim::Incarnation& incarnation)
        : prefix_(fmt::format("{}#{}.", incarnation.node().name(), incarnation.number())) {}
    std::string next() override { return prefix_ + std::to_string(++count_); }

private:
    std::string prefix_;
    int count_ = 0;
};

std::string_view operation_of(StatementKind kind) {
    switch (kind) {
        case StatementKind::Begin:
            return "db.begin";
        case StatementKind::Commit:
            return "db.commit";
        case StatementKind::Rollback:
            return "db.rollback";
        case StatementKind::Savepoint:
            return "db.savepoint";
        case StatementKind::RollbackTo:
            return "db.rollback-to";
        case StatementKind::Release:
            return "db.release";
        case StatementKind::Query:
        case StatementKind::LockingQuery:
            return "db.query";
        case StatementKind::Ddl:
            return "db.ddl";
        case StatementKind::Write:
        case StatementKind::Other:
            break;
    }
    return "db.execute";
}

// Reading a text costs more than looking it up, and there are few.
StatementKind kind_of(std::string_view statement) {
    static std::map<std::string, StatementKind, std::less<>> kinds;
    const auto known = kinds.find(statement);
    if (known != kinds.end()) return known->second;
    constexpr std::size_t kMost = 1000;  // of a handler that makes up texts
    if (kinds.size() >= kMost) kinds.clear();
    return kinds.emplace(std::string(statement), classify(statement)).first->second;
}

class SimSession : public jobs::sql::Session {
public:
    SimSession(const Surroundings& world, Connection& connection)
        : world_(world), connection_(connection) {}
    // Of a dead process the connection has been closed already.
    ~SimSession() override { world_.network.close(connection_); }

    SqlResult run(std::string_view statement, std::span<const SqlValue> parameters) override {
        if (world_.kernel.dead_call()) return {};
        const StatementKind kind = kind_of(statement);
        SqlExchange& exchange = world_.database.exchange();
        exchange.start(statement, parameters);
        world_.network.perform(exchange, connection_, operation_of(kind), exchange.statement,
                               world_.database.options().call_timeout);
        if (!exchange.answered()) fail(exchange, kind);
        if (exchange.failure) {
            throw jobs::sql::ServerError(exchange.failure->sqlstate, exchange.failure->message);
        }
        return std::move(exchange.result);
    }

private:
    [[noreturn]] static void fail(const Exchange& exchange, StatementKind kind) {
        const std::string message = fmt::format("database: {}", why(exchange));
        const Effect effect = effect_of(exchange);
        if (kind == StatementKind::Commit && effect == Effect::Unknown) {
            throw CommitOutcomeUnknown(message);
        }
        throw ConnectionLost(message, effect);
    }

    const Surroundings& world_;
    Connection& connection_;
};

class SimDatabase : public jobs::sql::Database {
public:
    explicit SimDatabase(const Surroundings& world) : world_(world) {}

    std::unique_ptr<jobs::sql::Session> connect() override {
        if (world_.kernel.dead_call()) throw sim::FiberKilled{};
        Connection& connection = world_.network.open(world_.database.party());
        SqlExchange& exchange = world_.database.exchange();
        exchange.start({}, {});
        world_.network.perform(exchange, connection, "db.connect", {},
                               world_.database.options().call_timeout);
        if (!exchange.answered()) {
            throw ConnectionLost(fmt::format("database: {}", why(exchange)), Effect::None);
        }
        return std::make_unique<SimSession>(world_, connection);
    }

private:
    const Surroundings& world_;
};

class SimRedis : public jobs::redis::Client {
public:
    explicit SimRedis(const Surroundings& world) : world_(world) {}

    jobs::redis::Reply command(std::span<const std::string> arguments) override {
        if (world_.kernel.dead_call()) return {};
        sim::require(!arguments.empty(), "a Redis command has a name");
        return send(operation_of(arguments.front()), arguments);
    }

    jobs::redis::Reply eval(const jobs::redis::Script& script, std::span<const std::string> keys,
                            std::span<const std::string> arguments) override {
        if (world_.kernel.dead_call()) return {};
        const Known& known = know(script);
        std::vector<std::string> words{"EVALSHA", known.sha, std::to_string(keys.size())};
        words.insert(words.end(), keys.begin(), keys.end());
        words.insert(words.end(), arguments.begin(), arguments.end());
        jobs::redis::Reply reply = send(known.operation, words);
        if (reply.is_error() && reply.text.starts_with("NOSCRIPT")) {
            words[0] = "EVAL";
            words[1] = script.source;
            reply = send(known.operation, words);
        }
        return reply;
    }

private:
    struct Known {
        std::string operation;
        std::string sha;
    };

    // Operations of scripts are called after the scripts: "redis.lease-renew".
    const Known& know(const jobs::redis::Script& script) {
        static std::map<std::string, Known, std::less<>> known;  // by source: the same in every run
        auto found = known.find(script.source);
        if (found == known.end()) {
            found =
                known
                    .emplace(std::string(script.source), Known{"redis." + std::string(script.name),
                                                               redis::sha1_hex(script.source)})
                    .first;
        }
        return found->second;
    }

    static std::string_view operation_of(const std::string& command) {
        static std::map<std::string, std::string, std::less<>> names;  // "SET" to "redis.set"
        auto found = names.find(command);
        if (found == names.end()) {
            std::string name = "redis.";
            for (const char c : command)
                name += static_cast<char>(c >= 'A' && c <= 'Z' ? c + 32 : c);
            found = names.emplace(command, std::move(name)).first;
        }
        return found->second;
    }

    jobs::redis::Reply send(std::string_view operation, std::span<const std::string> words) {
        if (connection_ == nullptr || !connection_->usable()) {
            connection_ = &world_.network.open(world_.redis.party());
        }
        RedisExchange& exchange = world_.redis.exchange();
        exchange.start(words);
        std::string detail;
        for (const std::string& word : words) {
            if (!detail.empty()) detail += ' ';
            detail += word.size() > 100 ? std::string_view{"…"} : std::string_view{word};
        }
        world_.network.perform(exchange, *connection_, operation, detail,
                               world_.redis.options().call_timeout);
        if (!exchange.answered()) {
            throw ConnectionLost(fmt::format("Redis: {}", why(exchange)), effect_of(exchange));
        }
        return std::move(exchange.reply);
    }

    const Surroundings& world_;
    Connection* connection_ = nullptr;
};

}  // namespace

struct NodePorts::Adapters {
    Adapters(const Surroundings& surroundings, sim::Incarnation& incarnation)
        : world(surroundings),
          name(incarnation.node().name()),
          clock(world.kernel, incarnation.node()),
          database(world),
          redis(world),
          tasks(world.kernel, incarnation),
          ids(incarnation) {
        if (world.broker != nullptr) broker.emplace(world.kernel, world.network, *world.broker);
        if (world.gateway != nullptr) gateway.emplace(world.kernel, world.network, *world.gateway);
    }

    Surroundings world;
    std::string name;
    SimClock clock;
    SimDatabase database;
    SimRedis redis;
    SimTasks tasks;
    SimIds ids;
    std::optional<SimBroker> broker;
    std::optional<SimGateway> gateway;
};

NodePorts::NodePorts(const Surroundings& surroundings, sim::Incarnation& incarnation)
    : adapters_(std::make_unique<Adapters>(surroundings, incarnation)) {}

NodePorts::~NodePorts() = default;

jobs::Ports NodePorts::ports() {
    Adapters& all = *adapters_;
    return {.node = all.name,
            .clock = all.clock,
            .database = all.database,
            .redis = all.redis,
            .tasks = all.tasks,
            .ids = all.ids,
            .broker = all.broker ? &*all.broker : nullptr,
            .gateway = all.gateway ? &*all.gateway : nullptr};
}

}  // namespace fencepost::model
