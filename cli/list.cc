#include <fmt/format.h>
#include <fmt/ranges.h>

#include "checkers/checker.h"
#include "cli/command_error.h"
#include "cli/commands.h"
#include "cli/names.h"
#include "cli/output.h"
#include "reports/json.h"
#include "reports/text.h"
#include "scenarios/probes.h"
#include "scenarios/scenario.h"
#include "sim/fault.h"

namespace fencepost::cli {
namespace {

using Items = std::vector<reports::ListItem>;

Items scenario_items() {
    Items items;
    for (const scenarios::Scenario& scenario : scenarios::all_scenarios()) {
        items.push_back({.name = scenario.name,
                         .text = scenario.claim,
                         .group = scenario.condition == 0
                                      ? "of no condition of the checklist"
                                      : fmt::format("condition {}", scenario.condition)});
    }
    return items;
}

Items handler_items() {
    Items items;
    for (const scenarios::HandlerSpec& handler : scenarios::all_handlers()) {
        std::string text = handler.lesson;
        if (handler.is_mistake())
            text += fmt::format(" (breaks: {})", fmt::join(handler.breaks, " or "));
        items.push_back({.name = handler.name,
                         .text = std::move(text),
                         .group = !scenarios::is_built_in(handler.name) ? "handlers of your own"
                                  : handler.is_mistake()                ? "planted mistakes"
                                                                        : "handlers"});
    }
    return items;
}

Items fault_items() {
    Items items;
    for (const sim::FaultKindInfo& kind : sim::fault_kinds()) {
        items.push_back({.name = std::string(kind.name),
                         .text = std::string(kind.summary),
                         .group = std::string(name_of(kind.family))});
    }
    return items;
}

Items checker_items() {
    Items items;
    for (const checkers::Checker& checker : checkers::all_checkers()) {
        items.push_back({.name = std::string(checker.name),
                         .text = std::string(checker.invariant),
                         .group = {}});
    }
    return items;
}

Items probe_items() {
    Items items;
    for (const scenarios::Probe& probe : scenarios::all_probes()) {
        items.push_back(
            {.name = std::string(probe.name), .text = std::string(probe.sentence), .group = {}});
    }
    return items;
}

Items operation_items() {
    Items items;
    for (const std::string& operation : scenarios::known_operations()) {
        items.push_back(
            {.name = operation, .text = {}, .group = operation.substr(0, operation.find('.'))});
    }
    return items;
}

struct List {
    std::string_view name;
    Items (*items)();
};

constexpr std::array kLists{
    List{"scenarios", &scenario_items}, List{"handlers", &handler_items},
    List{"faults", &fault_items},       List{"checkers", &checker_items},
    List{"probes", &probe_items},       List{"operations", &operation_items}};

}  // namespace

int list_command(const Arguments& arguments, Console& console) {
    for (const List& list : kLists) {
        if (list.name != arguments.operand()) continue;
        check_outputs(arguments, {"json"});
        const Items items = list.items();
        print_result(arguments, console, reports::list_text(items, console.style),
                     reports::list_json(list.name, items));
        return 0;
    }
    std::vector<std::string> names;
    for (const List& list : kLists) names.emplace_back(list.name);
    throw CommandError(unknown_name("list", arguments.operand(), names));
}

}  // namespace fencepost::cli
