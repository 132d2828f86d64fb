#include "scenarios/files/located_json.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace fencepost::scenarios {
namespace {

// Characters of the text, which tells how far they have been read.
class CountingIterator {
public:
    using iterator_category = std::input_iterator_tag;
    using value_type = char;
    using difference_type = std::ptrdiff_t;
    using pointer = const char*;
    using reference = const char&;

    CountingIterator(const char* at, const char** furthest) : at_(at), furthest_(furthest) {}
    reference operator*() const { return *at_; }
    CountingIterator& operator++() {
        *furthest_ = ++at_;
        return *this;
    }
    CountingIterator operator++(int) {
        CountingIterator before = *this;
        ++*this;
        return before;
    }
    bool operator==(const CountingIterator& other) const { return at_ == other.at_; }

private:
    const char* at_;
    const char** furthest_;
};

bool is_number_character(char c) {
    return (c >= '0' && c <= '9') || std::string_view{"+-.eE"}.find(c) != std::string_view::npos;
}

// What nlohmann's parser says, from "unexpected …" on.
std::string what_was_expected(const std::string& said) {
    const std::size_t unexpected = said.find("unexpected ");
    if (unexpected != std::string::npos) return said.substr(unexpected);
    const std::size_t colon = said.rfind(": ");
    return colon == std::string::npos ? said : said.substr(colon + 2);
}

// Builds the value and its marks from the events of nlohmann's parser.
class Builder : public nlohmann::json_sax<Json> {
public:
    explicit Builder(LocatedJson& file) : file_(file), furthest_(file.text.data()) {}

    [[nodiscard]] CountingIterator begin() { return {file_.text.data(), &furthest_}; }
    [[nodiscard]] CountingIterator end() {
        return {file_.text.data() + file_.text.size(), &furthest_};
    }

    bool null() override { return scalar(nullptr); }
    bool boolean(bool value) override { return scalar(value); }
    bool number_integer(number_integer_t value) override { return scalar(value); }
    bool number_unsigned(number_unsigned_t value) override { return scalar(value); }
    bool number_float(number_float_t value, const string_t&) override { return scalar(value); }
    bool string(string_t& value) override { return scalar(std::move(value)); }
    bool binary(binary_t&) override { return false; }  // JSON text has none
    bool start_object(std::size_t) override { return open(Json::object()); }
    bool start_array(std::size_t) override { return open(Json::array()); }
    bool end_object() override { return close(); }
    bool end_array() override { return close(); }

    bool key(string_t& name) override {
        key_begin_ = token_begin();
        Json& object = *open_.back().json;
        if (object.contains(name)) {
            fail(key_begin_, fmt::format("the key \"{}\" stands twice in this object", name));
        }
        if (object.size() == LocatedJson::kMostKeys) {
            fail(key_begin_, fmt::format("an object has at most {} keys", LocatedJson::kMostKeys));
        }
        key_ = std::move(name);
        token_end_ = read();
        return true;
    }

    bool parse_error(std::size_t position, const std::string&,
                     const nlohmann::detail::exception& error) override {
        const std::size_t at = std::min(position == 0 ? 0 : position - 1, file_.text.size());
        if (at == file_.text.size()) {
            fail(at,
                 "the file ends too early: a bracket, a brace, a quote or a comment is still open");
        }
        const std::size_t before = file_.text.find_last_not_of(" \t\r\n", at == 0 ? 0 : at - 1);
        const bool comma = at > 0 && before != std::string::npos && file_.text[before] == ',' &&
                           (file_.text[at] == '}' || file_.text[at] == ']');
        if (comma) fail(before, "no comma may stand before a closing bracket");
        fail(at, fmt::format("this is not JSON any more: {}", what_was_expected(error.what())));
    }

private:
    struct Open {
        Json* json;
        std::size_t mark;
    };

    [[noreturn]] void fail(std::size_t offset, const std::string& sentence) const {
        throw ScenarioFileError(file_.position_of(offset), {}, sentence);
    }

    [[nodiscard]] std::size_t read() const {
        return static_cast<std::size_t>(furthest_ - file_.text.data());
    }

