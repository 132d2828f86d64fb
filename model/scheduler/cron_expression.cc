#include "model/scheduler/cron_expression.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <span>
#include <vector>

namespace fencepost::model {
namespace {

using namespace std::string_view_literals;

constexpr std::array kMonthNames{"JAN"sv, "FEB"sv, "MAR"sv, "APR"sv, "MAY"sv, "JUN"sv,
                                 "JUL"sv, "AUG"sv, "SEP"sv, "OCT"sv, "NOV"sv, "DEC"sv};
constexpr std::array kDayNames{"SUN"sv, "MON"sv, "TUE"sv, "WED"sv, "THU"sv, "FRI"sv, "SAT"sv};

struct FieldRule {
    std::string_view name;
    int least;
    int most;
    int largest_step;
    std::span<const std::string_view> names;  // of the values from `least` on
};

enum Field : std::size_t { Second, Minute, Hour, DayOfMonth, Month, DayOfWeek, Year };
const std::array<FieldRule, 7> kRules{{
    {"seconds", 0, 59, 59, {}},
    {"minutes", 0, 59, 59, {}},
    {"hours", 0, 23, 23, {}},
    {"day of month", 1, 31, 31, {}},
    {"month", 1, 12, 12, kMonthNames},
    {"day of week", 1, 7, 7, kDayNames},
    {"year", CronFields::kFirstYear, CronFields::kLastYear, CronFields::kLastYear, {}},
}};

// From the last day of a month this many back there is a day in every month.
constexpr int kMostBeforeLast = 30;
constexpr int kMostBeforeLastWorkingDay = 27;

bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

bool is_letter(char c) {
    return c >= 'A' && c <= 'Z';
}

// Thrown within this file alone.
struct Refusal {
    CronError error;
};

// Reads one field from left to right.
class FieldReader {
public:
    // `text` is in upper case and begins at `offset` of the expression.
    FieldReader(Field field, std::string_view text, std::size_t offset, CronFields& fields)
        : field_(field), rule_(kRules[field]), text_(text), offset_(offset), fields_(fields) {}

    void read() {
        if (text_ == "?") return read_unspecific();
        if (field_ == DayOfMonth && read_special_day()) return;
        if (field_ == DayOfWeek && read_special_week_day()) return;
        for (;;) {
            read_item();
            if (at_end()) return;
            if (next() != ',') refuse_rest();
            ++at_;
        }
    }

private:
    [[nodiscard]] bool at_end() const { return at_ == text_.size(); }
    [[nodiscard]] char next() const { return at_end() ? '\0' : text_[at_]; }
    bool take(char c) {
        if (next() != c) return false;
        ++at_;
        return true;
    }

    [[noreturn]] void refuse_at(std::size_t at, std::string sentence) const {
        throw Refusal{{offset_ + at + 1, std::move(sentence)}};
    }
    [[noreturn]] void refuse(std::string sentence) const { refuse_at(at_, std::move(sentence)); }

    [[nodiscard]] std::string values() const {
        std::string text = fmt::format("{} to {}", rule_.least, rule_.most);
        if (!rule_.names.empty()) {
            text += fmt::format(" or {} to {}", rule_.names.front(), rule_.names.back());
        }
        return text;
    }

    [[noreturn]] void refuse_rest() const {
        switch (next()) {
            case '?':
                if (field_ == DayOfMonth || field_ == DayOfWeek)
                    refuse("'?' stands alone in its field");
                refuse(fmt::format("'?' is for day of month and day of week; {} may say '*'",
                                   rule_.name));
            case 'L':
                refuse(field_ == DayOfMonth ? "'L' stands alone in its field, as L, LW, L-3 or L-3W"
                       : field_ == DayOfWeek
                           ? "'L' stands alone in its field, as L, or after one day, as 6L"
                           : "'L' is for day of month and day of week only");
            case 'W':
                refuse(field_ == DayOfMonth
                           ? "'W' follows the only day of its field, as in 15W or LW"
                           : "'W' is for day of month only");
            case '#':
                refuse(field_ == DayOfWeek ? "'#' follows the only day of its field, as in 6#3"
                                           : "'#' is for day of week only");
            default:
                refuse(at_end() ? "a value is missing: " + expected()
                                : fmt::format("'{}' does not belong here: {}", next(), expected()));
        }
    }
    [[noreturn]] void refuse_more() const {
        refuse(fmt::format("nothing follows '{}': it stands alone in its field",
                           text_.substr(0, at_)));
    }
    [[nodiscard]] std::string expected() const {
        return fmt::format("{} takes {}, ranges a-b, steps a/n and lists a,b", rule_.name,
                           values());
    }

