// fencing: the tokens that a row accepts never go back, and once a newer holder has written to a
// row, no older one does.
//
// Who holds which token is read from the claims: the root task whose commit set the token or the
// owner of a claim holds that token from then on. Tokens of different claims are not compared: each
// claim counts its own. So a write is caught even where the row keeps no token at all.

#include <fmt/format.h>

#include "checkers/findings.h"
#include "checkers/judges.h"

namespace fencepost::checkers {
namespace {

struct Holding {
    std::uint32_t claim = kNone;
    std::int64_t token = 0;
};

// The newest holder of one claim that wrote to one row.
struct NewestWriter {
    std::uint32_t claim = kNone;
    std::int64_t token = 0;
    sim::RecordId record = sim::kNoRecord;
};

struct FencedRow {
    std::optional<std::int64_t> token;  // the highest accepted
    sim::RecordId accepted = sim::kNoRecord;
    std::vector<NewestWriter> writers;  // one for each claim
};

class Fencing {
public:
    explicit Fencing(const Reading& reading)
        : reading_(reading), held_(reading.history().tasks()), rows_(reading.fenced_rows()) {}

    void apply(const Commit& commit) {
        for (const ClaimChange& change : commit.claims) hold(change);
        for (const FencedChange& change : commit.fenced) {
            if (std::string fault = write(change); !fault.empty()) {
                findings_.add(change.source.record, reading_.fenced_text(change.row),
                              std::move(fault));
            }
        }
    }

    [[nodiscard]] Findings& findings() { return findings_; }
    [[nodiscard]] std::size_t judged() const { return judged_; }

private:
    void hold(const ClaimChange& change) {
        const std::optional<ClaimState>& after = change.after;
        if (change.source.root == sim::kNoTask || !after || !after->token || !after->owned()) {
            return;
        }
        if (change.before && change.before->token == after->token &&
            change.before->owner == after->owner) {
            return;
        }
        held_[change.source.root] = {.claim = change.unit, .token = *after->token};
    }

    // What is wrong with the write, as a sentence; empty when nothing is.
    std::string write(const FencedChange& change) {
        FencedRow& row = rows_[change.row];
        if (!row.token) row.token = change.before;
        std::string fault = accept(change, row);
        const Holding holding = held_[change.source.root];
        if (change.after || holding.claim != kNone) ++judged_;
        if (holding.claim == kNone) return fault;
        NewestWriter& newest = newest_writer(row, holding.claim);
        if (newest.record == sim::kNoRecord || holding.token >= newest.token) {
            newest = {
                .claim = holding.claim, .token = holding.token, .record = change.source.record};
        } else if (fault.empty()) {
            fault = fmt::format(
                "{} was changed by {}, which holds the stale token {} of claim {}, after the "
                "holder of token {}, {}, had written to it.",
                reading_.fenced_text(change.row), reading_.who_and_when(change.source.record),
                holding.token, reading_.unit_name(holding.claim), newest.token,
                reading_.who_and_when(newest.record));
        }
        return fault;
    }

    std::string accept(const FencedChange& change, FencedRow& row) const {
        if (!change.after) return {};
        if (row.token && *change.after < *row.token) {
            return fmt::format("{} went back from token {} ({}) to token {}, written by {}.",
                               reading_.fenced_text(change.row), *row.token,
                               row.accepted == sim::kNoRecord
                                   ? "there before the run"
                                   : "written by " + reading_.who_and_when(row.accepted),
                               *change.after, reading_.who_and_when(change.source.record));
        }
        if (row.token != change.after) row.accepted = change.source.record;
        row.token = change.after;
        return {};
    }

    static NewestWriter& newest_writer(FencedRow& row, std::uint32_t claim) {
        for (NewestWriter& writer : row.writers) {
            if (writer.claim == claim) return writer;
        }
        return row.writers.emplace_back(NewestWriter{.claim = claim});
    }

    const Reading& reading_;
    std::vector<Holding> held_;  // by root task: what it took last
    std::vector<FencedRow> rows_;
    std::size_t judged_ = 0;
    Findings findings_;
};

}  // namespace

Judgement judge_fencing(const Reading& reading) {
    if (reading.expectations().fenced.empty()) return not_applicable("no table is fenced");
    if (reading.fenced_rows() == 0) return unknown("no fenced row was written");
    Fencing fencing{reading};
    for (const Commit& commit : reading.commits()) fencing.apply(commit);
    if (!fencing.findings().empty()) return std::move(fencing.findings()).failed();
    if (fencing.judged() == 0) {
        return unknown("fenced rows were written without a token, by nobody known to hold one");
    }
    return passed(count_of(fencing.judged(), "fenced write") + ", none by a stale holder");
}

}  // namespace fencepost::checkers
