// conserved: after every commit the sums of the columns that are conserved are what they were
// before the run. Money moves; it is neither made nor lost.

#include <fmt/format.h>

#include "checkers/findings.h"
#include "checkers/judges.h"

namespace fencepost::checkers {
namespace {

class Conserved {
public:
    explicit Conserved(const Reading& reading)
        : reading_(reading), sums_(reading.expectations().conserved.size()) {}

    void apply(const Commit& commit) {
        for (const ConservedChange& change : commit.conserved) {
            Sum& sum = sums_[change.column];
            sum.by_commit += change.by;
            sum.last = change.source.record;
        }
        for (std::size_t column = 0; column < sums_.size(); ++column) close(column);
    }

    [[nodiscard]] Findings& findings() { return findings_; }
    [[nodiscard]] std::size_t judged() const { return judged_; }

private:
    struct Sum {
        std::int64_t off = 0;  // from what it was before the run
        std::int64_t by_commit = 0;
        sim::RecordId last = sim::kNoRecord;  // the last change of the commit
    };

    // A commit that puts right what an earlier one did is not blamed.
    void close(std::size_t column) {
        Sum& sum = sums_[column];
        if (sum.last == sim::kNoRecord) return;
        ++judged_;
        sum.off += sum.by_commit;
        if (sum.by_commit != 0 && sum.off != 0) {
            const ConservedColumn& named = reading_.expectations().conserved[column];
            findings_.add(sum.last, fmt::format("{}.{}", named.table, named.column),
                          fmt::format("The sum of {}.{} was changed by {:+} in one commit by {}; "
                                      "it is {:+} from what it was before the run.",
                                      named.table, named.column, sum.by_commit,
                                      reading_.who_and_when(sum.last), sum.off));
        }
        sum.by_commit = 0;
        sum.last = sim::kNoRecord;
    }

    const Reading& reading_;
    std::vector<Sum> sums_;
    std::size_t judged_ = 0;
    Findings findings_;
};

}  // namespace

Judgement judge_conserved(const Reading& reading) {
    if (reading.expectations().conserved.empty()) {
        return not_applicable("the handler moves nothing that is conserved");
    }
    Conserved conserved{reading};
    for (const Commit& commit : reading.commits()) conserved.apply(commit);
    if (!conserved.findings().empty()) return std::move(conserved.findings()).failed();
    if (conserved.judged() == 0) return unknown("nothing that is conserved was moved");
    return passed(count_of(conserved.judged(), "commit") + " moved what is conserved, sums kept");
}

}  // namespace fencepost::checkers
