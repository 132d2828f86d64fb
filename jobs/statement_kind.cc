#include "jobs/statement_kind.h"

#include <algorithm>
#include <array>
#include <string>

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

bool controls_transaction(std::string_view statement) {
    constexpr std::array<std::string_view, 7> kControls{"BEGIN", "START",    "COMMIT", "END",
                                                        "ABORT", "ROLLBACK", "PREPARE"};
    Words words{statement};
    const std::string first = words.next();
    if (std::ranges::find(kControls, first) == kControls.end()) return false;
    const std::string second = words.next();
    if (first == "PREPARE") return second == "TRANSACTION";
    if (first != "ROLLBACK") return true;
    const bool has_noise = second == "WORK" || second == "TRANSACTION";
    return (has_noise ? words.next() : second) != "TO";
}

}  // namespace fencepost::jobs
