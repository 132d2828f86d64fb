// Instants as others write them: ISO 8601, in whatever zone the writer keeps.
//
// Two nodes may write one instant as "2026-03-03T02:00:00+08:00" and "2026-03-02T18:00:00Z". Read
// here, both are the same time. A text that could mean more than one instant is refused rather than
// guessed: above all one without an offset, which is another instant in every zone and two of them
// in the hour that comes twice in autumn.
#pragma once

#include <expected>
#include <string>
#include <string_view>

#include "jobs/fire.h"

namespace fencepost::jobs {

// A date, 'T', a time of day with or without seconds and up to nine decimals, and "Z" or an offset:
// "+08:00", "+0800", "+08", "+00:53:28". The error is a sentence that says what would be right.
std::expected<WallTime, std::string> read_instant(std::string_view text);

// The fire with its instant as the scheduler wrote it, where it wrote it at all. Throws
// std::invalid_argument for a text that is refused.
Fire as_written(Fire fire);

}  // namespace fencepost::jobs
