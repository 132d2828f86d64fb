// The command line: which commands there are, which options they take, and their values.
//
// Every value is checked here or where it is used, before anything runs; what is wrong is a
// CommandError.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace fencepost::cli {

struct OptionSpec {
    std::string_view name;   // without the dashes
    std::string_view value;  // "N", "FILE"; empty: the option takes none
    std::string_view help;
};

struct CommandSpec {
    std::string_view name;
    std::string_view operand;  // "SCENARIO"; empty: it takes none
    bool operand_required = true;
    bool several_operands = false;
    std::string_view summary;
    std::vector<OptionSpec> options;
};

// In the order of the help.
const std::vector<CommandSpec>& all_commands();
const CommandSpec* find_command(std::string_view name);

// Both ends included.
struct SeedRange {
    std::uint64_t first = 1;
    std::uint64_t last = 1;
    [[nodiscard]] std::uint64_t size() const { return last - first + 1; }
    bool operator==(const SeedRange&) const = default;
};

class Arguments {
public:
    // `words` are those after the command.
    Arguments(const CommandSpec& command, std::span<const char* const> words);

    [[nodiscard]] const CommandSpec& command() const { return command_; }
    // Empty when it is not required and not given.
    [[nodiscard]] const std::string& operand() const { return operand_; }
    // In place of what was written.
    void name_operand(std::string name) { operand_ = std::move(name); }
    // All of them, for a command that takes several.
    [[nodiscard]] const std::vector<std::string>& operands() const { return operands_; }
    [[nodiscard]] bool has(std::string_view option) const { return values_.contains(option); }
    [[nodiscard]] std::optional<std::string> text(std::string_view option) const;
    // A whole number from `least` to `most`.
    [[nodiscard]] std::optional<std::uint64_t> number(std::string_view option, std::uint64_t least,
                                                      std::uint64_t most) const;
    [[nodiscard]] std::optional<std::uint64_t> seed(std::string_view option) const;
    // "A..B", or "N" for 1..N.
    [[nodiscard]] std::optional<SeedRange> seeds(std::string_view option) const;

private:
    const CommandSpec& command_;
    std::string operand_;
    std::vector<std::string> operands_;
    std::map<std::string, std::string, std::less<>> values_;
};

// A seed in decimal or, after 0x, hexadecimal digits.
std::optional<std::uint64_t> parse_seed(std::string_view text);

// All commands, or one with its options.
std::string help_text();
std::string help_text(const CommandSpec& command);

}  // namespace fencepost::cli
