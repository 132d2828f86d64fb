// A plug-in that was built with other headers than the program.
#include <fencepost/plugin.h>

extern "C" __attribute__((visibility("default")))
const fencepost::PluginInterface fencepost_plugin_interface{.version = fencepost::kVersion,
                                                            .layout = 1};
extern "C" __attribute__((visibility("default"))) void fencepost_plugin_register(
    fencepost::Registry&) {
    __builtin_trap();
}
