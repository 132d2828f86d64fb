#include "tests/fidelity/postgres/server_session.h"

#include <libpq-fe.h>
#include <poll.h>

#include <cstdlib>
#include <string_view>

namespace fencepost::fidelity {

namespace {

// Nothing here takes a second; a server that is silent for so long has lost its way.
constexpr int kPatienceMilliseconds = 20'000;

Answer answer_of(const PGresult* result) {
    Answer answer;
    const ExecStatusType status = PQresultStatus(result);
    if (status != PGRES_TUPLES_OK && status != PGRES_COMMAND_OK) {
        const char* code = PQresultErrorField(result, PG_DIAG_SQLSTATE);
        answer.sqlstate = code == nullptr ? "lost" : code;
        return answer;
    }
    const std::string_view tag = PQcmdStatus(const_cast<PGresult*>(result));
    if (tag == "ROLLBACK") answer.tag = tag;
    if (tag.starts_with("INSERT") || tag.starts_with("UPDATE") || tag.starts_with("DELETE")) {
        answer.changed = std::atoll(PQcmdTuples(const_cast<PGresult*>(result)));
    }
    answer.has_rows = status == PGRES_TUPLES_OK;
    for (int row = 0; row < PQntuples(result); ++row) {
        std::string text;
        for (int column = 0; column < PQnfields(result); ++column) {
            if (column > 0) text += '|';
            text +=
                PQgetisnull(result, row, column) != 0 ? "NULL" : PQgetvalue(result, row, column);
        }
        answer.rows.push_back(std::move(text));
    }
    return answer;
}

}  // namespace

ServerSession::ServerSession(const std::string& connection_info)
    : connection_(PQconnectdb(connection_info.c_str())) {
    if (PQstatus(connection_) != CONNECTION_OK) {
        const std::string why = PQerrorMessage(connection_);
        PQfinish(connection_);
        throw ServerLost("no connection to PostgreSQL: " + why);
    }
    process_ = PQbackendPID(connection_);
    PQsetNoticeReceiver(connection_, &ServerSession::on_notice, this);
}

ServerSession::~ServerSession() {
    PQfinish(connection_);
}

void ServerSession::on_notice(void* self, const PGresult* notice) {
    const char* text = PQresultErrorField(notice, PG_DIAG_MESSAGE_PRIMARY);
    if (text == nullptr) return;
    const std::string_view message = text;
    auto& session = *static_cast<ServerSession*>(self);
    if (message.find(" still waiting for ") != std::string_view::npos) session.waiting_ = true;
    if (message.find(" acquired ") != std::string_view::npos) session.waiting_ = false;
}

void ServerSession::send(const std::string& sql) {
    answer_.reset();
    answers_.clear();
    waiting_ = false;
    if (PQsendQuery(connection_, sql.c_str()) != 1) {
        throw ServerLost(std::string("a statement cannot be sent: ") + PQerrorMessage(connection_));
    }
}

void ServerSession::wait_readable() {
    pollfd socket{PQsocket(connection_), POLLIN, 0};
    if (poll(&socket, 1, kPatienceMilliseconds) != 1) {
        throw ServerLost("PostgreSQL neither answers nor says that it waits");
    }
}

// Reads what has come. The answer is there once the last result has been taken.
void ServerSession::read_results() {
    PQconsumeInput(connection_);
    while (PQisBusy(connection_) == 0) {
        PGresult* result = PQgetResult(connection_);
        if (result == nullptr) return;
        answers_.push_back(answer_of(result));
        if (!answer_ || answer_->sqlstate.empty()) answer_ = answers_.back();
        PQclear(result);
    }
}

std::optional<Answer> ServerSession::settle() {
    for (;;) {
        read_results();
        if (answer_ && PQtransactionStatus(connection_) != PQTRANS_ACTIVE) {
            return std::exchange(answer_, std::nullopt);
        }
        if (waiting_) return std::nullopt;
        wait_readable();
    }
}

bool ServerSession::in_transaction() const {
    return PQtransactionStatus(connection_) != PQTRANS_IDLE;
}

void ServerSession::wait_for_end() {
    while (PQstatus(connection_) == CONNECTION_OK) {
        wait_readable();
        PQconsumeInput(connection_);
        while (PQisBusy(connection_) == 0) {
            PGresult* result = PQgetResult(connection_);
            if (result == nullptr) break;
            PQclear(result);
        }
    }
}

Answer ServerSession::run(const std::string& sql) {
    send(sql);
    auto answer = settle();
    if (!answer) throw ServerLost("a statement of the comparison itself waits: " + sql);
    return std::move(*answer);
}

std::vector<Answer> ServerSession::run_each(const std::string& sql) {
    run(sql);
    return std::move(answers_);
}

}  // namespace fencepost::fidelity
