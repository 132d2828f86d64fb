// Numbers distinct texts in the order in which they first appear.
//
// A flat table whose hash decides only where a text is looked for: no result depends on it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace fencepost::checkers {

inline constexpr std::uint32_t kNone = 0xffffffffU;

class TextIndex {
public:
    // The number of `text`: that of its first appearance, or the next one.
    std::uint32_t add(std::string_view text) {
        if (entries_.size() * 2 >= slots_.size()) grow();
        const std::size_t hash = std::hash<std::string_view>{}(text);
        std::uint32_t& slot = slots_[slot_of(text, hash)];
        if (slot == kNone) {
            slot = static_cast<std::uint32_t>(entries_.size());
            entries_.push_back({.start = static_cast<std::uint32_t>(texts_.size()),
                                .size = static_cast<std::uint32_t>(text.size()),
                                .hash = hash});
            texts_ += text;
        }
        return slot;
    }

    [[nodiscard]] std::size_t size() const { return entries_.size(); }
    // Valid until the next add().
    [[nodiscard]] std::string_view operator[](std::uint32_t number) const {
        const Entry& entry = entries_[number];
        return std::string_view{texts_}.substr(entry.start, entry.size);
    }

private:
    struct Entry {
        std::uint32_t start = 0;
        std::uint32_t size = 0;
        std::size_t hash = 0;
    };

    [[nodiscard]] std::size_t slot_of(std::string_view text, std::size_t hash) const {
        const std::size_t mask = slots_.size() - 1;
        std::size_t at = hash & mask;
        while (slots_[at] != kNone &&
               (entries_[slots_[at]].hash != hash || (*this)[slots_[at]] != text)) {
            at = (at + 1) & mask;
        }
        return at;
    }

    void grow() {
        slots_.assign(std::max<std::size_t>(32, slots_.size() * 4), kNone);
        const std::size_t mask = slots_.size() - 1;
        for (std::uint32_t number = 0; number < entries_.size(); ++number) {
            std::size_t at = entries_[number].hash & mask;
            while (slots_[at] != kNone) at = (at + 1) & mask;
            slots_[at] = number;
        }
    }

    std::string texts_;
    std::vector<Entry> entries_;
    std::vector<std::uint32_t> slots_;  // a power of two of them, at most half full
};

}  // namespace fencepost::checkers
