#include "model/redis/sha1.h"

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace fencepost::model::redis {
namespace {

constexpr std::size_t kBlock = 64;
constexpr std::size_t kLengthField = 8;

using Digest = std::array<std::uint32_t, 5>;

std::uint32_t big_endian_word(std::string_view bytes) {
    std::uint32_t word = 0;
    for (const char byte : bytes) word = word << 8 | static_cast<unsigned char>(byte);
    return word;
}

void absorb_block(Digest& digest, std::string_view block) {
    std::array<std::uint32_t, 80> schedule{};
    for (std::size_t i = 0; i < 16; ++i) schedule[i] = big_endian_word(block.substr(i * 4, 4));
    for (std::size_t i = 16; i < schedule.size(); ++i) {
        schedule[i] =
            std::rotl(schedule[i - 3] ^ schedule[i - 8] ^ schedule[i - 14] ^ schedule[i - 16], 1);
    }
    auto [a, b, c, d, e] = digest;
    for (std::size_t i = 0; i < schedule.size(); ++i) {
        std::uint32_t mix = 0;
        std::uint32_t constant = 0;
        if (i < 20) {
            mix = (b & c) | (~b & d);
            constant = 0x5A827999;
        } else if (i < 40) {
            mix = b ^ c ^ d;
            constant = 0x6ED9EBA1;
        } else if (i < 60) {
            mix = (b & c) | (b & d) | (c & d);
            constant = 0x8F1BBCDC;
        } else {
            mix = b ^ c ^ d;
            constant = 0xCA62C1D6;
        }
        const std::uint32_t next = std::rotl(a, 5) + mix + e + constant + schedule[i];
        e = d;
        d = c;
        c = std::rotl(b, 30);
        b = a;
        a = next;
    }
    digest[0] += a;
    digest[1] += b;
    digest[2] += c;
    digest[3] += d;
    digest[4] += e;
}

}  // namespace

std::string sha1_hex(std::string_view data) {
    Digest digest = {0x67452301, 0xEFCDAB89, 0x98BADCFE, 0x10325476, 0xC3D2E1F0};
    const std::uint64_t bits = static_cast<std::uint64_t>(data.size()) * 8;
    for (; data.size() >= kBlock; data.remove_prefix(kBlock)) {
        absorb_block(digest, data.substr(0, kBlock));
    }

    std::string tail(data);
    tail.push_back('\x80');
    while (tail.size() % kBlock != kBlock - kLengthField) tail.push_back('\0');
    for (int shift = 56; shift >= 0; shift -= 8) tail.push_back(static_cast<char>(bits >> shift));
    for (std::size_t at = 0; at < tail.size(); at += kBlock) {
        absorb_block(digest, std::string_view(tail).substr(at, kBlock));
    }

    constexpr std::string_view kDigits = "0123456789abcdef";
    std::string hex;
    for (const std::uint32_t word : digest) {
        for (int shift = 28; shift >= 0; shift -= 4) hex.push_back(kDigits[word >> shift & 0xF]);
    }
    return hex;
}

}  // namespace fencepost::model::redis
