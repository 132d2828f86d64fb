#include "scenarios/search/fault_menu.h"

#include <algorithm>
#include <array>
#include <map>

#include "scenarios/reduced.h"

namespace fencepost::scenarios {
namespace {

using namespace std::chrono_literals;
using sim::Duration;
using sim::Fault;
using sim::FaultKind;
using sim::Phase;

constexpr std::uint8_t bit(Phase phase) {
    return static_cast<std::uint8_t>(1U << static_cast<unsigned>(phase));
}
constexpr std::uint8_t kBefore = bit(Phase::Before);
constexpr std::uint8_t kSent = bit(Phase::Sent);
constexpr std::uint8_t kApplied = bit(Phase::Applied);
constexpr std::uint8_t kAfter = bit(Phase::After);

// Operations to which a kind applies.
enum class On : std::uint8_t {
    Any,
    Repeated,     // a call whose client library may send it again: any but the database's
    Opening,      // a call that opens a connection: any but the database's, db.connect
    Receive,      // broker.receive
    Statement,    // a statement that takes locks or reads
    Transaction,  // a statement or COMMIT
};

struct Rule {
    FaultKind kind;
    std::uint8_t phases;
    On on;
    // Why not at other phases and operations, where it is not plain.
    std::string_view reason;
};

constexpr std::array kRules{
    Rule{FaultKind::Crash, kBefore | kSent | kApplied | kAfter, On::Any, ""},
    Rule{FaultKind::Stop, kBefore | kApplied, On::Any,
         "a request to stop is seen by tasks that wait, whatever this call is doing; in the midst "
         "of it and between two calls are the two cases"},
    Rule{FaultKind::Pause, kBefore | kSent | kApplied | kAfter, On::Any, ""},
    Rule{FaultKind::Slow, kBefore, On::Any, "it lasts for several calls, wherever it begins"},
    Rule{FaultKind::LoseRequest, kSent, On::Any, ""},
    Rule{FaultKind::LoseAnswer, kApplied, On::Any, ""},
    Rule{FaultKind::Delay, kSent | kApplied, On::Any, ""},
    Rule{FaultKind::Duplicate, kSent, On::Repeated,
         "a database's client never sends a statement again by itself"},
    Rule{FaultKind::Reset, kBefore | kSent | kApplied, On::Any, ""},
    Rule{FaultKind::Refuse, kBefore, On::Opening, "only a new connection can be refused"},
    Rule{FaultKind::SerializationFailure, kBefore, On::Transaction,
         "a server answers so to statements and to COMMIT, not to BEGIN or ROLLBACK"},
    Rule{FaultKind::DeadlockVictim, kBefore, On::Statement, "only a statement waits for locks"},
    Rule{FaultKind::Partition, kBefore | kApplied, On::Any,
         "before: the request is held; applied: the answer is"},
    Rule{FaultKind::Restart, kBefore | kSent | kApplied, On::Any, "after is before the next call"},
    Rule{FaultKind::Failover, kBefore | kApplied, On::Any, "a request on its way is not lost"},
    Rule{FaultKind::Unreachable, kBefore | kApplied, On::Any, "as a partition"},
    Rule{FaultKind::Evict, kBefore | kApplied, On::Any, "only what Redis holds then matters"},
    Rule{FaultKind::ClockJump, kBefore, On::Any, "a clock is read between calls, or by servers"},
    Rule{FaultKind::ClockDrift, kBefore, On::Any, "it lasts for many calls, wherever it begins"},
    Rule{FaultKind::DuplicateMessage, kBefore | kApplied, On::Any, "after is before the next call"},
    Rule{FaultKind::EarlyRedelivery, kBefore | kApplied, On::Any, "after is before the next call"},
    Rule{FaultKind::ReorderMessages, kBefore, On::Receive, "it is the next receive that is struck"},
    Rule{FaultKind::Deploy, kBefore, On::Any, "operators know nothing of calls"},
    Rule{FaultKind::Cancel, kBefore, On::Any, "as a deploy"},
    Rule{FaultKind::SaveSchedule, kBefore, On::Any, "as a deploy"},
};

bool is_statement(std::string_view operation) {
    return operation == "db.execute" || operation == "db.query" || operation == "db.ddl";
}

bool applies(On on, std::string_view operation) {
    switch (on) {
        case On::Any:
            return true;
        case On::Repeated:
            return !operation.starts_with("db.");
        case On::Opening:
            return !operation.starts_with("db.") || operation == "db.connect";
        case On::Receive:
            return operation == "broker.receive";
        case On::Statement:
            return is_statement(operation);
        case On::Transaction:
            return is_statement(operation) || operation == "db.commit";
    }
    return false;
}

// The bounds that durations are chosen around.
constexpr Duration kRoundTrip = 1ms;         // about one: a rival's call comes in between
constexpr Duration kRedisTimeout = 2s;       // clients of Redis give up
constexpr Duration kDatabaseTimeout = 20s;   // clients of the database give up
constexpr Duration kBrokerTimeout = 5s;      // clients of the broker give up, and clients of ours
constexpr Duration kGatewayTimeout = 10s;    // clients of the outside service give up
constexpr Duration kFailureDetection = 25s;  // peers have declared a silent node dead by then
constexpr Duration kKeepalive = 30s;         // servers have dropped a silent connection by then
constexpr Duration kForGood = kKeepalive + 10s;

Duration timeout_of(std::string_view server) {
    if (server == "redis") return kRedisTimeout;
    if (server == "gateway") return kGatewayTimeout;
    return server == "database" ? kDatabaseTimeout : kBrokerTimeout;
}

// Adds the options of one kind, with the arguments that matter.
class Arguments {
public:
    Arguments(FaultKind kind, std::uint8_t phases, const std::string& node, const Struck& struck,
              std::vector<FaultOption>& out)
        : kind_(kind),
          phases_(phases),
          node_(node),
          struck_(struck),
          ttl_(struck.lease_ttl),
          out_(out) {}

