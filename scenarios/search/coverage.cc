#include "scenarios/search/coverage.h"

#include <algorithm>
#include <bit>
#include <cctype>
#include <optional>

#include "model/events.h"
#include "sim/events.h"
#include "sim/random.h"

namespace fencepost::scenarios {
namespace {

using sim::combine;
using sim::hash_of;

constexpr unsigned kKindShift = 62;

// What else than one call after the other of a task is hashed.
constexpr std::uint64_t kAcrossNodes = hash_of("coverage/across-nodes");
constexpr std::uint64_t kRows = hash_of("coverage/rows");
constexpr std::uint64_t kTogether = hash_of("coverage/together");

// "daily-reconcile" of "daily-reconcile@2026-03-02T18:00:00Z".
std::string_view task_kind(std::string_view task) {
    return task.substr(0, task.find('@'));
}

// What kind of answer it is: whether it begins with none, one or many, and its first word. "0 rows"
// and "5 rows" are two kinds, "session 1" and "session 2" one.
std::uint64_t kind_of_answer(std::string_view answer) {
    const auto is_digit = [](char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; };
    const auto is_letter = [](char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0; };
    std::uint64_t amount = 0;
    if (!answer.empty() && is_digit(answer.front())) {
        const auto end = std::ranges::find_if_not(answer, is_digit);
        const std::string_view digits{answer.begin(), end};
        amount = digits == "0" ? 1 : digits == "1" ? 2 : 3;
    }
    const auto word = std::ranges::find_if(answer, is_letter);
    const auto end = std::find_if_not(word, answer.end(), is_letter);
    // What is shorter is part of a name or a token.
    const std::string_view text = end - word > 2 ? std::string_view{word, end} : "";
    return combine(hash_of(text), amount);
}

void sort_once(std::vector<std::uint64_t>& values) {
    std::ranges::sort(values);
    const auto repeated = std::ranges::unique(values);
    values.erase(repeated.begin(), repeated.end());
}

std::uint64_t size_of(const std::optional<sim::Duration>& duration) {
    if (!duration) return 0;
    const auto count = duration->count();
    const auto size = static_cast<std::uint64_t>(count < 0 ? -count : count);
    return (static_cast<std::uint64_t>(std::bit_width(size)) / 2 + 1) * 2 + (count < 0 ? 1 : 0);
}

class Reader {
public:
    Reader(const sim::Plan& plan, const sim::History& history)
        : plan_(plan),
          history_(history),
          is_job_(history.tasks()),
          last_of_task_(history.tasks()) {}

    std::vector<Feature> read(const RunResult& result) {
        for (sim::RecordId id = 0; id < history_.size(); ++id) read_record(id);
        std::uint64_t together = 0;
        for (const std::string& probe : result.probes) {
            add(FeatureKind::Probe, hash_of(probe));
            together = combine(together, hash_of(probe));
        }
        add(FeatureKind::Probe, combine(kTogether, together));
        sort_once(steps_);
        for (const std::uint64_t step : steps_) together = combine(together, step);
        add(FeatureKind::Order, combine(kTogether, together));
        sort_once(features_);
        return std::move(features_);
    }

private:
    void read_record(sim::RecordId id) {
        switch (history_.kind_of(id)) {
            case sim::TaskStarted::kKind:
                note_task(history_[id]);
                break;
            case sim::CallApplied::kKind:
                note_applied(history_[id]);
                break;
            case sim::CallEnded::kKind:
                note_ended(history_[id]);
                break;
            case sim::FaultStruck::kKind:
                note_strike(history_[id]);
                break;
            case model::RowChanged::kKind:
                note_row(history_[id]);
                break;
            default:
                break;
        }
    }

    void add(FeatureKind kind, std::uint64_t hash) {
        constexpr std::uint64_t kRest = (std::uint64_t{1} << kKindShift) - 1;
        features_.push_back((static_cast<std::uint64_t>(kind) << kKindShift) | (hash & kRest));
    }

    void note_task(const sim::Record& record) {
        if (record.task() == sim::kNoTask) return;
        const sim::TaskId root = history_.task(record.task()).root;
        is_job_.at(record.task()) =
            record.as<sim::TaskStarted>()->foreground || (root != sim::kNoTask && is_job_.at(root));
    }
    [[nodiscard]] bool of_job(const sim::Record& record) const {
        return record.task() != sim::kNoTask && is_job_.at(record.task());
    }

