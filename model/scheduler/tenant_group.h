// Groups keep the jobs of tenants apart: each tenant has one, named by a readable part and a
// digest, so that tenants whose names look alike once made readable still differ.
#pragma once

#include <string>
#include <string_view>

namespace fencepost::model {

// "Acme Ltd." -> "acme-ltd_" and 16 hexadecimal digits. The same on every node and at any time.
std::string tenant_group(std::string_view tenant);

// From before there were groups of tenants. A job in it belongs to the tenant that its own data
// names (ScheduledJob::tenant).
inline constexpr std::string_view kLegacyGroup = "default_group";

}  // namespace fencepost::model
