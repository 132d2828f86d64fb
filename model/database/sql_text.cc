#include "model/database/sql_text.h"

#include <algorithm>
#include <cctype>

namespace fencepost::model::database {

namespace {

char upper(char c) {
    return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
}
bool is_space(char c) {
    return c == ' ' || (c >= '\t' && c <= '\r');
}
bool is_digit(char c) {
    return c >= '0' && c <= '9';
}
bool is_word_start(char c) {
    return (upper(c) >= 'A' && upper(c) <= 'Z') || c == '_' || static_cast<unsigned char>(c) >= 128;
}
bool is_word(char c) {
    return is_word_start(c) || is_digit(c);
}

SqlFailure syntax_error(std::string message) {
    return {"42601", std::move(message)};
}

// Where the quoted text that starts at `at` ends; text.size() + 1 if it does not.
std::size_t end_of_quoted(std::string_view text, std::size_t at) {
    const char quote = text[at];
    for (++at; at < text.size(); ++at) {
        if (text[at] != quote) continue;
        if (at + 1 < text.size() && text[at + 1] == quote) {
            ++at;
        } else {
            return at + 1;
        }
    }
    return text.size() + 1;
}

std::size_t end_of_comment(std::string_view text, std::size_t at) {
    if (text[at] == '-') return std::min(text.find('\n', at), text.size());
    const std::size_t end = text.find("*/", at + 2);
    return end == std::string_view::npos ? text.size() + 1 : end + 2;
}

bool starts_comment(std::string_view text, std::size_t at) {
    const std::string_view two = text.substr(at, 2);
    return two == "--" || two == "/*";
}

std::size_t end_of_number(std::string_view text, std::size_t at) {
    while (at < text.size() &&
           (is_word(text[at]) || text[at] == '.' ||
            ((text[at] == '+' || text[at] == '-') && upper(text[at - 1]) == 'E'))) {
        ++at;
    }
    return at;
}

// The token that starts at `at`, which is neither space nor a comment.
Token token_at(std::string_view text, std::size_t at) {
    const char c = text[at];
    std::size_t end = at + 1;
    Token::Kind kind = Token::Kind::Symbol;
    if (c == '\'') {
        kind = Token::Kind::String;
        end = end_of_quoted(text, at);
    } else if (c == '"') {
        kind = Token::Kind::Quoted;
        end = end_of_quoted(text, at);
    } else if (c == '$' && end < text.size() && is_digit(text[end])) {
        kind = Token::Kind::Parameter;
        while (end < text.size() && is_digit(text[end])) ++end;
    } else if (is_word_start(c)) {
        kind = Token::Kind::Word;
        while (end < text.size() && (is_word(text[end]) || text[end] == '$')) ++end;
    } else if (is_digit(c)) {
        kind = Token::Kind::Number;
        end = end_of_number(text, at);
    } else if (text.substr(at, 2) == "::") {
        end = at + 2;
    }
    return {kind, 0, static_cast<std::uint32_t>(at), static_cast<std::uint32_t>(end)};
}

}  // namespace

bool Tokens::is(std::size_t index, std::string_view word) const {
    if (index >= list.size()) return false;
    const Token& token = list[index];
    if (token.kind != Token::Kind::Word && token.kind != Token::Kind::Symbol) return false;
    const std::string_view have = at(index);
    return std::equal(have.begin(), have.end(), word.begin(), word.end(),
                      [](char a, char b) { return upper(a) == b; });
}

std::string Tokens::name(std::size_t index) const {
    if (index >= list.size()) return {};
    std::string result;
    const std::string_view have = at(index);
    if (list[index].kind == Token::Kind::Quoted) {
        for (std::size_t i = 1; i + 1 < have.size(); ++i) {
            result += have[i];
            if (have[i] == '"') ++i;
        }
        return result;
    }
    for (const char c : have) {
        result += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    }
    return result;
}

std::size_t Tokens::closing(std::size_t index) const {
    const std::uint16_t depth = list[index].depth;
    std::size_t at = index + 1;
    while (at < list.size() && !(list[at].depth == depth && is(at, ")"))) ++at;
    return at;
}

Tokens tokenize(std::string_view text) {
    Tokens result{text, {}, std::nullopt};
    std::uint16_t depth = 0;
    std::size_t at = 0;
    while (at < text.size() && !result.failure) {
        if (is_space(text[at])) {
            ++at;
            continue;
        }
        if (starts_comment(text, at)) {
            at = end_of_comment(text, at);
            if (at > text.size()) result.failure = syntax_error("unterminated /* comment");
            continue;
        }
        Token token = token_at(text, at);
        if (token.end > text.size()) {
            result.failure = syntax_error("unterminated quoted string");
            break;
        }
        if (text[at] == '?') {
            result.failure = syntax_error("parameters are written $1, $2, …, not ?");
        } else if (text[at] == '$' && token.kind != Token::Kind::Parameter) {
            result.failure = syntax_error("dollar-quoted strings are not supported");
        } else if (text[at] == ')') {
            if (depth == 0) result.failure = syntax_error("syntax error at or near \")\"");
            --depth;
        }
        token.depth = depth;
        if (text[at] == '(') ++depth;
        at = token.end;
        result.list.push_back(token);
    }
    if (!result.failure && depth != 0) result.failure = syntax_error("a \"(\" is never closed");
    return result;
}

std::vector<std::string_view> split_script(std::string_view script) {
    std::vector<std::string_view> result;
    std::size_t begin = 0;
    bool empty = true;
    const auto finish = [&](std::size_t end) {
        if (!empty) result.push_back(script.substr(begin, end - begin));
        empty = true;
    };
    std::size_t at = 0;
    while (at < script.size()) {
        if (is_space(script[at])) {
            ++at;
        } else if (starts_comment(script, at)) {
            at = std::min(end_of_comment(script, at), script.size());
        } else if (script[at] == ';') {
            finish(at);
            begin = ++at;
        } else {
            if (empty) begin = at;
            empty = false;
            at = std::min<std::size_t>(token_at(script, at).end, script.size());
        }
    }
    finish(script.size());
    return result;
}

void TextEdits::replace(TextRange range, std::string replacement) {
    const auto later = std::find_if(edits_.begin(), edits_.end(), [&](const Edit& edit) {
        return edit.range.begin > range.begin;
    });
    edits_.insert(later, {range, std::move(replacement)});
}

void TextEdits::surround(TextRange range, std::string before, std::string after) {
    const auto here = std::find_if(edits_.begin(), edits_.end(), [&](const Edit& edit) {
        return edit.range.begin >= range.begin;
    });
    edits_.insert(here, {{range.begin, range.begin}, std::move(before)});
    insert(range.end, std::move(after));
}

void TextEdits::add_condition(const RowCondition& place, const std::string& condition) {
    if (place.condition) {
        surround(*place.condition, "(", ") AND " + condition);
    } else {
        insert(place.where_at, " WHERE " + condition);
    }
}

std::string TextEdits::applied_to(std::string_view text) const {
    return applied_to(text, {0, text.size()});
}

std::string TextEdits::applied_to(std::string_view text, TextRange part) const {
    std::string result;
    std::size_t at = part.begin;
    for (const Edit& edit : edits_) {
        if (edit.range.begin < at || edit.range.end > part.end) continue;
        result += text.substr(at, edit.range.begin - at);
        result += edit.replacement;
        at = edit.range.end;
    }
    return result += text.substr(at, part.end - at);
}

std::string_view replaced_type(std::string_view type) {
    std::string capitals;
    for (const char c : type) capitals += upper(c);
    for (const std::string_view text : {"UUID", "JSON", "JSONB"}) {
        if (capitals == text) return "TEXT";
    }
    return {};
}

}  // namespace fencepost::model::database
