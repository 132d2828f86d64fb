#include "checkers/evidence.h"

#include <algorithm>
#include <charconv>

namespace fencepost::checkers {

std::vector<sim::RecordId> evidence_of(const Finding& finding, std::size_t size) {
    constexpr std::string_view kLead = "(record ";
    std::vector<sim::RecordId> records;
    if (finding.record < size) records.push_back(finding.record);
    const std::string_view message = finding.message;
    for (std::size_t at = message.find(kLead); at != std::string_view::npos;
         at = message.find(kLead, at)) {
        at += kLead.size();
        sim::RecordId record = sim::kNoRecord;
        const char* const end = message.data() + message.size();
        const auto [rest, error] = std::from_chars(message.data() + at, end, record);
        if (error == std::errc{} && rest != end && *rest == ')' && record < size) {
            records.push_back(record);
        }
    }
    std::ranges::sort(records);
    const auto repeated = std::ranges::unique(records);
    records.erase(repeated.begin(), repeated.end());
    return records;
}

}  // namespace fencepost::checkers
