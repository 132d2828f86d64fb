// The memory of a Lua state: small blocks from free lists, which is most of what scripts need, and
// a limit, beyond which the script gets Lua's "not enough memory".
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <vector>

namespace fencepost::model::redis {

class LuaMemory {
public:
    // Lua's allocator contract: from nothing, to nothing, or from one size to another.
    [[nodiscard]] void* resize(void* block, std::size_t old_size, std::size_t new_size);

private:
    static constexpr std::size_t kStep = 16;
    static constexpr std::size_t kLargestPooled = 512;
    static constexpr std::size_t kChunk = 64 * 1024;
    static constexpr std::size_t kLimit = 512 * 1024 * 1024;

    struct FreeBlock {
        FreeBlock* next;
    };

    [[nodiscard]] static std::size_t size_class(std::size_t size) { return (size - 1) / kStep; }
    [[nodiscard]] void* take(std::size_t size);
    void give_back(void* block, std::size_t size);
    [[nodiscard]] void* carve(std::size_t size);

    std::array<FreeBlock*, kLargestPooled / kStep> free_{};
    std::vector<std::unique_ptr<std::byte[]>> chunks_;
    std::size_t left_in_chunk_ = 0;
    std::size_t in_use_ = 0;
};

}  // namespace fencepost::model::redis
