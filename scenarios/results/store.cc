#include "scenarios/results/store.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <nlohmann/json.hpp>
#include <utility>

#include "scenarios/results/sqlite_file.h"
#include "scenarios/results/store_layout.h"
#include "scenarios/scenario.h"
#include "sim/require.h"

namespace fencepost::scenarios {
namespace {

using checkers::Verdict;
using Json = nlohmann::json;

constexpr std::array kEnds{sim::RunEnd::Quiet, sim::RunEnd::Deadline, sim::RunEnd::StepLimit,
                           sim::RunEnd::Deadlock};
constexpr std::array kMishapKinds{MishapKind::Crashed, MishapKind::Exited, MishapKind::Hung,
                                  MishapKind::OutOfMemory, MishapKind::HarnessError};
constexpr std::array kFates{FaultFate::Inert, FaultFate::Struck, FaultFate::TookEffect};

constexpr std::string_view name_of(FaultFate fate) {
    switch (fate) {
        case FaultFate::Inert:
            return "never struck";
        case FaultFate::Struck:
            return "struck";
        case FaultFate::TookEffect:
            return "took effect";
    }
    return "?";
}

[[noreturn]] void damaged(const std::string& path, std::string_view what) {
    throw sim::PlanError(fmt::format(
        "{}: {}; the file is damaged, or was changed by other means: begin anew in another folder",
        path, what));
}

std::uint64_t hash_in(const std::string& text, const std::string& path) {
    try {
        return sim::seed_from_text(text);
    } catch (const sim::PlanError&) {
        damaged(path, fmt::format("\"{}\" is no hash", text));
    }
}

// The value whose name stands in the file.
template <typename Value, std::size_t N>
Value named(const std::array<Value, N>& values, const std::string& name, const std::string& path) {
    for (const Value value : values) {
        if (name_of(value) == name) return value;
    }
    damaged(path, fmt::format("\"{}\" is nothing that this program writes", name));
}

std::string hash_text(std::uint64_t hash) {
    return fmt::format("{:#018x}", hash);
}

std::int64_t signed_of(std::uint64_t number) {
    return static_cast<std::int64_t>(number);
}

std::uint64_t unsigned_of(std::int64_t number) {
    return static_cast<std::uint64_t>(number);
}

std::uint64_t bits_of(const std::vector<Verdict>& verdicts) {
    std::uint64_t bits = 0;
    for (std::size_t i = 0; i < verdicts.size(); ++i)
        bits |= std::uint64_t{static_cast<std::uint8_t>(verdicts[i])} << (kVerdictBits * i);
    return bits;
}
static_assert(static_cast<int>(Verdict::Pass) == 0 && static_cast<int>(Verdict::Fail) == 1 &&
                  static_cast<int>(Verdict::Unknown) == 2 &&
                  static_cast<int>(Verdict::NotApplicable) == 3,
              "the view verdicts says so");

// What tells a sweep from others, as it stands in the file, in the order of the table's columns.
std::array<std::pair<const char*, std::string>, 11> identity_of(const StoredSweep& sweep) {
    return {{{"scenario", sweep.subject.scenario},
             {"handler", sweep.subject.handler},
             {"parameters", Json(sweep.subject.parameters).dump()},
             {"profile", to_json(sweep.subject.profile)},
             {"first_seed", std::to_string(sweep.seeds.first)},
             {"last_seed", std::to_string(sweep.seeds.last)},
             {"shard", std::to_string(sweep.shard.number)},
             {"shards", std::to_string(sweep.shard.of)},
             {"verified", sweep.verified ? "1" : "0"},
             {"version", sweep.version},
             {"program", hash_text(sweep.program)}}};
}

StoredSweep sweep_in(const SqliteFile& file) {
    SqliteStatement row = file.prepare("SELECT * FROM sweep");
    if (!row.step()) damaged(file.path(), "the sweep is not named");
    StoredSweep sweep;
    sweep.subject = {row.text(0), row.text(1)};
    try {
        Json::parse(row.text(2)).get_to(sweep.subject.parameters);
        sweep.subject.profile = profile_from_json(row.text(3));
    } catch (const std::exception& error) {  // of the parser, or a PlanError
        damaged(file.path(), error.what());
    }
    sweep.seeds = {unsigned_of(row.number(4)), unsigned_of(row.number(5))};
    sweep.shard = {unsigned_of(row.number(6)), unsigned_of(row.number(7))};
    sweep.verified = row.number(8) != 0;
    sweep.version = row.text(9);
    sweep.program = hash_in(row.text(10), file.path());
    const Shard& shard = sweep.shard;
    if (sweep.seeds.first > sweep.seeds.last || shard.number < 1 || shard.number > shard.of)
        damaged(file.path(), "no sweep has such seeds or parts");
    return sweep;
}

}  // namespace

SeedRange StoredSweep::own_seeds() const {
    const std::uint64_t count = seeds.last - seeds.first + 1;
    // The first `more` shards have one seed more than the others.
    const std::uint64_t each = count / shard.of;
    const std::uint64_t more = count % shard.of;
    const auto first_of = [&](std::uint64_t number) {
        return seeds.first + (number - 1) * each + std::min(number - 1, more);
    };
    return {first_of(shard.number), first_of(shard.number + 1) - 1};
}

struct ResultsStore::State {
    explicit State(const std::string& path, SqliteFile::Access access) : file(path, access) {
        file.execute("PRAGMA synchronous = NORMAL");
    }

