// The parts of a scenario as they stand in a file: the tables of their keys, the words of their
// enumerations. docs/scenario-files.md and docs/schemas/scenario.schema.json say the same.
#pragma once

#include "scenarios/files/forms.h"
#include "scenarios/scenario.h"

namespace fencepost::scenarios {

template <>
struct Words<Trigger> {
    static constexpr std::string_view kWhat = "trigger";
    static constexpr std::array<std::pair<std::string_view, Trigger>, 3> kAll{
        {{"fires", Trigger::Fires},
         {"messages", Trigger::Messages},
         {"start-up", Trigger::StartUp}}};
};

template <>
struct Words<Ability> {
    static constexpr std::string_view kWhat = "need";
    static constexpr std::array<std::pair<std::string_view, Ability>, 5> kAll{
        {{"outside", Ability::Outside},
         {"batches", Ability::Batches},
         {"two-versions", Ability::TwoVersions},
         {"tenants", Ability::Tenants},
         {"instants", Ability::Instants}}};
};

template <>
struct Words<sim::FaultFamily> {
    static constexpr std::string_view kWhat = "family of faults";
    using Family = sim::FaultFamily;
    static constexpr std::array<std::pair<std::string_view, Family>, 8> kAll{
        {{name_of(Family::Node), Family::Node},
         {name_of(Family::Call), Family::Call},
         {name_of(Family::Network), Family::Network},
         {name_of(Family::Server), Family::Server},
         {name_of(Family::Clock), Family::Clock},
         {name_of(Family::Scheduler), Family::Scheduler},
         {name_of(Family::Broker), Family::Broker},
         {name_of(Family::Operator), Family::Operator}}};
};

template <>
struct Words<model::SchedulerMode> {
    static constexpr std::string_view kWhat = "mode";
    static constexpr std::array<std::pair<std::string_view, model::SchedulerMode>, 2> kAll{
        {{"clustered", model::SchedulerMode::Clustered},
         {"every-node", model::SchedulerMode::EveryNode}}};
};

template <>
struct Words<model::InstanceIds> {
    static constexpr std::string_view kWhat = "way of instance ids";
    static constexpr std::array<std::pair<std::string_view, model::InstanceIds>, 2> kAll{
        {{"node-name", model::InstanceIds::NodeName},
         {"per-incarnation", model::InstanceIds::PerIncarnation}}};
};

template <>
struct Words<model::MisfirePolicy> {
    static constexpr std::string_view kWhat = "misfire policy";
    static constexpr std::array<std::pair<std::string_view, model::MisfirePolicy>, 3> kAll{
        {{"smart", model::MisfirePolicy::Smart},
         {"do-nothing", model::MisfirePolicy::DoNothing},
         {"ignore", model::MisfirePolicy::Ignore}}};
};

// What is wrong with a value by itself.
constexpr std::string_view positive(const sim::Duration& duration) {
    return duration > sim::Duration::zero() ? "" : "a duration of more than nothing is expected";
}
template <std::integral T>
constexpr std::string_view from_one(const T& number) {
    return number >= 1 ? "" : "a number from 1 on is expected here";
}
inline std::string_view not_empty(const std::string& text) {
    return text.empty() ? "a text that says something is expected here" : "";
}
template <typename T>
std::string_view some(const std::vector<T>& list) {
    return list.empty() ? "at least one is expected here" : "";
}

// Zones stand by node: {"A": "Asia/Shanghai"}.
template <>
struct Form<std::vector<model::NodeZone>> {
    static std::vector<model::NodeZone> read(const FileValue& value);
    static Json write(const std::vector<model::NodeZone>& zones);
};

// {"cron": "0 0 2 * * ?", "zone": "Asia/Shanghai", "from": …, "until": …},
// {"every": "10s", "from": …, "count": 3} or {"at": ["2026-03-02T18:00:00Z"]}.
template <>
struct Form<model::Schedule> {
    static model::Schedule read(const FileValue& value);
    static Json write(const model::Schedule& schedule);
};

template <>
struct Form<Parameters> {
    static Parameters read(const FileValue& value);
    static Json write(const Parameters& parameters);
};

// As in plans.
template <>
struct Form<sim::Fault> {
    static sim::Fault read(const FileValue& value);
    static Json write(const sim::Fault& fault);
};

// The name of the file; its text is read afterwards.
template <>
struct Form<SqlScript> {
    static SqlScript read(const FileValue& value) { return {.name = value.text(), .text = {}}; }
    static Json write(const SqlScript& script) { return script.name; }
};

template <>
struct Keys<model::SchedulerOptions> {
    using S = model::SchedulerOptions;
    static constexpr std::tuple kAll{
        key("mode", &S::mode, Presence::Usual),
        key("instance_ids", &S::instance_ids),
        key("idle_wait", &S::idle_wait, Presence::Rare, &positive),
        key("check_in", &S::check_in, Presence::Rare, &positive),
        key("check_in_margin", &S::check_in_margin),
        key("misfire_threshold", &S::misfire_threshold, Presence::Rare, &positive),
        key("db_retry", &S::db_retry, Presence::Rare, &positive),
        key("connection_patience", &S::connection_patience),
        key("batch", &S::batch, Presence::Rare, &from_one<std::uint32_t>),
        key("batch_window", &S::batch_window),
        key("acquire_within_lock", &S::acquire_within_lock),
        key("worker_threads", &S::worker_threads, Presence::Rare, &from_one<std::uint32_t>),
        key("editable", &S::editable),
        key("zones", &S::zones),
    };
};

// Of jobs and due work that name none.
inline constexpr std::string_view kUsualTenant = "acme";

template <>
struct Keys<model::ScheduledJob> {
    using J = model::ScheduledJob;
    static J blank() {
        return {.tenant = std::string(kUsualTenant),
                .schedule = model::Schedule::at({sim::Time{}})};
    }
    static constexpr std::tuple kAll{
        key("tenant", &J::tenant, Presence::Usual, &not_empty),
        key("job", &J::job, Presence::Required, &not_empty),
        key("schedule", &J::schedule, Presence::Required),
        key("trigger", &J::trigger),
        key("group", &J::group),
        key("misfire", &J::misfire, Presence::Usual),
        key("requests_recovery", &J::requests_recovery),
        key("disallow_concurrent", &J::disallow_concurrent),
        key("priority", &J::priority),
        key("parameters", &J::parameters),
    };
};

template <>
struct Keys<DueWork> {
    using D = DueWork;
    static D blank() { return {.tenant = std::string(kUsualTenant)}; }
    static constexpr std::tuple kAll{
        key("tenant", &D::tenant, Presence::Usual, &not_empty),
        key("job", &D::job, Presence::Required, &not_empty),
        key("at", &D::scheduled, Presence::Required),
        key("id", &D::id),
        key("version", &D::version, Presence::Rare, &from_one<std::int64_t>),
    };
};

template <>
struct Keys<checkers::EffectTable> {
    using E = checkers::EffectTable;
    static constexpr std::tuple kAll{
        key("table", &E::table, Presence::Required, &not_empty),
        key("identity", &E::identity),
        key("key", &E::key),
        key("tenant", &E::tenant),
    };
};

template <>
struct Keys<SqlInvariant> {
    using I = SqlInvariant;
    static constexpr std::tuple kAll{
        key("name", &I::name, Presence::Required, &not_empty),
        key("query", &I::query, Presence::Required, &not_empty),
        key("message", &I::message, Presence::Required, &not_empty),
    };
};

template <>
struct Keys<Scenario> {
    using S = Scenario;
    static constexpr std::tuple kAll{
        key("name", &S::name, Presence::Required, &not_empty),
        key("condition", &S::condition),
        key("title", &S::title, Presence::Usual),
        key("claim", &S::claim, Presence::Usual),
        key("handlers", &S::handlers, Presence::Usual, &some<std::string>),
        key("trigger", &S::trigger),
        key("needs", &S::needs),
        key("nodes", &S::nodes, Presence::Usual, &some<std::string>),
        key("servers", &S::servers, Presence::Usual),
        key("requests", &S::requests),
        key("gateway_limit", &S::gateway_limit, Presence::Rare, &from_one<std::int64_t>),
        key("schema", &S::schema),
        key("seed", &S::seed),
        key("parameters", &S::parameters, Presence::Usual),
        key("start", &S::start, Presence::Usual),
        key("scheduler", &S::scheduler, Presence::Usual),
        key("jobs", &S::jobs, Presence::Usual),
        key("due", &S::due, Presence::Usual),
        key("script", &S::script),
        key("last_version", &S::last_version, Presence::Rare, &from_one<std::int64_t>),
        key("families", &S::families, Presence::Usual),
        key("most_faults", &S::most_faults, Presence::Usual),
        key("healed_after", &S::healed_after, Presence::Usual, &positive),
        key("settle_bound", &S::settle_bound, Presence::Usual, &positive),
        key("check_interval", &S::check_interval, Presence::Rare, &positive),
        key("probes", &S::probes, Presence::Usual),
        key("checkers", &S::checkers, Presence::Usual, &some<std::string>),
        key("effects", &S::effects),
        key("always", &S::always),
        key("finally", &S::finally),
    };
};
// How long schedules go on that have no end of their own: only read, for the file that is written
// names every end. And for editors, where the schema of the file is.
inline constexpr std::string_view kSpanKey = "span";
template <>
inline constexpr std::array<std::string_view, 2> kFurtherKeys<Scenario>{kSpanKey, "$schema"};

}  // namespace fencepost::scenarios
