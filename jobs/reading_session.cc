#include "jobs/reading_session.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>

#include "jobs/misuse.h"

namespace fencepost::jobs {
namespace {

constexpr bool is_letter(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

// The words of a statement in capitals, without what stands in quotes and comments.
class Words {
public:
    explicit Words(std::string_view statement) : rest_(statement) {}

    // Empty at the end.
    std::string next() {
        while (!rest_.empty() && !is_letter(rest_.front())) skip();
        std::string word;
        while (!rest_.empty() && (is_letter(rest_.front()) || is_digit(rest_.front()))) {
            word += static_cast<char>(rest_.front() & ~(is_lower(rest_.front()) ? 0x20 : 0));
            rest_.remove_prefix(1);
        }
        return word;
    }

private:
    static constexpr bool is_lower(char c) { return c >= 'a' && c <= 'z'; }
    static constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }

    void skip() {
        if (rest_.front() == '\'' || rest_.front() == '"') {
            skip_past(rest_.substr(0, 1), 1);
        } else if (rest_.starts_with("--")) {
            skip_past("\n", 2);
        } else if (rest_.starts_with("/*")) {
            skip_past("*/", 2);
        } else {
            rest_.remove_prefix(1);
        }
    }
    void skip_past(std::string_view end, std::size_t from) {
        const std::size_t found = rest_.find(end, from);
        rest_.remove_prefix(found == std::string_view::npos ? rest_.size() : found + end.size());
    }

    std::string_view rest_;
};

}  // namespace

bool only_reads(std::string_view statement) {
    constexpr std::array<std::string_view, 4> kReads{"SELECT", "VALUES", "TABLE", "SHOW"};
    constexpr std::array<std::string_view, 4> kWrites{"INSERT", "UPDATE", "DELETE", "MERGE"};
    Words words{statement};
    std::string before = words.next();
    if (before != "WITH") return std::ranges::find(kReads, before) != kReads.end();
    for (std::string word = words.next(); !word.empty(); word = words.next()) {
        const bool locks = before == "FOR" || before == "KEY";  // FOR [NO KEY] UPDATE
        if (!locks && std::ranges::find(kWrites, word) != kWrites.end()) return false;
        before = std::move(word);
    }
    return true;
}

sql::Result ReadingSession::run(std::string_view statement,
                                std::span<const sql::Value> parameters) {
    if (!only_reads(statement)) {
        throw Misuse(fmt::format(
            "\"{}\" would change data outside the fence: put it into the transaction that commit() "
            "hands to its batch",
            statement));
    }
    return session_.run(statement, parameters);
}

}  // namespace fencepost::jobs
