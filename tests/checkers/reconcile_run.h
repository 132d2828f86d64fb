// A run in which everything holds, as named steps that a test can take out, replace or add to.
//
// A takes the lease and the claim of one unit and commits its first batch; its lease expires; B
// takes over under token 2, commits the other two batches, succeeds, moves an amount from one
// account to another and releases its lease. Then B is asked to stop, and A starts up: it makes a
// table with one row, upgrades it to version 1 and caches a value.
#pragma once

#include <algorithm>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "checkers/checker.h"
#include "tests/checkers/history_builder.h"

namespace fencepost::checkers {

inline constexpr std::string_view kUnit = "acme/reconcile@2026-03-02T18:00:00Z";
inline constexpr std::string_view kLease = "lease:acme/reconcile";
inline constexpr model::Cell kNull{};

inline model::Cell integer(std::int64_t value) {
    return value;
}

// The line of an account, under its own key.
inline std::string_view line_key(std::int64_t account) {
    static std::map<std::int64_t, std::string> keys;
    return keys.try_emplace(account, std::string{kUnit} + "/" + std::to_string(account))
        .first->second;
}
inline model::Cells ledger(std::int64_t account, std::string_view key,
                           std::string_view tenant = "acme") {
    return {integer(account), std::string_view{"2026-03-02"}, integer(100), key, tenant};
}
inline model::Cells ledger(std::int64_t account) {
    return ledger(account, line_key(account));
}
inline model::Cells balance(std::int64_t amount, model::Cell token) {
    return {integer(1), integer(amount), token};
}
// `checkpoint` is decimal text or NULL.
inline model::Cells claim(std::string_view status, model::Cell owner, model::Cell token,
                          model::Cell checkpoint) {
    return {kUnit, status, owner, token, checkpoint};
}

inline model::Cells limit(std::int64_t value) {
    return {std::string_view{"limit"}, integer(value)};
}

inline Expectations reconcile_expectations() {
    Expectations out;
    EffectTable& effects = out.effects.emplace_back();
    effects.table = "ledger";
    effects.identity = {"account", "day"};
    effects.key = "line_key";
    effects.tenant = "tenant";
    for (int account = 1; account <= 3; ++account) {
        effects.expected.push_back({.unit = std::string{kUnit},
                                    .identity = {std::to_string(account), "2026-03-02"},
                                    .position = account});
    }
    out.fenced.push_back({.table = "balances", .identity = {"account"}, .token = "token"});
    out.conserved.push_back({.table = "accounts", .column = "balance"});
    out.claims = ClaimTable{.table = "claims",
                            .key = "business_key",
                            .status = "status",
                            .owner = "owner",
                            .token = "token",
                            .checkpoint = "checkpoint",
                            .finished = {"succeeded", "failed", "cancelled"}};
    const StartUpTable setting{.table = "setting",
                               .columns = {"id", "value"},
                               .compared = {"id", "value"},
                               .rows = {{"limit", "900"}}};
    out.start_up = StartUpState{
        .tables = {setting,
                   {.table = "version", .columns = {"at"}, .compared = {"at"}, .rows = {{"1"}}}},
        .indexes = {{.name = "setting_value_idx", .table = "setting"}},
        .cached = {{.key = "cache:limit", .value = "900"}},
        .version_table = "version",
        .version_column = "at",
        .versions = {{.version = 1, .tables = {setting}}}};
    out.lease_prefix = "lease:";
    out.invariants = {{.name = "no-debts", .message = "Nobody has debts."}};
    return out;
}

// The history that a test writes, with its actors.
struct World {
    HistoryBuilder builder;
    sim::TaskId a = builder.task_on_a("reconcile");
    sim::TaskId a_renewal = builder.task_on_a("lease-renewal", a);
    sim::TaskId b = builder.task_on_b("reconcile");
    sim::TaskId a_start = builder.task_on_a("start-up");

    World() {
        builder.table("claims", "business_key,status,owner,token,checkpoint");
        builder.table("ledger", "account,day,amount,line_key,tenant");
        builder.table("balances", "account,amount,token");
        builder.table("unrelated", "x");
    }

    [[nodiscard]] Judgement judged(std::string_view checker,
                                   const Expectations& expectations = reconcile_expectations()) {
        return judge(*find_checker(checker), builder.history(), expectations);
    }
};

class ReconcileRun {
public:
    using Step = std::function<void(World&)>;

