// Small sweeps with a store, for tests, and what a store holds, as text.
#pragma once

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <stdexcept>
#include <string>
#include <vector>

#include "scenarios/results/sqlite_file.h"
#include "scenarios/results/store.h"
#include "scenarios/results/store_layout.h"

namespace fencepost::scenarios {

// A folder of the test's own, removed at its end.
class StoreFolder {
public:
    StoreFolder() {
        std::string name = (std::filesystem::temp_directory_path() / "fencepost-XXXXXX").string();
        if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error("no temporary folder");
        path_ = name;
    }
    ~StoreFolder() {
        std::error_code ignored;
        std::filesystem::remove_all(path_, ignored);
    }
    StoreFolder(const StoreFolder&) = delete;
    StoreFolder& operator=(const StoreFolder&) = delete;

    [[nodiscard]] std::string file(const std::string& name) const {
        return (path_ / name).string();
    }

private:
    std::filesystem::path path_;
};

// A mistake that some seeds show and others do not.
inline StoredSweep small_sweep(std::uint64_t seeds, Shard shard = {}) {
    return {.subject = {"holder-leaves", "fence-not-stored"},
            .seeds = {11, 10 + seeds},
            .shard = shard,
            .version = "1.2.3",
            .program = 42};
}

inline SearchResult run_into(const std::string& file, const StoredSweep& sweep, int jobs = 2,
                             IfThereAreResults if_there_are = IfThereAreResults::Refuse) {
    ResultsStore store{file, sweep, if_there_are};
    SearchOptions options;
    options.pool.jobs = jobs;
    options.verify = sweep.verified;
    return sweep_into(store, options);
}

// Every row of a query, its columns as SQL writes them.
inline std::string rows_of(const std::string& file, const std::string& sql) {
    const SqliteFile store{file, SqliteFile::Access::Existing};
    SqliteStatement rows = store.prepare(sql);
    std::string text;
    while (rows.step()) {
        for (int column = 0; column < rows.columns(); ++column) text += rows.text(column) + "|";
        text += "\n";
    }
    return text;
}

// All but the timings.
inline std::string results_of(const std::string& file) {
    std::string text = rows_of(file, "SELECT * FROM sweep") +
                       rows_of(file, "SELECT * FROM checkers") +
                       rows_of(file, "SELECT * FROM probe_names");
    for (const char* table : kResultTables)
        text += std::string{table} + "\n" + rows_of(file, std::string{"SELECT * FROM "} + table);
    return text;
}

}  // namespace fencepost::scenarios