    // Nothing, or all of it: whoever is killed in between leaves an empty file.
    void begin(const StoredSweep& begun) {
        file.execute(fmt::format("PRAGMA application_id = {}; PRAGMA user_version = {};",
                                 kStoreApplication, kLayout) +
                     kStoreTables);
        const auto identity = identity_of(begun);
        std::vector<SqliteValue> values;
        for (const auto& [column, text] : identity) values.emplace_back(std::string_view{text});
        file.prepare("INSERT INTO sweep VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)").run(values);
        const Scenario& of = *find_scenario(begun.subject.scenario);
        SqliteStatement checker = file.prepare("INSERT INTO checkers VALUES (?, ?)");
        for (std::size_t i = 0; i < of.checkers.size(); ++i)
            checker.run({signed_of(i), std::string_view{of.checkers[i]}});
        SqliteStatement probe = file.prepare("INSERT INTO probe_names VALUES (?, ?)");
        for (std::size_t i = 0; i < of.probes.size(); ++i)
            probe.run({signed_of(i), std::string_view{of.probes[i]}});
    }

    void read() {
        if (file.number("PRAGMA application_id") != kStoreApplication)
            throw sim::PlanError(file.path() + ": this file holds no results of a sweep");
        if (file.number("PRAGMA user_version") != kLayout) {
            throw sim::PlanError(file.path() +
                                 ": these results are laid out as another version of the program "
                                 "does it");
        }
        sweep = sweep_in(file);
        scenario = find_scenario(sweep.subject.scenario);
        if (scenario == nullptr) {
            throw sim::PlanError(
                fmt::format("{}: there is no scenario {}", file.path(), sweep.subject.scenario));
        }
        count();
        inserts.emplace(file);
    }

    void count() {
        done = unsigned_of(file.number(
            "SELECT (SELECT count(*) FROM runs) + (SELECT count(*) FROM mishaps WHERE again)"));
        const std::int64_t last = file.number(
            "SELECT max(seed) FROM (SELECT seed FROM runs UNION ALL SELECT seed FROM mishaps)");
        if (done > 0 && unsigned_of(last) != sweep.own_seeds().first + done - 1)
            damaged(file.path(), "it does not hold the first so many seeds of its sweep");
    }

    void check_same(const StoredSweep& wanted) const {
        const auto there = identity_of(sweep);
        const auto here = identity_of(wanted);
        for (std::size_t i = 0; i < there.size(); ++i) {
            if (there[i].second == here[i].second) continue;
            throw sim::PlanError(fmt::format(
                "{}: these are results of another {}: its {} is {} and not {}; name "
                "another folder by --out",
                file.path(),
                i < 8 ? "sweep" : "build of the program, or of another plug-in or scenario file",
                there[i].first, there[i].second, here[i].second));
        }
    }

    void open_transaction() {
        if (first_uncommitted) return;
        file.execute("BEGIN IMMEDIATE");
        first_uncommitted = sweep.own_seeds().first + done;
        if (!session) session = first_uncommitted;
    }

    struct Inserts {
        explicit Inserts(const SqliteFile& file)
            : run(file.prepare("INSERT INTO runs VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)")),
              fault(file.prepare("INSERT INTO faults VALUES (?, ?, ?, ?)")),
              failure(file.prepare("INSERT INTO failures VALUES (?, ?, ?, ?, ?, ?)")),
              mishap(file.prepare("INSERT INTO mishaps VALUES (?, ?, ?, ?, ?, ?, ?, ?)")),
              difference(file.prepare("INSERT INTO differences VALUES (?, ?, ?, ?)")),
              timing(file.prepare("INSERT INTO timings VALUES (?, ?, ?, ?)")) {}
        SqliteStatement run, fault, failure, mishap, difference, timing;
    };

