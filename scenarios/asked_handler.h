// Asking a handler for what it says of itself: its schema, its expectations, its open work. Its
// code is other people's, so whatever it throws is said of it.
#pragma once

#include <fmt/format.h>

#include <exception>
#include <new>
#include <string_view>

#include "scenarios/handler.h"
#include "sim/plan.h"
#include "sim/require.h"

namespace fencepost::scenarios {

// What `ask` returns. Throws sim::PlanError without a place: "the schema of mine cannot be made:
// …".
template <typename Ask>
auto asked(const HandlerSpec& handler, std::string_view what, const Ask& ask) {
    const auto fail = [&](std::string_view why) {
        throw sim::PlanError(
            fmt::format("the {} of {} cannot be made: {}", what, handler.name, why));
    };
    try {
        return ask();
    } catch (const sim::PlanError&) {
        throw;
    } catch (const sim::BrokenInvariant&) {
        throw;
    } catch (const std::bad_alloc&) {
        throw;
    } catch (const std::exception& error) {
        fail(error.what());
    } catch (...) {
        fail("what it throws is no std::exception");
    }
    return decltype(ask()){};
}

}  // namespace fencepost::scenarios