    // Applied calls are in the order in which the servers did them.
    void note_applied(const sim::Record& record) {
        if (record.task() == sim::kNoTask) return;
        const auto applied = *record.as<sim::CallApplied>();
        note_order(record, combine(hash_of(applied.operation), kind_of_answer(applied.result)));
    }
    // An answer is news only where it is another than what the server did: lost, late, an error.
    void note_ended(const sim::Record& record) {
        if (record.task() == sim::kNoTask) return;
        const auto ended = *record.as<sim::CallEnded>();
        const std::uint64_t step = combine(hash_of(ended.operation), kind_of_answer(ended.outcome));
        if (last_of_task_.at(record.task()) == step) return;
        note_order(record, combine(step, 1));
    }
    void note_order(const sim::Record& record, std::uint64_t step) {
        const std::uint64_t who = hash_of(task_kind(history_.task(record.task()).name));
        std::uint64_t& before = last_of_task_.at(record.task());
        add(FeatureKind::Order, combine(combine(who, before), step));
        before = step;
        if (!of_job(record)) return;
        steps_.push_back(step);
        const sim::PartyId node = history_.task(record.task()).party;
        if (last_node_ != node)
            add(FeatureKind::Order, combine(combine(kAcrossNodes, last_step_), step));
        last_node_ = node;
        last_step_ = step;
    }

    void note_row(const sim::Record& record) {
        if (!of_job(record)) return;
        const auto row = *record.as<model::RowChanged>();
        const std::uint64_t written = combine(row.table, static_cast<std::uint64_t>(row.change));
        const sim::PartyId node = history_.task(record.task()).party;
        const std::uint64_t same = last_writer_ == node ? 1 : 2;
        add(FeatureKind::Order, combine(combine(combine(kRows, last_row_), written), same));
        last_writer_ = node;
        last_row_ = written;
    }

    void note_strike(const sim::Record& record) {
        const sim::Fault& fault = plan_.faults.at(record.as<sim::FaultStruck>()->index);
        add(FeatureKind::Strike, combine(static_cast<std::uint64_t>(fault.kind), place_of(fault)));
    }

    const sim::Plan& plan_;
    const sim::History& history_;
    std::vector<bool> is_job_;                 // by task
    std::vector<std::uint64_t> last_of_task_;  // the last call and answer, by task
    std::uint64_t last_step_ = 0;              // of any job
    std::uint64_t last_row_ = 0;
    sim::PartyId last_node_ = sim::kWorld;
    sim::PartyId last_writer_ = sim::kWorld;
    std::vector<std::uint64_t> steps_;  // of all jobs
    std::vector<Feature> features_;
};

}  // namespace

FeatureKind kind_of(Feature feature) {
    return static_cast<FeatureKind>(feature >> kKindShift);
}

std::uint64_t sort_of(const sim::Fault& fault) {
    std::uint64_t sort = static_cast<std::uint64_t>(fault.kind);
    for (const auto& duration : {fault.restart_after, fault.lasting, fault.by, fault.grace}) {
        sort = combine(sort, size_of(duration));
    }
    sort = combine(sort, static_cast<std::uint64_t>(fault.ppm.value_or(0)));
    sort = combine(sort, static_cast<std::uint64_t>(fault.version.value_or(0)));
    for (const std::string& text : {fault.keep, fault.key, fault.unit, fault.job}) {
        sort = combine(sort, hash_of(text));
    }
    return combine(sort, fault.one_way ? 1 : 0);
}

std::uint64_t place_of(const sim::Fault& fault) {
    if (fault.at_time) return hash_of("at a time");
    const auto address = sim::parse_address(fault.at);
    if (!address) return hash_of(fault.at);
    const std::uint64_t call =
        combine(hash_of(task_kind(address->task)), hash_of(address->operation));
    const std::uint64_t life = address->incarnation == "1" ? 1 : 2;
    return combine(combine(call, life), static_cast<std::uint64_t>(fault.phase));
}

std::vector<Feature> features_of(const sim::Plan& plan, const RunResult& result,
                                 const sim::History& history) {
    return Reader{plan, history}.read(result);
}

}  // namespace fencepost::scenarios
