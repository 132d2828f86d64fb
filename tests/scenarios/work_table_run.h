// Runs pieces of ordinary code on the nodes of a small simulated world, on a database with the
// tables of claims and background tasks: for tests of jobs/ on its real ports.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "jobs/claim.h"
#include "jobs/task_table.h"
#include "model/world.h"

namespace fencepost::scenarios {

class WorkTableRun {
public:
    using Body = std::function<void(const jobs::Ports&)>;

    WorkTableRun() {
        const std::vector<std::string> scripts{
            std::string(jobs::task_schema()), std::string(jobs::claim_schema()),
            "CREATE TABLE line (id BIGINT PRIMARY KEY, token BIGINT NOT NULL);"};
        world_.reset(1, kStart, model::DatabaseImage::build(scripts), {});
    }

    // `body` runs on a node of that name, which starts so much later, as its first task. What is on
    // its stack lives as long as the process if it ends with stay().
    void on(const std::string& name, sim::Duration after, Body body) {
        sim::Kernel& kernel = world_.kernel();
        sim::Node& node =
            kernel.add_node(name, [this, body = std::move(body)](sim::Incarnation& incarnation) {
                const jobs::Ports ports = world_.ports_of(incarnation);
                body(ports);
                stay();
            });
        kernel.schedule(kStart + after, [&kernel, &node] { kernel.boot(node); });
    }
    void stay() {
        static const sim::WaitText kReason{"the end of its process"};
        for (;;) world_.kernel().wait(kReason);
    }
    // What happens to a node at a time.
    void at(sim::Duration after, std::function<void(sim::Kernel&)> what) {
        world_.kernel().schedule(kStart + after,
                                 [this, what = std::move(what)] { what(world_.kernel()); });
    }
    void run(sim::Duration until) {
        static_cast<void>(world_.kernel().run(kStart + until, 1'000'000));
    }
    // The first column of the first row, as text; "none" without a row, "NULL" for it.
    std::string value(const std::string& query) {
        const auto rows = world_.database().read_committed(query);
        if (rows.rows() == 0) return "none";
        if (rows.is_null(0, 0)) return "NULL";
        if (const auto* number = std::get_if<std::int64_t>(&rows.at(0, 0))) {
            return std::to_string(*number);
        }
        return rows.text(0, 0);
    }
    std::string status() { return value("SELECT status FROM background_task"); }
    [[nodiscard]] model::World& world() { return world_; }

    static constexpr sim::Time kStart{std::chrono::sys_days{std::chrono::year{2026} / 3 / 2}};

private:
    model::World world_;
};

inline jobs::NewTask task_named(std::string key, std::string concurrency = {}) {
    return {.id = {.tenant = "acme", .key = std::move(key)},
            .job = "import",
            .concurrency = std::move(concurrency)};
}

}  // namespace fencepost::scenarios
