// tenant-isolation: what works for one tenant writes no row of another. Whom work is for is told by
// the fire that it runs, or else by the claim that it moves in the same commit; whose a row is, by
// its tenant column, before the change and after it.

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "checkers/findings.h"
#include "checkers/identity.h"
#include "checkers/judges.h"

namespace fencepost::checkers {
namespace {

class TenantIsolation {
public:
    explicit TenantIsolation(const Reading& reading) : reading_(reading) {
        const sim::History& history = reading.history();
        for (sim::RecordId id = 0; id < history.size(); ++id) {
            if (history.kind_of(id) != model::FireStarted::kKind) continue;
            const sim::Record record = history[id];
            fires_.emplace(record.task(), record.as<model::FireStarted>()->tenant);
        }
    }

    void apply(const Commit& commit) {
        for (const EffectChange& change : commit.effects) {
            const std::string tenant = works_for(change.source, commit);
            if (tenant.empty()) continue;
            const RowLabels labels = reading_.labels_of(change);
            // The row as others left it comes first.
            if (!judge(change, change.before, labels.tenant_before, tenant)) continue;
            judge(change, change.after, labels.tenant_after, tenant);
        }
    }

    [[nodiscard]] Findings& findings() { return findings_; }
    [[nodiscard]] std::size_t judged() const { return judged_; }

private:
    // Empty: nobody can tell.
    [[nodiscard]] std::string works_for(const Source& source, const Commit& commit) const {
        if (const auto fire = fires_.find(source.root); fire != fires_.end()) {
            return std::string{fire->second};
        }
        for (const ClaimChange& change : commit.claims) {
            if (reading_.units()[change.unit].expected == 0) continue;
            const std::string unit = reading_.unit_name(change.unit);
            return unit.substr(0, unit.find('/'));
        }
        return {};
    }

    // Whether all is well.
    bool judge(const EffectChange& change, std::uint32_t effect, const model::Cell& owner,
               const std::string& tenant) {
        if (effect == kNone || std::holds_alternative<std::monostate>(owner)) return true;
        ++judged_;
        const std::string of = text_of(owner);
        if (of == tenant) return true;
        findings_.add(change.source.record, reading_.effect_key(effect),
                      fmt::format("{} is {}'s and was written by work for {}: {}.",
                                  reading_.effect_text(effect), of, tenant,
                                  reading_.who_and_when(change.source.record)));
        return false;
    }

    const Reading& reading_;
    std::map<sim::TaskId, std::string_view> fires_;  // the tenant of the fire that a task runs
    std::size_t judged_ = 0;
    Findings findings_;
};

}  // namespace

Judgement judge_tenant_isolation(const Reading& reading) {
    const auto& effects = reading.expectations().effects;
    if (std::ranges::all_of(effects,
                            [](const EffectTable& table) { return table.tenant.empty(); })) {
        return not_applicable("no row says whose it is");
    }
    TenantIsolation isolation{reading};
    for (const Commit& commit : reading.commits()) isolation.apply(commit);
    if (!isolation.findings().empty()) return std::move(isolation.findings()).failed();
    if (isolation.judged() == 0) return unknown("no row of a tenant was written");
    return passed(count_of(isolation.judged(), "row") + " written, each by work for its tenant");
}

}  // namespace fencepost::checkers
