#include "model/redis/scripts.h"

#include <algorithm>

#include "model/redis/lua_machine.h"
#include "model/redis/sha1.h"
#include "model/redis/text.h"

namespace fencepost::model::redis {
namespace {

constexpr std::string_view kBlanks = " \t\r";

bool is_known_in(const Script& script, std::uint64_t era) {
    return std::ranges::find(script.known_in, era) != script.known_in.end();
}

std::size_t index_of(RedisInstance instance) {
    return static_cast<std::size_t>(instance);
}

// Cuts the next word off the front of `line`; empty at its end.
std::string_view take_word(std::string_view& line, std::string_view separators) {
    line.remove_prefix(std::min(line.size(), line.find_first_not_of(separators)));
    const std::string_view word = line.substr(0, line.find_first_of(separators));
    line.remove_prefix(word.size());
    return word;
}

std::optional<Reply> take_script_flags(Script& script, std::string_view flags) {
    for (auto flag = take_word(flags, ","); !flag.empty(); flag = take_word(flags, ",")) {
        if (flag == "no-writes") {
            script.never_writes = true;
        } else if (flag == "allow-oom") {
            script.runs_out_of_memory = true;
        } else if (flag != "allow-stale" && flag != "no-cluster" &&
                   flag != "allow-cross-slot-keys") {
            return Reply::error("ERR Unexpected flag in script shebang: " + std::string(flag));
        }
    }
    return std::nullopt;
}

std::optional<Reply> parse_shebang_line(Script& script, std::string_view line) {
    const std::string_view engine = take_word(line, kBlanks);
    if (engine != "#!lua") {
        return Reply::error("ERR Unexpected engine in script shebang: " + std::string(engine));
    }
    for (auto option = take_word(line, kBlanks); !option.empty();
         option = take_word(line, kBlanks)) {
        constexpr std::string_view kFlags = "flags=";
        if (!option.starts_with(kFlags)) {
            return Reply::error("ERR Unknown lua shebang option: " + std::string(option));
        }
        if (auto error = take_script_flags(script, option.substr(kFlags.size()))) return error;
    }
    return std::nullopt;
}

// The error, if it begins with a shebang line that Redis does not understand.
std::optional<Reply> parse_shebang(Script& script, std::string_view source) {
    if (!source.starts_with("#!")) return std::nullopt;
    const std::size_t line_end = source.find('\n');
    if (line_end == std::string_view::npos) return Reply::error("ERR Invalid script shebang");
    script.has_shebang = true;
    return parse_shebang_line(script, source.substr(0, line_end));
}

// For a planted flaw: what is compared with the owner never differs.
std::string without_comparisons(std::string_view source) {
    constexpr std::string_view kDiffers = "~= ARGV[1]";
    constexpr std::string_view kNever = "== nil    ";
    std::string text(source);
    for (auto at = text.find(kDiffers); at != std::string::npos; at = text.find(kDiffers, at)) {
        text.replace(at, kDiffers.size(), kNever);
    }
    return text;
}

}  // namespace

Scripts::Scripts(std::int64_t instruction_limit)
    : machine_(std::make_unique<LuaMachine>(instruction_limit)) {}

Scripts::~Scripts() = default;

std::expected<const Script*, Reply> Scripts::load(RedisInstance instance,
                                                  const std::string& source) {
    Script* script = nullptr;
    if (const auto known = by_source_.find(source); known != by_source_.end()) {
        script = known->second;
    } else {
        auto compiled = compile(source);
        if (!compiled) return std::unexpected(std::move(compiled.error()));
        script = &by_sha_.insert_or_assign(compiled->sha, *compiled).first->second;
        by_source_.emplace(source, script);
    }
    tell(*script, era_[index_of(instance)]);
    return script;
}

std::expected<Script, Reply> Scripts::compile(const std::string& source) {
    Script script;
    script.sha = sha1_hex(source);
    std::string_view body = source;
    if (auto error = parse_shebang(script, source)) return std::unexpected(*std::move(error));
    // The line end stays, and with it the numbers of the lines.
    if (script.has_shebang) body.remove_prefix(body.find('\n'));
    const auto function = flaw_ == RedisFlaw::OwnersUncompared
                              ? machine_->compile(without_comparisons(body))
                              : machine_->compile(body);
    if (!function) {
        return std::unexpected(Reply::error(
            one_line("ERR Error compiling script (new function): " + function.error())));
    }
    script.function = *function;
    return script;
}

const Script* Scripts::find(RedisInstance instance, std::string_view sha) const {
    auto found = by_sha_.find(sha);
    if (found == by_sha_.end()) found = by_sha_.find(lower_case(sha));
    if (found == by_sha_.end()) return nullptr;
    const bool known = is_known_in(found->second, era_[index_of(instance)]);
    return known ? &found->second : nullptr;
}

// There are as many places as instances, so one of them holds an era that is over.
void Scripts::tell(Script& script, std::uint64_t era) {
    if (is_known_in(script, era)) return;
    const auto is_over = [&](std::uint64_t known) {
        return std::ranges::find(era_, known) == era_.end();
    };
    *std::ranges::find_if(script.known_in, is_over) = era;
}

void Scripts::forget(RedisInstance instance) {
    era_[index_of(instance)] = ++last_era_;
}

void Scripts::move(RedisInstance from, RedisInstance to) {
    era_[index_of(to)] = era_[index_of(from)];
    forget(from);
}

void Scripts::forget_everything() {
    for (std::uint64_t& era : era_) era = ++last_era_;
    restart_random();
}

void Scripts::restart_random() {
    machine_->restart_random();
}

Reply Scripts::run(Execution& execution, const Script& script, std::span<const std::string> keys,
                   std::span<const std::string> arguments) {
    return machine_->run(execution, {script.function, script.sha, keys, arguments});
}

namespace commands {
namespace {

Reply no_script() {
    return Reply::error("NOSCRIPT No matching script. Please use EVAL.");
}

enum class By : std::uint8_t { Source, Sha };

// A script that says what it does counts as a command that does it, before anything else is looked
// at.
std::optional<Reply> refuse_by_flags(const Execution& execution, By by) {
    const std::string& text = execution.arguments[1];
    Script promised;
    if (by == By::Sha) {
        const Script* known = execution.scripts.find(execution.instance, text);
        if (known == nullptr) return std::nullopt;
        promised = *known;
    } else if (parse_shebang(promised, text)) {
        return std::nullopt;
    }
    if (!promised.has_shebang || promised.never_writes) return std::nullopt;
    if (execution.refusal == Refusal::Growth && promised.runs_out_of_memory) return std::nullopt;
    constexpr Command kWritingScript{.flags = Command::Write | Command::Grows};
    return refuse_for_now(execution, kWritingScript);
}

Reply run_script(Execution& execution, By by, bool read_only) {
    constexpr std::size_t kShaLength = 40;
    const auto& arguments = execution.arguments;
    if (execution.refusal != Refusal::Nothing) {
        if (auto error = refuse_by_flags(execution, by)) return *std::move(error);
    }
    if (by == By::Sha && arguments[1].size() != kShaLength) return no_script();
    const auto key_count = parse_integer(arguments[2]);
    const auto rest = arguments.subspan(3);
    if (!key_count) return not_an_integer();
    if (*key_count > static_cast<std::int64_t>(rest.size())) {
        return Reply::error("ERR Number of keys can't be greater than number of args");
    }
    if (*key_count < 0) return Reply::error("ERR Number of keys can't be negative");

    const Script* script = nullptr;
    if (by == By::Sha) {
        script = execution.scripts.find(execution.instance, arguments[1]);
        if (script == nullptr) return no_script();
    } else {
        auto loaded = execution.scripts.load(execution.instance, arguments[1]);
        if (!loaded) return std::move(loaded.error());
        script = *loaded;
    }
    if (script->has_shebang && read_only && !script->never_writes) {
        return Reply::error("ERR Can not execute a script with write flag using *_ro command.");
    }
    if (script->runs_out_of_memory && execution.refusal == Refusal::Growth) {
        execution.refusal = Refusal::Nothing;
    }
    execution.read_only = read_only || script->never_writes;
    const auto keys = rest.first(static_cast<std::size_t>(*key_count));
    return execution.scripts.run(execution, *script, keys, rest.subspan(keys.size()));
}

Reply script_exists(Execution& execution) {
    std::vector<Reply> known;
    for (const std::string& sha : execution.arguments.subspan(2)) {
        known.push_back(
            Reply::number(execution.scripts.find(execution.instance, sha) != nullptr ? 1 : 0));
    }
    return Reply::array(std::move(known));
}

Reply script_flush(Execution& execution) {
    const auto options = execution.arguments.subspan(2);
    const bool understood =
        options.empty() ||
        (options.size() == 1 && (is_word(options[0], "sync") || is_word(options[0], "async")));
    if (!understood) return Reply::error("ERR SCRIPT FLUSH only support SYNC|ASYNC option");
    if (execution.keys.has(RedisFlaw::FlushLeavesScripts)) return ok();
    execution.scripts.forget(execution.instance);
    return ok();
}

Reply script_load(Execution& execution) {
    auto loaded = execution.scripts.load(execution.instance, execution.arguments[2]);
    return loaded ? Reply::bulk((*loaded)->sha) : std::move(loaded.error());
}

}  // namespace

Reply eval(Execution& execution) {
    return run_script(execution, By::Source, false);
}

Reply eval_ro(Execution& execution) {
    return run_script(execution, By::Source, true);
}

Reply evalsha(Execution& execution) {
    return run_script(execution, By::Sha, false);
}

Reply evalsha_ro(Execution& execution) {
    return run_script(execution, By::Sha, true);
}

Reply script(Execution& execution) {
    const std::string& subcommand = execution.arguments[1];
    const std::size_t given = execution.arguments.size();
    if (is_word(subcommand, "load")) {
        return given == 3 ? script_load(execution) : wrong_arity("script|load");
    }
    if (is_word(subcommand, "exists")) {
        return given >= 3 ? script_exists(execution) : wrong_arity("script|exists");
    }
    if (is_word(subcommand, "flush")) return script_flush(execution);
    if (is_word(subcommand, "kill")) {
        if (given != 2) return wrong_arity("script|kill");
        return Reply::error("NOTBUSY No scripts in execution right now.");
    }
    return Reply::error(
        one_line("ERR unknown subcommand '" + quoted_part(subcommand) + "'. Try SCRIPT HELP."));
}

}  // namespace commands
}  // namespace fencepost::model::redis
