#include "reports/diagram_model.h"

#include <algorithm>
#include <map>
#include <set>

namespace fencepost::reports {
namespace {

using sim::RecordId;

class Reader {
public:
    explicit Reader(const Narrator& narrator) : narrator_(narrator), history_(narrator.history()) {}

    DrawnHistory read() {
        for (RecordId id = 0; id < history_.size(); ++id) {
            const sim::Record record = history_[id];
            read_call(record);
            read_node(record);
            read_transaction(record);
            read_lease(record);
        }
        line_up();
        return std::move(out_);
    }

private:
    void read_call(const sim::Record& record) {
        if (const auto call = record.as<sim::CallStarted>()) {
            calls_[record.id()] = out_.calls.size();
            const std::string& task = history_.task(record.task()).name;
            out_.calls.push_back({.call = record.id(),
                                  .from = record.party(),
                                  .to = server_of(call->operation),
                                  .schedulers = task == "scheduler" || task == "check-in"});
        }
        const auto known = calls_.find(record.cause());
        if (known == calls_.end()) return;
        DrawnCall& drawn = out_.calls[known->second];
        if (record.as<sim::CallApplied>() && drawn.applied == sim::kNoRecord) {
            drawn.applied = record.id();
            drawn.to = record.party();
        }
        if (const auto ended = record.as<sim::CallEnded>()) {
            drawn.ended = record.id();
            drawn.answer = kind_of_answer(ended->operation, ended->outcome);
        }
    }

    // By the part before the dot, which is the server's name but for the database's.
    [[nodiscard]] sim::PartyId server_of(std::string_view operation) const {
        const std::string_view prefix = operation.substr(0, operation.find('.'));
        const std::string_view name = prefix == "db" ? "database" : prefix;
        for (std::size_t party = 1; party < history_.parties(); ++party) {
            if (history_.party_name(static_cast<sim::PartyId>(party)) == name)
                return static_cast<sim::PartyId>(party);
        }
        return sim::kWorld;
    }

    void read_node(const sim::Record& record) {
        if (record.as<sim::NodeStarted>()) {
            nodes_.insert(record.party());
            lives_[record.party()] = out_.lives.size();
            out_.lives.push_back({.begin = record.id(), .party = record.party()});
        }
        if (const auto ended = record.as<sim::NodeEnded>()) {
            end_of(out_.lives, lives_, record, ended->how != "stopped");
            end_of(out_.pauses, pauses_, record, true);
            for (DrawnSpan& transaction : out_.transactions) {
                const bool open = transaction.end == sim::kNoRecord;
                if (open && transaction.party == record.party())
                    transaction.end = record.id(), transaction.broken = true;
            }
        }
        if (record.as<sim::NodePaused>() && !pauses_.contains(record.party())) {
            pauses_[record.party()] = out_.pauses.size();
            out_.pauses.push_back({.begin = record.id(), .party = record.party()});
        }
        if (record.as<sim::NodeResumed>()) end_of(out_.pauses, pauses_, record, false);
    }

    static void end_of(std::vector<DrawnSpan>& spans, std::map<sim::PartyId, std::size_t>& open,
                       const sim::Record& record, bool broken) {
        const auto found = open.find(record.party());
        if (found == open.end()) return;
        spans[found->second].end = record.id();
        spans[found->second].broken = broken;
        open.erase(found);
    }

    // From the call of BEGIN to the answer of COMMIT or ROLLBACK.
    void read_transaction(const sim::Record& record) {
        if (const auto call = record.as<sim::CallStarted>();
            call && call->operation == "db.begin") {
            transactions_[record.task()] = out_.transactions.size();
            out_.transactions.push_back({.begin = record.id(),
                                         .party = record.party(),
                                         .task = record.task(),
                                         .broken = true});
        }
        const auto ended = record.as<sim::CallEnded>();
        if (!ended) return;
        const auto open = transactions_.find(record.task());
        if (open == transactions_.end()) return;
        const AnswerKind answer = kind_of_answer(ended->operation, ended->outcome);
        const bool commits = ended->operation == "db.commit";
        if (!commits && ended->operation != "db.rollback" && answer != AnswerKind::Lost) return;
        DrawnSpan& span = out_.transactions[open->second];
        span.end = record.id();
        span.broken = !commits || answer == AnswerKind::Lost || answer == AnswerKind::Error;
        transactions_.erase(open);
    }

    void read_lease(const sim::Record& record) {
        const auto key = record.as<model::KeyChanged>();
        if (!key || !narrator_.is_lease(key->key)) return;
        if (key->change == model::KeyChangeKind::ExpirySet) return;
        const std::string name{key->key};
        if (const auto standing = leases_.find(name); standing != leases_.end()) {
            DrawnLease& lease = out_.leases[standing->second];
            lease.span.end = record.id();
            lease.span.broken = key->change != model::KeyChangeKind::Deleted;
            lanes_.erase(lease.lane);
            leases_.erase(standing);
        }
        if (key->after.empty()) return;
        std::size_t lane = 0;
        while (lanes_.contains(lane)) ++lane;
        lanes_.insert(lane);
        out_.lease_lanes = std::max(out_.lease_lanes, lane + 1);
        leases_[name] = out_.leases.size();
        out_.leases.push_back({.span = {.begin = record.id(),
                                        .party = record.party(),
                                        .task = record.task(),
                                        .label = std::string(key->after)},
                               .key = name,
                               .owner = narrator_.who(record),
                               .lane = lane});
    }

    // Servers stand between the nodes, so that arrows cross few columns.
    void line_up() {
        std::vector<sim::PartyId> nodes;
        std::vector<sim::PartyId> servers;
        for (std::size_t party = 1; party < history_.parties(); ++party) {
            const auto id = static_cast<sim::PartyId>(party);
            (nodes_.contains(id) ? nodes : servers).push_back(id);
        }
        const auto left = static_cast<std::ptrdiff_t>((nodes.size() + 1) / 2);
        out_.columns.assign(nodes.begin(), nodes.begin() + left);
        out_.columns.insert(out_.columns.end(), servers.begin(), servers.end());
        out_.columns.insert(out_.columns.end(), nodes.begin() + left, nodes.end());
    }

    const Narrator& narrator_;
    const sim::History& history_;
    DrawnHistory out_;
    std::map<RecordId, std::size_t> calls_;
    std::map<sim::PartyId, std::size_t> lives_, pauses_;
    std::map<sim::TaskId, std::size_t> transactions_;
    std::map<std::string, std::size_t> leases_;
    std::set<std::size_t> lanes_;
    std::set<sim::PartyId> nodes_;
};

}  // namespace

DrawnHistory drawn(const Narrator& narrator) {
    return Reader{narrator}.read();
}

}  // namespace fencepost::reports
