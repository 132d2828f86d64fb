#include "tests/fidelity/redis/model_side.h"

namespace fencepost::fidelity {

using std::chrono::microseconds;
using std::chrono::nanoseconds;

namespace {

// A change at the very moment of a cut or a snapshot is part of it; the next one is not.
constexpr nanoseconds kNextMoment{1};

}  // namespace

void ModelSide::reset() {
    now_ = {.wall_us = kStartUs, .elapsed = kNextMoment};
    started_ = {};
    server_.reset(options_);
}

Reply ModelSide::execute(const Step& step) {
    switch (step.to) {
        case Step::To::Primary:
            return server_.execute(step.client, step.arguments, now_);
        case Step::To::Replica:
            return server_.execute_on_replica(step.client, step.arguments, now_);
        case Step::To::FormerPrimary:
            return server_.execute_on_former_primary(step.client, step.arguments, now_);
    }
    return Reply::nil();
}

void ModelSide::pass(std::int64_t us) {
    now_.wall_us += us;
    now_.elapsed += microseconds(us);
}

nanoseconds ModelSide::fsync_horizon() const {
    return std::max(started_, now_.elapsed - options_.fsync_period);
}

void ModelSide::restart(model::RedisLoss loss, std::int64_t down_us) {
    server_.crash(now_, loss);
    pass(down_us);
    server_.start(now_);
    started_ = now_.elapsed;
    now_.elapsed += kNextMoment;
}

void ModelSide::apply(const Step& step) {
    const model::Persistence persistence = options_.persistence;
    switch (step.kind) {
        case Step::Kind::Command:
            break;
        case Step::Kind::Pass:
            pass(step.us);
            break;
        case Step::Kind::Jump:
            now_.wall_us += step.us;
            break;
        case Step::Kind::MemoryFull:
            server_.refuse(model::redis::Refusal::Growth);
            break;
        case Step::Kind::MemoryFreed:
            server_.refuse(model::redis::Refusal::Nothing);
            break;
        case Step::Kind::Snapshot: {
            const nanoseconds period = options_.snapshot_period;
            now_.elapsed += period - (now_.elapsed - started_) % period + kNextMoment;
            break;
        }
        case Step::Kind::Kill:
            restart(model::loss_at_kill(persistence), step.us);
            break;
        case Step::Kind::PowerCut:
            restart(model::loss_at_power_cut(persistence), step.us);
            break;
        case Step::Kind::Cut:
            server_.cut_replica(now_);
            now_.elapsed += kNextMoment;
            break;
        case Step::Kind::Promote:
            server_.failover(now_, model::RedisServer::OldPrimary::Isolated);
            now_.elapsed += kNextMoment;
            break;
        case Step::Kind::Demote:
            server_.demote_former_primary();
            break;
    }
}

}  // namespace fencepost::fidelity
