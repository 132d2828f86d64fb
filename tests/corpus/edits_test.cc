// Goal: a failure file is not of one build: it breaks the same invariant after an edit that has
// nothing to do with it.
//
// Method: handlers get ports that do a little more than they are asked to, as if the runtime had
// been edited, and the project's corpus is replayed on them. scripts/replay-after-edits does the
// same with edits of the source and a build of each; a test checks that those still apply.
#include <gtest/gtest.h>

#include "scenarios/search/nearby.h"
#include "tests/corpus/project_corpus.h"

namespace fencepost::scenarios {
namespace {

enum class Edit : std::uint8_t {
    None,
    ReadsTheClockTwice,
    NamesOwnersOtherwise,
    QueriesOnEachConnection,
    GetsBeforeEachScript,
    AsksInTheBackground,
};

class EditedClock : public jobs::Clock {
public:
    EditedClock(jobs::Clock& real, Edit edit) : real_(real), edit_(edit) {}
    jobs::WallTime wall_now() override { return real_.wall_now(); }
    jobs::MonotonicTime monotonic_now() override {
        if (edit_ == Edit::ReadsTheClockTwice) static_cast<void>(real_.wall_now());
        return real_.monotonic_now();
    }
    void sleep_for(jobs::Duration duration) override { real_.sleep_for(duration); }

private:
    jobs::Clock& real_;
    Edit edit_;
};

class EditedIds : public jobs::UniqueIds {
public:
    EditedIds(jobs::UniqueIds& real, Edit edit) : real_(real), edit_(edit) {}
    std::string next() override {
        return (edit_ == Edit::NamesOwnersOtherwise ? "owner-" : "") + real_.next();
    }

private:
    jobs::UniqueIds& real_;
    Edit edit_;
};

class EditedDatabase : public jobs::sql::Database {
public:
    EditedDatabase(jobs::sql::Database& real, Edit edit) : real_(real), edit_(edit) {}
    std::unique_ptr<jobs::sql::Session> connect() override {
        auto session = real_.connect();
        if (edit_ == Edit::QueriesOnEachConnection) session->execute("SELECT 1");
        return session;
    }

private:
    jobs::sql::Database& real_;
    Edit edit_;
};

class EditedRedis : public jobs::redis::Client {
public:
    EditedRedis(jobs::redis::Client& real, Edit edit) : real_(real), edit_(edit) {}
    jobs::redis::Reply command(std::span<const std::string> arguments) override {
        return real_.command(arguments);
    }
    jobs::redis::Reply eval(const jobs::redis::Script& script, std::span<const std::string> keys,
                            std::span<const std::string> arguments) override {
        if (edit_ == Edit::GetsBeforeEachScript) {
            static_cast<jobs::redis::Client&>(real_).command({"GET", keys.front()});
        }
        return real_.eval(script, keys, arguments);
    }

private:
    jobs::redis::Client& real_;
    Edit edit_;
};

// A program on edited ports.
class EditedProgram : public Program {
public:
    EditedProgram(const HandlerSpec& original, const ProgramSetting& setting, Edit edit)
        : clock_(setting.ports.clock, edit),
          database_(setting.ports.database, edit),
          redis_(setting.ports.redis, edit),
          ids_(setting.ports.ids, edit),
          ports_{setting.ports.node,
                 clock_,
                 database_,
                 redis_,
                 setting.ports.tasks,
                 ids_,
                 setting.ports.broker,
                 setting.ports.gateway},
          edit_(edit),
          program_(original.program({ports_, setting.parameters, setting.due, setting.version})) {}

    void start_up() override { program_->start_up(); }
    void start() override {
        if (edit_ == Edit::AsksInTheBackground) watch_the_cluster();
        program_->start();
    }
    std::string handle(const jobs::Fire& fire) override { return program_->handle(fire); }
    std::string answer(const Request& request) override { return program_->answer(request); }
    void stop() override {
        if (watch_ != nullptr) watch_->request_stop();
        program_->stop();
    }

private:
    void watch_the_cluster() {
        watch_ = ports_.tasks.spawn("watch", [this](jobs::StopSignal& stop) {
            while (!stop.wait_for(std::chrono::seconds{1})) {
                try {
                    redis_.command(std::vector<std::string>{"GET", "load"});
                } catch (const jobs::AttemptError&) {
                    // The next look may be answered.
                }
            }
        });
    }

    EditedClock clock_;
    EditedDatabase database_;
    EditedRedis redis_;
    EditedIds ids_;
    jobs::Ports ports_;
    Edit edit_;
    std::unique_ptr<jobs::Task> watch_;
    std::unique_ptr<Program> program_;
};

// The name of the handler as it is after the edit. It is no planted mistake of its own.
std::string edited(const std::string& handler, Edit edit) {
    HandlerSpec spec = *find_handler(handler);
    spec.name += "-edited-" + std::to_string(static_cast<int>(edit));
    if (find_handler(spec.name) != nullptr) return spec.name;
    spec.breaks.clear();
    spec.program = [original = *find_handler(handler), edit](const ProgramSetting& setting) {
        return std::make_unique<EditedProgram>(original, setting, edit);
    };
    add_handler(spec);
    return spec.name;
}

// How many failures of planted mistakes the corpus has, and which do not break the same invariant
// after the edit.
struct Outcome {
    std::size_t failures = 0;
    std::vector<std::string> lost;
};

Outcome replayed_after(Edit edit) {
    Outcome outcome;
    const RunPlan run = fresh_runner().run;
    for (const CorpusFile& file : project_corpus()) {
        Failure failure = read_failure(file.path);
        if (!find_handler(failure.plan.handler)->is_mistake()) continue;
        failure.plan.handler = edited(failure.plan.handler, edit);
        ++outcome.failures;
        if (!replay_nearby(failure, run).replay.reproduced()) outcome.lost.push_back(file.name);
    }
    return outcome;
}

using Names = std::vector<std::string>;

TEST(EditsTest, ReadsOfTheClockAndOtherNamesLoseNoFailure) {
    for (const Edit edit : {Edit::None, Edit::ReadsTheClockTwice, Edit::NamesOwnersOtherwise}) {
        const Outcome outcome = replayed_after(edit);
        EXPECT_GT(outcome.failures, 40U);
        EXPECT_EQ(outcome.lost, Names{});
    }
}

TEST(EditsTest, FurtherCallsLoseTwoFailuresAtMost) {
    for (const Edit edit :
         {Edit::QueriesOnEachConnection, Edit::GetsBeforeEachScript, Edit::AsksInTheBackground}) {
        const Outcome outcome = replayed_after(edit);
        EXPECT_LE(outcome.lost.size(), 2U)
            << static_cast<int>(edit) << ": " << testing::PrintToString(outcome.lost);
    }
}

}  // namespace
}  // namespace fencepost::scenarios
