// The scripts a Redis process knows, by the SHA-1 of their source.
//
// Compiled scripts are kept for as long as this object lives, across runs and restarts; what an
// instance has been told (EVAL, SCRIPT LOAD) is kept apart: neither persistence nor replication
// carries it. SCRIPT FLUSH and a restart forget it. EVALSHA of a script that the instance does not
// know answers NOSCRIPT.
#pragma once

#include <array>
#include <cstdint>
#include <expected>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>

#include "model/redis/commands.h"

namespace fencepost::model::redis {

class LuaMachine;

struct Script {
    std::string sha;
    int function = 0;  // within the Lua machine
    // The shebang line's promises. A script without one is held to nothing before it runs.
    bool has_shebang = false;
    bool never_writes = false;
    bool runs_out_of_memory = false;
    std::array<std::uint64_t, 3> known_in{};  // eras of instances that were told
};

class Scripts {
public:
    explicit Scripts(std::int64_t instruction_limit);
    ~Scripts();
    Scripts(const Scripts&) = delete;
    Scripts& operator=(const Scripts&) = delete;

    void plant(RedisFlaw flaw) { flaw_ = flaw; }

    // Compiles the source unless that was done before; the instance knows it from now on.
    [[nodiscard]] std::expected<const Script*, Reply> load(RedisInstance instance,
                                                           const std::string& source);
    // Null when the instance was not told. In either case of letters.
    [[nodiscard]] const Script* find(RedisInstance instance, std::string_view sha) const;
    void forget(RedisInstance instance);
    // The process that was `from` is `to` from now on, and nobody is `from`.
    void move(RedisInstance from, RedisInstance to);
    void forget_everything();  // and restart_random()
    void restart_random();     // as in a new process

    [[nodiscard]] Reply run(Execution& execution, const Script& script,
                            std::span<const std::string> keys,
                            std::span<const std::string> arguments);

private:
    void tell(Script& script, std::uint64_t era);
    [[nodiscard]] std::expected<Script, Reply> compile(const std::string& source);

    std::unique_ptr<LuaMachine> machine_;
    RedisFlaw flaw_ = RedisFlaw::None;
    // Looked up by source; never iterated.
    std::unordered_map<std::string, Script*> by_source_;
    std::map<std::string, Script, std::less<>> by_sha_;
    // Of each instance. Never used twice.
    std::array<std::uint64_t, 3> era_{1, 2, 3};
    std::uint64_t last_era_ = 3;
};

}  // namespace fencepost::model::redis
