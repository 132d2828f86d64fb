"""Edits that people make to handlers and to the runtime every day, none of which repairs or breaks
anything: what scripts/replay-after-edits replays the corpus after.

Each has a name, a sentence, and replacements: (file, old, new). The old text is in the file exactly
once, or with ALL at least once; otherwise the edit has rotted and has to be written anew.
"""

import dataclasses

ALL = "all"


@dataclasses.dataclass(frozen=True)
class Edit:
    name: str
    sentence: str
    replacements: list

    def applied(self, read):
        """The new text of each file. `read` gives the text of a path; ValueError when it has rotted."""
        texts = {}
        for file, old, new, *how in self.replacements:
            text = texts.get(file) or read(file)
            found = text.count(old)
            if found != 1 and not (how == [ALL] and found > 1):
                raise ValueError(f"{self.name}: {file} has this {found} times, not once:\n{old}")
            texts[file] = text.replace(old, new)
        return texts


EDITS = [
    # The worker.
    Edit("worker-extra-query", "a query on the session before the claim is taken", [
        ("jobs/worker.cc", "    if (stopping_ && from == From::Recovery)",
         '    session->execute("SELECT 1");\n    if (stopping_ && from == From::Recovery)')]),
    Edit("worker-connects-first", "the connection before the lease, not after it", [
        ("jobs/worker.cc", """    const auto lease = leases_.try_acquire(fire.tenant + "/" + fire.job);
    if (lease == nullptr) return Disposition::GaveWay;
    const auto session = ports_.database.connect();
""", """    const auto session = ports_.database.connect();
    const auto lease = leases_.try_acquire(fire.tenant + "/" + fire.job);
    if (lease == nullptr) return Disposition::GaveWay;
""")]),
    Edit("worker-clock-read", "a time stamp for a log line at the start of each attempt", [
        ("jobs/worker.cc", "        try {\n            return attempt(fire, key, from);",
         "        static_cast<void>(ports_.clock.wall_now());\n"
         "        try {\n            return attempt(fire, key, from);")]),
    Edit("worker-smaller-rounds", "recovery takes up 3 pieces of work at a time, not 10", [
        ("jobs/worker.cc", "kAtOnce = 10;", "kAtOnce = 3;")]),
    Edit("worker-asks-the-time", "recovery asks the database for its time in every round", [
        ("jobs/worker.cc", "        missed_.for_each(*session, [&](const Fire& fire) {",
         "        static_cast<void>(claims::database_now(*session));\n"
         "        missed_.for_each(*session, [&](const Fire& fire) {")]),
    Edit("backoff-longer", "the first wait between attempts is 250 ms, not 200", [
        ("jobs/backoff.h", "std::chrono::milliseconds{200}", "std::chrono::milliseconds{250}")]),

    # The lease.
    Edit("lease-renamed-helper", "a helper with a better name", [
        ("jobs/lease.cc", "milliseconds(", "in_milliseconds(", ALL)]),
    Edit("lease-extra-get", "a GET of the lease before it is asked for", [
        ("jobs/lease.cc", "    const MonotonicTime sent = ports_.clock.monotonic_now();\n"
         "    const redis::Reply reply =\n        ports_.redis.eval(lease_scripts::kAcquire",
         '    ports_.redis.command({"GET", key_of(scope)});\n'
         "    const MonotonicTime sent = ports_.clock.monotonic_now();\n"
         "    const redis::Reply reply =\n        ports_.redis.eval(lease_scripts::kAcquire")]),
    Edit("lease-reads-its-counter", "a GET of the counter of versions after the lease is there", [
        ("jobs/lease.cc", "    if (reply.is_nil()) return nullptr;\n",
         "    if (reply.is_nil()) return nullptr;\n"
         '    ports_.redis.command({"GET", counter_of(scope)});\n')]),
    Edit("lease-extra-renewal", "one renewal at once, before the first wait", [
        ("jobs/lease.cc", "        while (!stop.wait_for(options.renewal()) && held()) {",
         "        try {\n            renew_once();\n        } catch (const ConnectionLost&) {\n"
         "        }\n        while (!stop.wait_for(options.renewal()) && held()) {")]),
    Edit("lease-renews-more-often", "renewal after a quarter of the time to live, not a third", [
        ("jobs/lease.cc", "stop.wait_for(options.renewal())", "stop.wait_for(options.ttl / 4)")]),
    Edit("lease-names-its-node", "the owner's name begins with the node's", [
        ("jobs/lease.cc", "owner = ports_.ids.next();",
         'owner = ports_.node + "/" + ports_.ids.next();')]),
    Edit("lease-clock-read", "the clock is read twice where it is read once", [
        ("jobs/lease.cc", "    [[nodiscard]] bool held() const { return",
         "    [[nodiscard]] bool held() const { static_cast<void>(clock.wall_now()); return")]),

    # The claim.
    Edit("claim-looks-first", "a query for the claim in the transaction that takes it", [
        ("jobs/claim.cc", "    const FencingToken token = next_token(transaction, scope_of(fire));",
         '    transaction.execute("SELECT status FROM job_claim WHERE business_key = $1", '
         "key.text());\n"
         "    const FencingToken token = next_token(transaction, scope_of(fire));")]),
    Edit("claim-reads-after", "a query for the claim before it is finished", [
        ("jobs/claim.cc", "    const sql::Result finished = session.execute(",
         '    session.execute("SELECT owner FROM job_claim WHERE business_key = $1", '
         "claim.key.text());\n    const sql::Result finished = session.execute(")]),
    Edit("claim-columns-reordered", "the columns of an INSERT in another order", [
        ("jobs/claim.cc",
         '"INSERT INTO job_claim (business_key, tenant, job, scheduled_us, status, '
         'fencing_token, "\n        "attempts, current_count, updated_us) "\n'
         "        \"VALUES ($1, $2, $3, $4, 'pending', 0, 0, 0, db_now_us()) \"",
         '"INSERT INTO job_claim (business_key, scheduled_us, tenant, job, fencing_token, status, '
         '"\n        "current_count, attempts, updated_us) "\n'
         "        \"VALUES ($1, $4, $2, $3, 0, 'pending', 0, 0, db_now_us()) \"")]),
    Edit("claim-returns-more", "a further column in RETURNING", [
        ("jobs/claim.cc", '"RETURNING checkpoint, current_count, attempts"',
         '"RETURNING checkpoint, current_count, attempts, updated_us"')]),
    Edit("claim-renamed-helper", "a helper with a better name", [
        ("jobs/claim.cc", "scope_of(", "counter_of(", ALL)]),

    # Handlers on the ledger, and the mistakes around it.
    Edit("ledger-counts-first", "a query that counts the accounts before they are read", [
        ("scenarios/handlers/ledger.cc", "    const jobs::sql::Result rows = db.execute(",
         '    db.execute("SELECT count(*) FROM account WHERE tenant = $1", tenant);\n'
         "    const jobs::sql::Result rows = db.execute(")]),
    Edit("ledger-reads-more", "a further column in the query for the accounts", [
        ("scenarios/handlers/ledger.cc", '"SELECT id, balance FROM account',
         '"SELECT id, balance, tenant FROM account')]),
    Edit("ledger-step-moved", "the progress is shown after the lines are prepared, not before", [
        ("scenarios/handlers/reconcile.cc",
         "    job.progress(static_cast<std::int64_t>(accounts.size()));\n", ""),
        ("scenarios/handlers/reconcile.cc",
         "        if (added.affected() != 1) throw Fenced(\"the summary of \" + day + \" has a newer "
         "holder\");\n    });\n",
         "        if (added.affected() != 1) throw Fenced(\"the summary of \" + day + \" has a newer "
         "holder\");\n    });\n"
         "    job.progress(static_cast<std::int64_t>(accounts.size()));\n")]),
    Edit("mistakes-wait-less", "who waits for a lease asks every 400 ms, not every 500", [
        ("scenarios/mistakes/ledger_mistake.cc", "kBetween{500}", "kBetween{400}")]),
    Edit("mistakes-look-first", "a query for the claim before it is inserted", [
        ("scenarios/mistakes/ledger_mistake.cc",
         "const std::string& owner) {\n    return db.execute(",
         "const std::string& owner) {\n"
         '    db.execute("SELECT status FROM job_claim WHERE business_key = $1",\n'
         "               jobs::BusinessKey::of(fire).text());\n    return db.execute(")]),
    Edit("mistakes-look-at-the-day", "a query for the day's summary before the accounts are read", [
        ("scenarios/mistakes/ledger_mistake.cc",
         "    return ledger::accounts_after(db, fire.tenant, 0,",
         '    db.execute("SELECT lines FROM ledger_summary WHERE tenant = $1", fire.tenant);\n'
         "    return ledger::accounts_after(db, fire.tenant, 0,")]),

    # Messages, outside calls, start-up, background tasks.
    Edit("inbox-looks-first", "a query for the event before it is entered", [
        ("jobs/inbox.cc", "    const sql::Result entered = transaction.execute(",
         "    transaction.execute(\n"
         '        "SELECT handled_us FROM job_inbox WHERE consumer = $1 AND event_id = $2", '
         "consumer,\n        event_id);\n"
         "    const sql::Result entered = transaction.execute(")]),
    Edit("orders-read-the-stock", "a query for the stock of each item of an order", [
        ("scenarios/handlers/orders.cc", "        transaction.execute(\n"
         '            "UPDATE stock',
         '        transaction.execute("SELECT available FROM stock WHERE item = $1", item);\n'
         '        transaction.execute(\n            "UPDATE stock')]),
    Edit("bills-read-the-budget", "a query for the budget before the next bill", [
        ("scenarios/handlers/bills.cc", "    const jobs::sql::Result rows = db.execute(",
         '    db.execute("SELECT available FROM budget WHERE tenant = $1", tenant);\n'
         "    const jobs::sql::Result rows = db.execute(")]),
    Edit("outside-asks-the-time", "the database's time is asked before an intent is looked up", [
        ("jobs/outside_effect.cc", "    const sql::Result rows =\n",
         '    session.execute("SELECT db_now_us()");\n    const sql::Result rows =\n')]),
    Edit("startup-looks-first", "a query for the table of versions under the lock", [
        ("jobs/startup.cc", "    if (version(transaction) < to) {",
         "    static_cast<void>(version(transaction));\n    if (version(transaction) < to) {")]),
    Edit("startup-reads-the-cache", "a GET of each cached value before it is set", [
        ("jobs/startup.cc", "        const redis::Reply reply =\n            ports_.redis.eval(",
         '        ports_.redis.command({"GET", cached.key});\n'
         "        const redis::Reply reply =\n            ports_.redis.eval(")]),
    Edit("startup-asks-the-time", "the database's time is asked under the lock", [
        ("jobs/startup.cc", "    transaction.execute(start_up_schema());",
         '    transaction.execute("SELECT db_now_us()");\n'
         "    transaction.execute(start_up_schema());")]),
    Edit("runner-extra-query", "a query on the session before the runner looks for work", [
        ("jobs/task_runner.cc", "    if (before_look_) before_look_(session());",
         '    session().execute("SELECT 1");\n    if (before_look_) before_look_(session());')]),
    Edit("runner-renews-more-often", "a task is renewed after a quarter of its lease, not a third", [
        ("jobs/task_heartbeat.cc", "stop.wait_for(lease / 3)", "stop.wait_for(lease / 4)")]),
    Edit("tasks-read-more", "a further column in the query for work", [
        ("jobs/task_table.cc", '"WHEN attempts + 1 >= most_attempts THEN 2 ELSE 0 END "',
         '"WHEN attempts + 1 >= most_attempts THEN 2 ELSE 0 END, created_us "')]),
    Edit("import-reads-its-sum", "a query for the sum so far before each batch", [
        ("scenarios/handlers/batch_import.cc",
         "    const std::int64_t last = std::min(file.rows, first + file.batch - 1);",
         '    task.db().execute("SELECT lines FROM import_sum WHERE file = $1", '
         "task.task().id.key);\n"
         "    const std::int64_t last = std::min(file.rows, first + file.batch - 1);")]),
]
