// Exceptions that end an attempt. Each says whether the effect of the call that threw is definite:
// Effect::None    nothing of the call was applied, and nothing will be;
// Effect::Unknown it may have been applied, or may still be: look it up by its business key.
#pragma once

#include <stdexcept>
#include <string>

namespace fencepost::jobs {

enum class Effect { None, Unknown };

class AttemptError : public std::runtime_error {
public:
    AttemptError(const std::string& message, Effect effect)
        : std::runtime_error(message), effect_(effect) {}
    [[nodiscard]] Effect effect() const { return effect_; }

private:
    Effect effect_;
};

// The peer refused, reset or never answered. The connection is unusable afterwards.
class ConnectionLost : public AttemptError {
public:
    using AttemptError::AttemptError;
};

// COMMIT was sent and its answer never came. The transaction may be committed, rolled back, or even
// be committed later; only a look-up by the business key tells.
class CommitOutcomeUnknown : public ConnectionLost {
public:
    explicit CommitOutcomeUnknown(const std::string& message)
        : ConnectionLost(message, Effect::Unknown) {}
};

// The lease ended, or could no longer be confirmed: the holder must assume that the right to write
// is gone. Whatever was committed before stays; nothing is applied by the call that threw.
class LeaseLost : public AttemptError {
public:
    explicit LeaseLost(const std::string& message) : AttemptError(message, Effect::None) {}
};

// A newer holder has taken the claim over: the fenced statement changed 0 rows and the transaction
// around it was rolled back.
class Fenced : public AttemptError {
public:
    explicit Fenced(const std::string& message) : AttemptError(message, Effect::None) {}
};

}  // namespace fencepost::jobs
