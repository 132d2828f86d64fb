#include "scenarios/files/scenario_forms.h"

#include <stdexcept>

#include "sim/fault_json.h"

namespace fencepost::scenarios {
namespace {

using model::Schedule;
using sim::Duration;
using sim::Time;

// The keys of the three kinds of schedules, each with the one that tells it from the others.
const std::vector<std::string> kCronKeys{"cron", "zone", "from", "until"};
const std::vector<std::string> kEveryKeys{"every", "from", "count"};
const std::vector<std::string> kAtKeys{"at"};

// Of an interval: far beyond any run.
constexpr std::int64_t kMostTimes = 10'000;
constexpr Duration kLongestSchedule = std::chrono::hours{24 * 365};

template <typename T>
T read_or(const FileValue& object, std::string_view key, T fallback) {
    const auto found = object.find(key);
    return found ? Form<T>::read(*found) : fallback;
}

void require_whole_milliseconds(const FileValue& value, Duration duration) {
    if (duration % std::chrono::milliseconds{1} == Duration::zero()) return;
    value.fail("schedules are kept in whole milliseconds");
}

Time read_schedule_time(const FileValue& value) {
    const Time time = Form<Time>::read(value);
    require_whole_milliseconds(value, time.time_since_epoch());
    return time;
}

Schedule read_cron(const FileValue& value) {
    const FileValue written = *value.find("cron");
    const std::string expression = written.text();
    if (const auto parsed = model::CronExpression::parse(expression); !parsed) {
        const model::CronError& error = parsed.error();
        written.fail_within(error.position,  // counted from 1, and the quote is a character, too
                            fmt::format("cron expression \"{}\": {}", expression, error.text()));
    }
    const auto zone_key = value.find("zone");
    const std::string zone = zone_key ? zone_key->text() : "UTC";
    if (zone_key && !model::CronTimeZone::find(zone)) {
        zone_key->fail(fmt::format(
            "the system knows no time zone \"{}\"; one is called as \"Europe/Berlin\"", zone));
    }
    model::CronSpan span;
    span.from = read_or(value, "from", span.from);
    if (const auto until = value.find("until")) span.until = Form<Time>::read(*until);
    try {
        return Schedule::cron(expression, zone, span);
    } catch (const std::invalid_argument& error) {
        written.fail(error.what());
    }
}

Schedule read_interval(const FileValue& value) {
    const FileValue every = *value.find("every");
    const Duration step = Form<Duration>::read(every);
    require_whole_milliseconds(every, step);
    if (step == Duration::zero()) every.fail("a duration of more than nothing is expected");
    const auto from = value.find("from");
    const Time start = from ? read_schedule_time(*from) : Time{};
    const auto count = value.find("count");
    if (!count) return Schedule::every(start, step, Schedule::kForEver);
    const std::int64_t times = count->number(1, kMostTimes);
    if (step > kLongestSchedule / times) {
        count->fail(fmt::format("a schedule is over after {}", sim::to_text(kLongestSchedule)));
    }
    return Schedule::every(start, step, static_cast<std::uint32_t>(times));
}

// A list of instants, or one alone.
Schedule read_instants(const FileValue& value) {
    const FileValue at = *value.find("at");
    if (at.json().is_string()) return Schedule::at({read_schedule_time(at)});
    std::vector<Time> instants;
    for (const FileValue& each : at.elements()) instants.push_back(read_schedule_time(each));
    if (instants.empty()) at.fail("at least one instant is expected here");
    return Schedule::at(std::move(instants));
}

struct ScheduleKind {
    const std::vector<std::string>& keys;
    Schedule (*read)(const FileValue&);
};
const std::array kScheduleKinds{ScheduleKind{kCronKeys, &read_cron},
                                ScheduleKind{kEveryKeys, &read_interval},
                                ScheduleKind{kAtKeys, &read_instants}};

Json write_cron(const Schedule::CronText& cron) {
    Json json{{"cron", cron.expression}, {"zone", cron.time_zone}};
    if (cron.span.from != Time{}) json["from"] = sim::to_text(cron.span.from);
    if (cron.span.until) json["until"] = sim::to_text(*cron.span.until);
    return json;
}

}  // namespace

Schedule Form<Schedule>::read(const FileValue& value) {
    for (const ScheduleKind& kind : kScheduleKinds) {
        if (!value.find(kind.keys.front())) continue;
        for (const auto& [name, member] : value.members()) {
            if (std::ranges::find(kind.keys, name) != kind.keys.end()) continue;
            member.fail_at_key(fmt::format("unknown key{}; known beside \"{}\" are {}",
                                           did_you_mean(name, kind.keys), kind.keys.front(),
                                           fmt::join(kind.keys, ", ")));
        }
        return kind.read(value);
    }
    value.fail(R"(a schedule has "cron" (and "zone"), "every" (and "count") or "at", for example )"
               R"({"cron": "0 0 2 * * ?", "zone": "Asia/Shanghai"})");
}

Json Form<Schedule>::write(const Schedule& schedule) {
    const Schedule::Parts parts = schedule.parts();
    if (const auto* cron = std::get_if<Schedule::CronText>(&parts)) return write_cron(*cron);
    if (const auto* list = std::get_if<Schedule::Instants>(&parts)) {
        return Json{{"at", Form<std::vector<Time>>::write(list->sorted)}};
    }
    const auto& every = std::get<Schedule::Interval>(parts);
    Json json{{"every", sim::to_text(every.step)}, {"from", sim::to_text(every.start)}};
    if (every.count != Schedule::kForEver) json["count"] = every.count;
    return json;
}

std::vector<model::NodeZone> Form<std::vector<model::NodeZone>>::read(const FileValue& value) {
    std::vector<model::NodeZone> zones;
    for (const auto& [node, zone] : value.members()) zones.push_back({node, zone.text()});
    return zones;
}

Json Form<std::vector<model::NodeZone>>::write(const std::vector<model::NodeZone>& zones) {
    Json json = Json::object();
    for (const model::NodeZone& each : zones) json[each.node] = each.zone;
    return json;
}

Parameters Form<Parameters>::read(const FileValue& value) {
    constexpr std::int64_t kMost = 1'000'000'000;
    std::map<std::string, std::int64_t, std::less<>> values;
    for (const auto& [name, number] : value.members()) values[name] = number.number(0, kMost);
    return Parameters{std::move(values)};
}

Json Form<Parameters>::write(const Parameters& parameters) {
    Json json = Json::object();
    for (const auto& [name, value] : parameters.all()) json[name] = value;
    return json;
}

sim::Fault Form<sim::Fault>::read(const FileValue& value) {
    try {
        return sim::fault_from_json(value.json(), value.place());
    } catch (const sim::PlanError& error) {
        value.fail_at_place(error.place(), error.sentence());
    }
}

Json Form<sim::Fault>::write(const sim::Fault& fault) {
    return sim::to_json(fault);
}

}  // namespace fencepost::scenarios
