#include "cli/world_view.h"

#include <fmt/format.h>

#include <algorithm>

namespace fencepost::cli {
namespace {

using jobs::redis::Reply;
using reports::Ink;

constexpr std::size_t kWidestCell = 40;
constexpr std::size_t kMostRows = 100;

// A name as PostgreSQL has it in quotes.
std::string quoted(std::string_view name) {
    std::string out = "\"";
    for (const char c : name) out += c == '"' ? std::string("\"\"") : std::string(1, c);
    return out + "\"";
}

std::string cell_of(const model::SqlValue& value) {
    struct Print {
        std::string operator()(std::monostate) const { return "NULL"; }
        std::string operator()(std::int64_t number) const { return std::to_string(number); }
        std::string operator()(double number) const { return fmt::format("{}", number); }
        std::string operator()(const std::string& text) const {
            return reports::shortened(reports::on_one_line(text), kWidestCell);
        }
    };
    return std::visit(Print{}, value);
}

const model::TableInfo* find_table(model::World& world, std::string_view name) {
    const auto& tables = world.database().schema().tables;
    const auto found = std::ranges::find(tables, name, &model::TableInfo::name);
    return found == tables.end() ? nullptr : &*found;
}

std::string value_text(const Reply& reply) {
    switch (reply.kind) {
        case Reply::Kind::Nil:
            return "nil";
        case Reply::Kind::Integer:
            return std::to_string(reply.integer);
        case Reply::Kind::Array: {
            std::vector<std::string> words;
            for (const Reply& element : reply.elements) words.push_back(value_text(element));
            return reports::joined(words, " ");
        }
        default:
            return reports::on_one_line(reply.text);
    }
}

std::string actor(model::World& world, const sim::Task& task) {
    return world.kernel().history().actor(task.id);
}

std::string state_of(const sim::Node& node) {
    if (!node.up()) return "down";
    if (node.paused()) return "paused";
    return node.current()->stopping() ? "stopping" : "up";
}

std::string doing(model::World& world, const sim::Task& task) {
    if (task.waits_for == nullptr) return "about to start";
    return fmt::format("waits since {} for {}",
                       sim::to_text(world.kernel().now() - task.waits_since),
                       reports::on_one_line(task.waits_for->describe()));
}

}  // namespace

std::vector<std::string> node_names(model::World& world) {
    std::vector<std::string> names;
    for (const sim::Node& node : world.kernel().nodes()) names.push_back(node.name());
    return names;
}

std::vector<std::string> table_names(model::World& world) {
    std::vector<std::string> names;
    for (const model::TableInfo& table : world.database().schema().tables) {
        if (!table.name.empty()) names.push_back(table.name);
    }
    std::ranges::sort(names);
    return names;
}

std::vector<std::string> key_names(model::World& world) {
    std::vector<std::string> names;
    for (const Reply& key : world.redis().look({"KEYS", "*"}).elements) names.push_back(key.text);
    std::ranges::sort(names);
    return names;
}

std::string tasks_text(model::World& world, std::string_view node, reports::TextStyle style) {
    sim::Kernel& kernel = world.kernel();
    std::string out;
    for (const sim::Node& each : kernel.nodes()) {
        if (!node.empty() && each.name() != node) continue;
        out += reports::inked(
                   fmt::format("{}#{} is {}; its clock says {}", each.name(), each.incarnations(),
                               state_of(each), sim::to_text(each.clock.wall(kernel.now()))),
                   Ink::Strong, style) +
               "\n";
        for (const sim::Task* task : kernel.tasks()) {
            if (&task->incarnation->node() != &each || !task->incarnation->alive()) continue;
            out += fmt::format("  {}: {}\n", reports::on_one_line(task->name), doing(world, *task));
        }
    }
    return out;
}

std::string waits_text(model::World& world) {
    std::string out;
    for (const auto& waiter : world.database().lock_waiters()) {
        out += fmt::format("{} waits at {}\n", actor(world, *waiter.task),
                           reports::on_one_line(waiter.what));
        for (const sim::Task* holder : waiter.holders)
            out += fmt::format("  which is the session of {}\n", actor(world, *holder));
    }
    for (const std::string& line : world.kernel().waiters(false))
        out += reports::on_one_line(line) + "\n";
    return out.empty() ? "nobody waits\n" : out;
}

std::string table_text(model::World& world, const std::string& table, reports::TextStyle style) {
    const model::TableInfo* info = find_table(world, table);
    if (info == nullptr) return "there is no table " + table + "\n";
    std::vector<reports::Table::Column> columns;
    for (const model::ColumnInfo& column : info->columns)
        columns.push_back({.heading = {column.name}});
    const auto rows = world.database().look("SELECT * FROM " + quoted(table));
    if (!rows) return table + " is being altered by an open transaction\n";
    if (rows->rows() == 0) return table + " has no rows\n";
    if (rows->columns() != columns.size()) return table + " cannot be read\n";
    reports::Table text{std::move(columns)};
    for (std::size_t row = 0; row < std::min(rows->rows(), kMostRows); ++row) {
        std::vector<reports::Table::Cell> cells;
        for (std::size_t column = 0; column < rows->columns(); ++column)
            cells.push_back({.text = cell_of(rows->at(row, column))});
        text.add_row(std::move(cells));
    }
    std::string out = text.text(style, 1);
    if (rows->rows() > kMostRows) out += fmt::format("  … {} more\n", rows->rows() - kMostRows);
    return out;
}

std::string tables_text(model::World& world, reports::TextStyle style) {
    reports::Table text{{{.heading = {"table"}}, {.heading = {"rows"}, .right = true}}};
    for (const std::string& name : table_names(world)) {
        const auto count = world.database().look("SELECT count(*) FROM " + quoted(name));
        text.add_row(
            {{.text = name}, {.text = count ? std::to_string(count->integer(0, 0)) : "?"}});
    }
    return text.text(style, 1);
}

std::string key_text(model::World& world, const std::string& key) {
    Reply value = world.redis().look({"GET", key});
    if (value.is_error()) value = world.redis().look({"HGETALL", key});
    if (value.is_nil()) return fmt::format("there is no key {}\n", reports::on_one_line(key));
    const std::int64_t lives = world.redis().look({"PTTL", key}).integer;
    return fmt::format(
        "{} = {}{}\n", reports::on_one_line(key), value_text(value),
        lives < 0 ? std::string{}
                  : fmt::format("   (gone in {})", sim::to_text(std::chrono::milliseconds{lives})));
}

std::string keys_text(model::World& world) {
    std::string out;
    for (const std::string& key : key_names(world)) out += key_text(world, key);
    return out.empty() ? "Redis has no keys\n" : out;
}

}  // namespace fencepost::cli
