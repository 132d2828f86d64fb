// DDL: who waits for whom, and the schema that it leaves.

#include "model/database/engine_state.h"

namespace fencepost::model {

using database::Ddl;
using database::IsBlocked;

namespace {

SqlFailure already_exists(const std::string& relation) {
    return {"42P07", "relation \"" + relation + "\" already exists"};
}

// Somebody else's transaction made it in the meantime: the catalogue's own unique indexes say so.
SqlFailure made_by_another(const Ddl& ddl) {
    const std::string index =
        ddl.creates_index() ? "pg_class_relname_nsp_index" : "pg_type_typname_nsp_index";
    return {"23505", "duplicate key value violates unique constraint \"" + index + "\""};
}

}  // namespace

// The order is PostgreSQL's: the table's lock first, then a look at what is committed, then a wait
// for whoever is making a relation of the same name. IF NOT EXISTS is part of the look, and so does
// not help who has waited. A statement that looks again after a wait has not looked before, unless
// it was the name that it waited for.
DatabaseEngine::State::Attempt DatabaseEngine::State::run_ddl(SessionState& session,
                                                              KeptStatement& statement,
                                                              bool again) {
    database::Wait& wait = session.wait;
    const bool waited_for_name = again && !wait.relation.empty();
    auto& sequences = connection.sequences.last;
    auto translated = database::translate_ddl(statement.text, *schema, sequences.size());
    if (auto* failure = std::get_if<SqlFailure>(&translated)) return std::move(*failure);
    auto& ddl = std::get<Ddl>(translated);
    wait.for_table(ddl.table, ddl.lock);
    wait.drops = ddl.drops;
    if (is_blocked(session)) return IsBlocked{};
    if (ddl.failure) return std::move(*ddl.failure);
    if (!ddl.creates.empty()) {
        if (schema->has_relation(ddl.creates)) {
            if (waited_for_name) return made_by_another(ddl);
            if (ddl.if_not_exists) return SqlResult{};
            return already_exists(ddl.creates);
        }
        wait.for_relation(ddl.creates);
        if (is_blocked(session)) return IsBlocked{};
        wait.relation.clear();
    }
    if (ddl.sqlite.empty()) return SqlResult{};
    if (session.in_block) {
        make_resident(session);
        begin(session);
        add_missing_locks(session);
    } else {
        evict();
    }
    const std::int64_t version = connection.schema_version();
    if (auto failure = connection.run(ddl.sqlite)) {
        if (failure->sqlstate == "23505") {
            failure->message = "could not create unique index \"" + ddl.creates + "\"";
        }
        return std::move(*failure);
    }
    if (connection.schema_version() == version) return SqlResult{};
    sequences.resize(sequences.size() + ddl.sequences);
    adopt_schema(ddl.sqlite);
    if (session.in_block) {
        session.holdings.ddl.push_back(
            {session.holdings.log.size(), ddl.table, ddl.creates, ddl.lock, ddl.sqlite, ddl.drops});
        note_holding(session);
    } else {
        publish_schema(session);
    }
    return SqlResult{};
}

// After DDL: the schema as SQLite has it now. Many runs define the same things in the same order;
// what has been read once is kept, as long as its tables have the ids that this run gives them.
void DatabaseEngine::State::adopt_schema(const std::string& ddl) {
    constexpr std::size_t kMostKept = 500;
    if (schemas_after.size() > kMostKept) schemas_after.clear();
    std::shared_ptr<const Schema>& after = schemas_after[{schema->id, ddl}];
    if (after == nullptr || !knows_tables_of(*after)) {
        after = std::make_shared<const Schema>(
            database::read_schema(connection.handle(), known_tables));
    }
    schema = after;
    connection.use_schema(schema.get());
}

// Whether the tables have the ids that they would get now; then those that are new get them.
bool DatabaseEngine::State::knows_tables_of(const Schema& read) {
    std::vector<std::string> names = known_tables;
    for (const TableInfo& table : read.tables) {
        if (table.name.empty()) continue;
        if (table.id == names.size()) names.push_back(table.name);
        if (table.id >= names.size() || names[table.id] != table.name) return false;
    }
    known_tables = std::move(names);
    return true;
}

// The schema as SQLite has it now is committed.
void DatabaseEngine::State::publish_schema(SessionState& session) {
    committed = schema;
    if (!schema_observer) return;
    std::vector<std::string> dropped;
    for (const auto& ddl : session.holdings.ddl) {
        if (ddl.drops_table()) dropped.push_back(ddl.table);
    }
    schema_observer(session.id, dropped);
}

}  // namespace fencepost::model
