// Collects the findings of one checker and makes its judgement of them.
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "checkers/judgement.h"

namespace fencepost::checkers {

// What a judgement shows of its findings; one more says how many there are beyond.
inline constexpr std::size_t kMostFindings = 20;

class Findings {
public:
    void add(sim::RecordId record, std::string key, std::string message);
    [[nodiscard]] bool empty() const { return findings_.empty(); }

    // Fail, with the findings in the order of their records. There is at least one.
    Judgement failed() &&;

private:
    std::vector<Finding> findings_;  // in the order of their records
};

Judgement passed(std::string reason);
Judgement unknown(std::string reason);
Judgement not_applicable(std::string reason);

// "1 effect", "3 effects"; the plural when it is another than with "s".
std::string count_of(std::size_t count, std::string_view noun, std::string_view plural = {});

}  // namespace fencepost::checkers