    // `server` is the one that is called at the point; empty: any.
    void add(std::string_view server) {
        const Duration past_lease = ttl_ + 1s;
        const Duration past_everything = std::max(kForGood, 2 * ttl_);
        const Duration nearly_lease = ttl_ - std::min<Duration>(ttl_ / 10, 500ms);
        switch (kind_) {
            case FaultKind::Crash:
                node_fault(true, [](Fault&) {});  // for good: until healing
                node_fault(true, [](Fault& f) { f.restart_after = 1s; });  // before peers notice
                node_fault(false, [&](Fault& f) { f.restart_after = past_lease; });
                node_fault(false, [](Fault& f) { f.restart_after = kFailureDetection + 5s; });
                break;
            case FaultKind::Stop:
                for (const Duration grace : {Duration{0}, Duration{30s}}) {
                    node_fault(true, [&](Fault& f) { f.grace = grace; });
                    node_fault(false, [&](Fault& f) {
                        f.grace = grace;
                        f.restart_after = 5s;
                    });
                }
                node_fault(false, [](Fault& f) { f.grace = 1s; });
                break;
            case FaultKind::Pause:
                for (const Duration d : {kRoundTrip, past_lease, past_everything}) lasting(true, d);
                for (const Duration d : {nearly_lease, Duration{200ms}, Duration{5s}}) {
                    lasting(false, d);
                }
                break;
            case FaultKind::Slow:
                slow(true, past_everything, 100ms);
                slow(false, past_everything, ttl_ / 4);
                slow(false, 5s, 20ms);
                break;
            case FaultKind::LoseRequest:
            case FaultKind::LoseAnswer:
            case FaultKind::Duplicate:
            case FaultKind::Reset:
            case FaultKind::Refuse:
            case FaultKind::SerializationFailure:
            case FaultKind::DeadlockVictim:
            case FaultKind::DuplicateMessage:
            case FaultKind::EarlyRedelivery:
            case FaultKind::ReorderMessages:
                put(true, [](Fault&) {});
                break;
            case FaultKind::Delay:
                delay(server, nearly_lease, past_lease);
                break;
            case FaultKind::Partition:
                for (const std::string& cut : servers(server)) {
                    partition(cut, true, past_lease);
                    partition(cut, true, past_everything);
                    partition(cut, false, 500ms);
                    partition(cut, false, 5s);
                }
                break;
            case FaultKind::Restart:
                restarts(past_lease);
                break;
            case FaultKind::Failover:
                if (!has("redis")) break;
                failover(true, 1s);
                failover(false, past_lease);
                break;
            case FaultKind::Unreachable:
                for (const std::string& which : struck_.servers) {
                    unreachable(true, which, past_lease);
                    unreachable(false, which, 500ms);
                    unreachable(false, which, kDatabaseTimeout + 5s);
                }
                break;
            case FaultKind::Evict:
                if (!has("redis")) break;
                for (const std::string& key : struck_.keys) {
                    put(true, [&](Fault& f) {
                        f.party = "redis";
                        f.key = key;
                    });
                }
                break;
            case FaultKind::ClockJump:
                for (const std::string& party : clocks()) {
                    for (const Duration by : {past_lease, -past_lease}) jump(true, party, by);
                    for (const Duration by :
                         {Duration{1s}, Duration{-1s}, Duration{1h}, Duration{-1h}}) {
                        jump(false, party, by);
                    }
                }
                break;
            case FaultKind::ClockDrift:
                for (const std::int64_t ppm : {50'000, -50'000}) drift(true, ppm);
                for (const std::int64_t ppm : {500, 300'000, -300'000}) drift(false, ppm);
                break;
            case FaultKind::FireTwice:
                node_fault(true, [](Fault&) {});
                break;
            case FaultKind::FireLate:
                for (const Duration by :
                     {Duration{1s}, past_lease, Duration{kFailureDetection + 5s}}) {
                    node_fault(true, [&](Fault& f) { f.by = by; });
                }
                break;
            case FaultKind::Deploy:
                for (const std::int64_t version : struck_.versions) {
                    node_fault(true, [&](Fault& f) {
                        f.version = version;
                        f.grace = 30s;
                    });
                    node_fault(false, [&](Fault& f) {
                        f.version = version;
                        f.grace = 0s;
                        f.restart_after = 5s;
                    });
                }
                break;
            case FaultKind::Cancel:
                for (const std::string& unit : struck_.units) {
                    put(true, [&](Fault& f) { f.unit = unit; });
                }
                break;
            case FaultKind::SaveSchedule:
                for (const std::string& job : struck_.jobs) {
                    put(true, [&](Fault& f) { f.job = job; });
                }
                break;
        }
    }

private:
    template <typename Set>
    void put(bool essential, Set set) {
        FaultOption option;
        option.fault.kind = kind_;
        option.essential = essential;
        option.phases = phases_;
        set(option.fault);
        out_.push_back(std::move(option));
    }
    // At a point, the node that is struck is the point's.
    template <typename Set>
    void node_fault(bool essential, Set set) {
        put(essential, [&](Fault& f) {
            if (phases_ == 0) f.party = node_;
            set(f);
        });
    }
    void lasting(bool essential, Duration duration) {
        node_fault(essential, [&](Fault& f) { f.lasting = duration; });
    }
    void slow(bool essential, Duration duration, Duration by) {
        node_fault(essential, [&](Fault& f) {
            f.lasting = duration;
            f.by = by;
        });
    }
    void delay(std::string_view server, Duration nearly_lease, Duration past_lease) {
        const auto by = [&](bool essential, Duration duration) {
            put(essential, [&](Fault& f) { f.by = duration; });
        };
        const Duration timeout = timeout_of(server);
        by(true, 5 * kRoundTrip);         // out of order with others
        by(true, timeout - timeout / 4);  // still answered in time
        by(true, past_lease > timeout ? past_lease : timeout + 1s);
        if (nearly_lease < timeout) by(true, nearly_lease);
    }
    [[nodiscard]] bool has(std::string_view server) const {
        return std::ranges::find(struck_.servers, server) != struck_.servers.end();
    }
    // From whom the node can be cut off: who is called at the point, or any.
    [[nodiscard]] std::vector<std::string> servers(std::string_view server) const {
        if (!server.empty()) return {std::string(server)};
        return node_ == kClient ? struck_.nodes : struck_.servers;
    }
    [[nodiscard]] std::vector<std::string> clocks() const {
        std::vector<std::string> clocks;
        if (node_ != kClient) clocks.push_back(node_);
        for (const char* server : {"redis", "database"}) {
            if (has(server)) clocks.emplace_back(server);
        }
        return clocks;
    }
    void restarts(Duration past_lease) {
        for (const std::string& server : struck_.servers) {
            if (server == "redis") {
                // What Redis keeps is its own matter, and so is how long it is away.
                for (const char* keep : {"all", "last-second-lost", "none"}) {
                    restart(true, server, 500ms, keep);
                    restart(keep == std::string_view{"all"}, server, past_lease, keep);
                }
                continue;
            }
            restart(true, server, 500ms, "");
            restart(true, server, past_lease, "");
            restart(false, server, kFailureDetection, "");
        }
    }
    void partition(const std::string& server, bool essential, Duration duration) {
        put(essential, [&](Fault& f) {
            f.from = node_;
            f.to = server;
            f.lasting = duration;
        });
        // One way: requests are held, or answers are.
        for (const bool requests : {true, false}) {
            put(false, [&](Fault& f) {
                f.from = requests ? node_ : server;
                f.to = requests ? server : node_;
                f.one_way = true;
                f.lasting = duration;
            });
        }
    }
    void restart(bool essential, const std::string& server, Duration duration, const char* keep) {
        put(essential, [&](Fault& f) {
            f.party = server;
            f.lasting = duration;
            f.keep = keep;
        });
    }
    void failover(bool essential, Duration lag) {
        put(essential, [&](Fault& f) {
            f.party = "redis";
            f.lasting = lag;
        });
    }
    void unreachable(bool essential, const std::string& server, Duration duration) {
        put(essential, [&](Fault& f) {
            f.party = server;
            f.lasting = duration;
        });
    }
    void jump(bool essential, const std::string& party, Duration by) {
        put(essential, [&](Fault& f) {
            f.party = party;
            f.by = by;
        });
    }
    void drift(bool essential, std::int64_t ppm) {
        put(essential, [&](Fault& f) {
            f.party = node_;
            f.ppm = ppm;
        });
    }

