// Assertions that are on in every build: a broken invariant of the harness itself ends the run.
#pragma once

#include <source_location>
#include <stdexcept>
#include <string>

namespace fencepost::sim {

// The harness contradicts itself. Not an error of a handler or of a user's file.
class BrokenInvariant : public std::logic_error {
public:
    using std::logic_error::logic_error;
};

[[noreturn]] inline void broken_invariant(const char* what, std::source_location where) {
    throw BrokenInvariant(std::string(where.file_name()) + ":" + std::to_string(where.line()) +
                          ": " + what);
}

// Throws BrokenInvariant with the place of the call when `condition` does not hold.
inline void require(bool condition, const char* what,
                    std::source_location where = std::source_location::current()) {
    if (!condition) [[unlikely]]
        broken_invariant(what, where);
}

}  // namespace fencepost::sim
