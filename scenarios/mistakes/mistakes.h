// Planted mistakes: handlers that somebody really wrote, as small as shows the mistake. Fencepost
// must find every one of them, and the reference handlers beside them must never be blamed.
#pragma once

#include "scenarios/handler.h"

namespace fencepost::scenarios {

// claims.cc: who may do the work at all
HandlerSpec no_claim();
HandlerSpec check_then_insert();
HandlerSpec check_then_insert_in_transaction();
HandlerSpec run_id_key();
HandlerSpec claim_then_work();

// keys.cc: what names an act
HandlerSpec wall_clock_key();
HandlerSpec late_fire_dropped();
HandlerSpec local_time_key();
HandlerSpec tenantless_key();
HandlerSpec misfire_time_key();

// leases.cc: how many run at once
HandlerSpec lock_only();
HandlerSpec release_without_owner();
HandlerSpec renew_without_owner();
HandlerSpec late_error_handler_unlocks();
HandlerSpec lock_error_means_no_lock();
HandlerSpec validity_from_the_answer();

// table_leases.cc: the same, where the lease is a row
HandlerSpec lease_by_node_clock();
HandlerSpec expiry_computed_then_paused();

// fences.cc: whose write counts
HandlerSpec fence_in_memory();
HandlerSpec fence_not_stored();
HandlerSpec fence_not_equal();
HandlerSpec fence_from_redis_counter();

// commits.cc: what is committed, and when
HandlerSpec effect_before_claim();
HandlerSpec commit_retried();

// checkpoints.cc: where the next holder goes on
HandlerSpec checkpoint_before_effect();
HandlerSpec checkpoint_apart();
HandlerSpec checkpoint_ahead();
HandlerSpec recovery_from_zero();
HandlerSpec recovery_redoes_finished();

// transfers.cc: money that moves
HandlerSpec take_then_give_apart();

// messages.cc: what comes more than once, or not in order
HandlerSpec ack_first();
HandlerSpec no_inbox();
HandlerSpec random_key();
HandlerSpec newest_only();

// outside.cc: outside calls whose outcome is unknown
HandlerSpec blind_retry();
HandlerSpec blind_give_up();

// long_work.cc: batches, stops and versions
HandlerSpec hundred_percent_on_failure();
HandlerSpec guessed_total();
HandlerSpec stop_heartbeat_first();
HandlerSpec accepts_while_stopping();
HandlerSpec old_version_discards();

// start_up.cc: what happens before a node takes up work
HandlerSpec startup_check_then_create();
HandlerSpec startup_if_not_exists_alone();
HandlerSpec startup_table_means_done();
HandlerSpec startup_random_seed_ids();
HandlerSpec startup_unnamed_index();
HandlerSpec startup_scratch_table();
HandlerSpec startup_warms_up_first();
HandlerSpec startup_errors_swallowed();
HandlerSpec upgrade_checkpoint_early();

}  // namespace fencepost::scenarios
