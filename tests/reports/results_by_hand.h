// Small results, written by hand, for the tests of reports.
#pragma once

#include "reports/results.h"

namespace fencepost::reports {

inline sim::Plan plan_with_a_crash() {
    sim::Plan plan{.scenario = "same-instant", .handler = "reconcile", .seed = 12};
    plan.faults.push_back({.at = "A#1/daily-reconcile@2026-03-02T18:00:00Z/db.commit/1",
                           .phase = sim::Phase::Applied,
                           .kind = sim::FaultKind::Crash,
                           .restart_after = std::chrono::seconds{5}});
    return plan;
}

inline checkers::Judgement passed(std::string checker) {
    return {.checker = std::move(checker),
            .verdict = checkers::Verdict::Pass,
            .reason = "5 effects, each once"};
}

inline checkers::Judgement failed(std::string checker) {
    return {.checker = std::move(checker),
            .verdict = checkers::Verdict::Fail,
            .findings = {{.key = "acme/daily-reconcile@2026-03-02T18:00:00Z/7",
                          .message = "the effect landed twice",
                          .record = 17}}};
}

inline RunReport small_run() {
    return {.plan = plan_with_a_crash(),
            .fingerprint = 0xabcU,
            .end = "quiet",
            .steps = 1200,
            .records = 287,
            .virtual_time = std::chrono::seconds{42},
            .judgements = {passed("once"), passed("takeover")},
            .fates = {FaultFate::TookEffect},
            .probes_reached = {"crash before response"},
            .probes_missed = {"lease expired under a live holder"},
            .replay = "fencepost run same-instant --seed 12"};
}

inline FailureReport small_failure() {
    return {.scenario = "same-instant",
            .handler = "no-claim",
            .checker = "once",
            .invariant = "Every due effect lands exactly once, and no other effect lands.",
            .key = "acme/daily-reconcile@2026-03-02T18:00:00Z/7",
            .message = "the effect landed twice",
            .plan = plan_with_a_crash(),
            .fingerprint = 0xdefU,
            .seen = 17,
            .first_seen = "seed 12",
            .file = "failures/once.json",
            .replay = "fencepost replay failures/once.json"};
}

inline SearchReport small_search() {
    return {.scenario = "same-instant",
            .handler = "reconcile",
            .what = "1,000 random runs (seeds 1..1000)",
            .runs = 1000,
            .asked = 1000,
            .verdicts = {{.checker = "once", .pass = 1000},
                         {.checker = "single-claim", .pass = 990, .unknown = 10},
                         {.checker = "fencing", .pass = 1000},
                         {.checker = "takeover", .pass = 1000},
                         {.checker = "checkpoint", .pass = 1000},
                         {.checker = "honest-status", .pass = 1000}},
            .faults = {{.kind = "crash", .planned = 130, .took_effect = 120},
                       {.kind = "pause", .planned = 45, .took_effect = 44}},
            .probes = {{.probe = "both nodes were asked", .reached = 812}}};
}

inline CertificateReport small_certificate() {
    return {.complete = true,
            .scenario = "same-instant",
            .handler = "reconcile",
            .faults = 2,
            .points = 24,
            .further_points = 23,
            .planned = 6596,
            .run = 2724,
            .without_effect = 29,
            .equal = {{"the evicted key is not there: as without the fault", 3872}},
            .by_kind = {{.kind = "evict", .planned = 11'187, .took_effect = 3757}},
            .version = "0.1.0",
            .seconds = 150};
}

inline AcceptReport small_accept() {
    ConditionReport first{
        .condition = 1,
        .title = "the same scheduled job due on both nodes at once",
        .evidence = {
            {.title = "every node fires", .random = small_search(), .one_fault = small_search()}}};
    SearchReport& one_fault = first.evidence[0].one_fault;
    one_fault.what = "312 one-fault plans";
    one_fault.runs = one_fault.asked = 312;
    return {.handler = "reconcile", .conditions = {first}};
}

}  // namespace fencepost::reports
