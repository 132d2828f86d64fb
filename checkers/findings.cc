#include "checkers/findings.h"

#include <fmt/format.h>

#include <algorithm>

namespace fencepost::checkers {

void Findings::add(sim::RecordId record, std::string key, std::string message) {
    // Mostly at the end: checkers go through the history in order.
    const auto place = std::ranges::upper_bound(findings_, record, {}, &Finding::record);
    findings_.insert(place,
                     {.key = std::move(key), .message = std::move(message), .record = record});
}

Judgement Findings::failed() && {
    sim::require(!findings_.empty(), "a checker fails a run without a finding");
    Judgement judgement{.checker = {},
                        .verdict = Verdict::Fail,
                        .reason = count_of(findings_.size(), "violation"),
                        .findings = {}};
    if (findings_.size() > kMostFindings) {
        const std::size_t more = findings_.size() - kMostFindings;
        findings_.resize(kMostFindings + 1);
        Finding& last = findings_.back();
        last.key.clear();
        last.message =
            fmt::format("There {} {} more of this kind.", more == 1 ? "is" : "are", more);
    }
    judgement.findings = std::move(findings_);
    return judgement;
}

Judgement passed(std::string reason) {
    return {.checker = {}, .verdict = Verdict::Pass, .reason = std::move(reason), .findings = {}};
}

Judgement unknown(std::string reason) {
    return {
        .checker = {}, .verdict = Verdict::Unknown, .reason = std::move(reason), .findings = {}};
}

Judgement not_applicable(std::string reason) {
    return {.checker = {},
            .verdict = Verdict::NotApplicable,
            .reason = std::move(reason),
            .findings = {}};
}

std::string count_of(std::size_t count, std::string_view noun, std::string_view plural) {
    std::string text = std::to_string(count);
    text += ' ';
    if (count != 1 && !plural.empty()) return text.append(plural);
    text += noun;
    return count == 1 ? text : text + 's';
}

}  // namespace fencepost::checkers
