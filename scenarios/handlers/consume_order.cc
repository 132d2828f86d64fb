#include "scenarios/handlers/consume_order.h"

#include <fmt/format.h>

#include "scenarios/handlers/consumer_program.h"
#include "scenarios/handlers/orders.h"

namespace fencepost::scenarios {

std::string unhandled_events(const std::vector<DueWork>& due) {
    std::string query;
    for (const DueWork& work : due) {
        if (!query.empty()) query += " UNION ALL ";
        query += fmt::format(
            "SELECT 'nobody has handled {0}' WHERE NOT EXISTS "
            "(SELECT event_id FROM job_inbox WHERE event_id = '{0}')",
            work.unit());
    }
    return query;
}

HandlerSpec consume_order_handler() {
    HandlerSpec spec;
    spec.source = std::source_location::current();
    spec.name = "consume-order";
    spec.lesson =
        "Adds the lines of an order and reserves its stock, once for each event, by an inbox.";
    spec.trigger = Trigger::Messages;
    spec.schema = [](const Parameters&) -> std::vector<std::string> {
        return {std::string(jobs::inbox_schema()), orders::schema()};
    };
    spec.expectations = [](const Parameters&, const std::vector<DueWork>& due) {
        checkers::Expectations expectations;
        expectations.effects.push_back(orders::expected_lines(due));
        return expectations;
    };
    spec.program = [](const ProgramSetting& setting) -> std::unique_ptr<Program> {
        return std::make_unique<ConsumerProgram>(setting, orders::add_order);
    };
    spec.body = orders::body_of;
    spec.open_work = unhandled_events;
    return spec;
}

}  // namespace fencepost::scenarios
