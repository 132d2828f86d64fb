// Compact results on their way from a worker to its parent: numbers and texts, one after the other.
// Both sides are the same binary on the same machine.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "sim/require.h"

namespace fencepost::scenarios {

class ByteWriter {
public:
    template <typename T>
        requires std::is_arithmetic_v<T> || std::is_enum_v<T>
    ByteWriter& put(T value) {
        bytes_.append(reinterpret_cast<const char*>(&value), sizeof value);
        return *this;
    }
    ByteWriter& put(std::string_view text) {
        put(static_cast<std::uint64_t>(text.size()));
        bytes_.append(text);
        return *this;
    }
    // The number of elements, then each of them by `put_one(*this, element)`.
    template <typename T, typename PutOne>
    ByteWriter& put_all(const std::vector<T>& elements, PutOne put_one) {
        put(static_cast<std::uint64_t>(elements.size()));
        for (const T& element : elements) put_one(*this, element);
        return *this;
    }
    [[nodiscard]] std::string take() { return std::move(bytes_); }

private:
    std::string bytes_;
};

class ByteReader {
public:
    explicit ByteReader(std::string_view bytes) : rest_(bytes) {}

    template <typename T>
        requires std::is_arithmetic_v<T> || std::is_enum_v<T>
    T get() {
        T value{};
        std::memcpy(&value, bytes(sizeof value).data(), sizeof value);
        return value;
    }
    template <typename T>
    void get(T& value) {
        value = get<T>();
    }
    void get(std::string& text) { text = bytes(get<std::uint64_t>()); }
    template <typename T, typename GetOne>
    void get_all(std::vector<T>& elements, GetOne get_one) {
        elements.resize(get<std::uint64_t>());
        for (T& element : elements) get_one(*this, element);
    }
    [[nodiscard]] bool empty() const { return rest_.empty(); }

private:
    std::string_view bytes(std::uint64_t size) {
        sim::require(size <= rest_.size(), "a worker's result is longer than it says");
        const std::string_view taken = rest_.substr(0, size);
        rest_.remove_prefix(size);
        return taken;
    }
    std::string_view rest_;
};

}  // namespace fencepost::scenarios
