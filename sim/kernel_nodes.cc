// The lives of nodes: boot, crash, pause, slowness, graceful stop, healing.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "sim/kernel.h"

namespace fencepost::sim {

Node& Kernel::add_node(std::string name, Node::Boot boot) {
    const PartyId party = add_party(name);
    Node& node = nodes_.emplace_back(*this, std::move(name), party, std::move(boot));
    node.clock.reset(now_);
    return node;
}

Node* Kernel::find_node(std::string_view name) {
    const auto found = std::ranges::find(nodes_, name, &Node::name);
    return found == nodes_.end() ? nullptr : &*found;
}

void Kernel::on_incarnation_end(std::function<void(Incarnation&)> observer) {
    end_observers_.push_back(std::move(observer));
}

void Kernel::boot(Node& node) {
    require(!node.up(), "a node that is up cannot be started");
    ++node.life_;
    Incarnation& incarnation = incarnations_.emplace_back(node, ++node.incarnations_);
    node.current_ = &incarnation;
    record_at(node.party(), kNoRecord, NodeStarted{incarnation.number()});
    // A new process owes its life to no task, whoever planned its start.
    Task* const caller = std::exchange(current_, nullptr);
    spawn(incarnation, "main", TaskKind::Daemon,
          [&node, &incarnation, belongings = std::shared_ptr<void>{}]() mutable {
              incarnation.belongings_ = &belongings;
              node.boot_(incarnation);
          });
    current_ = caller;
}

void Kernel::end_incarnation(Node& node, std::string_view how) {
    Incarnation& incarnation = *node.current_;
    const RecordId cause = current_ != nullptr ? current_->last_record : kNoRecord;
    record_at(node.party(), cause, NodeEnded{incarnation.number(), how});
    incarnation.alive_ = false;
    node.current_ = nullptr;
    node.deferred_.clear();
    node.pauses_ = 0;
    ++node.pause_epoch_;
    node.slow_until_ = Time{};
    ++node.life_;
    for (const auto& observer : end_observers_) observer(incarnation);
    schedule(now_, Action{[](void* target, std::uint64_t) {
                              auto* ended = static_cast<Incarnation*>(target);
                              ended->node().kernel().reap(*ended);
                          },
                          &incarnation, 0});
}

void Kernel::reap(Incarnation& incarnation) {
    // Youngest first: older tasks own what younger ones refer to.
    while (!incarnation.tasks_.empty()) {
        Task& task = *incarnation.tasks_.back();
        incarnation.tasks_.pop_back();
        kill(task);
    }
}

bool Kernel::crash(Node& node, std::optional<Duration> restart_after, std::string_view how) {
    if (!node.up()) return false;
    end_incarnation(node, how);
    if (restart_after) {
        schedule(later(now_, *restart_after), [this, &node, life = node.life_] {
            if (!node.up() && node.life_ == life) boot(node);
        });
    }
    return true;
}

bool Kernel::pause(Node& node, Duration duration) {
    if (!node.up()) return false;
    const RecordId cause = current_ != nullptr ? current_->last_record : kNoRecord;
    record_at(node.party(), cause, NodePaused{duration});
    ++node.pauses_;
    schedule(later(now_, duration), [this, &node, epoch = node.pause_epoch_] {
        if (node.pause_epoch_ == epoch && --node.pauses_ == 0) finish_pause(node);
    });
    return true;
}

void Kernel::finish_pause(Node& node) {
    record_at(node.party(), kNoRecord, NodeResumed{});
    const auto deferred = std::exchange(node.deferred_, {});
    for (const auto& [task, suspension] : deferred) wake_at(now_, *task, suspension);
}

bool Kernel::slow(Node& node, Duration by, Duration lasting) {
    if (!node.up()) return false;
    const RecordId cause = current_ != nullptr ? current_->last_record : kNoRecord;
    record_at(node.party(), cause, NodeSlowed{by, lasting});
    node.slowness_ = by;
    node.slow_until_ = later(now_, lasting);
    return true;
}

bool Kernel::stop_gracefully(Node& node, Duration grace, std::optional<Duration> restart_after) {
    if (!node.up() || node.current_->stopping_) return false;
    Incarnation& incarnation = *node.current_;
    incarnation.stopping_ = true;
    const RecordId cause = current_ != nullptr ? current_->last_record : kNoRecord;
    record_at(node.party(), cause, NodeStopping{grace});
    const auto end = [this, &node, &incarnation, restart_after](std::string_view how) {
        if (node.current_ == &incarnation) crash(node, restart_after, how);
    };
    Task* const caller = std::exchange(current_, nullptr);
    spawn(incarnation, "shutdown", TaskKind::Daemon, [this, &incarnation, end] {
        record(NodeDraining{});
        if (incarnation.stop_handler_) incarnation.stop_handler_();
        end("stopped");
    });
    current_ = caller;
    schedule(later(now_, grace), [end] { end("grace period over"); });
    return true;
}

void Kernel::heal_nodes() {
    for (Node& node : nodes_) {
        node.slow_until_ = Time{};
        if (node.paused()) {
            node.pauses_ = 0;
            ++node.pause_epoch_;
            finish_pause(node);
        }
        if (!node.up()) boot(node);
    }
}

}  // namespace fencepost::sim
