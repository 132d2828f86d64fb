#include "sim/fault_json.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace fencepost::sim {
namespace {

// The key under which a kind names the party that it strikes.
std::string_view party_key(const FaultKindInfo& info) {
    if ((info.needs & kServer) != 0) return "server";
    if ((info.needs & kOf) != 0) return "of";
    if ((info.needs & kNode) != 0) return "node";
    return "";
}

std::vector<std::string_view> keys_of(const FaultKindInfo& info) {
    std::vector<std::string_view> keys{"do"};
    if (info.at_point) keys.insert(keys.end(), {"at", "phase"});
    if (info.at_time) keys.emplace_back("at_time");
    if (!party_key(info).empty()) keys.push_back(party_key(info));
    const unsigned takes = info.needs | info.may_take;
    if ((takes & kBetween) != 0) keys.insert(keys.end(), {"between", "from", "to"});
    if ((takes & kRestartAfter) != 0) keys.emplace_back("restart_after");
    if ((takes & kFor) != 0) keys.emplace_back("for");
    if ((takes & kBy) != 0) keys.emplace_back("by");
    if ((takes & kGrace) != 0) keys.emplace_back("grace");
    if ((takes & kPpm) != 0) keys.emplace_back("ppm");
    if ((takes & kKeep) != 0) keys.emplace_back("keep");
    if ((takes & kKey) != 0) keys.emplace_back("key");
    if ((takes & kVersion) != 0) keys.emplace_back("version");
    if ((takes & kUnit) != 0) keys.emplace_back("unit");
    if ((takes & kJob) != 0) keys.emplace_back("job");
    return keys;
}

void read_point(const JsonObject& in, const FaultKindInfo& info, Fault& fault) {
    fault.at = in.text("at");
    if (!parse_address(fault.at)) {
        throw PlanError(
            in.place_of("at"),
            fmt::format(
                "\"{}\" is not a fault point; write NODE#INCARNATION/TASK/OPERATION/ORDINAL, "
                "for example \"A#1/*/db.commit/1\"",
                fault.at));
    }
    fault.phase = info.usual_phase;
    if (!in.has("phase")) return;
    const std::string written = in.text("phase");
    std::vector<std::string_view> possible;
    bool found = false;
    for (const Phase phase : kPhases) {
        if ((info.phases & (1U << static_cast<unsigned>(phase))) == 0) continue;
        possible.push_back(name_of(phase));
        if (name_of(phase) == written) {
            fault.phase = phase;
            found = true;
        }
    }
    if (!found) {
        throw PlanError(
            in.place_of("phase"),
            fmt::format("\"{}\" is not a phase at which \"{}\" can strike; possible: {}", written,
                        info.name, listed(possible)));
    }
}

void read_place(const JsonObject& in, const FaultKindInfo& info, Fault& fault,
                const std::string& place) {
    if (in.has("at") && in.has("at_time"))
        throw PlanError(place, "give either \"at\" or \"at_time\", not both");
    if (in.has("at") && info.at_point) {
        read_point(in, info, fault);
    } else if (in.has("at_time") && info.at_time) {
        const std::string written = in.text("at_time");
        fault.at_time = parse_time(written);
        if (!fault.at_time) {
            throw PlanError(
                in.place_of("at_time"),
                fmt::format("\"{}\" is not an instant; write for example \"2026-03-02T18:00:03Z\"",
                            written));
        }
    } else {
        throw PlanError(
            place,
            fmt::format("\"{}\" needs {}", info.name,
                        info.at_point ? (info.at_time ? "\"at\" (a fault point) or \"at_time\""
                                                      : "\"at\" (a fault point)")
                                      : "\"at_time\""));
    }
}

void read_parties(const JsonObject& in, const FaultKindInfo& info, Fault& fault,
                  const std::string& place) {
    const std::string_view key = party_key(info);
    const bool optional_here = key == "node" && !fault.at.empty();
    if (!key.empty() && (in.has(key) || !optional_here)) fault.party = in.text(key);
    if ((info.needs & kBetween) == 0) return;
    if (const Json* between = in.find("between")) {
        if (!between->is_array() || between->size() != 2 || !(*between)[0].is_string() ||
            !(*between)[1].is_string()) {
            throw PlanError(in.place_of("between"),
                            "two names in brackets are expected, for example [\"B\", \"redis\"]");
        }
        if (in.has("from") || in.has("to"))
            throw PlanError(place, "give either \"between\" or \"from\" and \"to\"");
        fault.from = (*between)[0].get<std::string>();
        fault.to = (*between)[1].get<std::string>();
    } else if (in.has("from") || in.has("to")) {
        fault.from = in.text("from");
        fault.to = in.text("to");
        fault.one_way = true;
    } else {
        throw PlanError(
            place, "\"partition\" needs \"between\" (both ways) or \"from\" and \"to\" (one way)");
    }
    if (fault.from == fault.to) throw PlanError(place, "a partition needs two different parties");
}

void read_arguments(const JsonObject& in, const FaultKindInfo& info, Fault& fault,
                    const std::string& place) {
    struct Argument {
        std::string_view key;
        unsigned bit;
        std::optional<Duration> Fault::*member;
        bool may_be_negative;
    };
    static constexpr std::array<Argument, 4> kDurations{
        {{"restart_after", kRestartAfter, &Fault::restart_after, false},
         {"for", kFor, &Fault::lasting, false},
         {"by", kBy, &Fault::by, true},
         {"grace", kGrace, &Fault::grace, false}}};
    for (const Argument& argument : kDurations) {
        if (((info.needs | info.may_take) & argument.bit) == 0) continue;
        fault.*argument.member = in.duration(argument.key);
        if (!(fault.*argument.member) && (info.needs & argument.bit) != 0) {
            throw PlanError(place, fmt::format("\"{}\" needs \"{}\", a duration such as \"5s\"",
                                               info.name, argument.key));
        }
        const bool negative_allowed = argument.may_be_negative && info.kind == FaultKind::ClockJump;
        if (fault.*argument.member && *(fault.*argument.member) < Duration::zero() &&
            !negative_allowed) {
            throw PlanError(in.place_of(argument.key), "a negative duration makes no sense here");
        }
    }
    if (in.has("ppm") || (info.needs & kPpm) != 0) {
        const Json* value = in.find("ppm");
        fault.ppm = value != nullptr ? whole_number(*value) : std::nullopt;
        if (!fault.ppm || *fault.ppm < -500'000 || *fault.ppm > 500'000) {
            throw PlanError(
                in.place_of("ppm"),
                "a whole number of microseconds a second from -500000 to 500000 is expected");
        }
    }
    if (in.has("keep")) {
        fault.keep = in.text("keep");
        if (fault.keep != "all" && fault.keep != "last-second-lost" && fault.keep != "none") {
            throw PlanError(in.place_of("keep"),
                            fmt::format("\"{}\" is unknown; possible: all, last-second-lost, none",
                                        fault.keep));
        }
    }
    if (((info.needs | info.may_take) & kKey) != 0) fault.key = in.text("key");
    if (((info.needs | info.may_take) & kUnit) != 0) fault.unit = in.text("unit");
    if (((info.needs | info.may_take) & kJob) != 0) fault.job = in.text("job");
    if ((info.needs & kVersion) != 0) {
        const Json* value = in.find("version");
        fault.version = value != nullptr ? whole_number(*value) : std::nullopt;
        if (!fault.version || *fault.version < 1) {
            throw PlanError(in.place_of("version"),
                            "the number of a version is expected here, from 1 on");
        }
    }
}

}  // namespace