    // Where the token begins that was read last: past the one before it and all that separates.
    [[nodiscard]] std::size_t token_begin() const {
        const std::string_view text = file_.text;
        std::size_t at = token_end_;
        if (text.substr(at).starts_with("\xEF\xBB\xBF")) at += 3;  // a byte order mark
        for (;;) {
            at = text.find_first_not_of(" \t\r\n,:", at);
            if (at == std::string_view::npos) return text.size();
            if (text[at] != '/') return at;
            const bool line = text.substr(at + 1, 1) == "/";
            const std::size_t end = line ? text.find('\n', at) : text.find("*/", at + 2);
            if (end == std::string_view::npos) return text.size();
            at = end + (line ? 1 : 2);
        }
    }

    // Gives a value its place in the one that is open, and its mark.
    Json& add(Json value) {
        const std::size_t begin = token_begin();
        const bool in_object = !open_.empty() && open_.back().json->is_object();
        file_.marks.push_back({.begin = static_cast<std::uint32_t>(begin),
                               .key = static_cast<std::uint32_t>(in_object ? key_begin_ : begin)});
        token_end_ = read();
        // The parser looks one character further to find the end of a number.
        if (value.is_number()) {
            token_end_ = begin;
            while (token_end_ < read() && is_number_character(file_.text[token_end_])) ++token_end_;
        }
        if (open_.empty()) return file_.value = std::move(value);
        Json& parent = *open_.back().json;
        if (in_object) return parent[key_] = std::move(value);
        parent.push_back(std::move(value));
        return parent.back();
    }

    template <typename Value>
    bool scalar(Value&& value) {
        add(Json(std::forward<Value>(value)));
        return true;
    }

    bool open(Json empty) {
        if (open_.size() == LocatedJson::kMostLevels) {
            fail(token_begin(), fmt::format("brackets and braces are nested more than {} deep",
                                            LocatedJson::kMostLevels));
        }
        const std::size_t mark = file_.marks.size();
        open_.push_back({&add(std::move(empty)), mark});
        return true;
    }

    bool close() {
        const std::size_t mark = open_.back().mark;
        file_.marks[mark].values = static_cast<std::uint32_t>(file_.marks.size() - mark);
        open_.pop_back();
        token_end_ = read();
        return true;
    }

    LocatedJson& file_;
    const char* furthest_;
    std::size_t token_end_ = 0;  // of the token before the one that was read last
    std::size_t key_begin_ = 0;
    std::string key_;
    std::vector<Open> open_;
};

bool is_plain(std::string_view key) {
    return !key.empty() && std::ranges::all_of(key, [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
               c == '_' || c == '-' || c == '$';
    });
}

}  // namespace

ScenarioFileError::ScenarioFileError(FilePosition position, const std::string& place,
                                     const std::string& sentence)
    : PlanError(fmt::format("line {}, column {}{}{}", position.line, position.column,
                            place.empty() ? "" : ": ", place),
                sentence),
      position_(position),
      unplaced_(place.empty() ? sentence : fmt::format("{}: {}", place, sentence)) {}

FilePosition LocatedJson::position_of(std::size_t offset) const {
    const std::string_view read = std::string_view{text}.substr(0, offset);
    const std::size_t newline = read.rfind('\n');
    const std::string_view line =
        newline == std::string_view::npos ? read : read.substr(newline + 1);
    const auto begins_character = [](char c) {
        return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U;
    };
    return {.line = 1 + static_cast<std::size_t>(std::ranges::count(read, '\n')),
            .column = 1 + static_cast<std::size_t>(std::ranges::count_if(line, begins_character))};
}

LocatedJson parse_located(std::string_view text) {
    if (text.size() > LocatedJson::kMostBytes) {
        throw ScenarioFileError(
            {}, {},
            fmt::format("the file is too large: {} bytes at most", LocatedJson::kMostBytes));
    }
    LocatedJson file;
    file.text = text;
    // The parser takes it for the end.
    if (const std::size_t zero = text.find('\0'); zero != std::string_view::npos) {
        throw ScenarioFileError(file.position_of(zero), {}, "a byte of zero is no text");
    }
    Builder builder{file};
    constexpr bool kToTheEnd = true;
    constexpr bool kWithComments = true;
    Json::sax_parse(builder.begin(), builder.end(), &builder, Json::input_format_t::json, kToTheEnd,
                    kWithComments);
    return file;
}

