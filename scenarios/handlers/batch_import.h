// The reference handler batch-import: the rows of a file, in batches, as a background task.
//
// A fire of the scheduler enqueues the task, however often and on however many nodes it comes; the
// runner of jobs/ does the work. Each row of the file becomes one row of `imported`, and each file
// has a sum that every batch adds to under the fence. How many rows a file has is written at its
// head; a feed (a job whose name begins with "feed") ends when it ends, and nobody knows when.
//
// Version 2 also keeps where a row came from, in a column that it adds when it starts; version 1
// writes beside it. Work that says so is for version 2 alone.
#pragma once

#include "jobs/agenda.h"
#include "jobs/task_runner.h"
#include "scenarios/handler.h"

namespace fencepost::scenarios {

// What the program is made of, for mistakes that change one part of it.
struct ImportParts {
    jobs::BatchHandler handler;
    jobs::TaskRunnerOptions options;
};

HandlerSpec batch_import_handler();

// The parts as the reference has them.
ImportParts import_parts(const ProgramSetting& setting);

// A node's program: enqueues on fires, and what the agenda says was missed, and runs tasks.
class ImportProgram : public Program {
public:
    ImportProgram(const ProgramSetting& setting, const jobs::Ports& ports, ImportParts parts);
    explicit ImportProgram(const ProgramSetting& setting)
        : ImportProgram(setting, setting.ports, import_parts(setting)) {}

    void start() override;
    std::string handle(const jobs::Fire& fire) override;
    void stop() override { runner_.stop(); }

protected:
    [[nodiscard]] jobs::TaskRunner& runner() { return runner_; }

private:
    [[nodiscard]] jobs::NewTask task_of(const jobs::Fire& fire) const;
    void enqueue_missed(jobs::sql::Session& session);

    jobs::Ports ports_;
    const std::vector<DueWork>& due_;
    std::int64_t version_;
    jobs::MissedActs missed_;
    jobs::TaskRunner runner_;
};

}  // namespace fencepost::scenarios
