#include "model/redis/glob.h"

#include <algorithm>

namespace fencepost::model::redis {
namespace {

// Takes one character of a class, an escaped one included.
char take_class_character(std::string_view& pattern) {
    if (pattern.front() == '\\' && pattern.size() > 1) pattern.remove_prefix(1);
    const char c = pattern.front();
    pattern.remove_prefix(1);
    return c;
}

// `pattern` begins behind the opening bracket and is moved behind the closing one. A class that is
// not closed reaches to the end of the pattern.
bool class_contains(std::string_view& pattern, char c) {
    const bool negated = !pattern.empty() && pattern.front() == '^';
    if (negated) pattern.remove_prefix(1);
    bool contained = false;
    while (!pattern.empty() && pattern.front() != ']') {
        const bool escaped = pattern.front() == '\\' && pattern.size() > 1;
        char first = take_class_character(pattern);
        char last = first;
        if (!escaped && pattern.size() > 1 && pattern.front() == '-') {
            pattern.remove_prefix(1);
            last = pattern.front();
            pattern.remove_prefix(1);
            if (first > last) std::swap(first, last);
        }
        contained = contained || (first <= c && c <= last);
    }
    if (!pattern.empty()) pattern.remove_prefix(1);
    return contained != negated;
}

}  // namespace

bool matches_glob(std::string_view text, std::string_view pattern) {
    while (!pattern.empty()) {
        const char head = pattern.front();
        if (head == '*') {
            pattern.remove_prefix(1);
            if (pattern.empty()) return true;
            for (;; text.remove_prefix(1)) {
                if (matches_glob(text, pattern)) return true;
                if (text.empty()) return false;
            }
        }
        if (text.empty()) return false;
        if (head == '[') {
            pattern.remove_prefix(1);
            if (!class_contains(pattern, text.front())) return false;
        } else {
            if (head == '\\' && pattern.size() > 1) pattern.remove_prefix(1);
            const bool any = head == '?';
            if (!any && pattern.front() != text.front()) return false;
            pattern.remove_prefix(1);
        }
        text.remove_prefix(1);
    }
    return text.empty();
}

}  // namespace fencepost::model::redis
