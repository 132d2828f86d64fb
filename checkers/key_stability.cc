// key-stability: a key and what it names belong together for good. An effect that was written under
// one key never appears under another, no key ever names two effects, and no claim is made under a
// key that names no act that is due. Rows that are deleted later count too: whoever came meanwhile
// went by them.

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "checkers/findings.h"
#include "checkers/identity.h"
#include "checkers/judges.h"

namespace fencepost::checkers {
namespace {

class KeyStability {
public:
    explicit KeyStability(const Reading& reading)
        : reading_(reading), effects_(reading.effects().size()) {}

    void apply(const Commit& commit) {
        for (const EffectChange& change : commit.effects) apply(change);
        for (const ClaimChange& change : commit.claims) apply(change);
    }

    [[nodiscard]] Findings& findings() { return findings_; }
    [[nodiscard]] std::size_t keys() const { return keys_.size() + claims_; }

private:
    struct Named {
        std::string key;  // empty: none yet
        sim::RecordId record = sim::kNoRecord;
    };
    struct Naming {
        std::uint32_t effect = kNone;
        sim::RecordId record = sim::kNoRecord;
    };

    void apply(const EffectChange& change) {
        if (change.after == kNone) return;
        const RowLabels labels = reading_.labels_of(change);
        if (std::holds_alternative<std::monostate>(labels.key_after)) return;
        if (change.after == change.before && labels.key_before == labels.key_after) return;
        const std::string key = text_of(labels.key_after);
        const sim::RecordId record = change.source.record;

        Named& named = effects_[change.after];
        if (named.key.empty()) {
            named = {.key = key, .record = record};
        } else if (named.key != key) {
            findings_.add(record, reading_.effect_key(change.after),
                          fmt::format("{} has two keys: {} from {} and {} from {}.",
                                      reading_.effect_text(change.after), named.key,
                                      reading_.who_and_when(named.record), key,
                                      reading_.who_and_when(record)));
        }
        const auto [known, is_new] = keys_.try_emplace(
            std::pair{labels.table, key}, Naming{.effect = change.after, .record = record});
        if (is_new || known->second.effect == change.after) return;
        findings_.add(
            record, key,
            fmt::format("The key {} names two effects: {} by {} and {} by {}.", key,
                        reading_.effect_text(known->second.effect),
                        reading_.who_and_when(known->second.record),
                        reading_.effect_text(change.after), reading_.who_and_when(record)));
    }

    void apply(const ClaimChange& change) {
        if (change.before || !change.after) return;
        ++claims_;
        if (reading_.units()[change.unit].expected > 0) return;
        const std::string key = reading_.unit_name(change.unit);
        findings_.add(change.source.record, key,
                      fmt::format("The claim {} names no act that is due: it was made by {}.", key,
                                  reading_.who_and_when(change.source.record)));
    }

    const Reading& reading_;
    std::vector<Named> effects_;
    std::map<std::pair<std::uint32_t, std::string>, Naming> keys_;  // by table and key
    std::size_t claims_ = 0;
    Findings findings_;
};

}  // namespace

Judgement judge_key_stability(const Reading& reading) {
    const Expectations& expectations = reading.expectations();
    const bool has_keys = std::ranges::any_of(
        expectations.effects, [](const EffectTable& table) { return !table.key.empty(); });
    if (!has_keys && !expectations.claims) {
        return not_applicable("neither effects nor claims have a key");
    }
    if (reading.expected_effects() == 0) return unknown("no effect was expected");
    KeyStability stability{reading};
    for (const Commit& commit : reading.commits()) stability.apply(commit);
    if (!stability.findings().empty()) return std::move(stability.findings()).failed();
    if (stability.keys() == 0) return unknown("nothing was written under a key");
    return passed(count_of(stability.keys(), "key") + ", each of one act");
}

}  // namespace fencepost::checkers
