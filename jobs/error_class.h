// Classes of error: what a retry may mend, and what only a person can.
//
// Losing a claim to a newer holder (Fenced) is neither: it is the normal end of a stale attempt and
// is caught before anybody asks for a class.
#pragma once

#include <cstdint>
#include <exception>

namespace fencepost::jobs {

enum class ErrorClass : std::uint8_t {
    Transient,  // it may pass by itself: again, after a bounded back-off
    Permanent,  // it will be the same next time: a person must look
};

// Connections, unknown outcomes and lost leases pass. Of what the database answers, these SQLSTATE
// classes do (PostgreSQL 15, appendix A): 08 connection, 25 a transaction that had failed before,
// 40 rollback, 53 resources, 55 locks, 57 intervention by an operator, 58 the system. Any other
// answer, and any exception that is not an AttemptError, is the handler's own.
ErrorClass class_of(const std::exception& error);

}  // namespace fencepost::jobs
