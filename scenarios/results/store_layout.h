// How a results store is laid out. Whatever changes here changes docs/scale.md and kLayout.
#pragma once

#include <cstdint>

namespace fencepost::scenarios {

// PRAGMA application_id, by which a file is known to be a store: "FPST".
inline constexpr std::int64_t kStoreApplication = 0x46505354;
// PRAGMA user_version.
inline constexpr std::int64_t kLayout = 2;

inline constexpr const char* kStoreTables = R"(
CREATE TABLE sweep(
    scenario TEXT NOT NULL, handler TEXT NOT NULL, parameters TEXT NOT NULL,
    profile TEXT NOT NULL,
    first_seed INTEGER NOT NULL, last_seed INTEGER NOT NULL,
    shard INTEGER NOT NULL, shards INTEGER NOT NULL,
    verified INTEGER NOT NULL, version TEXT NOT NULL, program TEXT NOT NULL) STRICT;
CREATE TABLE checkers(position INTEGER PRIMARY KEY, checker TEXT NOT NULL) STRICT;
CREATE TABLE probe_names(position INTEGER PRIMARY KEY, probe TEXT NOT NULL) STRICT;

CREATE TABLE runs(
    seed INTEGER PRIMARY KEY, failed INTEGER NOT NULL, fingerprint TEXT NOT NULL,
    ended TEXT NOT NULL, steps INTEGER NOT NULL, records INTEGER NOT NULL,
    virtual_ns INTEGER NOT NULL,
    verdict_bits INTEGER NOT NULL, probe_bits INTEGER NOT NULL) STRICT;
CREATE TABLE faults(
    seed INTEGER NOT NULL, position INTEGER NOT NULL, kind TEXT NOT NULL, fate TEXT NOT NULL,
    PRIMARY KEY(seed, position)) STRICT, WITHOUT ROWID;
CREATE TABLE failures(
    seed INTEGER NOT NULL, position INTEGER NOT NULL, checker TEXT NOT NULL, key TEXT NOT NULL,
    message TEXT NOT NULL, record INTEGER,
    PRIMARY KEY(seed, position)) STRICT, WITHOUT ROWID;
CREATE TABLE mishaps(
    seed INTEGER PRIMARY KEY, kind TEXT NOT NULL, text TEXT NOT NULL, in_task INTEGER NOT NULL,
    task TEXT NOT NULL, signal INTEGER NOT NULL, exit_code INTEGER NOT NULL,
    again INTEGER NOT NULL) STRICT;
CREATE TABLE differences(
    seed INTEGER PRIMARY KEY, record INTEGER NOT NULL, first TEXT NOT NULL,
    second TEXT NOT NULL) STRICT;
CREATE TABLE timings(
    first_seed INTEGER PRIMARY KEY, last_seed INTEGER NOT NULL, session INTEGER NOT NULL,
    seconds REAL NOT NULL) STRICT;

CREATE VIEW verdicts(seed, checker, verdict) AS
    SELECT seed, checker,
        CASE verdict_bits >> (2 * position) & 3
            WHEN 0 THEN 'pass' WHEN 1 THEN 'fail' WHEN 2 THEN 'unknown' ELSE 'not applicable' END
    FROM runs JOIN checkers ORDER BY seed, position;
CREATE VIEW probes(seed, probe) AS
    SELECT seed, probe FROM runs JOIN probe_names
    WHERE probe_bits >> position & 1 ORDER BY seed, position;
)";

// Those that say what the runs came to: the same however a sweep was interrupted or split.
inline constexpr const char* kResultTables[] = {"runs", "faults", "failures", "mishaps",
                                                "differences"};

inline constexpr unsigned kVerdictBits = 2;
inline constexpr unsigned kMostCheckers = 32;
inline constexpr unsigned kMostProbes = 64;

}  // namespace fencepost::scenarios
