// Runs a session on the model and on the real Redis and tells where they first differ.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "tests/fidelity/redis/generate.h"
#include "tests/fidelity/redis/model_side.h"
#include "tests/fidelity/redis/real_side.h"

namespace fencepost::fidelity {

class Differ {
public:
    Differ(const model::RedisOptions& model, std::unique_ptr<RealSide> real)
        : model_(model), real_(std::move(real)) {}

    // Every reply to the letter, and at the end every key that is left: type, value, deadline;
    // and which of the lease scripts are known.
    [[nodiscard]] std::optional<Difference> compare(const Session& session);
    // Whether the last session had a command that the model refuses as not implemented. Such a
    // session cannot be compared.
    [[nodiscard]] bool refused() const { return refused_; }
    // Commands compared so far, without those that look at the end.
    [[nodiscard]] std::int64_t steps() const { return steps_; }

private:
    struct Asked {
        Step step;
        Reply model;
        std::size_t position = 0;  // in the session
        bool at_the_end = false;
    };

    Reply ask(const Step& step, std::size_t position, bool at_the_end);
    void ask_what_is_left(Step::To to, std::size_t position);
    [[nodiscard]] std::optional<Difference> check(const Session& session);
    [[nodiscard]] bool makes_sense(const Step& step) const;
    void note(const Step& step);

    ModelSide model_;
    std::unique_ptr<RealSide> real_;
    std::vector<Asked> asked_;
    bool has_replica_ = false;
    bool has_former_primary_ = false;
    bool scripts_ = false;  // the session has concerned them
    bool refused_ = false;
    std::int64_t steps_ = 0;
};

// The smallest session of those that rapidcheck can shrink it to that still differs.
[[nodiscard]] Difference shrink(Differ& differ, const rc::Shrinkable<Session>& differing);

}  // namespace fencepost::fidelity
