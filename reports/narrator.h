// What a record says in a sentence, for people who do not know the event types.
//
// "takes the lease = 1:A#1.1 until 10s later", "commits: makes the claim (owner A#1.1, token 1)".
// Knows the tables and the leases of the run, and which rows of one commit belong together. The
// history and the expectations outlive the narrator.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "checkers/reading.h"

namespace fencepost::reports {

// What an answer of a call came to.
enum class AnswerKind : std::uint8_t { Answered, Refused, Nothing, Error, Lost };

// Refused: a lease that somebody else has, a statement that changed no row. Nothing: a query that
// found no row. Error: the server said so. Lost: no answer came, and the outcome is not known.
AnswerKind kind_of_answer(std::string_view operation, std::string_view outcome);

// "INSERT INTO ledger", "SELECT … FROM ledger": a statement or command in few words.
std::string brief(std::string_view detail);

class Narrator {
public:
    Narrator(const sim::History& history, const checkers::Expectations& expectations);

    [[nodiscard]] const sim::History& history() const { return history_; }
    [[nodiscard]] const checkers::Reading& reading() const { return *reading_; }

    // "A#1", or the server's name; "A#1/recovery" where distinguish() says that A#1 alone could be
    // several.
    [[nodiscard]] std::string who(const sim::Record& record) const;
    // From here on tells the tasks in which the records stand apart, where one process runs
    // several.
    void distinguish(const std::vector<sim::RecordId>& records);
    // The sentence without its subject. Of a row change: of all rows of its commit.
    [[nodiscard]] std::string what(sim::RecordId record) const;

    // First and last row of the commit that the row change belongs to.
    struct Rows {
        sim::RecordId first = sim::kNoRecord;
        sim::RecordId last = sim::kNoRecord;
    };
    [[nodiscard]] Rows commit_of(sim::RecordId row) const;
    [[nodiscard]] std::string table_of(const model::RowChanged& row) const;

    // Units that the text is about: their names are left out where they can be understood.
    void about(std::string_view unit) { unit_ = unit; }
    // The task that it works for, or itself.
    [[nodiscard]] sim::TaskId root_of(sim::TaskId task) const;
    // The business act whose claim or effects the commit of the row changes; may be empty.
    [[nodiscard]] std::string unit_of_commit(sim::RecordId row) const;
    [[nodiscard]] bool is_lease(std::string_view key) const;

private:
    [[nodiscard]] std::string call_text(const sim::Record& record) const;
    [[nodiscard]] std::string answer_text(const sim::Record& record) const;
    [[nodiscard]] std::string node_text(const sim::Record& record) const;
    [[nodiscard]] std::string world_text(const sim::Record& record) const;
    [[nodiscard]] std::string message_text(const sim::Record& record) const;
    [[nodiscard]] std::string key_text(const sim::Record& record) const;
    [[nodiscard]] std::string commit_text(sim::RecordId row) const;
    [[nodiscard]] std::string claim_text(const checkers::ClaimChange& change) const;
    [[nodiscard]] std::string named(std::string_view noun, std::string_view name) const;

    const sim::History& history_;
    std::unique_ptr<checkers::Reading> reading_;
    std::map<std::uint32_t, std::string> tables_;
    std::map<sim::RecordId, const checkers::EffectChange*> effects_;
    std::map<sim::RecordId, const checkers::ClaimChange*> claims_;
    std::set<std::string, std::less<>> lease_keys_;
    std::map<sim::TaskId, std::string> task_names_;  // of root tasks that must be told apart
    std::string unit_;
};

}  // namespace fencepost::reports