    void read_unspecific() {
        if (field_ == DayOfWeek) {
            if (fields_.by_week_day) {
                refuse("day of month and day of week cannot both be '?': one says '*' or a day");
            }
            return;
        }
        if (field_ != DayOfMonth) refuse_rest();
        fields_.by_week_day = true;
    }

    void read_item() {
        const std::size_t start = at_;
        int from = rule_.least;
        int to = rule_.most;
        bool named = false;
        if (take('*') || next() == '/') {
            // everything
        } else {
            from = read_value();
            named = is_letter(text_[start]);
            to = from;
            if (take('-')) {
                if (!at_end() && named != is_letter(next())) {
                    refuse("a range has two names or two numbers");
                }
                const std::size_t end = at_;
                to = read_value();
                if (to < from && field_ == Year) {
                    refuse_at(end, "the years of a range ascend");
                }
            } else if (next() == '/') {
                to = rule_.most;
            }
        }
        int step = 1;
        if (next() == '/') {
            if (named) refuse("a step follows numbers: Quartz ignores one after a name");
            ++at_;
            step = read_step();
        }
        add(from, to, step);
    }

    int read_value() {
        const std::size_t start = at_;
        if (is_letter(next()) && !rule_.names.empty()) {
            const std::string_view word = text_.substr(at_, 3);
            const auto name = std::ranges::find(rule_.names, word);
            if (name == rule_.names.end()) {
                refuse(fmt::format("'{}' is no {}: {}", word, rule_.name, values()));
            }
            at_ += 3;
            return rule_.least + static_cast<int>(name - rule_.names.begin());
        }
        if (!is_digit(next())) refuse_rest();
        const int value = read_number();
        if (value < rule_.least || value > rule_.most) {
            refuse_at(start, fmt::format("{} is out of range: {} takes {}",
                                         text_.substr(start, at_ - start), rule_.name, values()));
        }
        return value;
    }

    // A number too large for any field counts as just that.
    int read_number() {
        constexpr int kTooMuch = 100'000;
        int value = 0;
        for (; is_digit(next()); ++at_) value = std::min(value * 10 + (next() - '0'), kTooMuch);
        return value;
    }

    int read_step() {
        const std::size_t start = at_;
        if (!is_digit(next())) refuse("'/' is followed by a step, as in 0/15");
        const int step = read_number();
        if (step == 0 || step > rule_.largest_step) {
            refuse_at(start,
                      fmt::format("a step of {} is 1 to {}", rule_.name, rule_.largest_step));
        }
        return step;
    }

    // Beyond the last value it goes on with the first, as in 22-2 or FRI-MON.
    void add(int from, int to, int step) {
        const int values = rule_.most - rule_.least + 1;
        if (to < from) to += values;
        for (int value = from; value <= to; value += step) {
            mark(value > rule_.most ? value - values : value);
        }
    }

    void mark(int value) {
        if (field_ == Year) {
            fields_.years.set(static_cast<std::size_t>(value - CronFields::kFirstYear));
            return;
        }
        const std::array<std::uint64_t*, 6> sets{&fields_.seconds, &fields_.minutes,
                                                 &fields_.hours,   &fields_.days,
                                                 &fields_.months,  &fields_.week_days};
        *sets[field_] |= std::uint64_t{1} << value;
    }

