// The two versions of the reference handler reconcile.
//
// Version 2 keeps the source of each ledger line, in a column that it adds when it starts, and
// knows work that version 1 does not: jobs that post one line an account into a table that it makes
// when it starts. Version 1 goes on beside it, on the same tables, and leaves that work alone.
#pragma once

#include <string>
#include <vector>

#include "jobs/job_context.h"
#include "scenarios/handlers/worker_program.h"

namespace fencepost::scenarios {

// The jobs of `due` that a program of that version knows.
std::vector<std::string> jobs_known_to(std::int64_t version, const std::vector<DueWork>& due);

// The body of that version: one batch a call.
jobs::Handler reconcile_of(const ProgramSetting& setting);

// What the work of version 2 must leave behind; nothing where there is none.
checkers::EffectTable expected_postings(const Parameters& parameters,
                                        const std::vector<DueWork>& due);

// Changes the schema before it takes up any work.
class ReconcileProgram : public WorkerProgram {
public:
    explicit ReconcileProgram(const ProgramSetting& setting);
    void start() override;

private:
    const jobs::Ports& ports_;
    std::int64_t version_;
};

}  // namespace fencepost::scenarios
