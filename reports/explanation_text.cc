// An explanation for a terminal, and as JSON.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "reports/explanation.h"
#include "reports/text.h"

namespace fencepost::reports {
namespace {

constexpr std::size_t kMostWitnessLines = 6;
constexpr std::size_t kMostLinesOfAnEvent = 3;

std::string heading(std::string_view text, TextStyle style) {
    return inked(text, Ink::Strong, style) + "\n";
}

// At most so many lines of it; the last one says that there is more.
std::vector<std::string> some_lines(std::string_view text, std::size_t width, std::size_t most) {
    auto lines = wrapped(text, width);
    if (lines.size() > most) {
        lines.resize(most);
        lines.back() = shortened(lines.back() + " ...", width);
    }
    return lines;
}

void add_wrapped(std::string& out, std::string_view text, std::size_t indent, std::size_t most) {
    for (const std::string& line : some_lines(text, kPageWidth - indent, most)) {
        out += std::string(indent, ' ') + line + "\n";
    }
}

void add_what_broke(std::string& out, const Explanation& of, TextStyle style) {
    out += heading("What broke", style);
    std::string lead = fmt::format("{}: {}", of.checker, of.invariant);
    if (!of.also.empty()) lead += fmt::format(" (Also broken: {}.)", joined(of.also));
    add_wrapped(out, lead, 2, 3);
    std::string message;
    add_wrapped(message, of.message, 2, 4);
    out += inked(message.substr(0, message.size() - 1), Ink::Bad, style) + "\n";
    if (of.further > 0) {
        out += fmt::format("  and {} like it.\n",
                           counted(of.further, "further violation", "further violations"));
    }
    std::size_t shown = 0;
    for (const Witness& witness : of.witnesses) {
        if (witness.holding.empty() || ++shown > kMostWitnessLines / 2) continue;
        add_wrapped(
            out,
            fmt::format("{} at {} (record {}): {}", witness.who,
                        moment_text(witness.at, of.story.moment), witness.record, witness.holding),
            4, 2);
    }
}

void add_story(std::string& out, const Explanation& of, TextStyle style) {
    out +=
        "\n" + heading(fmt::format("What happened (seconds from {})", of.story.moment_text), style);
    std::size_t width = 4;
    for (const StoryLine& line : of.story.lines) width = std::max(width, width_of(line.who));
    for (const StoryLine& line : of.story.lines) {
        const char mark = line.is_fault ? '!' : line.is_evidence ? '>' : ' ';
        const double seconds = std::chrono::duration<double>(line.at - of.story.moment).count();
        std::string lead = fmt::format("{} {:>+11.4f}  {:<{}}  ", mark,
                                       seconds == 0.0 ? 0.0 : seconds, line.who, width);
        const std::string times = line.times > 1 ? fmt::format(" ({} times)", line.times) : "";
        const std::size_t indent = width_of(lead);
        const std::size_t room = kPageWidth - indent - times.size();
        auto lines = some_lines(line.what, room, kMostLinesOfAnEvent);
        for (std::string& each : lines) each = shortened(each, room);  // what has no blanks
        lines.back() += times;
        const Ink ink = line.is_evidence ? Ink::Bad : line.is_fault ? Ink::Doubt : Ink::Plain;
        for (const std::string& each : lines) {
            out += inked(lead + each, ink, style) + "\n";
            lead.assign(indent, ' ');
        }
    }
}

void add_roles(std::string& out, const Explanation& of, TextStyle style) {
    out += "\n" + heading("What it takes", style);
    if (of.roles.empty()) add_wrapped(out, of.without_faults, 2, 2);
    constexpr std::size_t kMostRoles = 4;
    for (std::size_t i = 0; i < of.roles.size() && i < kMostRoles; ++i) {
        const FaultRole& role = of.roles[i];
        std::string text = fmt::format("fault {}, {}: without it {}", i + 1,
                                       on_one_line(role.fault), role.outcome);
        if (!role.consequence.empty()) text += ": " + role.consequence;
        if (!role.took_effect) text += " (it took no effect)";
        add_wrapped(out, text + ".", 2, 3);
    }
    if (of.roles.size() > kMostRoles) {
        add_wrapped(out,
                    fmt::format("and {} more faults; fencepost shrink leaves out what it does not "
                                "take",
                                of.roles.size() - kMostRoles),
                    2, 1);
    }
    if (!of.twin) return;
    const Twin& twin = *of.twin;
    const bool same_words = twin.here == twin.there;
    add_wrapped(
        out,
        fmt::format(
            "nearest run that passes: {}. It parts at {}: here {}; there {}{}", twin.change,
            moment_text(twin.parted, of.story.moment), twin.here,
            same_words ? "the same at " + moment_text(twin.there_at, of.story.moment) : twin.there,
            twin.consequence.empty() || twin.consequence == twin.there
                ? "."
                : ". So " + twin.consequence + "."),
        2, 4);
}

void add_cause(std::string& out, const Explanation& of, TextStyle style) {
    if (!of.cause) return;
    const Cause& cause = *of.cause;
    if (cause.lesson.empty()) {
        out += fmt::format("\nSee {}\n", cause.reading);
        return;
    }
    out += "\n" + heading("What usually causes this", style);
    std::string text = cause.lesson;
    switch (cause.match) {
        case CauseMatch::Own:
        case CauseMatch::Reference:
            break;
        case CauseMatch::SamePlan:
            text += fmt::format(
                " (The planted mistake {} breaks it under the same plan, in the "
                "most similar way.)",
                cause.mistake);
            break;
        case CauseMatch::SameInvariant:
            text += fmt::format(" (So the planted mistake {}, which breaks the same invariant.)",
                                cause.mistake);
            break;
    }
    add_wrapped(out, text, 2, 4);
    out += fmt::format("  See {}\n", cause.reading);
}

std::string heading_line(const Explanation& of, TextStyle style) {
    return inked(fmt::format("{} is broken", of.checker), Ink::Bad, style) +
           fmt::format(" in {}, handler {}, seed {}{}\n", of.plan.scenario, of.plan.handler,
                       sim::seed_to_text(of.plan.seed),
                       of.plan.faults.empty()
                           ? ", without faults"
                           : ", " + counted(of.plan.faults.size(), "fault", "faults"));
}

}  // namespace

std::string explanation_text(const Explanation& of, TextStyle style) {
    std::string out = heading_line(of, style) + "\n";
    add_what_broke(out, of, style);
    add_story(out, of, style);
    add_roles(out, of, style);
    add_cause(out, of, style);
    if (of.replay.empty() && of.picture.empty()) return out;
    out += "\n";
    if (!of.replay.empty()) out += fmt::format("  every event  {}\n", of.replay);
    if (!of.picture.empty()) out += fmt::format("  a picture    {}\n", of.picture);
    return out;
}

std::string explanation_brief(const Explanation& of, TextStyle style) {
    std::string out = heading_line(of, style) + "\n";
    add_what_broke(out, of, style);
    add_story(out, of, style);
    add_cause(out, of, style);
    return out;
}

std::string explanation_json(const Explanation& of) {
    using nlohmann::ordered_json;
    ordered_json json;
    json["version"] = 1;
    json["report"] = "explanation";
    json["plan"] = ordered_json::parse(sim::to_json(of.plan));
    json["fingerprint"] = fingerprint_text(of.fingerprint);
    json["checker"] = of.checker;
    json["invariant"] = of.invariant;
    json["also"] = of.also;
    json["key"] = of.key;
    json["message"] = of.message;
    json["further"] = of.further;
    const auto seconds = [&](sim::Time at) {
        return std::chrono::duration<double>(at - of.story.moment).count();
    };
    json["evidence"] = ordered_json::array();
    for (const Witness& witness : of.witnesses) {
        json["evidence"].push_back({{"record", witness.record},
                                    {"seconds", seconds(witness.at)},
                                    {"who", witness.who},
                                    {"what", witness.what},
                                    {"holding", witness.holding}});
    }
    json["moment"] = {{"is", of.story.moment_text}, {"at", sim::to_text(of.story.moment)}};
    json["story"] = ordered_json::array();
    for (const StoryLine& line : of.story.lines) {
        json["story"].push_back({{"record", line.record},
                                 {"seconds", seconds(line.at)},
                                 {"who", line.who},
                                 {"what", line.what},
                                 {"times", line.times},
                                 {"fault", line.is_fault},
                                 {"evidence", line.is_evidence}});
    }
    json["story_faults"] = ordered_json::array();
    for (const std::uint32_t fault : of.story.faults) json["story_faults"].push_back(fault + 1);
    json["story_faults_suffice"] = of.story_suffices;
    json["faults"] = ordered_json::array();
    for (const FaultRole& role : of.roles) {
        json["faults"].push_back({{"fault", role.fault},
                                  {"took_effect", role.took_effect},
                                  {"without_it", role.outcome},
                                  {"consequence", role.consequence}});
    }
    json["without_faults"] = of.without_faults;
    json["twin"] = nullptr;
    if (of.twin) {
        json["twin"] = {{"change", of.twin->change},
                        {"seconds", seconds(of.twin->parted)},
                        {"here", of.twin->here},
                        {"there", of.twin->there},
                        {"consequence", of.twin->consequence},
                        {"plan", ordered_json::parse(sim::to_json(of.twin->plan))}};
    }
    json["cause"] = nullptr;
    if (of.cause && !of.cause->lesson.empty()) {
        constexpr std::array kMatches{"own", "reference", "same plan", "same invariant"};
        json["cause"] = {{"match", kMatches.at(static_cast<std::size_t>(of.cause->match))},
                         {"mistake", of.cause->mistake},
                         {"lesson", of.cause->lesson},
                         {"see", of.cause->reading}};
    }
    json["replay"] = of.replay;
    return json.dump(2, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace fencepost::reports
