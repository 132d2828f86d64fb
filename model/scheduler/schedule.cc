#include "model/scheduler/schedule.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "sim/require.h"

namespace fencepost::model {
namespace {

using sim::Duration;
using sim::Time;

bool is_whole_milliseconds(Duration duration) {
    return duration % std::chrono::milliseconds{1} == Duration::zero();
}

}  // namespace

Schedule Schedule::at(std::vector<Time> instants) {
    sim::require(!instants.empty(), "a schedule has at least one instant");
    std::ranges::sort(instants);
    const auto repeated = std::ranges::unique(instants);
    instants.erase(repeated.begin(), repeated.end());
    for (const Time instant : instants) {
        sim::require(is_whole_milliseconds(instant.time_since_epoch()),
                     "a schedule's instants are whole milliseconds");
    }
    return Schedule{Instants{std::move(instants)}};
}

Schedule Schedule::every(Time start, Duration interval, std::uint32_t count) {
    sim::require(count > 0, "a schedule has at least one instant");
    sim::require(interval > Duration::zero(), "a schedule's interval is positive");
    sim::require(is_whole_milliseconds(start.time_since_epoch()) && is_whole_milliseconds(interval),
                 "a schedule's instants are whole milliseconds");
    return Schedule{Interval{start, interval, count}};
}

Schedule Schedule::cron(std::string_view expression, std::string_view time_zone,
                        const CronSpan& span) {
    auto parsed = CronExpression::parse(expression);
    if (!parsed) {
        throw std::invalid_argument(
            fmt::format("cron expression \"{}\": {}", expression, parsed.error().text()));
    }
    auto zone = CronTimeZone::find(time_zone);
    if (!zone) {
        throw std::invalid_argument(fmt::format(
            "the system knows no time zone \"{}\"; one is called as \"Europe/Berlin\"", time_zone));
    }
    auto cron = std::make_shared<Cron>(*std::move(parsed), *std::move(zone), span, Time{});
    const auto first =
        cron->next_after(std::chrono::floor<std::chrono::seconds>(span.from) - Duration{1});
    if (!first) {
        throw std::invalid_argument(
            fmt::format("cron expression \"{}\" is never due in its span", expression));
    }
    cron->first = *first;
    return Schedule{std::move(cron)};
}

std::optional<Time> Schedule::Cron::next_after(Time instant) const {
    // Of the seconds that the span begins within, Quartz counts the whole.
    const auto after = std::chrono::floor<std::chrono::seconds>(
        std::max(instant, std::chrono::floor<std::chrono::seconds>(span.from) - Duration{1}));
    const auto next = expression.next_after(after, time_zone);
    if (!next || *next >= std::chrono::floor<std::chrono::seconds>(Time::max()))
        return std::nullopt;
    if (span.until && *next > *span.until) return std::nullopt;
    return *next;
}

Schedule::Parts Schedule::parts() const {
    if (const auto* cron = std::get_if<std::shared_ptr<const Cron>>(&rule_)) {
        return CronText{(*cron)->expression.text(), (*cron)->time_zone.name(), (*cron)->span};
    }
    if (const auto* list = std::get_if<Instants>(&rule_)) return *list;
    return std::get<Interval>(rule_);
}

std::string Schedule::text() const {
    if (const auto* cron = std::get_if<std::shared_ptr<const Cron>>(&rule_)) {
        return fmt::format("cron {} {}", (*cron)->expression.text(), (*cron)->time_zone.name());
    }
    if (const auto* every = std::get_if<Interval>(&rule_)) {
        const auto often =
            every->count == kForEver ? "for ever" : fmt::format("{} times", every->count);
        return fmt::format("every {} from {}, {}", sim::to_text(every->step),
                           sim::to_text(every->start), often);
    }
    std::string text = "at";
    for (const Time each : std::get<Instants>(rule_).sorted) text += " " + sim::to_text(each);
    return text;
}

Time Schedule::first() const {
    if (const auto* cron = std::get_if<std::shared_ptr<const Cron>>(&rule_)) return (*cron)->first;
    if (const auto* list = std::get_if<Instants>(&rule_)) return list->sorted.front();
    return std::get<Interval>(rule_).start;
}

std::optional<Time> Schedule::next_after(Time instant) const {
    if (const auto* list = std::get_if<Instants>(&rule_)) {
        const auto next = std::ranges::upper_bound(list->sorted, instant);
        if (next == list->sorted.end()) return std::nullopt;
        return *next;
    }
    if (const auto* cron = std::get_if<std::shared_ptr<const Cron>>(&rule_)) {
        return (*cron)->next_after(instant);
    }
    const Interval& rule = std::get<Interval>(rule_);
    if (instant < rule.start) return rule.start;
    const auto passed = (instant - rule.start) / rule.step + 1;
    if (rule.count != kForEver && passed >= rule.count) return std::nullopt;
    return rule.start + passed * rule.step;
}

bool Schedule::is_endless_interval() const {
    const auto* every = std::get_if<Interval>(&rule_);
    return every != nullptr && every->count == kForEver;
}

std::optional<Schedule> Schedule::rest_moved(Time missed, Time now) const {
    const auto* every = std::get_if<Interval>(&rule_);
    if (every == nullptr || every->count == kForEver || every->count == 1) return std::nullopt;
    const auto before = static_cast<std::uint32_t>((missed - every->start) / every->step);
    sim::require(missed >= every->start && before < every->count, "what was missed was due");
    return Schedule{Interval{now, every->step, every->count - before}};
}

std::vector<Time> Schedule::instants_until(Time last) const {
    return instants_between(first(), last);
}

std::vector<Time> Schedule::instants_between(Time from, Time last) const {
    std::vector<Time> instants;
    for (auto next = next_after(from - Duration{1}); next && *next <= last;
         next = next_after(*next)) {
        instants.push_back(*next);
    }
    return instants;
}

}  // namespace fencepost::model
