#include <iostream>

#include "cli/fencepost_main.h"

int main(int count, char** words) {
    return fencepost::cli::fencepost_main({words, static_cast<std::size_t>(count)}, std::cout,
                                          std::cerr);
}