    SqliteFile file;
    StoredSweep sweep;
    const Scenario* scenario = nullptr;
    std::function<double()> seconds = [] { return 0.0; };
    double last_commit = 0;
    std::uint64_t done = 0;
    std::optional<std::uint64_t> first_uncommitted;
    std::optional<std::uint64_t> session;  // the seed with which this process began
    std::optional<Inserts> inserts;
};

ResultsStore::ResultsStore(const std::string& path, StoredSweep sweep,
                           IfThereAreResults if_there_are, std::function<double()> seconds)
    : state_(std::make_unique<State>(path, SqliteFile::Access::Create)) {
    const Scenario* scenario = find_scenario(sweep.subject.scenario);
    sim::require(scenario != nullptr && scenario->checkers.size() <= kMostCheckers &&
                     scenario->probes.size() <= kMostProbes,
                 "a scenario's checkers and probes have bits of their own");
    if (sweep.seeds.last > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()))
        throw sim::PlanError("seeds: results are stored of seeds below 2^63 alone");
    SqliteFile& file = state_->file;
    file.execute("BEGIN IMMEDIATE");
    const bool is_new = file.number("SELECT count(*) FROM sqlite_schema") == 0;
    if (is_new) state_->begin(sweep);
    file.execute("COMMIT");
    state_->read();
    if (!is_new && if_there_are == IfThereAreResults::Refuse) {
        throw sim::PlanError(fmt::format(
            "{}: there are results already; --resume goes on with them, or name another folder by "
            "--out",
            path));
    }
    state_->check_same(sweep);
    state_->seconds = std::move(seconds);
    state_->last_commit = state_->seconds();
}

ResultsStore::ResultsStore(std::unique_ptr<State> state) : state_(std::move(state)) {}
ResultsStore::ResultsStore(ResultsStore&&) noexcept = default;
ResultsStore& ResultsStore::operator=(ResultsStore&&) noexcept = default;
ResultsStore::~ResultsStore() = default;

ResultsStore ResultsStore::open(const std::string& path) {
    auto state = std::make_unique<State>(path, SqliteFile::Access::Existing);
    state->read();
    return ResultsStore{std::move(state)};
}

const StoredSweep& ResultsStore::sweep() const {
    return state_->sweep;
}

std::uint64_t ResultsStore::done() const {
    return state_->done;
}

std::uint64_t ResultsStore::size() const {
    const SeedRange own = state_->sweep.own_seeds();
    return own.last - own.first + 1;
}

void ResultsStore::add(const KeptRun& run) {
    State& state = *state_;
    state.open_transaction();
    const std::int64_t seed = signed_of(run.seed);
    const std::string fingerprint = hash_text(run.fingerprint);
    state.inserts->run.run({seed, std::int64_t{!run.failures.empty()},
                            std::string_view{fingerprint}, sim::name_of(run.end),
                            signed_of(run.steps), signed_of(run.records), run.virtual_time.count(),
                            signed_of(bits_of(run.verdicts)), signed_of(run.probes)});
    for (std::size_t i = 0; i < run.faults.size(); ++i) {
        state.inserts->fault.run({seed, signed_of(i), sim::info_of(run.faults[i].kind).name,
                                  name_of(run.faults[i].fate)});
    }
    for (std::size_t i = 0; i < run.failures.size(); ++i) {
        const KeptFailure& failure = run.failures[i];
        const SqliteValue record = failure.record == sim::kNoRecord
                                       ? SqliteValue{}
                                       : SqliteValue{std::int64_t{failure.record}};
        state.inserts->failure.run({seed, signed_of(i), std::string_view{failure.checker},
                                    std::string_view{failure.key},
                                    std::string_view{failure.message}, record});
    }
    if (run.difference) {
        state.inserts->difference.run({seed, signed_of(run.difference->record),
                                       std::string_view{run.difference->first},
                                       std::string_view{run.difference->second}});
    }
    ++state.done;
}

void ResultsStore::add(const Mishap& mishap) {
    State& state = *state_;
    state.open_transaction();
    state.inserts->mishap.run({signed_of(mishap.item), name_of(mishap.kind),
                               std::string_view{mishap.text}, std::int64_t{mishap.in_task},
                               std::string_view{mishap.task}, std::int64_t{mishap.signal},
                               std::int64_t{mishap.exit_code}, std::int64_t{mishap.again}});
    if (mishap.again) ++state.done;
}

