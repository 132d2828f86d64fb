// The engine against a plain model of READ COMMITTED: every interleaving of pairs of small
// transactions, and long random dialogues of four sessions.
#include "tests/model/database/reference.h"
#include "tests/model/database/script.h"

namespace fencepost::model {
namespace {

using Kind = Operation::Kind;

class Duel {
public:
    Duel(DatabaseEngine& engine, const DatabaseImage& image, int sessions)
        : engine_(engine), reference_(sessions), count_(sessions) {
        engine_.reset(image);
        for (int i = 0; i < sessions; ++i) EXPECT_EQ(engine_.open(), static_cast<SessionId>(i + 1));
    }

    [[nodiscard]] bool waiting(int id) const { return reference_.waiting(id); }
    [[nodiscard]] const std::string& dialogue() const { return dialogue_; }

    // False if they differ.
    bool execute(int id, const Operation& operation) {
        dialogue_ += std::to_string(id) + ": " + operation.sql();
        const std::string expected = reference_.execute(id, operation);
        const std::string actual =
            text_of(engine_.execute(static_cast<SessionId>(id), operation.sql()));
        dialogue_ += " -> " + actual + "\n";
        if (actual != expected) dialogue_ += "  but expected " + expected + "\n";
        return actual == expected && compare();
    }

    bool break_deadlocks() {
        for (int id = 1; id <= count_; ++id) {
            if (!reference_.waiting(id) || !reference_.in_deadlock(id)) continue;
            dialogue_ += std::to_string(id) + " is the victim of a deadlock\n";
            reference_.fail_wait(id, "40P01");
            engine_.fail_wait(static_cast<SessionId>(id), {"40P01", "deadlock detected"});
            if (!compare()) return false;
        }
        return true;
    }

private:
    bool compare() {
        std::string expected;
        std::string actual;
        for (const auto& [id, answer] : reference_.take_completions()) {
            expected += std::to_string(id) + ": " + answer + "\n";
        }
        for (const Completion& completion : engine_.take_completions()) {
            actual += std::to_string(completion.session) + ": " + text_of(completion.answer) + "\n";
        }
        dialogue_ += actual;
        for (int id = 1; id <= count_; ++id) {
            const std::string start = std::to_string(id) +
                                      (reference_.waiting(id) ? " waits" : " free") +
                                      (reference_.in_deadlock(id) ? " for itself: " : ": ");
            const auto session = static_cast<SessionId>(id);
            const std::string same = std::to_string(id) +
                                     (engine_.waiting(session) ? " waits" : " free") +
                                     (engine_.in_deadlock(session) ? " for itself: " : ": ");
            expected += start;
            actual += same;
            if (reference_.waiting(id) || reference_.failed(id) || engine_.waiting(session))
                continue;
            expected += reference_.view(id) + "\n";
            actual += text_of(engine_.execute(session, "SELECT k, v FROM t ORDER BY k")) + "\n";
        }
        if (actual == expected) return true;
        dialogue_ += "\nthe engine:\n" + actual + "\nexpected:\n" + expected;
        return false;
    }

    DatabaseEngine& engine_;
    Reference reference_;
    int count_;
    std::string dialogue_;
};

class DatabaseInterleavingsTest : public testing::Test {
protected:
    DatabaseEngine engine;
    DatabaseImage image =
        DatabaseImage::build("CREATE TABLE t (k BIGINT PRIMARY KEY, v BIGINT NOT NULL);");
};

using Program = std::vector<Operation>;

std::vector<Program> small_transactions() {
    const std::vector<std::vector<Kind>> bodies = {{Kind::Insert},
                                                   {Kind::Increment},
                                                   {Kind::Read, Kind::Insert},
                                                   {Kind::Delete},
                                                   {Kind::InsertOrNothing},
                                                   {Kind::Read, Kind::Increment},
                                                   {Kind::InsertOrUpdate},
                                                   {Kind::Lock, Kind::Increment},
                                                   {Kind::Delete, Kind::Insert},
                                                   {Kind::IncrementZeroes}};
    std::vector<Program> programs;
    for (const auto& body : bodies) {
        for (const Kind end : {Kind::Commit, Kind::Rollback}) {
            Program program{{Kind::Begin, 1}};
            for (const Kind kind : body) program.push_back({kind, 1});
            program.push_back({end, 1});
            programs.push_back(std::move(program));
        }
        Program alone;
        for (const Kind kind : body) alone.push_back({kind, 1});
        programs.push_back(std::move(alone));
    }
    return programs;
}

// Plays two programs in the order that `turns` gives, one bit for each step; a program that waits
// lets the other go on. Answers whether they agreed.
bool play(Duel& duel, const Program& first, const Program& second, unsigned turns) {
    std::size_t at[2] = {0, 0};
    const Program* programs[2] = {&first, &second};
    for (unsigned step = 0; at[0] < first.size() || at[1] < second.size(); ++step) {
        int turn = static_cast<int>(turns >> step & 1U);
        const auto can_go = [&](int who) {
            return at[who] < programs[who]->size() && !duel.waiting(who + 1);
        };
        if (!can_go(turn)) turn = 1 - turn;
        if (!can_go(turn)) return false;
        if (!duel.execute(turn + 1, (*programs[turn])[at[turn]++])) return false;
    }
    return true;
}

TEST_F(DatabaseInterleavingsTest, EveryInterleavingOfTwoSmallTransactionsIsAsExpected) {
    const std::vector<Program> programs = small_transactions();
    int played = 0;
    for (const bool row_exists : {false, true}) {
        for (const Program& first : programs) {
            for (const Program& second : programs) {
                const auto steps = static_cast<unsigned>(first.size() + second.size());
                for (unsigned turns = 0; turns < 1U << steps; ++turns) {
                    if (static_cast<std::size_t>(__builtin_popcount(turns)) != second.size())
                        continue;
                    Duel duel(engine, image, 2);
                    if (row_exists) {
                        ASSERT_TRUE(duel.execute(1, {Kind::Insert, 1}));
                    }
                    ASSERT_TRUE(play(duel, first, second, turns)) << duel.dialogue();
                    ++played;
                }
            }
        }
    }
    EXPECT_GT(played, 10000);
}

class Random {
public:
    explicit Random(std::uint64_t seed) : state_(seed) {}
    int below(int bound) {
        std::uint64_t z = (state_ += 0x9e3779b97f4a7c15ULL);
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
        z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
        return static_cast<int>((z ^ (z >> 31)) % static_cast<std::uint64_t>(bound));
    }

private:
    std::uint64_t state_;
};

TEST_F(DatabaseInterleavingsTest, LongRandomDialoguesAreAsExpected) {
    constexpr int kSessions = 4;
    int waits = 0;
    for (std::uint64_t seed = 1; seed <= 500; ++seed) {
        Random random(seed);
        Duel duel(engine, image, kSessions);
        for (int key = 1; key <= 3; ++key) ASSERT_TRUE(duel.execute(1, {Kind::Insert, key}));
        for (int step = 0; step < 60; ++step) {
            const int id = 1 + random.below(kSessions);
            if (duel.waiting(id)) {
                ++waits;
                continue;
            }
            const Operation operation{static_cast<Kind>(random.below(Operation::kKinds)),
                                      1 + random.below(4)};
            ASSERT_TRUE(duel.execute(id, operation)) << "seed " << seed << "\n" << duel.dialogue();
            ASSERT_TRUE(duel.break_deadlocks()) << "seed " << seed << "\n" << duel.dialogue();
        }
    }
    EXPECT_GT(waits, 1000);
}

}  // namespace
}  // namespace fencepost::model
