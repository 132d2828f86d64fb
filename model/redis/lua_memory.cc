#include "model/redis/lua_memory.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <new>

namespace fencepost::model::redis {

void* LuaMemory::resize(void* block, std::size_t old_size, std::size_t new_size) {
    if (block == nullptr) old_size = 0;
    if (new_size == 0) {
        if (old_size != 0) give_back(block, old_size);
        return nullptr;
    }
    const bool pooled = old_size != 0 && old_size <= kLargestPooled && new_size <= kLargestPooled;
    if (pooled && size_class(old_size) == size_class(new_size)) {
        in_use_ += new_size - old_size;
        return block;
    }
    void* moved = take(new_size);
    if (moved != nullptr && old_size != 0) {
        std::memcpy(moved, block, std::min(old_size, new_size));
        give_back(block, old_size);
    }
    return moved;
}

void* LuaMemory::take(std::size_t size) {
    if (size > kLimit - std::min(kLimit, in_use_)) return nullptr;
    void* block = nullptr;
    if (size > kLargestPooled) {
        block = std::malloc(size);
        if (block == nullptr) return nullptr;
    } else if (FreeBlock*& first = free_[size_class(size)]; first != nullptr) {
        block = first;
        first = first->next;
    } else {
        block = carve((size_class(size) + 1) * kStep);
    }
    in_use_ += size;
    return block;
}

void LuaMemory::give_back(void* block, std::size_t size) {
    in_use_ -= size;
    if (size > kLargestPooled) {
        std::free(block);
        return;
    }
    FreeBlock*& first = free_[size_class(size)];
    first = new (block) FreeBlock{first};
}

void* LuaMemory::carve(std::size_t size) {
    if (left_in_chunk_ < size) {
        chunks_.push_back(std::make_unique_for_overwrite<std::byte[]>(kChunk));
        left_in_chunk_ = kChunk;
    }
    left_in_chunk_ -= size;
    return chunks_.back().get() + left_in_chunk_;
}

}  // namespace fencepost::model::redis
