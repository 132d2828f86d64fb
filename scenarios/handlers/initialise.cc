#include "scenarios/handlers/initialise.h"

#include <utility>

#include "scenarios/own_handler.h"

namespace fencepost::scenarios {

namespace initialise {

using jobs::sql::Transaction;

jobs::StartUpPlan first_release() {
    return {.component = "initialise",
            .schema = {kRegionTable, kTimeZoneColumn, kNameIndex},
            .seeds = {{.statement = "INSERT INTO region (id, name, time_zone) VALUES "
                                    "('region-1', 'North', 'Asia/Shanghai'), "
                                    "('region-2', 'South', 'Asia/Shanghai'), "
                                    "('region-3', 'West', 'Asia/Urumqi') "
                                    "ON CONFLICT (id) DO NOTHING"}},
            .upgrades = {}};
}

jobs::StartUpPlan plan() {
    jobs::StartUpPlan plan = first_release();
    plan.upgrades = {
        {.name = "a price list",
         .apply =
             [](Transaction& tx) {
                 tx.execute("CREATE TABLE price (plan TEXT PRIMARY KEY, amount BIGINT NOT NULL)");
                 tx.execute("INSERT INTO price (plan, amount) VALUES ('basic', 9), ('plus', 19)");
             }},
        {.name = "prices in fen, with their currency",
         .apply =
             [](Transaction& tx) {
                 tx.execute("ALTER TABLE price ADD COLUMN currency TEXT NOT NULL DEFAULT 'CNY'");
                 tx.execute("UPDATE price SET amount = amount * 100");
             }},
    };
    plan.cache = prices;
    return plan;
}

std::vector<jobs::CachedValue> prices(jobs::sql::Session& session) {
    const auto rows = session.execute("SELECT plan, amount FROM price ORDER BY plan");
    std::vector<jobs::CachedValue> values;
    for (std::size_t row = 0; row < rows.rows(); ++row) {
        values.push_back({.key = "cache:price:" + rows.text(row, 0),
                          .value = std::to_string(rows.integer(row, 1))});
    }
    return values;
}

}  // namespace initialise

namespace {

checkers::StartUpTable price_table(bool in_fen) {
    checkers::StartUpTable table{.table = "price",
                                 .columns = {"plan", "amount"},
                                 .compared = {"plan", "amount"},
                                 .rows = {{"basic", "9"}, {"plus", "19"}}};
    if (!in_fen) return table;
    table.columns.emplace_back("currency");
    table.compared = table.columns;
    table.rows = {{"basic", "900", "CNY"}, {"plus", "1900", "CNY"}};
    return table;
}

checkers::StartUpState expected_state() {
    const checkers::StartUpTable region{.table = "region",
                                        .columns = {"id", "name", "time_zone"},
                                        .compared = {"id", "name", "time_zone"},
                                        .rows = {{"region-1", "North", "Asia/Shanghai"},
                                                 {"region-2", "South", "Asia/Shanghai"},
                                                 {"region-3", "West", "Asia/Urumqi"}}};
    const checkers::StartUpTable version{.table = "start_up_version",
                                         .columns = {"component", "version", "updated_us"},
                                         .compared = {"component", "version"},
                                         .rows = {{"initialise", "2"}}};
    return {.tables = {region, price_table(true), version},
            .indexes = {{.name = "region_name_idx", .table = "region"}},
            .cached = {{.key = "cache:price:basic", .value = jobs::StartUp::cached_text(2, "900")},
                       {.key = "cache:price:plus", .value = jobs::StartUp::cached_text(2, "1900")}},
            .version_table = "start_up_version",
            .version_column = "version",
            .versions = {{.version = 1, .tables = {price_table(false)}},
                         {.version = 2, .tables = {price_table(true)}}}};
}

}  // namespace

HandlerSpec start_up_handler(std::string name, std::string lesson, StartUpBody body) {
    HandlerSpec spec = start_up(std::move(name), std::move(body));
    spec.lesson = std::move(lesson);
    // Everything that there is has been made by a start-up.
    spec.schema = [](const Parameters&) { return std::vector<std::string>{}; };
    spec.expectations = [](const Parameters&, const std::vector<DueWork>&) {
        checkers::Expectations expectations;
        expectations.start_up = expected_state();
        return expectations;
    };
    return spec;
}

HandlerSpec initialise_handler() {
    const auto source = std::source_location::current();
    HandlerSpec spec = start_up_handler(
        "initialise",
        "Makes tables, columns, an index and rows, upgrades them step by step, and caches values.",
        [](const jobs::Ports& ports) {
            jobs::StartUp{ports, initialise::plan()}.run();
        });
    spec.source = source;
    return spec;
}

}  // namespace fencepost::scenarios
