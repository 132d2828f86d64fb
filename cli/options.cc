#include "cli/options.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/program_options.hpp>
#include <charconv>

#include "cli/command_error.h"
#include "cli/names.h"
#include "scenarios/nearest.h"

namespace fencepost::cli {
namespace {

namespace po = boost::program_options;

// Words that belong to no option; the library wants a name for them.
constexpr const char* kOperands = "operands";
constexpr std::uint64_t kMostSeeds = 1'000'000'000'000;

// How to get on from here: the end of every complaint about options.
std::string see_help(const CommandSpec& command) {
    return fmt::format("see fencepost help {}", command.name);
}

std::optional<std::uint64_t> parse_number(std::string_view text, int base) {
    std::uint64_t number = 0;
    const char* const end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, number, base);
    if (error != std::errc{} || stop != end) return std::nullopt;
    return number;
}

std::string dashless(std::string_view text) {
    return std::string(text.substr(std::min(text.find_first_not_of('-'), text.size())));
}

[[noreturn]] void unknown_option(const CommandSpec& command, std::string_view written) {
    const std::string name = "--" + dashless(written.substr(0, written.find('=')));
    std::vector<std::string> known;
    for (const OptionSpec& option : command.options)
        known.push_back("--" + std::string(option.name));
    throw CommandError(fmt::format("{} has no option \"{}\"{}; {}", command.name,
                                   shown(written.substr(0, written.find('='))),
                                   scenarios::did_you_mean(name, known), see_help(command)));
}

po::parsed_options parsed(const CommandSpec& command, std::span<const char* const> words) {
    po::options_description known;
    for (const OptionSpec& option : command.options) {
        const std::string name{option.name};
        if (option.value.empty()) {
            known.add_options()(name.c_str(), "");
        } else {
            known.add_options()(name.c_str(), po::value<std::string>(), "");
        }
    }
    known.add_options()(kOperands, po::value<std::vector<std::string>>(), "");
    po::positional_options_description positions;
    positions.add(kOperands, -1);
    using Style = po::command_line_style::style_t;
    const int style = Style::allow_long | Style::long_allow_adjacent | Style::long_allow_next;
    return po::command_line_parser(std::vector<std::string>{words.begin(), words.end()})
        .options(known)
        .positional(positions)
        .style(style)
        .run();
}

}  // namespace

const CommandSpec* find_command(std::string_view name) {
    const auto found = std::ranges::find(all_commands(), name, &CommandSpec::name);
    return found == all_commands().end() ? nullptr : &*found;
}

Arguments::Arguments(const CommandSpec& command, std::span<const char* const> words)
    : command_(command) {
    std::vector<std::string> operands;
    try {
        for (const po::option& option : parsed(command, words).options) {
            if (option.string_key == kOperands && option.position_key < 0)
                unknown_option(command, option.original_tokens.front());
            if (option.position_key >= 0) {
                operands.insert(operands.end(), option.value.begin(), option.value.end());
                continue;
            }
            const std::string value = option.value.empty() ? std::string{} : option.value.front();
            if (!values_.try_emplace(option.string_key, value).second) {
                throw CommandError(
                    fmt::format("--{} is given twice; once is enough", option.string_key));
            }
        }
    } catch (const po::unknown_option& error) {
        unknown_option(command, error.get_option_name());
    } catch (const po::error_with_option_name& error) {
        const std::string name = dashless(error.get_option_name());
        const auto spec = std::ranges::find(command.options, name, &OptionSpec::name);
        const bool flag = spec != command.options.end() && spec->value.empty();
        throw CommandError(flag ? fmt::format("--{} takes no value", name)
                                : fmt::format("--{} needs a value; {}", name, see_help(command)));
    } catch (const po::error& error) {
        throw CommandError(fmt::format("{}; {}", error.what(), see_help(command)));
    }
    for (const std::string& operand : operands) {
        if (operand.size() > 1 && operand.starts_with('-')) unknown_option(command, operand);
    }
    const std::size_t most = command.several_operands  ? operands.size()
                             : command.operand.empty() ? 0
                                                       : 1;
    if (operands.size() > most) {
        throw CommandError(fmt::format("{}: \"{}\" is one word too many; {}", command.name,
                                       shown(operands[most]), see_help(command)));
    }
    if (!operands.empty()) operand_ = operands.front();
    operands_ = operands;
    if (most == 1 && command.operand_required && operand_.empty()) {
        throw CommandError(
            fmt::format("{} needs {}; {}", command.name, command.operand, see_help(command)));
    }
}

std::optional<std::string> Arguments::text(std::string_view option) const {
    const auto found = values_.find(option);
    if (found == values_.end()) return std::nullopt;
    if (found->second.empty()) {
        throw CommandError(fmt::format("--{} needs a value; {}", option, see_help(command_)));
    }
    return found->second;
}

std::optional<std::uint64_t> Arguments::number(std::string_view option, std::uint64_t least,
                                               std::uint64_t most) const {
    const std::optional<std::string> written = text(option);
    if (!written) return std::nullopt;
    const std::optional<std::uint64_t> value = parse_number(*written, 10);
    if (!value || *value < least || *value > most) {
        throw CommandError(fmt::format("--{}: \"{}\" is not a whole number from {} to {}", option,
                                       shown(*written), least, most));
    }
    return value;
}

std::optional<std::uint64_t> parse_seed(std::string_view text) {
    if (text.starts_with("0x") || text.starts_with("0X")) return parse_number(text.substr(2), 16);
    return parse_number(text, 10);
}

std::optional<std::uint64_t> Arguments::seed(std::string_view option) const {
    const std::optional<std::string> written = text(option);
    if (!written) return std::nullopt;
    const std::optional<std::uint64_t> value = parse_seed(*written);
    if (!value) {
        throw CommandError(
            fmt::format("--{}: \"{}\" is not a seed; write a number from 0 to {}, such as 42 or "
                        "0x5eed",
                        option, shown(*written), UINT64_MAX));
    }
    return value;
}

std::optional<SeedRange> Arguments::seeds(std::string_view option) const {
    const std::optional<std::string> written = text(option);
    if (!written) return std::nullopt;
    const std::size_t dots = written->find("..");
    const bool pair = dots != std::string::npos;
    const std::optional<std::uint64_t> first =
        pair ? parse_seed(std::string_view{*written}.substr(0, dots)) : 1;
    const std::optional<std::uint64_t> last =
        parse_seed(pair ? std::string_view{*written}.substr(dots + 2) : *written);
    if (!first || !last) {
        throw CommandError(
            fmt::format("--{}: \"{}\" is not a range of seeds; write A..B such as "
                        "1..1000, or N for 1..N",
                        option, shown(*written)));
    }
    if (*first > *last) {
        throw CommandError(pair ? fmt::format("--{}: {}..{} holds no seed; write the smaller one "
                                              "first",
                                              option, *first, *last)
                                : fmt::format("--{}: at least 1 seed is needed", option));
    }
    if (*last - *first >= kMostSeeds) {
        throw CommandError(fmt::format("--{}: more than {} seeds are too many for one command",
                                       option, kMostSeeds));
    }
    return SeedRange{.first = *first, .last = *last};
}

}  // namespace fencepost::cli
