#include "cli/budget.h"

#include <charconv>

#include "cli/command_error.h"
#include "cli/names.h"

namespace fencepost::cli {

std::optional<std::chrono::seconds> parse_budget(std::string_view text) {
    constexpr std::int64_t kMost = 1'000'000;
    std::int64_t number = 0;
    const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc{} || number < 1 || number > kMost) return std::nullopt;
    const std::string_view unit = text.substr(static_cast<std::size_t>(rest - text.data()));
    if (unit == "s") return std::chrono::seconds{number};
    if (unit == "m") return std::chrono::minutes{number};
    if (unit == "h") return std::chrono::hours{number};
    return std::nullopt;
}

Budget::Budget(const Arguments& arguments) {
    const auto text = arguments.text("budget");
    if (!text) return;
    const auto seconds = parse_budget(*text);
    if (!seconds) {
        throw CommandError("--budget: " + shown(*text) +
                           " is no time; write a number and s, m or h, as in 5m");
    }
    end_ = std::chrono::steady_clock::now() + *seconds;
}

std::function<bool()> Budget::share(std::size_t searches) const {
    if (!end_) return {};
    const auto now = std::chrono::steady_clock::now();
    const auto left = *end_ > now ? *end_ - now : std::chrono::steady_clock::duration::zero();
    const auto until = now + left / static_cast<std::int64_t>(std::max<std::size_t>(searches, 1));
    return [until] { return std::chrono::steady_clock::now() >= until; };
}

}  // namespace fencepost::cli