    ReconcileRun() {
        add("due", [](World& w) { w.builder.due("acme", "reconcile"); });
        add("lease of A", [](World& w) {
            w.builder.key(w.a, {.key = kLease, .before = "", .after = "1:A", .expires_ms = 10});
        });
        add("claim of A", [](World& w) {
            w.builder.commit(w.a, {insert("claims", claim("running", "A", integer(1), kNull))});
        });
        add("first batch", [](World& w) {
            w.builder.commit(w.a, {insert("ledger", ledger(1)),
                                   update("balances", balance(0, kNull), balance(1, integer(1))),
                                   update("claims", claim("running", "A", integer(1), kNull),
                                          claim("running", "A", integer(1), "1"))});
        });
        add("renewal", [](World& w) {
            w.builder.key(w.a_renewal, {.change = model::KeyChangeKind::ExpirySet,
                                        .key = kLease,
                                        .before = "1:A",
                                        .after = "1:A",
                                        .expires_ms = 20});
        });
        add("expiry", [](World& w) {
            w.builder.key(sim::kNoTask, {.change = model::KeyChangeKind::Expired,
                                         .key = kLease,
                                         .before = "1:A",
                                         .after = ""});
        });
        add("lease of B", [](World& w) {
            w.builder.key(w.b, {.key = kLease, .before = "", .after = "1:B", .expires_ms = 30});
        });
        add("takeover", [](World& w) {
            w.builder.commit(w.b, {update("claims", claim("running", "A", integer(1), "1"),
                                          claim("running", "B", integer(2), "1"))});
        });
        add("second batch", [](World& w) {
            w.builder.commit(w.b,
                             {insert("ledger", ledger(2)),
                              update("balances", balance(1, integer(1)), balance(2, integer(2))),
                              update("claims", claim("running", "B", integer(2), "1"),
                                     claim("running", "B", integer(2), "2"))});
        });
        add("third batch", [](World& w) {
            w.builder.commit(w.b,
                             {insert("ledger", ledger(3)),
                              update("balances", balance(2, integer(2)), balance(3, integer(2))),
                              update("claims", claim("running", "B", integer(2), "2"),
                                     claim("succeeded", "B", integer(2), "3"))});
        });
        add("transfer", [](World& w) {
            w.builder.table("accounts", "account,balance");
            w.builder.commit(
                w.b, {update("accounts", {integer(1), integer(100)}, {integer(1), integer(70)}),
                      update("accounts", {integer(2), integer(0)}, {integer(2), integer(30)})});
        });
        add("release", [](World& w) {
            w.builder.key(w.b, {.change = model::KeyChangeKind::Deleted,
                                .key = kLease,
                                .before = "1:B",
                                .after = ""});
        });
        add("drain", [](World& w) { w.builder.draining(w.b); });
        add("schema", [](World& w) {
            w.builder.define(w.a_start, "version", "at");
            w.builder.define(w.a_start, "setting", "id");
            w.builder.commit(w.a_start, {insert("version", {integer(0)})});
            w.builder.define(w.a_start, "setting", "id,value");
        });
        add("index",
            [](World& w) { w.builder.define_index(w.a_start, "setting_value_idx", "setting"); });
        add("seed", [](World& w) { w.builder.commit(w.a_start, {insert("setting", limit(9))}); });
        add("upgrade", [](World& w) {
            w.builder.commit(w.a_start, {update("version", {integer(0)}, {integer(1)}),
                                         update("setting", limit(9), limit(900))});
        });
        add("cache", [](World& w) {
            w.builder.key(w.a_start, {.key = "cache:limit", .before = "", .after = "900"});
        });
        add("start-up", [](World& w) { w.builder.start_up_done(w.a_start); });
        add("invariants",
            [](World& w) { w.builder.invariant_looked({.invariant = "no-debts", .times = 9}); });
        add("end", [](World& w) { w.builder.end(); });
    }

    ReconcileRun& without(std::string_view name) {
        steps_.erase(find(name));
        return *this;
    }
    ReconcileRun& instead_of(std::string_view name, Step step) {
        find(name)->step = std::move(step);
        return *this;
    }
    ReconcileRun& after(std::string_view name, Step step) {
        steps_.insert(find(name) + 1, {.name = {}, .step = std::move(step)});
        return *this;
    }

    [[nodiscard]] World run() const {
        World world;
        for (const Named& named : steps_) named.step(world);
        return world;
    }

private:
    struct Named {
        std::string name;
        Step step;
    };

    void add(std::string name, Step step) {
        steps_.push_back({.name = std::move(name), .step = std::move(step)});
    }
    std::vector<Named>::iterator find(std::string_view name) {
        const auto found = std::ranges::find(steps_, name, &Named::name);
        sim::require(found != steps_.end(), "a test names a step that the run does not have");
        return found;
    }

    std::vector<Named> steps_;
};

inline std::vector<const Checker*> every_checker() {
    std::vector<const Checker*> out;
    for (const Checker& checker : all_checkers()) out.push_back(&checker);
    return out;
}

// The names of the checkers that fail.
inline std::vector<std::string> failing(const World& world) {
    std::vector<std::string> out;
    for (const Judgement& judgement :
         judge_all(world.builder.history(), reconcile_expectations(), every_checker())) {
        if (judgement.verdict == Verdict::Fail) out.push_back(judgement.checker);
    }
    return out;
}

}  // namespace fencepost::checkers