void FileValue::fail_at(std::size_t offset, const std::string& sentence) const {
    throw ScenarioFileError(file_->position_of(offset), place_, sentence);
}

void FileValue::fail(const std::string& sentence) const {
    fail_at(file_->marks[mark_].begin, sentence);
}

void FileValue::fail_at_key(const std::string& sentence) const {
    fail_at(file_->marks[mark_].key, sentence);
}

void FileValue::fail_within(std::size_t offset, const std::string& sentence) const {
    fail_at(file_->marks[mark_].begin + offset, sentence);
}

std::string FileValue::text() const {
    if (!json_->is_string()) fail("a text in quotes is expected here");
    return json_->get<std::string>();
}

bool FileValue::flag() const {
    if (!json_->is_boolean()) fail("true or false is expected here");
    return json_->get<bool>();
}

std::int64_t FileValue::number(std::int64_t least, std::int64_t most) const {
    const auto expected = [&] {
        return fmt::format("a whole number from {} to {} is expected here", least, most);
    };
    if (!json_->is_number_integer()) fail(expected());
    if (json_->is_number_unsigned() && json_->get<std::uint64_t>() > INT64_MAX) fail(expected());
    const auto value = json_->get<std::int64_t>();
    if (value < least || value > most) fail(expected());
    return value;
}

std::vector<FileValue> FileValue::elements() const {
    if (!json_->is_array()) fail("a list in brackets is expected here");
    std::vector<FileValue> elements;
    std::size_t mark = mark_ + 1;
    for (std::size_t i = 0; i < json_->size(); ++i) {
        elements.push_back({*file_, (*json_)[i], mark, fmt::format("{}[{}]", place_, i)});
        mark += file_->marks[mark].values;
    }
    return elements;
}

std::vector<FileValue::Member> FileValue::members() const {
    if (!json_->is_object()) fail("an object in braces is expected here");
    std::vector<Member> members;
    std::size_t mark = mark_ + 1;
    for (const auto& [key, value] : json_->items()) {
        members.push_back({key, {*file_, value, mark, place_of(key)}});
        mark += file_->marks[mark].values;
    }
    return members;
}

std::optional<FileValue> FileValue::find(std::string_view key) const {
    if (!json_->is_object()) fail("an object in braces is expected here");
    std::size_t mark = mark_ + 1;
    for (const auto& [name, value] : json_->items()) {
        if (name == key) return FileValue{*file_, value, mark, place_of(name)};
        mark += file_->marks[mark].values;
    }
    return std::nullopt;
}

void FileValue::fail_at_place(const std::string& place, const std::string& sentence) const {
    const FileValue there = nearest(place);
    throw ScenarioFileError(file_->position_of(file_->marks[there.mark_].begin), place, sentence);
}

FileValue FileValue::nearest(std::string_view place) const {
    const auto leads_there = [&](const FileValue& value) {
        if (!place.starts_with(value.place_)) return false;
        const std::string_view rest = place.substr(value.place_.size());
        return rest.empty() || rest.front() == '.' || rest.front() == '[';
    };
    std::vector<FileValue> children;
    if (json_->is_array()) children = elements();
    if (json_->is_object()) {
        for (Member& member : members()) children.push_back(std::move(member.value));
    }
    const auto next = std::ranges::find_if(children, leads_there);
    return next == children.end() ? *this : next->nearest(place);
}

// A key that is no plain word is quoted, so that places tell apart what differs.
std::string FileValue::place_of(const std::string& key) const {
    if (is_plain(key)) return place_.empty() ? key : fmt::format("{}.{}", place_, key);
    const std::string quoted = Json(key).dump(-1, ' ', false, Json::error_handler_t::replace);
    return fmt::format("{}[{}]", place_, quoted);
}

}  // namespace fencepost::scenarios
