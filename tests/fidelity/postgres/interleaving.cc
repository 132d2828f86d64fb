#include "tests/fidelity/postgres/interleaving.h"

#include <fmt/format.h>

#include <array>
#include <tuple>

#include "tests/fidelity/postgres/answer.h"

namespace fencepost::fidelity {

namespace {

struct Statement {
    std::size_t weight;
    std::string_view text;  // {k} is a key, {n} a number, {u} a value of the second unique key
};

// Statements that touch several rows find them by the primary key, so that both sides lock them in
// one order; without an index, PostgreSQL goes by where rows lie in the file.
constexpr std::array kStatements = {
    Statement{8, "BEGIN"},
    Statement{16, "COMMIT"},
    Statement{8, "ROLLBACK"},
    Statement{6, "SAVEPOINT s"},
    Statement{3, "SAVEPOINT r"},
    Statement{4, "ROLLBACK TO s"},
    Statement{1, "ROLLBACK TO r"},
    Statement{1, "RELEASE s"},
    Statement{2, ""},

    Statement{6, "INSERT INTO t VALUES ({k}, {u}, 0)"},
    Statement{3, "INSERT INTO t (id, v) VALUES ({k}, {n}) RETURNING id, u, v"},
    Statement{2, "INSERT INTO t VALUES ({k}, {u}, 0), (4, NULL, 0)"},
    Statement{2, "INSERT INTO t SELECT id + 2, NULL, v FROM t WHERE id > 0 AND v = {n}"},
    Statement{4, "INSERT INTO t VALUES ({k}, {u}, {n}) ON CONFLICT DO NOTHING"},
    Statement{2, "INSERT INTO t VALUES ({k}, {u}, {n}) ON CONFLICT (id) DO NOTHING RETURNING id"},
    Statement{2, "INSERT INTO t VALUES ({k}, {u}, {n}) ON CONFLICT (u) DO NOTHING"},
    Statement{5,
              "INSERT INTO t VALUES ({k}, NULL, 0) ON CONFLICT (id) DO UPDATE SET v = t.v + 1 "
              "RETURNING id, v"},
    Statement{3,
              "INSERT INTO t VALUES ({k}, {u}, {n}) ON CONFLICT (id) DO UPDATE SET v = excluded.v, "
              "u = excluded.u WHERE t.v < 2"},
    Statement{2,
              "INSERT INTO t VALUES ({k}, {u}, 0) ON CONFLICT (u) DO UPDATE SET v = t.v + 1 "
              "RETURNING id, v"},

    Statement{8, "UPDATE t SET v = v + 1 WHERE id = {k}"},
    Statement{6, "UPDATE t SET v = v + 1 WHERE id = {k} AND v = {n} RETURNING id, v"},
    Statement{3, "UPDATE t SET u = {u} WHERE id = {k}"},
    Statement{3, "UPDATE t SET v = {n} WHERE u = {u} RETURNING id"},
    Statement{2, "UPDATE t SET id = id + 2 WHERE id = {k}"},
    Statement{4, "UPDATE t SET v = v + 1 WHERE id > 0 AND v = {n} RETURNING id, v"},
    Statement{2, "UPDATE t SET v = (SELECT max(v) FROM t) + 1 WHERE id = {k} RETURNING v"},
    Statement{2,
              "UPDATE t SET v = v + 1 WHERE id = (SELECT id FROM t WHERE id > 0 AND v = {n} ORDER "
              "BY id LIMIT 1 FOR UPDATE SKIP LOCKED) RETURNING id, v"},
    Statement{2,
              "UPDATE t SET v = v + 1 WHERE id = (SELECT id FROM t WHERE id > 0 AND v = {n} ORDER "
              "BY id LIMIT 1 FOR UPDATE) RETURNING id, v"},
    Statement{5, "DELETE FROM t WHERE id = {k}"},
    Statement{2, "DELETE FROM t WHERE id > 0 AND v = {n} RETURNING id"},

    Statement{6, "SELECT id, u, v FROM t ORDER BY id"},
    Statement{2, "SELECT v FROM t WHERE id = {k}"},
    Statement{2, "SELECT count(*), sum(v) FROM t WHERE v > {n}"},
    Statement{3, "SELECT id, v FROM t WHERE id = {k} FOR UPDATE"},
    Statement{2, "SELECT id, v FROM t WHERE id = {k} FOR NO KEY UPDATE"},
    Statement{2, "SELECT id, v FROM t WHERE id = {k} FOR SHARE"},
    Statement{2, "SELECT id, v FROM t WHERE id = {k} FOR KEY SHARE"},
    Statement{2, "SELECT id, v FROM t WHERE id > 0 AND v = {n} ORDER BY id FOR UPDATE"},
    Statement{2, "SELECT id, v FROM t WHERE id = {k} FOR UPDATE NOWAIT"},
    Statement{1, "SELECT id, v FROM t WHERE id = {k} FOR SHARE NOWAIT"},
    Statement{2, "SELECT id, v FROM t ORDER BY id FOR UPDATE SKIP LOCKED"},
    Statement{2, "SELECT id, v FROM t ORDER BY id LIMIT 1 FOR UPDATE SKIP LOCKED"},
    Statement{1, "SELECT id, v FROM t ORDER BY id LIMIT 1 FOR UPDATE"},

    Statement{4, "INSERT INTO child (parent) VALUES ({k}) RETURNING id"},
    Statement{2, "UPDATE child SET parent = {k} WHERE id = {n}"},
    Statement{1, "UPDATE child SET n = n + 1 WHERE id = {n} RETURNING parent"},
    Statement{2, "DELETE FROM child WHERE id = {n}"},
    Statement{1, "SELECT id, parent FROM child ORDER BY id"},
    Statement{3, "INSERT INTO kid (parent) VALUES ({k}) RETURNING id"},
    Statement{1, "DELETE FROM kid WHERE id = {n}"},
    Statement{1, "SELECT id, parent FROM kid ORDER BY id"},

    Statement{4, "INSERT INTO log (note) VALUES ({n}) RETURNING id"},
    Statement{3, "INSERT INTO log (note) VALUES ({n}) ON CONFLICT (note) DO NOTHING RETURNING id"},
    Statement{1, "DELETE FROM log WHERE note = {n}"},
    Statement{1, "SELECT id, note FROM log ORDER BY id"},

    Statement{1, "INSERT INTO t VALUES ({k}, NULL, NULL)"},
    Statement{1, "UPDATE t SET v = 100 WHERE id = {k}"},
    Statement{1, "SELECT v FROM missing"},
};

// Whether a statement may lock several rows.
bool locks_several(std::string_view text) {
    return text.find("id > 0") != std::string_view::npos ||
           (text.find("ORDER BY") != std::string_view::npos &&
            text.find(" FOR ") != std::string_view::npos);
}

rc::Gen<Step> any_step(std::size_t sessions, model::IsolationLevel level) {
    std::vector<std::pair<std::size_t, std::size_t>> weights;
    for (std::size_t i = 0; i < kStatements.size(); ++i) {
        // Sequential scans lock rows in the order of the file.
        if (level == model::IsolationLevel::Serializable && locks_several(kStatements[i].text)) {
            continue;
        }
        weights.emplace_back(kStatements[i].weight, i);
    }
    rc::Gen<std::size_t> statement = [weights](const rc::Random& random, int) {
        std::size_t total = 0;
        for (const auto& [weight, index] : weights) total += weight;
        rc::Random source = random;
        std::size_t drawn = source.next() % total;
        for (const auto& [weight, index] : weights) {
            if (drawn < weight) return rc::shrinkable::just(std::size_t{index});
            drawn -= weight;
        }
        return rc::shrinkable::just(std::size_t{0});
    };
    // At a smaller size, rapidcheck would draw from the beginning of a range alone.
    return rc::gen::resize(
        rc::kNominalSize,
        rc::gen::construct<Step>(rc::gen::inRange<std::size_t>(0, sessions), statement,
                                 rc::gen::element(1, 1, 1, 2, 2, 3), rc::gen::inRange(0, 3)));
}

}  // namespace

std::string_view tables_script() {
    return "CREATE TABLE t (id BIGINT PRIMARY KEY, u BIGINT UNIQUE, v BIGINT NOT NULL DEFAULT 0 "
           "CHECK (v < 100));"
           "CREATE TABLE child (id BIGSERIAL PRIMARY KEY, parent BIGINT REFERENCES t (id), "
           "n BIGINT NOT NULL DEFAULT 0);"
           "CREATE TABLE kid (id BIGINT GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY, "
           "parent BIGINT NOT NULL REFERENCES t (id) ON DELETE CASCADE);"
           "CREATE TABLE log (id BIGSERIAL PRIMARY KEY, note BIGINT UNIQUE);";
}

std::string_view rows_script() {
    return "INSERT INTO t VALUES (1, 10, 0), (2, 11, 0);"
           "INSERT INTO child (parent) VALUES (1);"
           "INSERT INTO kid (parent) VALUES (2);";
}

std::string_view clearing_script() {
    return "DELETE FROM child; DELETE FROM kid; DELETE FROM log; DELETE FROM t;"
           "SELECT setval('child_id_seq', 1, false), setval('kid_id_seq', 1, false), "
           "setval('log_id_seq', 1, false);";
}

const std::vector<std::string>& final_queries() {
    static const std::vector<std::string> queries = {
        "SELECT id, u, v FROM t ORDER BY id",
        "SELECT id, parent, n FROM child ORDER BY id",
        "SELECT id, parent FROM kid ORDER BY id",
        "SELECT id, note FROM log ORDER BY id",
        "INSERT INTO log (note) VALUES (NULL) RETURNING id",
        "INSERT INTO child (parent) VALUES (NULL) RETURNING id",
    };
    return queries;
}

std::string Step::sql() const {
    return fmt::format(fmt::runtime(kStatements[statement].text), fmt::arg("k", key),
                       fmt::arg("n", number), fmt::arg("u", number + 10));
}

std::string Case::text() const {
    std::string result;
    for (std::size_t session = 0; begin && session < sessions; ++session) {
        result += fmt::format("{}: BEGIN\n", session_name(session));
    }
    for (const Step& step : steps) {
        result += fmt::format("{}: {}\n", session_name(step.session),
                              step.kills() ? "(killed)" : step.sql());
    }
    return result;
}

rc::Gen<Case> any_case(model::IsolationLevel level) {
    const auto of = [level](std::size_t sessions) {
        return rc::gen::construct<Case>(
            rc::gen::just(sessions),
            rc::gen::resize(40, rc::gen::container<std::vector<Step>>(any_step(sessions, level))),
            rc::gen::element(true, true, false), rc::gen::arbitrary<bool>());
    };
    return rc::gen::oneOf(of(2), of(3));
}

}  // namespace fencepost::fidelity
