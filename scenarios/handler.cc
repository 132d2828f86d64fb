#include "scenarios/handler.h"

#include <stdexcept>

#include "jobs/business_key.h"

namespace fencepost::scenarios {

std::int64_t Parameters::at(std::string_view name) const {
    const auto found = values_.find(name);
    if (found == values_.end()) {
        throw std::out_of_range("no parameter is called \"" + std::string(name) + "\"");
    }
    return found->second;
}

std::int64_t Parameters::value_or(std::string_view name, std::int64_t fallback) const {
    const auto found = values_.find(name);
    return found == values_.end() ? fallback : found->second;
}

std::string Program::answer(const Request& request) {
    throw std::logic_error("nobody has said how to answer the request " + request.id);
}

std::string DueWork::unit() const {
    const std::string act = tenant + "/" + job;
    return id.empty() ? act + "@" + jobs::utc_text(scheduled) : act + "#" + id;
}

}  // namespace fencepost::scenarios
