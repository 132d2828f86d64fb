#include "scenarios/search/profile.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <vector>

#include "scenarios/nearest.h"
#include "scenarios/reduced.h"
#include "scenarios/scenario.h"
#include "scenarios/search/whole_file.h"
#include "sim/json_object.h"

namespace fencepost::scenarios {
namespace {

using namespace std::chrono_literals;
using Json = nlohmann::ordered_json;
using sim::FaultFamily;
using sim::PlanError;

constexpr std::uint64_t kMostFaults = 20;
constexpr std::uint64_t kUsualPercent = 50;  // of a family

constexpr std::array kFamilies{FaultFamily::Node,   FaultFamily::Call,    FaultFamily::Network,
                               FaultFamily::Server, FaultFamily::Clock,   FaultFamily::Scheduler,
                               FaultFamily::Broker, FaultFamily::Operator};

std::vector<Profile> built_in_profiles() {
    Profile gentle;
    gentle.name = "gentle";
    gentle.without_faults = 30;
    gentle.most_faults = 1;
    for (const FaultFamily family : kFamilies) gentle.families[family] = 30;
    gentle.longest = 5s;
    Profile harsh;
    harsh.name = "harsh";
    harsh.without_faults = 5;
    harsh.least_faults = 2;
    harsh.most_faults = 5;
    for (const FaultFamily family : kFamilies) harsh.families[family] = 75;
    harsh.clock_offsets = {.percent = 50, .most = 500ms};
    harsh.latencies = {.percent = 30, .most = 50ms};
    harsh.parameters = {{"accounts", {1, 12}}, {"batch", {1, 5}}, {"start_ups", {1, 4}}};
    return {gentle, Profile{}, harsh};
}

const std::vector<Profile>& profiles() {
    static const std::vector<Profile> kProfiles = built_in_profiles();
    return kProfiles;
}

// --- reading

[[noreturn]] void fail(const std::string& place, const std::string& what) {
    throw PlanError(place + ": " + what);
}

const Json& object_at(const Json& value, const std::string& place) {
    if (!value.is_object()) fail(place, "an object in braces is expected here");
    return value;
}

void allow_only(const Json& object, const std::string& prefix,
                std::initializer_list<std::string_view> keys) {
    for (const auto& [key, value] : object.items()) {
        if (std::ranges::find(keys, std::string_view{key}) != keys.end()) continue;
        fail(prefix + key, fmt::format("unknown key; known here are {}", fmt::join(keys, ", ")));
    }
}

std::uint64_t number_at(const Json& value, const std::string& place, std::uint64_t least,
                        std::uint64_t most) {
    if (!value.is_number_unsigned() || value.get<std::uint64_t>() < least ||
        value.get<std::uint64_t>() > most) {
        fail(place, fmt::format("{} is no whole number from {} to {}", value.dump(), least, most));
    }
    return value.get<std::uint64_t>();
}
std::uint64_t percent_at(const Json& value, const std::string& place) {
    return number_at(value, place, 0, 100);
}

sim::Duration duration_at(const Json& value, const std::string& place) {
    const auto duration = value.is_string() ? sim::parse_duration(value.get<std::string>())
                                            : std::optional<sim::Duration>{};
    if (!duration || *duration < sim::Duration::zero()) {
        fail(place, fmt::format("{} is no duration such as \"200ms\" or \"15s\"", value.dump()));
    }
    return *duration;
}

void read_faults(const Json& faults, Profile& profile) {
    allow_only(object_at(faults, "faults"), "faults.", {"without", "least", "most"});
    if (faults.contains("without"))
        profile.without_faults = percent_at(faults["without"], "faults.without");
    if (faults.contains("least"))
        profile.least_faults = number_at(faults["least"], "faults.least", 1, kMostFaults);
    if (faults.contains("most"))
        profile.most_faults = number_at(faults["most"], "faults.most", 1, kMostFaults);
    if (profile.most_faults && *profile.most_faults < profile.least_faults) {
        fail("faults.most", fmt::format("{} is less than the {} of faults.least",
                                        *profile.most_faults, profile.least_faults));
    }
}

void read_families(const Json& families, Profile& profile) {
    std::vector<std::string> known;
    for (const FaultFamily family : kFamilies) known.emplace_back(name_of(family));
    for (const auto& [name, percent] : object_at(families, "families").items()) {
        const auto family = std::ranges::find(known, name);
        if (family == known.end()) {
            fail("families." + name,
                 fmt::format("unknown family{}; known are {}", did_you_mean(name, known),
                             fmt::join(known, ", ")));
        }
        profile.families[kFamilies.at(static_cast<std::size_t>(family - known.begin()))] =
            percent_at(percent, "families." + name);
    }
}

void read_durations(const Json& durations, Profile& profile) {
    allow_only(object_at(durations, "durations"), "durations.", {"least", "most"});
    if (durations.contains("least"))
        profile.shortest = duration_at(durations["least"], "durations.least");
    if (durations.contains("most"))
        profile.longest = duration_at(durations["most"], "durations.most");
    if (profile.longest && *profile.longest < profile.shortest)
        fail("durations.most", "it is less than durations.least");
}

Profile::Skew skew_at(const Json& skew, const std::string& place) {
    allow_only(object_at(skew, place), place + ".", {"percent", "most"});
    for (const std::string key : {"percent", "most"}) {
        if (!skew.contains(key)) fail(place, fmt::format("\"{}\" is missing", key));
    }
    Profile::Skew read{.percent = percent_at(skew["percent"], place + ".percent"),
                       .most = duration_at(skew["most"], place + ".most")};
    // A run is minutes; what lies far beyond is another fault's business.
    if (read.percent > 0 && (read.most < 1ms || read.most > 1h)) {
        fail(place + ".most", "a duration from 1ms to 1h is expected here");
    }
    return read;
}

void read_parameters(const Json& parameters, Profile& profile) {
    std::vector<std::string> known;
    for (const Scenario& scenario : all_scenarios()) {
        for (const auto& [name, value] : scenario.parameters.all()) {
            // Which units there are decides which faults make sense.
            if (name == kUnits || name == kFirstUnit) continue;
            if (std::ranges::find(known, name) == known.end()) known.push_back(name);
        }
    }
    for (const auto& [name, range] : object_at(parameters, "parameters").items()) {
        const std::string place = "parameters." + name;
        if (std::ranges::find(known, name) == known.end()) {
            fail(place, fmt::format("no scenario has this parameter{}; known are {}",
                                    did_you_mean(name, known), fmt::join(known, ", ")));
        }
        if (!range.is_array() || range.size() != 2)
            fail(place, "the least and the most are expected here, such as [1, 10]");
        const auto end = [&](std::size_t index) {
            return static_cast<std::int64_t>(number_at(range[index], place, 1, kMostParameter));
        };
        const ValueRange read{end(0), end(1)};
        if (read.most < read.least)
            fail(place,
                 fmt::format("{} to {} is empty; the least comes first", read.least, read.most));
        profile.parameters[name] = read;
    }
}

Json skew_of(const Profile::Skew& skew) {
    return {{"percent", skew.percent}, {"most", sim::to_text(skew.most)}};
}

}  // namespace

std::uint64_t Profile::percent_of(FaultFamily family) const {
    const auto found = families.find(family);
    return found == families.end() ? kUsualPercent : found->second;
}

bool Profile::allows(const sim::Fault& fault) const {
    return std::ranges::all_of(
        std::array{fault.lasting, fault.by, fault.restart_after}, [this](const auto& given) {
            if (!given) return true;
            const sim::Duration size = *given < sim::Duration::zero() ? -*given : *given;
            return size >= shortest && (!longest || size <= *longest);
        });
}

const Profile* find_profile(std::string_view name) {
    const auto found = std::ranges::find(profiles(), name, &Profile::name);
    return found == profiles().end() ? nullptr : &*found;
}

std::string to_json(const Profile& profile) {
    Json json;
    json["profile"] = profile.name;
    json["faults"] = {{"without", profile.without_faults}, {"least", profile.least_faults}};
    if (profile.most_faults) json["faults"]["most"] = *profile.most_faults;
    json["families"] = Json::object();
    for (const auto& [family, percent] : profile.families)
        json["families"][std::string(name_of(family))] = percent;
    json["durations"] = {{"least", sim::to_text(profile.shortest)}};
    if (profile.longest) json["durations"]["most"] = sim::to_text(*profile.longest);
    json["clock_offsets"] = skew_of(profile.clock_offsets);
    json["latencies"] = skew_of(profile.latencies);
    json["parameters"] = Json::object();
    for (const auto& [name, range] : profile.parameters)
        json["parameters"][name] = {range.least, range.most};
    return json.dump();
}

Profile profile_from_json(std::string_view text) {
    const Json json = sim::parse_json(text);
    object_at(json, "the profile");
    allow_only(
        json, "",
        {"profile", "faults", "families", "durations", "clock_offsets", "latencies", "parameters"});
    Profile profile;
    if (!json.contains("profile") || !json["profile"].is_string() ||
        json["profile"].get<std::string>().empty()) {
        fail("profile", "a name in quotes is expected here, for reports");
    }
    profile.name = json["profile"].get<std::string>();
    if (json.contains("faults")) read_faults(json["faults"], profile);
    if (json.contains("families")) read_families(json["families"], profile);
    if (json.contains("durations")) read_durations(json["durations"], profile);
    if (json.contains("clock_offsets"))
        profile.clock_offsets = skew_at(json["clock_offsets"], "clock_offsets");
    if (json.contains("latencies")) profile.latencies = skew_at(json["latencies"], "latencies");
    if (json.contains("parameters")) read_parameters(json["parameters"], profile);
    if (profile != Profile{} && find_profile(profile.name) != nullptr &&
        *find_profile(profile.name) != profile) {
        fail("profile",
             fmt::format("\"{}\" is a profile of the program; name it otherwise", profile.name));
    }
    return profile;
}

Profile read_profile(const std::string& name_or_path) {
    if (const Profile* built_in = find_profile(name_or_path)) return *built_in;
    std::string text;
    try {
        text = read_whole_file(name_or_path);
    } catch (const PlanError& error) {
        throw PlanError(
            fmt::format("{}; give gentle, default, harsh or the file of a profile", error.what()));
    }
    try {
        Profile profile = profile_from_json(text);
        profile.path = name_or_path;
        return profile;
    } catch (const PlanError& error) {
        fail(name_or_path, error.what());
    }
}

}  // namespace fencepost::scenarios
