// What is wrong with a command line or a file, in one sentence that names the place and says what
// would be right. It reaches the user as "fencepost: …", and the exit code is 2.
#pragma once

#include <stdexcept>

namespace fencepost::cli {

class CommandError : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

}  // namespace fencepost::cli
