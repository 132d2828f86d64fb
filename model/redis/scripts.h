// The scripts a Redis process knows, by the SHA-1 of their source.
//
// Compiled scripts are kept for as long as this object lives, across runs and restarts; what an
// instance has been told (EVAL, SCRIPT LOAD) is kept apart, and forgotten by SCRIPT FLUSH, a
// restart and a failover. EVALSHA of a forgotten script answers NOSCRIPT.
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
    std::array<std::uint64_t, 3> known_since{};  // the instance's era in which it was told
};

class Scripts {
public:
    explicit Scripts(std::int64_t instruction_limit);
    ~Scripts();
    Scripts(const Scripts&) = delete;
    Scripts& operator=(const Scripts&) = delete;

    // Compiles the source unless that was done before; the instance knows it from now on.
    [[nodiscard]] std::expected<const Script*, Reply> load(RedisInstance instance,
                                                           const std::string& source);
    // Null when the instance was not told. In either case of letters.
    [[nodiscard]] const Script* find(RedisInstance instance, std::string_view sha) const;
    void forget(RedisInstance instance);
    // A new process: also math.random begins anew.
    void forget_everything();

    [[nodiscard]] Reply run(Execution& execution, const Script& script,
                            std::span<const std::string> keys,
                            std::span<const std::string> arguments);

private:
    [[nodiscard]] std::expected<Script, Reply> compile(const std::string& source);

    std::unique_ptr<LuaMachine> machine_;
    // Looked up by source; never iterated.
    std::unordered_map<std::string, Script*> by_source_;
    std::map<std::string, Script, std::less<>> by_sha_;
    std::array<std::uint64_t, 3> era_{1, 1, 1};
};

}  // namespace fencepost::model::redis
