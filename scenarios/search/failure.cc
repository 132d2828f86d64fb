#include "scenarios/search/failure.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <vector>

#include "scenarios/search/whole_file.h"
#include "sim/json_object.h"
#include "sim/plan_json.h"

namespace fencepost::scenarios {
namespace {

using Json = nlohmann::ordered_json;
using sim::PlanError;

[[noreturn]] void fail(const std::string& place, const std::string& what) {
    throw PlanError(place + ": " + what);
}

void allow_only(const Json& object, const std::string& prefix,
                std::initializer_list<std::string_view> keys) {
    for (const auto& [key, value] : object.items()) {
        if (std::ranges::find(keys, std::string_view{key}) != keys.end()) continue;
        fail(prefix + key, fmt::format("unknown key; known here are {}", fmt::join(keys, ", ")));
    }
}

const Json& member(const Json& object, std::string_view key) {
    const auto found = object.find(key);
    if (found == object.end()) fail("the failure", fmt::format("\"{}\" is missing", key));
    return *found;
}

std::string text_of(const Json& value, const std::string& place) {
    if (!value.is_string()) fail(place, "a text in quotes is expected here");
    return value.get<std::string>();
}

std::uint64_t number_of(const Json& value, const std::string& place) {
    if (!value.is_number_unsigned()) fail(place, "a whole number, not negative, is expected here");
    return value.get<std::uint64_t>();
}

std::uint64_t hash_from(const Json& value, const std::string& place) {
    const std::string text = text_of(value, place);
    try {
        return sim::seed_from_text(text);
    } catch (const PlanError&) {
        fail(place, fmt::format("\"{}\" is not a number such as \"0x5eed\"", text));
    }
}

sim::Plan plan_of(const Json& value) {
    if (!value.is_object()) fail("plan", "an object in braces is expected here");
    try {
        return sim::plan_from_json(value);
    } catch (const PlanError& error) {
        throw PlanError(fmt::format("plan.{}", error.what()));
    }
}

FoundBy found_by_of(const Json& value) {
    if (!value.is_object()) fail("found_by", "an object in braces is expected here");
    allow_only(value, "found_by.", {"how", "seed", "original_faults", "minimal"});
    FoundBy found;
    if (value.contains("how")) found.how = text_of(value["how"], "found_by.how");
    if (value.contains("seed")) found.seed = hash_from(value["seed"], "found_by.seed");
    if (value.contains("original_faults")) {
        found.original_faults = number_of(value["original_faults"], "found_by.original_faults");
    }
    if (value.contains("minimal")) {
        if (!value["minimal"].is_boolean()) {
            fail("found_by.minimal", "true or false is expected here");
        }
        found.minimal = value["minimal"].get<bool>();
    }
    return found;
}

}  // namespace

Failure failure_of(const sim::Plan& plan, const RunResult& result) {
    Failure failure;
    failure.plan = plan;
    failure.fingerprint = result.fingerprint;
    failure.found_by.original_faults = plan.faults.size();
    const checkers::Judgement* judgement = result.failure();
    if (judgement == nullptr) return failure;
    const checkers::Finding finding = checkers::first_finding(*judgement);
    failure.invariant = judgement->checker;
    failure.key = finding.key;
    failure.message = finding.message;
    failure.first_violating_event = finding.record;
    return failure;
}

Failure failure_of(const Shrunk& shrunk) {
    Failure failure;
    failure.plan = shrunk.plan;
    failure.invariant = shrunk.checker;
    failure.key = shrunk.finding.key;
    failure.message = shrunk.finding.message;
    failure.first_violating_event = shrunk.finding.record;
    failure.fingerprint = shrunk.fingerprint;
    failure.found_by.original_faults = shrunk.original_faults;
    failure.found_by.minimal = shrunk.proven;
    return failure;
}

std::string to_json(const Failure& failure) {
    Json json;
    json["fencepost"] = 1;
    json["plan"] = Json::parse(sim::to_json(failure.plan));
    json["invariant"] = failure.invariant;
    json["key"] = failure.key;
    json["message"] = failure.message;
    if (failure.first_violating_event != sim::kNoRecord) {
        json["first_violating_event"] = failure.first_violating_event;
    }
    json["fingerprint"] = sim::seed_to_text(failure.fingerprint);
    if (!failure.version.empty()) json["version"] = failure.version;
    const FoundBy& found = failure.found_by;
    Json& how = json["found_by"] = Json::object();
    if (!found.how.empty()) how["how"] = found.how;
    if (found.seed) how["seed"] = sim::seed_to_text(*found.seed);
    how["original_faults"] = found.original_faults;
    how["minimal"] = found.minimal;
    return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

Failure failure_from_json(std::string_view text) {
    const Json json = sim::parse_json(text);
    if (!json.is_object()) fail("the file", "an object in braces is expected here");
    Failure failure;
    if (!json.contains("fencepost") && json.contains("scenario")) {
        failure.plan = sim::plan_from_json(text);
        return failure;
    }
    if (!json.contains("fencepost")) {
        fail("the file",
             "neither a failure (with \"fencepost\": 1) nor a plan (with \"scenario\")");
    }
    if (json["fencepost"] != 1) {
        fail("fencepost", fmt::format("version {} of failure files is not known; known is 1",
                                      json["fencepost"].dump()));
    }
    allow_only(json, "",
               {"fencepost", "plan", "invariant", "key", "message", "first_violating_event",
                "fingerprint", "version", "found_by"});
    failure.plan = plan_of(member(json, "plan"));
    failure.invariant = text_of(member(json, "invariant"), "invariant");
    if (failure.invariant.empty()) fail("invariant", "the name of a checker is expected here");
    if (json.contains("key")) failure.key = text_of(json["key"], "key");
    if (json.contains("message")) failure.message = text_of(json["message"], "message");
    if (json.contains("first_violating_event")) {
        const std::uint64_t record =
            number_of(json["first_violating_event"], "first_violating_event");
        if (record >= sim::kNoRecord) fail("first_violating_event", "no run has so many events");
        failure.first_violating_event = static_cast<sim::RecordId>(record);
    }
    failure.fingerprint = hash_from(member(json, "fingerprint"), "fingerprint");
    if (json.contains("version")) failure.version = text_of(json["version"], "version");
    if (json.contains("found_by")) failure.found_by = found_by_of(json["found_by"]);
    return failure;
}

Failure read_failure(const std::string& path) {
    const std::string text = read_whole_file(path);
    try {
        return failure_from_json(text);
    } catch (const PlanError& error) {
        fail(path, error.what());
    }
}

void write_failure(const std::string& path, const Failure& failure) {
    write_whole_file(path, to_json(failure));
}

std::string plain_name(std::string name) {
    for (char& c : name) {
        const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                           (c >= '0' && c <= '9') || c == '-' || c == '_' || c == '.';
        if (!plain) c = '_';
    }
    return name;
}

std::string failure_file_name(const Failure& failure) {
    return plain_name(fmt::format(
        "{}-{}-{}-{}.json", failure.plan.scenario, failure.plan.handler, failure.invariant,
        sim::seed_to_text(failure.found_by.seed.value_or(failure.plan.seed))));
}

Replay compare(const Failure& failure, const RunResult& result) {
    Replay replay;
    replay.same_history = !failure.is_bare_plan() && failure.fingerprint == result.fingerprint;
    if (!result.failed()) return replay;
    replay.verdict =
        failure.is_bare_plan() ? ReplayVerdict::SameFailure : ReplayVerdict::OtherInvariant;
    for (const checkers::Judgement& judgement : result.judgements) {
        if (judgement.verdict != checkers::Verdict::Fail) continue;
        if (judgement.checker != failure.invariant) continue;
        replay.verdict =
            replay.same_history ? ReplayVerdict::SameFailure : ReplayVerdict::SameInvariantOtherWay;
        replay.same_key =
            judgement.findings.empty()
                ? failure.key.empty()
                : std::ranges::find(judgement.findings, failure.key, &checkers::Finding::key) !=
                      judgement.findings.end();
    }
    return replay;
}

}  // namespace fencepost::scenarios
