#include "model/database/image.h"

#include "model/database/engine.h"
#include "model/database/engine_state.h"

namespace fencepost::model {

namespace {

constexpr std::size_t kSchemaCookieAt = 40;
constexpr std::int64_t kMostSteps = 200'000'000;  // of one statement; a million rows take a tenth

// Images must differ in SQLite's schema cookie, or a connection would take one for another. The
// room between two of them is for DDL in the runs.
void number_schema(std::vector<std::uint8_t>& bytes) {
    static std::uint32_t last = 0;
    const std::uint32_t cookie = ++last << 12U;
    for (std::size_t i = 0; i < 4; ++i) {
        bytes[kSchemaCookieAt + i] = static_cast<std::uint8_t>(cookie >> (24 - 8 * i));
    }
}

std::size_t line_of(std::string_view script, std::string_view statement) {
    const auto before = static_cast<std::size_t>(statement.data() - script.data());
    std::size_t line = 1;
    for (const char c : script.substr(0, before)) line += c == '\n' ? 1 : 0;
    return line;
}

}  // namespace

DatabaseImage DatabaseImage::empty() {
    static const std::shared_ptr<const Content> content = [] {
        auto fresh = std::make_shared<Content>();
        fresh->bytes = database::Connection::empty_content();
        number_schema(fresh->bytes);
        auto schema = std::make_shared<Schema>();
        schema->id = database::new_schema_id();
        fresh->schema = std::move(schema);
        return fresh;
    }();
    return DatabaseImage(content);
}

DatabaseImage DatabaseImage::build(const std::string& script) {
    return build(std::span<const std::string>(&script, 1));
}

DatabaseImage DatabaseImage::build(std::span<const std::string> scripts) {
    DatabaseEngine engine;
    const SessionId session = engine.open();
    for (std::size_t i = 0; i < scripts.size(); ++i) {
        for (const std::string_view statement : database::split_script(scripts[i])) {
            engine.state_->connection.limit_steps(kMostSteps);
            const Outcome outcome = engine.execute(session, statement);
            if (const auto* failure = std::get_if<SqlFailure>(&outcome)) {
                throw ImageError(i + 1, line_of(scripts[i], statement),
                                 failure->message + " (" + failure->sqlstate +
                                     ") in: " + std::string(statement));
            }
        }
        if (engine.in_transaction(session)) {
            throw ImageError(
                i + 1, line_of(scripts[i], std::string_view{scripts[i]}.substr(scripts[i].size())),
                "the script ends inside a transaction");
        }
    }
    engine.state_->connection.limit_steps(0);
    auto content = std::make_shared<Content>();
    content->bytes = engine.state_->connection.content();
    number_schema(content->bytes);
    content->schema = engine.state_->committed;
    content->sequences = engine.state_->connection.sequences.last;
    for (const TableInfo& table : content->schema->tables) {
        const Outcome outcome =
            engine.execute(session, "SELECT 1 FROM " + database::quoted(table.name) + " LIMIT 1");
        const auto* rows = std::get_if<SqlResult>(&outcome);
        if (rows != nullptr && !rows->empty()) content->filled |= database::table_set(table.id);
    }
    return DatabaseImage(std::move(content));
}

const Schema& DatabaseImage::schema() const {
    return *content_->schema;
}

}  // namespace fencepost::model