Fault fault_from_json(const Json& json, const std::string& place) {
    const JsonObject in{json, place};
    const std::string name = in.text("do");
    const FaultKindInfo* info = find_fault_kind(name);
    if (info == nullptr) {
        std::vector<std::string_view> names;
        for (const FaultKindInfo& known : fault_kinds()) names.push_back(known.name);
        throw PlanError(in.place_of("do"),
                        fmt::format("\"{}\" is not a fault; known are {}", name, listed(names)));
    }
    in.allow_only(keys_of(*info));
    Fault fault;
    fault.kind = info->kind;
    read_place(in, *info, fault, place);
    read_parties(in, *info, fault, place);
    read_arguments(in, *info, fault, place);
    return fault;
}

Json to_json(const Fault& fault) {
    const FaultKindInfo& info = info_of(fault.kind);
    Json json;
    if (fault.at_time) {
        json["at_time"] = to_text(*fault.at_time);
    } else {
        json["at"] = fault.at;
        json["phase"] = name_of(fault.phase);
    }
    json["do"] = info.name;
    if (!fault.party.empty()) json[std::string(party_key(info))] = fault.party;
    if (!fault.from.empty()) {
        if (fault.one_way) {
            json["from"] = fault.from;
            json["to"] = fault.to;
        } else {
            json["between"] = {fault.from, fault.to};
        }
    }
    if (fault.restart_after) json["restart_after"] = to_text(*fault.restart_after);
    if (fault.lasting) json["for"] = to_text(*fault.lasting);
    if (fault.by) json["by"] = to_text(*fault.by);
    if (fault.grace) json["grace"] = to_text(*fault.grace);
    if (fault.ppm) json["ppm"] = *fault.ppm;
    if (!fault.keep.empty()) json["keep"] = fault.keep;
    if (!fault.key.empty()) json["key"] = fault.key;
    if (fault.version) json["version"] = *fault.version;
    if (!fault.unit.empty()) json["unit"] = fault.unit;
    if (!fault.job.empty()) json["job"] = fault.job;
    return json;
}

}  // namespace fencepost::sim
