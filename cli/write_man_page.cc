// Prints the manual page, for the build: write-man-page VERSION.
#include <iostream>

#include "cli/man_page.h"

int main(int count, char** words) {
    if (count != 2) {
        std::cerr << "write-man-page: give it the version of the project\n";
        return 2;
    }
    std::cout << fencepost::cli::man_page(words[1]);
    return 0;
}