void ResultsStore::commit() {
    State& state = *state_;
    if (!state.first_uncommitted) return;
    const double now = state.seconds();
    const std::uint64_t next = state.sweep.own_seeds().first + state.done;
    if (next > *state.first_uncommitted) {
        state.inserts->timing.run({signed_of(*state.first_uncommitted), signed_of(next - 1),
                                   signed_of(*state.session), now - state.last_commit});
    }
    state.file.execute("COMMIT");
    state.last_commit = now;
    state.first_uncommitted.reset();
}

void ResultsStore::for_each_run(const std::function<void(const KeptRun&)>& visit) const {
    const SqliteFile& file = state_->file;
    SqliteStatement rows = file.prepare("SELECT * FROM runs ORDER BY seed");
    SqliteStatement faults =
        file.prepare("SELECT kind, fate FROM faults WHERE seed = ? ORDER BY position");
    SqliteStatement failures = file.prepare(
        "SELECT checker, key, message, record FROM failures WHERE seed = ? ORDER BY position");
    SqliteStatement differences =
        file.prepare("SELECT record, first, second FROM differences WHERE seed = ?");
    rows.bind({});
    while (rows.step()) {
        const std::int64_t seed = rows.number(0);
        KeptRun run{.seed = unsigned_of(seed),
                    .fingerprint = hash_in(rows.text(2), file.path()),
                    .end = named(kEnds, rows.text(3), file.path()),
                    .steps = unsigned_of(rows.number(4)),
                    .records = unsigned_of(rows.number(5)),
                    .virtual_time = sim::Duration{rows.number(6)},
                    .probes = unsigned_of(rows.number(8))};
        const std::uint64_t bits = unsigned_of(rows.number(7));
        for (std::size_t i = 0; i < state_->scenario->checkers.size(); ++i)
            run.verdicts.push_back(static_cast<Verdict>(bits >> (kVerdictBits * i) & 3U));
        for (faults.bind({seed}); faults.step();) {
            const sim::FaultKindInfo* info = sim::find_fault_kind(faults.text(0));
            if (info == nullptr) damaged(file.path(), "there is no such kind of fault");
            run.faults.push_back({info->kind, named(kFates, faults.text(1), file.path())});
        }
        for (failures.bind({seed}); failures.step();) {
            run.failures.push_back(
                {.checker = failures.text(0),
                 .key = failures.text(1),
                 .message = failures.text(2),
                 .record = failures.is_null(3) ? sim::kNoRecord
                                               : static_cast<sim::RecordId>(failures.number(3))});
        }
        auto failure = run.failures.begin();
        for (std::size_t i = 0; i < run.verdicts.size(); ++i) {
            if (run.verdicts[i] != Verdict::Fail) continue;
            if (failure == run.failures.end() ||
                failure->checker != state_->scenario->checkers[i]) {
                damaged(file.path(),
                        fmt::format("the failures of seed {} are not all there", seed));
            }
            ++failure;
        }
        for (differences.bind({seed}); differences.step();) {
            run.difference = {.record = unsigned_of(differences.number(0)),
                              .first = differences.text(1),
                              .second = differences.text(2)};
        }
        visit(run);
    }
}

std::vector<Mishap> ResultsStore::mishaps() const {
    std::vector<Mishap> mishaps;
    SqliteStatement rows = state_->file.prepare("SELECT * FROM mishaps ORDER BY seed");
    while (rows.step()) {
        mishaps.push_back({.item = unsigned_of(rows.number(0)),
                           .kind = named(kMishapKinds, rows.text(1), state_->file.path()),
                           .signal = static_cast<int>(rows.number(5)),
                           .exit_code = static_cast<int>(rows.number(6)),
                           .in_task = rows.number(3) != 0,
                           .task = rows.text(4),
                           .text = rows.text(2),
                           .again = rows.number(7) != 0});
    }
    return mishaps;
}

void ResultsStore::add_all_of(const ResultsStore& part) {
    commit();
    SqliteFile& file = state_->file;
    file.prepare("ATTACH ? AS part").run({std::string_view{part.state_->file.path()}});
    file.execute("BEGIN IMMEDIATE");
    for (const char* table : kResultTables)
        file.execute(fmt::format("INSERT INTO {0} SELECT * FROM part.{0} ORDER BY seed", table));
    file.execute("INSERT INTO timings SELECT * FROM part.timings ORDER BY first_seed");
    file.execute("COMMIT");
    file.execute("DETACH part");
    state_->count();
}

}  // namespace fencepost::scenarios
