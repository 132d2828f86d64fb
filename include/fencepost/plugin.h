// Handlers of your own, as a shared library that the program loads:
//
//     fencepost accept --handlers ./libmyjobs.so --handler expire-points
//
// The library defines one function, in which it makes its handlers (and perhaps scenarios) known:
//
//     #include <fencepost/plugin.h>
//
//     FENCEPOST_PLUGIN(registry) {
//         registry.add(fencepost::gated("expire-points", expire_points, kSchema));
//     }
//
// Build it with the same compiler and the same version of Fencepost as the program; what was built
// with another version is refused when it is loaded. It leaves Fencepost's symbols undefined, for
// the program has them.
//
// A program of your own can do without a shared library: make the handlers known with
// fencepost::Registry{}.add(…) and call fencepost::cli::fencepost_main (cli/fencepost_main.h).
#pragma once

#include <cstddef>
#include <utility>

#include "checkers/checker.h"
#include "checkers/findings.h"
#include "scenarios/own_handler.h"
#include "scenarios/scenario.h"

namespace fencepost {

using checkers::Checker;
using checkers::Judgement;
using checkers::Reading;
using scenarios::consumer;
using scenarios::gated;
using scenarios::HandlerSpec;
using scenarios::Scenario;
using scenarios::start_up;
using scenarios::ungated;

// What plug-ins add to. What it gets lasts as long as the process.
class Registry {
public:
    // Throws std::invalid_argument when the name is taken, or when what makes a handler is missing:
    // its name or its program.
    void add(HandlerSpec handler) { scenarios::add_handler(std::move(handler)); }
    // Throws std::invalid_argument when the name is taken. Its texts are string literals.
    void add(const Checker& checker) { checkers::add_checker(checker); }
    // In place of the scenario of that name, if there is one.
    void add(Scenario scenario) { scenarios::put_scenario(std::move(scenario)); }
};

// What program and plug-in must agree on: the version, and the layout of what passes between them,
// which differs when they were built from different sources or with different libraries.
struct PluginInterface {
    const char* version;
    std::size_t layout;
};

inline constexpr const char* kVersion = "0.1.0";
inline constexpr PluginInterface kPluginInterface{
    .version = kVersion,
    .layout = (sizeof(HandlerSpec) * 4096 + sizeof(Scenario)) * 4096 + sizeof(jobs::Ports)};

}  // namespace fencepost

#define FENCEPOST_PLUGIN(registry)                                                             \
    extern "C" __attribute__((visibility("default")))                                          \
    const fencepost::PluginInterface fencepost_plugin_interface = fencepost::kPluginInterface; \
    extern "C" __attribute__((visibility("default"))) void fencepost_plugin_register(          \
        fencepost::Registry& registry)