    // L, LW, L-3, L-3W, 15W. False when it is none of them; then nothing has been read.
    bool read_special_day() {
        if (take('L')) {
            fields_.last_day = true;
            std::size_t number = at_;
            if (take('-')) {
                number = at_;
                if (!is_digit(next())) refuse("'L-' is followed by a number of days, as in L-3");
                fields_.before_last_day = read_number();
            }
            fields_.nearest_working_day = take('W');
            const int most =
                fields_.nearest_working_day ? kMostBeforeLastWorkingDay : kMostBeforeLast;
            if (fields_.before_last_day > most) {
                refuse_at(number, fmt::format("at most {} days before the last one", most));
            }
            if (!at_end()) refuse_more();
            return true;
        }
        if (!text_.ends_with('W') || text_.find_first_not_of("0123456789"sv) + 1 != text_.size())
            return false;
        mark(read_value());
        ++at_;
        fields_.nearest_working_day = true;
        return true;
    }

    // L, 6L, FRIL, 6#3, FRI#3. False when it is none of them; then nothing has been read.
    bool read_special_week_day() {
        if (text_ == "L") {
            mark(rule_.most);
            return true;
        }
        const std::size_t sign = text_.find_first_of("L#"sv);
        if (sign == std::string_view::npos) return false;
        mark(read_value());
        if (at_ != sign) {
            refuse_at(sign, fmt::format("'{0}' follows the only day of its field, as in 6{1}",
                                        text_[sign], text_[sign] == 'L' ? "L" : "#3"));
        }
        if (take('L')) {
            fields_.last_of_week_day = true;
            if (!at_end()) refuse_more();
            return true;
        }
        ++at_;
        fields_.nth_of_week_day = is_digit(next()) ? read_number() : 0;
        if (fields_.nth_of_week_day < 1 || fields_.nth_of_week_day > 5) {
            refuse_at(sign + 1, "'#' is followed by 1 to 5: which one of the month");
        }
        if (!at_end()) refuse_more();
        return true;
    }
    Field field_;
    const FieldRule& rule_;
    std::string_view text_;
    std::size_t offset_;
    CronFields& fields_;
    std::size_t at_ = 0;
};

struct Token {
    std::size_t offset;
    std::string_view text;
};

std::vector<Token> split(std::string_view text) {
    constexpr auto kSpace = " \t"sv;
    std::vector<Token> tokens;
    std::size_t at = text.find_first_not_of(kSpace);
    while (at != std::string_view::npos) {
        const std::size_t end = std::min(text.find_first_of(kSpace, at), text.size());
        tokens.push_back({at, text.substr(at, end - at)});
        at = text.find_first_not_of(kSpace, end);
    }
    return tokens;
}

}  // namespace

std::string CronError::text() const {
    return fmt::format("at position {}: {}", position, sentence);
}

std::expected<CronExpression, CronError> CronExpression::parse(std::string_view text) {
    CronExpression expression;
    expression.text_ = text;
    std::string upper{text};
    for (char& c : upper) {
        if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
    }
    const std::vector<Token> tokens = split(upper);
    if (tokens.size() <= DayOfWeek) {
        return std::unexpected(
            CronError{text.size() + 1,
                      fmt::format("{} is missing: an expression has seconds, minutes, hours, "
                                  "day of month, month, day of week and perhaps a year",
                                  kRules[tokens.size()].name)});
    }
    if (tokens.size() > kRules.size()) {
        return std::unexpected(
            CronError{tokens[kRules.size()].offset + 1, "nothing follows the year"});
    }
    try {
        CronFields& fields = expression.fields_;
        for (std::size_t field = 0; field < tokens.size(); ++field) {
            const Token& token = tokens[field];
            FieldReader{static_cast<Field>(field), token.text, token.offset, fields}.read();
        }
        if (tokens.size() == Year) fields.years.set();
        if (!fields.by_week_day && tokens[DayOfWeek].text != "?") {
            throw Refusal{
                {tokens[DayOfWeek].offset + 1,
                 "one of day of month and day of week must be '?': Quartz does not take both"}};
        }
    } catch (const Refusal& refusal) {
        return std::unexpected(refusal.error);
    }
    return expression;
}

}  // namespace fencepost::model
