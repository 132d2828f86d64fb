#include "scenarios/files/forms.h"

namespace fencepost::scenarios {
namespace {

// Far beyond any use, and far from what overflows virtual time.
constexpr sim::Duration kLongest = std::chrono::hours{24 * 365};
constexpr sim::Time kEarliest = std::chrono::sys_days{std::chrono::year{1971} / 1 / 1};
constexpr sim::Time kLatest = std::chrono::sys_days{std::chrono::year{2100} / 1 / 1};

}  // namespace

sim::Duration Form<sim::Duration>::read(const FileValue& value) {
    const std::string written = value.text();
    const auto duration = sim::parse_duration(written);
    if (!duration) {
        value.fail(
            fmt::format("\"{}\" is not a duration; write for example \"5s\", \"250ms\" or "
                        "\"1m30s\" (units: h m s ms us ns)",
                        written));
    }
    if (*duration < sim::Duration::zero()) value.fail("a negative duration makes no sense here");
    if (*duration > kLongest) {
        value.fail(fmt::format("a duration is at most {}", sim::to_text(kLongest)));
    }
    return *duration;
}

sim::Time Form<sim::Time>::read(const FileValue& value) {
    const std::string written = value.text();
    const auto time = sim::parse_time(written);
    if (!time) {
        value.fail(fmt::format(
            "\"{}\" is not an instant; write for example \"2026-03-02T18:00:03Z\"", written));
    }
    if (*time < kEarliest || *time >= kLatest) {
        value.fail("an instant lies in the years from 1971 to 2099");
    }
    return *time;
}

void fail_as_unknown(const FileValue& value, std::string_view what, const std::string& word,
                     const std::vector<std::string>& known) {
    value.fail(fmt::format("unknown {} \"{}\"{}; known are {}", what, word,
                           did_you_mean(word, known), fmt::join(known, ", ")));
}

}  // namespace fencepost::scenarios
