#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "scenarios/handler.h"
#include "scenarios/handlers/batch_import.h"
#include "scenarios/handlers/consume_order.h"
#include "scenarios/handlers/daily_backup.h"
#include "scenarios/handlers/initialise.h"
#include "scenarios/handlers/pay.h"
#include "scenarios/handlers/reconcile.h"
#include "scenarios/handlers/transfer.h"
#include "scenarios/mistakes/mistakes.h"
#include "sim/name.h"

namespace fencepost::scenarios {

namespace {

std::vector<HandlerSpec>& known_handlers() {
    static std::vector<HandlerSpec> known{
        reconcile_handler(),
        transfer_handler(),
        consume_order_handler(),
        pay_handler(),
        batch_import_handler(),
        daily_backup_handler(),
        initialise_handler(),
        no_claim(),
        check_then_insert(),
        check_then_insert_in_transaction(),
        run_id_key(),
        claim_then_work(),
        wall_clock_key(),
        late_fire_dropped(),
        local_time_key(),
        tenantless_key(),
        misfire_time_key(),
        lock_only(),
        release_without_owner(),
        renew_without_owner(),
        late_error_handler_unlocks(),
        lock_error_means_no_lock(),
        validity_from_the_answer(),
        lease_by_node_clock(),
        expiry_computed_then_paused(),
        fence_in_memory(),
        fence_not_stored(),
        fence_not_equal(),
        fence_from_redis_counter(),
        effect_before_claim(),
        commit_retried(),
        checkpoint_before_effect(),
        checkpoint_apart(),
        checkpoint_ahead(),
        recovery_from_zero(),
        recovery_redoes_finished(),
        take_then_give_apart(),
        ack_first(),
        no_inbox(),
        random_key(),
        newest_only(),
        blind_retry(),
        blind_give_up(),
        hundred_percent_on_failure(),
        guessed_total(),
        stop_heartbeat_first(),
        accepts_while_stopping(),
        old_version_discards(),
        startup_check_then_create(),
        startup_if_not_exists_alone(),
        startup_table_means_done(),
        startup_random_seed_ids(),
        startup_unnamed_index(),
        startup_scratch_table(),
        startup_warms_up_first(),
        startup_errors_swallowed(),
        upgrade_checkpoint_early(),
    };
    return known;
}

// How many of them the program brings itself.
std::size_t built_in() {
    static const std::size_t count = known_handlers().size();
    return count;
}

void check_complete(const HandlerSpec& handler) {
    if (handler.name.empty() || !handler.program) {
        throw std::invalid_argument("a handler needs a name and a program");
    }
    if (!sim::is_name(handler.name)) {
        throw std::invalid_argument(fmt::format("a handler called \"{}\": {}",
                                                handler.name.substr(0, sim::kLongestName),
                                                sim::kNameRule));
    }
}

bool made_at_the_same_line(const HandlerSpec& one, const HandlerSpec& other) {
    return one.source.line() != 0 && one.source.line() == other.source.line() &&
           std::string_view(one.source.file_name()) == other.source.file_name();
}

}  // namespace

const std::vector<HandlerSpec>& all_handlers() {
    return known_handlers();
}

void add_handler(HandlerSpec handler) {
    check_complete(handler);
    if (find_handler(handler.name) != nullptr) {
        throw std::invalid_argument("a handler called \"" + handler.name + "\" is known already");
    }
    built_in();  // counted before there is another
    known_handlers().push_back(std::move(handler));
}

void put_handler(HandlerSpec handler) {
    check_complete(handler);
    auto& all = known_handlers();
    const auto known = std::ranges::find(all, handler.name, &HandlerSpec::name);
    if (known == all.end()) {
        add_handler(std::move(handler));
    } else if (!is_built_in(handler.name) || made_at_the_same_line(*known, handler)) {
        *known = std::move(handler);
    } else {
        throw std::invalid_argument("the program brings a handler called \"" + handler.name +
                                    "\" itself; give this one another name");
    }
}

bool is_built_in(std::string_view name) {
    const auto& all = all_handlers();
    const auto known = std::ranges::find(all, name, &HandlerSpec::name);
    return static_cast<std::size_t>(known - all.begin()) < built_in();
}

const HandlerSpec* find_handler(std::string_view name) {
    const auto& all = all_handlers();
    const auto found = std::ranges::find(all, name, &HandlerSpec::name);
    return found == all.end() ? nullptr : &*found;
}

}  // namespace fencepost::scenarios
