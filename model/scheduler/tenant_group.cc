#include "model/scheduler/tenant_group.h"

#include <fmt/format.h>
#include <xxhash.h>

namespace fencepost::model {

std::string tenant_group(std::string_view tenant) {
    constexpr std::size_t kReadable = 32;
    std::string readable;
    for (const char c : tenant) {
        if (readable.size() == kReadable) break;
        if ((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9')) {
            readable += c;
        } else if (c >= 'A' && c <= 'Z') {
            readable += static_cast<char>(c - 'A' + 'a');
        } else if (!readable.empty() && readable.back() != '-') {
            readable += '-';
        }
    }
    while (readable.ends_with('-')) readable.pop_back();
    return fmt::format("{}_{:016x}", readable, XXH3_64bits(tenant.data(), tenant.size()));
}

}  // namespace fencepost::model
