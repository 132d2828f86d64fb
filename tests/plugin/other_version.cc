// A plug-in of another version of Fencepost.
#include <fencepost/plugin.h>

extern "C" __attribute__((visibility("default")))
const fencepost::PluginInterface fencepost_plugin_interface{
    .version = "0.0.9", .layout = fencepost::kPluginInterface.layout};
extern "C" __attribute__((visibility("default"))) void fencepost_plugin_register(
    fencepost::Registry&) {
    __builtin_trap();
}