    FaultKind kind_;
    std::uint8_t phases_;
    const std::string& node_;
    const Struck& struck_;
    Duration ttl_;
    std::vector<FaultOption>& out_;
};

Duration lease_ttl_of(const Scenario& scenario,
                      const std::map<std::string, std::int64_t, std::less<>>& overrides) {
    constexpr std::string_view kName = "lease_ttl_ms";
    if (const auto own = overrides.find(kName); own != overrides.end()) {
        return std::chrono::milliseconds{own->second};
    }
    const auto& usual = scenario.parameters.all();
    const auto given = usual.find(kName);
    return given != usual.end() ? std::chrono::milliseconds{given->second} : Duration{10s};
}

}  // namespace

FaultMenu::FaultMenu(const Scenario& scenario,
                     const std::map<std::string, std::int64_t, std::less<>>& overrides,
                     std::vector<std::string> keys)
    : families_(scenario.families),
      struck_{.nodes = scenario.nodes,
              .servers = scenario.servers,
              .keys = std::move(keys),
              .lease_ttl = lease_ttl_of(scenario, overrides)} {
    const Scenario own = reduced(scenario, overrides);
    if (needs(own, Ability::TwoVersions)) struck_.versions = {1, 2};
    if (own.scheduler.editable) struck_.jobs = jobs_of(own);
    if (needs(own, Ability::Batches)) {
        for (const DueWork& work : own.due) struck_.units.push_back(work.unit());
    }
}

bool FaultMenu::has(sim::FaultFamily family) const {
    return std::ranges::find(families_, family) != families_.end();
}

std::vector<FaultOption> FaultMenu::at_point(const std::string& node,
                                             std::string_view operation) const {
    std::vector<FaultOption> options;
    for (const Rule& rule : kRules) {
        const sim::FaultFamily family = sim::info_of(rule.kind).family;
        if (!has(family) || !applies(rule.on, operation)) continue;
        // The client has no life and no clock of its own here: it only asks.
        if (node == kClient &&
            (family == sim::FaultFamily::Node || rule.kind == FaultKind::ClockDrift)) {
            continue;
        }
        Arguments{rule.kind, rule.phases, node, struck_, options}.add(server_of(operation));
    }
    return options;
}

std::vector<FaultOption> FaultMenu::at_time(const std::string& node) const {
    std::vector<FaultOption> options;
    for (const sim::FaultKindInfo& info : sim::fault_kinds()) {
        if (!info.at_time || !has(info.family)) continue;
        Arguments{info.kind, 0, node, struck_, options}.add("");
    }
    return options;
}

std::string_view server_of(std::string_view operation) {
    if (operation.starts_with("db.")) return "database";
    if (operation.starts_with("redis.")) return "redis";
    if (operation.starts_with("broker.")) return "broker";
    if (operation.starts_with("gateway.")) return "gateway";
    return "";
}

}  // namespace fencepost::scenarios
