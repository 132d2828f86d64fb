#include "tests/fidelity/postgres/answer.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace fencepost::fidelity {

std::string Answer::text() const {
    if (!sqlstate.empty()) return "error " + sqlstate;
    if (!tag.empty()) return tag;
    std::string result;
    if (changed > 0 || !has_rows) result = fmt::format("{} changed", changed);
    if (!has_rows) return result;
    if (!result.empty()) result += ", ";
    return result + (rows.empty() ? "no rows" : fmt::format("rows {}", fmt::join(rows, " ")));
}

std::string Observation::text() const {
    std::string result;
    const auto add = [&result](std::string part) {
        if (!result.empty()) result += "; ";
        result += part;
    };
    for (const auto& [session, answer] : answers) {
        add(fmt::format("{}: {}", session_name(session), answer.text()));
    }
    for (const Waiting& wait : waiting) {
        std::string names;
        for (const std::size_t root : wait.roots) {
            if (!names.empty()) names += ", ";
            names += session_name(root);
        }
        add(fmt::format("{} waits for {}", session_name(wait.session), names));
    }
    return result.empty() ? "no answer" : result;
}

bool agree(const Observation& model, const Observation& server) {
    if (model.answers != server.answers || model.waiting.size() != server.waiting.size()) {
        return false;
    }
    for (std::size_t i = 0; i < model.waiting.size(); ++i) {
        const Waiting& ours = model.waiting[i];
        const Waiting& theirs = server.waiting[i];
        if (ours.session != theirs.session || theirs.roots.empty() != ours.roots.empty() ||
            !std::includes(ours.roots.begin(), ours.roots.end(), theirs.roots.begin(),
                           theirs.roots.end())) {
            return false;
        }
    }
    return true;
}

}  // namespace fencepost::fidelity
