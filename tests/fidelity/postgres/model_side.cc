#include <algorithm>

#include "tests/fidelity/postgres/interleaving.h"
#include "tests/fidelity/postgres/sides.h"

namespace fencepost::fidelity {

namespace {

std::string text_of(const model::SqlValue& value) {
    if (const auto* integer = std::get_if<std::int64_t>(&value)) return std::to_string(*integer);
    if (const auto* real = std::get_if<double>(&value)) return std::to_string(*real);
    if (const auto* text = std::get_if<std::string>(&value)) return *text;
    return "NULL";
}

Answer answer_of(const model::SqlAnswer& from, bool ordered) {
    Answer answer;
    if (const auto* failure = std::get_if<model::SqlFailure>(&from)) {
        answer.sqlstate = failure->sqlstate;
        return answer;
    }
    const auto& result = std::get<model::SqlResult>(from);
    if (result.affected() == model::kRolledBack) {
        answer.tag = "ROLLBACK";
        return answer;
    }
    answer.changed = result.affected();
    answer.has_rows = result.columns() > 0;
    for (std::size_t row = 0; row < result.rows(); ++row) {
        std::string text;
        for (std::size_t column = 0; column < result.columns(); ++column) {
            text += (column > 0 ? "|" : "") + text_of(result.at(row, column));
        }
        answer.rows.push_back(std::move(text));
    }
    if (!ordered) std::sort(answer.rows.begin(), answer.rows.end());
    return answer;
}

}  // namespace

std::string_view name_of(model::IsolationLevel level) {
    switch (level) {
        case model::IsolationLevel::ReadCommitted:
            return "read committed";
        case model::IsolationLevel::RepeatableRead:
            return "repeatable read";
        case model::IsolationLevel::Serializable:
            return "serializable";
    }
    return {};
}

bool gives_order(std::string_view sql) {
    return sql.starts_with("SELECT") && sql.find("ORDER BY") != std::string_view::npos;
}

ModelSide::ModelSide(model::IsolationLevel level, model::DatabaseFlaw flaw)
    : image_(
          model::DatabaseImage::build(std::string(tables_script()) + std::string(rows_script()))) {
    engine_.set_default_isolation(level);
    engine_.plant(flaw);
}

void ModelSide::reset(std::size_t sessions) {
    engine_.reset(image_);
    sessions_.clear();
    ordered_.assign(sessions, false);
    for (std::size_t i = 0; i < sessions; ++i) sessions_.push_back(engine_.open());
}

bool ModelSide::waiting(std::size_t session) const {
    return engine_.waiting(sessions_[session]);
}

bool ModelSide::in_transaction(std::size_t session) const {
    return engine_.in_transaction(sessions_[session]);
}

bool ModelSide::failed(std::size_t session) const {
    return engine_.in_failed_transaction(sessions_[session]);
}

std::size_t ModelSide::index_of(model::SessionId id) const {
    const auto found = std::find(sessions_.begin(), sessions_.end(), id);
    return static_cast<std::size_t>(found - sessions_.begin());
}

Observation ModelSide::step(std::size_t session, const std::string& sql) {
    Observation seen;
    ordered_[session] = gives_order(sql);
    const model::Outcome outcome = engine_.execute(sessions_[session], sql);
    if (const auto* result = std::get_if<model::SqlResult>(&outcome)) {
        seen.answers.emplace_back(session, answer_of(*result, ordered_[session]));
    } else if (const auto* failure = std::get_if<model::SqlFailure>(&outcome)) {
        seen.answers.emplace_back(session, answer_of(*failure, ordered_[session]));
    }
    take_completions(seen);
    break_deadlocks(seen);
    note_waits(seen);
    return seen;
}

Observation ModelSide::kill(std::size_t session) {
    Observation seen;
    engine_.close(sessions_[session]);
    take_completions(seen);
    sessions_[session] = engine_.open();
    break_deadlocks(seen);
    note_waits(seen);
    return seen;
}

void ModelSide::take_completions(Observation& seen) {
    for (const model::Completion& completion : engine_.take_completions()) {
        const std::size_t session = index_of(completion.session);
        seen.answers.emplace_back(session, answer_of(completion.answer, ordered_[session]));
    }
}

void ModelSide::break_deadlocks(Observation& seen) {
    for (;;) {
        model::SessionId victim = 0;
        for (const model::SessionId id : sessions_) {
            if (!engine_.waiting(id) || !engine_.in_deadlock(id)) continue;
            if (victim == 0 || engine_.wait_number(id) > engine_.wait_number(victim)) victim = id;
        }
        if (victim == 0) return;
        engine_.fail_wait(victim, {"40P01", "deadlock detected"});
        take_completions(seen);
    }
}

void ModelSide::note_waits(Observation& seen) const {
    for (std::size_t session = 0; session < sessions_.size(); ++session) {
        if (!engine_.waiting(sessions_[session])) continue;
        std::vector<model::SessionId> reached = engine_.waits_for(sessions_[session]);
        Waiting waiting{session, {}};
        for (std::size_t i = 0; i < reached.size(); ++i) {
            const model::SessionId id = reached[i];
            if (!engine_.waiting(id)) waiting.roots.push_back(index_of(id));
            for (const model::SessionId next : engine_.waits_for(id)) {
                if (std::find(reached.begin(), reached.end(), next) == reached.end()) {
                    reached.push_back(next);
                }
            }
        }
        std::sort(waiting.roots.begin(), waiting.roots.end());
        seen.waiting.push_back(std::move(waiting));
    }
}

std::vector<std::string> ModelSide::tables() {
    std::vector<std::string> result;
    const model::SessionId reader = engine_.open();
    for (const std::string& query : final_queries()) {
        const model::Outcome outcome = engine_.execute(reader, query);
        if (const auto* rows = std::get_if<model::SqlResult>(&outcome)) {
            result.push_back(answer_of(*rows, true).text());
        } else {
            result.push_back("is not answered");
        }
    }
    engine_.close(reader);
    return result;
}

}  // namespace fencepost::fidelity
