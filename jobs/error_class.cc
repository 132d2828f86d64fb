#include "jobs/error_class.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "jobs/ports/errors.h"
#include "jobs/ports/sql.h"

namespace fencepost::jobs {

ErrorClass class_of(const std::exception& error) {
    constexpr std::array<std::string_view, 7> kPassing{"08", "25", "40", "53", "55", "57", "58"};
    if (const auto* answer = dynamic_cast<const sql::ServerError*>(&error)) {
        const std::string_view kind = std::string_view{answer->sqlstate()}.substr(0, 2);
        return std::ranges::find(kPassing, kind) != kPassing.end() ? ErrorClass::Transient
                                                                   : ErrorClass::Permanent;
    }
    return dynamic_cast<const AttemptError*>(&error) != nullptr ? ErrorClass::Transient
                                                                : ErrorClass::Permanent;
}

}  // namespace fencepost::jobs
