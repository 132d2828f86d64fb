// Failures of the corpus: the list of all, and what became of those that an acceptance replays.
#include <fmt/format.h>

#include <algorithm>

#include "reports/text.h"

namespace fencepost::reports {
namespace {

std::string state_of(const SavedReplay& saved) {
    if (!saved.trouble.empty()) return saved.trouble;
    const std::string state{name_of(saved.outcome)};
    return saved.moved.empty() ? state : fmt::format("{} ({})", state, saved.moved);
}

}  // namespace

std::string corpus_text(const CorpusReport& report, TextStyle style) {
    Table table{{{.heading = {"handler"}, .most = 28},
                 {.heading = {"breaks"}, .most = 20},
                 {.heading = {"scenario"}, .most = 20},
                 {.heading = {"faults"}, .right = true},
                 {.heading = {"state"}, .most = 24}}};
    std::uint64_t gone = 0;
    for (const SavedReplay& saved : report.failures) {
        gone += saved.is_gone() ? 1 : 0;
        // A file that cannot be read has but its name.
        table.add_row({{saved.handler.empty() ? saved.name : saved.handler},
                       {saved.checker},
                       {saved.scenario},
                       {saved.handler.empty() ? "" : std::to_string(saved.faults)},
                       {state_of(saved), saved.trouble.empty() ? Ink::Plain : Ink::Bad}});
    }
    std::string out = report.failures.empty() ? "" : table.text(style, 1) + "\n";
    return out + fmt::format("{} in {}; {} no failure any more\n",
                             counted(report.failures.size(), "failure", "failures"), report.folder,
                             grouped(gone));
}

std::string saved_text(const std::vector<SavedReplay>& saved, TextStyle style) {
    if (saved.empty()) return {};
    const auto there = static_cast<std::uint64_t>(
        std::ranges::count_if(saved, [](const SavedReplay& each) { return !each.is_gone(); }));
    std::string out;
    add_field(out, "saved failures",
              fmt::format("{} replayed, {} there again", grouped(saved.size()), grouped(there)),
              16);
    for (const SavedReplay& each : saved) {
        if (each.is_gone()) continue;
        const bool broke_its_run = !each.trouble.empty();
        out += inked(fmt::format("{} {}  {}, handler {}", broke_its_run ? "BROKEN" : "FAIL",
                                 each.checker, each.scenario, each.handler),
                     Ink::Bad, style) +
               "\n";
        add_field(out, "what", state_of(each));
        if (!each.replay.empty()) out += "  replay         " + each.replay + "\n";
    }
    return out + "\n";
}

}  // namespace fencepost::reports
