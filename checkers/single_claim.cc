// single claim: for each business key one row is inserted, once. Its owner changes only under a
// larger token, the token never falls, and once its status is final neither status, owner nor
// token change. Where claims run out by themselves, one that was taken or renewed stays its
// owner's for the agreed time, by the world's time and whatever a node's clock says; unless the
// owner gives it up, or the clock of the database was changed.

#include <fmt/format.h>

#include "checkers/clocks.h"
#include "checkers/findings.h"
#include "checkers/identity.h"
#include "checkers/judges.h"

namespace fencepost::checkers {
namespace {

// A claim so far.
struct Claim {
    sim::RecordId inserted = sim::kNoRecord;
    bool seen = false;
    std::optional<std::int64_t> token;  // the highest
    model::Cell owner;                  // the last that was not NULL
    sim::RecordId owned_since = sim::kNoRecord;
    model::Cell until;                       // as the owner wrote it last
    sim::RecordId renewed = sim::kNoRecord;  // when it did; none: it holds nothing

    void take(const ClaimState& state, sim::RecordId record) {
        seen = true;
        if (state.token && (!token || *state.token > *token)) token = state.token;
        if (!state.owned() || state.finished) {
            renewed = sim::kNoRecord;
        } else if (owner != state.owner || until != state.until) {
            renewed = record;
        }
        until = state.until;
        if (!state.owned() || owner == state.owner) return;
        owner = state.owner;
        owned_since = record;
    }
};

std::string since(const Reading& reading, sim::RecordId record) {
    return record == sim::kNoRecord ? "from before the run" : "by " + reading.who_and_when(record);
}

// A change of owners while the claim is still the earlier one's; empty when that is not so.
std::string taken_too_soon(const Reading& reading, const Claim& claim, const ClaimChange& change) {
    const ClaimTable& table = *reading.expectations().claims;
    if (table.until.empty() || claim.renewed == sim::kNoRecord) return {};
    const sim::Duration held =
        reading.history()[change.source.record].at() - reading.history()[claim.renewed].at();
    if (held >= table.held_for) return {};
    if (clock_was_changed(reading.history(), "database")) return {};
    return fmt::format(
        "Claim {} was taken by owner {}, {}, {} after owner {} had taken or renewed it, {}; it is "
        "an owner's for {}.",
        reading.unit_name(change.unit), text_of(change.after->owner),
        reading.who_and_when(change.source.record), sim::to_text(held), text_of(claim.owner),
        reading.who_and_when(claim.renewed), sim::to_text(table.held_for));
}

// What is wrong with the change, as a sentence; empty when nothing is.
std::string fault_of(const Reading& reading, const Claim& claim, const ClaimChange& change) {
    if (!change.after) return {};
    const ClaimState& after = *change.after;
    const auto by = [&] { return reading.who_and_when(change.source.record); };
    const auto key = [&] { return reading.unit_name(change.unit); };
    if (!change.before && claim.seen) {
        return fmt::format("Claim {} was inserted again by {}; it was made {}.", key(), by(),
                           since(reading, claim.inserted));
    }
    if (change.before && change.before->finished &&
        (change.before->status != after.status || change.before->owner != after.owner ||
         change.before->token != after.token)) {
        return fmt::format(
            "Claim {} was finished ({}, owner {}, token {}) and was changed to {}, owner {}, token "
            "{} by {}.",
            key(), change.before->status, text_of(change.before->owner),
            text_of(change.before->token), after.status, text_of(after.owner), text_of(after.token),
            by());
    }
    if (claim.token && (!after.token || *after.token < *claim.token)) {
        return fmt::format("The token of claim {} fell from {} to {}, set by {}.", key(),
                           text_of(claim.token), text_of(after.token), by());
    }
    const bool other_owner = after.owned() &&
                             !std::holds_alternative<std::monostate>(claim.owner) &&
                             after.owner != claim.owner;
    if (other_owner && after.token == claim.token) {
        return fmt::format(
            "Claim {} went from owner {} (set {}) to owner {} under the same token {}, by {}.",
            key(), text_of(claim.owner), since(reading, claim.owned_since), text_of(after.owner),
            text_of(after.token), by());
    }
    if (other_owner) return taken_too_soon(reading, claim, change);
    return {};
}

}  // namespace

Judgement judge_single_claim(const Reading& reading) {
    if (!reading.expectations().claims) return not_applicable("the handler keeps no claims");
    Findings findings;
    std::vector<Claim> claims(reading.units().size());
    std::size_t seen = 0;
    for (const Commit& commit : reading.commits()) {
        for (const ClaimChange& change : commit.claims) {
            Claim& claim = claims[change.unit];
            if (!change.before && !change.after) continue;  // made and gone in one transaction
            if (!claim.seen) ++seen;
            if (!claim.seen && change.before) claim.take(*change.before, sim::kNoRecord);
            if (std::string fault = fault_of(reading, claim, change); !fault.empty()) {
                findings.add(change.source.record, reading.unit_name(change.unit),
                             std::move(fault));
            }
            if (!change.after) continue;
            if (!claim.seen) claim.inserted = change.source.record;
            claim.take(*change.after, change.source.record);
        }
    }
    if (!findings.empty()) return std::move(findings).failed();
    if (seen == 0) return unknown("no claim was made");
    return passed(count_of(seen, "claim") + ", each made once");
}

}  // namespace fencepost::checkers
