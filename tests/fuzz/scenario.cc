// libFuzzer's entry to the reader of scenarios: scripts/fuzz-readers.
#include <cstddef>
#include <cstdint>

#include "tests/fuzz/readers.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    fencepost::fuzz::read_any_scenario({reinterpret_cast<const char*>(data), size});
    return 0;
}
