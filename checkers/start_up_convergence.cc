// start-up convergence: whenever a start-up comes through, and at the end of the run, there is what
// one undisturbed start-up leaves: tables, columns, indexes, every expected row once and no other,
// cached values unless Redis lost them. A version is never recorded before what it stands for is
// there. No start-up fails by an error that only its own statements can cause: that is judged also
// where nothing says what a start-up leaves, and there is then no pass.

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "checkers/findings.h"
#include "checkers/judges.h"
#include "checkers/start_up_state.h"

namespace fencepost::checkers {
namespace {

// Classes of SQLSTATE that nothing in the surroundings can cause: a value that does not fit, a
// constraint, a statement that is wrong for the schema, what the server does not have.
bool is_own_doing(std::string_view sqlstate) {
    constexpr std::array<std::string_view, 4> kClasses{"22", "23", "42", "0A"};
    return std::ranges::any_of(
        kClasses, [sqlstate](std::string_view of) { return sqlstate.starts_with(of); });
}

class Convergence {
public:
    explicit Convergence(const Reading& reading)
        : reading_(reading), stated_(reading.expectations().start_up), progress_(expected_) {}

    void read() {
        const sim::History& history = reading_.history();
        for (sim::RecordId id = 0; id < history.size(); ++id) {
            const sim::EventKind kind = history.kind_of(id);
            if (kind != model::RowChanged::kKind) end_commit();
            switch (kind) {
                case model::RowChanged::kKind:
                    read_row(id);
                    break;
                case model::StartUpDone::kKind:
                    ++done_;
                    compare(id,
                            "when the start-up of " + reading_.who_and_when(id) + " was through");
                    break;
                case model::StartUpFailed::kKind:
                    judge_error(id, *history[id].as<model::StartUpFailed>());
                    break;
                case model::RunEnded::kKind:
                    compare(id, "at the end of the run");
                    break;
                default:
                    progress_.see(history[id]);
                    break;
            }
        }
    }

    [[nodiscard]] Findings& findings() { return findings_; }
    [[nodiscard]] std::size_t done() const { return done_; }
    [[nodiscard]] std::size_t failed() const { return failed_; }

private:
    void read_row(sim::RecordId id) {
        const sim::Record record = reading_.history()[id];
        const std::uint32_t transaction = record.as<model::RowChanged>()->transaction;
        if (transaction != transaction_) end_commit();
        transaction_ = transaction;
        last_row_ = id;
        progress_.see(record);
    }

    // What a commit brought is seen at once, whatever the order of its rows.
    void end_commit() {
        if (last_row_ == sim::kNoRecord) return;
        const sim::RecordId record = std::exchange(last_row_, sim::kNoRecord);
        const std::int64_t version = progress_.version();
        if (version == std::exchange(version_, version)) return;
        const auto expected =
            std::ranges::find(expected_.versions, version, &StartUpVersion::version);
        if (expected == expected_.versions.end()) return;
        for (const Difference& difference : progress_.differences(*expected)) {
            add(record, fmt::format("version {}: {}", version, difference.key),
                fmt::format("Version {} was recorded by {}, when {}.", version,
                            reading_.who_and_when(record), difference.what));
        }
    }

    void compare(sim::RecordId record, const std::string& when) {
        if (!stated_) return;
        for (const Difference& difference : progress_.differences()) {
            std::string what = difference.what;
            what.front() = static_cast<char>(
                what.front() >= 'a' && what.front() <= 'z' ? what.front() - 32 : what.front());
            add(record, difference.key, fmt::format("{}, {}.", what, when));
        }
    }

    void judge_error(sim::RecordId record, const model::StartUpFailed& failed) {
        ++failed_;
        if (!is_own_doing(failed.sqlstate)) return;
        add(record, std::string(failed.error),
            fmt::format("The start-up of {} failed: {} ({}).", reading_.who_and_when(record),
                        failed.error, failed.sqlstate));
    }

    // Each once, where it is first seen.
    void add(sim::RecordId record, const std::string& key, std::string message) {
        if (said_.insert(key).second) findings_.add(record, key, std::move(message));
    }

    const Reading& reading_;
    const std::optional<StartUpState>& stated_;
    const StartUpState expected_ = stated_.value_or(StartUpState{});
    StartUpProgress progress_;
    std::uint32_t transaction_ = 0;
    sim::RecordId last_row_ = sim::kNoRecord;
    std::int64_t version_ = 0;
    std::size_t done_ = 0;
    std::size_t failed_ = 0;
    std::set<std::string> said_;
    Findings findings_;
};

}  // namespace

Judgement judge_start_up_convergence(const Reading& reading) {
    Convergence convergence{reading};
    convergence.read();
    const bool stated = reading.expectations().start_up.has_value();
    if (!stated && convergence.done() + convergence.failed() == 0) {
        return not_applicable("nothing is expected of start-up");
    }
    if (!convergence.findings().empty()) return std::move(convergence.findings()).failed();
    if (!stated) {
        const std::string& why = reading.expectations().start_up_not_learnt;
        return unknown(
            fmt::format("nothing says what a start-up leaves{}: say it in the handler's "
                        "expectations, as start_up",
                        why.empty() ? "" : ", and an undisturbed one " + why));
    }
    if (convergence.done() == 0) return unknown("no start-up came through");
    if (!reading.end()) return unknown("the run has no end");
    return passed(count_of(convergence.done(), "start-up") + ", each left what one leaves");
}

}  // namespace fencepost::checkers
