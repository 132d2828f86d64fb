// Mistakes about messages that come more than once, or not in order.
#include "scenarios/handlers/orders.h"
#include "scenarios/mistakes/mistakes.h"
#include "scenarios/mistakes/plain_consumer.h"

namespace fencepost::scenarios {
namespace {

using jobs::Ports;
using jobs::broker::Message;
using jobs::sql::Transaction;
using Acknowledge = PlainConsumer::Acknowledge;

HandlerSpec message_mistake(std::string name, std::string lesson, Acknowledge when,
                            PlainConsumer::Body body,
                            std::source_location source = std::source_location::current()) {
    HandlerSpec spec;
    spec.source = source;
    spec.name = std::move(name);
    spec.lesson = std::move(lesson);
    spec.breaks = {"once"};
    spec.trigger = Trigger::Messages;
    spec.schema = [](const Parameters&) -> std::vector<std::string> {
        return {std::string(jobs::inbox_schema()), orders::schema(),
                "CREATE TABLE newest_event (queue TEXT PRIMARY KEY, event_id TEXT NOT NULL);\n"
                "INSERT INTO newest_event (queue, event_id) VALUES ('consume-order', '');\n"};
    };
    spec.expectations = [](const Parameters&, const std::vector<DueWork>& due) {
        checkers::Expectations expectations;
        expectations.effects.push_back(orders::expected_lines(due));
        return expectations;
    };
    spec.program =
        [when, body = std::move(body)](const ProgramSetting& setting) -> std::unique_ptr<Program> {
        return std::make_unique<PlainConsumer>(setting, when, body);
    };
    spec.body = orders::body_of;
    return spec;
}

}  // namespace

HandlerSpec ack_first() {
    return message_mistake(
        "ack-first",
        "A message that is acknowledged before it is handled is lost when the consumer dies in "
        "between.",
        Acknowledge::BeforeTheBody, [](const Message& message, const Ports& ports) {
            const auto session = ports.database.connect();
            Transaction tx{*session};
            if (!jobs::inbox::enter(tx, message.queue, message.event_id)) return;
            orders::add_order(tx, message);
            tx.commit();
        });
}

HandlerSpec no_inbox() {
    return message_mistake(
        "no-inbox",
        "At least once means twice now and then: without deduplication by event id, so does the "
        "effect.",
        Acknowledge::AfterTheBody, [](const Message& message, const Ports& ports) {
            const auto session = ports.database.connect();
            Transaction tx{*session};
            orders::add_order(tx, message);
            tx.commit();
        });
}

HandlerSpec random_key() {
    return message_mistake(
        "random-key",
        "A key that the handler makes up is another one on every delivery, and tells nothing "
        "apart.",
        Acknowledge::AfterTheBody, [](const Message& message, const Ports& ports) {
            const auto session = ports.database.connect();
            Transaction tx{*session};
            if (!jobs::inbox::enter(tx, message.queue, ports.ids.next())) return;
            orders::add_order(tx, message);
            tx.commit();
        });
}

HandlerSpec newest_only() {
    return message_mistake(
        "newest-only",
        "Remembering the newest event is no inbox: messages overtake one another, and the "
        "overtaken one is taken for known.",
        Acknowledge::AfterTheBody, [](const Message& message, const Ports& ports) {
            const auto session = ports.database.connect();
            Transaction tx{*session};
            const auto newer = tx.execute(
                "UPDATE newest_event SET event_id = $2 WHERE queue = $1 AND event_id < $2",
                message.queue, message.event_id);
            if (newer.affected() == 0) return;
            orders::add_order(tx, message);
            tx.commit();
        });
}

}  // namespace fencepost::scenarios
