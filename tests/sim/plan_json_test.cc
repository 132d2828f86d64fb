// Goal: a plan survives its JSON text, and a wrong one is refused with its place and what is right.
// Method: random plans over every kind of fault; one wrong file for each message.
#include <gtest/gtest.h>

#include <string>

#include "sim/plan.h"
#include "sim/random.h"

namespace fencepost::sim {
namespace {

// --- random plans

class PlanMaker {
public:
    explicit PlanMaker(std::uint64_t seed) : random_(seed) {}

    Plan plan() {
        Plan plan;
        plan.scenario = text();
        plan.handler = text();
        plan.seed = random_.bits(next());
        for (std::uint64_t i = below(3); i > 0; --i)
            plan.parameters[text()] = static_cast<std::int64_t>(random_.bits(next()));
        for (std::uint64_t i = below(6); i > 0; --i) plan.faults.push_back(fault(any_kind()));
        return plan;
    }

    Fault fault(const FaultKindInfo& info) {
        Fault fault;
        fault.kind = info.kind;
        place(info, fault);
        const unsigned takes = info.needs | (below(2) == 0 ? info.may_take : 0U);
        if ((takes & (kServer | kOf)) != 0) fault.party = name();
        if ((takes & kNode) != 0 && (fault.at.empty() || below(2) == 0)) fault.party = name();
        if ((takes & kBetween) != 0) {
            fault.from = name();
            fault.to = fault.from + "x";
            fault.one_way = below(2) == 0;
        }
        if ((takes & kRestartAfter) != 0) fault.restart_after = duration();
        if ((takes & kFor) != 0) fault.lasting = duration();
        if ((takes & kBy) != 0) {
            fault.by = duration();
            if (info.kind == FaultKind::ClockJump && below(2) == 0) fault.by = -*fault.by;
        }
        if ((takes & kGrace) != 0) fault.grace = duration();
        if ((takes & kPpm) != 0) fault.ppm = static_cast<std::int64_t>(below(1'000'001)) - 500'000;
        if ((takes & kKeep) != 0) fault.keep = pick({"all", "last-second-lost", "none"});
        if ((takes & kKey) != 0) fault.key = text() + "k";
        if ((takes & kVersion) != 0) fault.version = static_cast<std::int64_t>(1 + below(9));
        if ((takes & kUnit) != 0) fault.unit = text() + "u";
        if ((takes & kJob) != 0) fault.job = text() + "j";
        return fault;
    }

private:
    void place(const FaultKindInfo& info, Fault& fault) {
        if (info.at_point && (!info.at_time || below(2) == 0)) {
            fault.at = name() + "#" + pick({"1", "2", "*"}) + "/" + text() + "x/" +
                       pick({"db.commit", "redis.eval", "*"}) + "/" + pick({"1", "17", "*"});
            do {
                fault.phase = kPhases.at(below(4));
            } while ((info.phases & (1U << static_cast<unsigned>(fault.phase))) == 0);
        } else {
            fault.at_time = Time{Duration{static_cast<std::int64_t>(random_.bits(next()) >> 2U)}};
        }
    }
    const FaultKindInfo& any_kind() { return fault_kinds()[below(fault_kinds().size())]; }
    Duration duration() {
        return Duration{static_cast<std::int64_t>(below(3'000'000'000'000'000'000))};
    }
    std::string name() { return pick({"A", "B", "redis", "database"}); }
    std::string text() {
        return pick({"", "reconcile", "daily-reconcile@2026-03-02T18:00:00Z", "with \"quotes\"",
                     "with\nlines\tand \\", "größe/日本"});
    }
    std::string pick(const std::vector<std::string>& from) { return from.at(below(from.size())); }
    std::uint64_t below(std::uint64_t bound) { return random_.below(bound, next()); }
    std::uint64_t next() { return ++drawn_; }

    Random random_;
    std::uint64_t drawn_ = 0;
};

TEST(PlanJsonTest, RandomPlansRoundTrip) {
    for (std::uint64_t seed = 0; seed < 3000; ++seed) {
        const Plan plan = PlanMaker{seed}.plan();
        ASSERT_EQ(plan_from_json(to_json(plan)), plan) << seed << '\n' << to_json(plan);
    }
}

TEST(PlanJsonTest, EveryKindOfFaultRoundTrips) {
    for (const FaultKindInfo& info : fault_kinds()) {
        for (std::uint64_t seed = 0; seed < 50; ++seed) {
            Plan plan;
            plan.faults.push_back(PlanMaker{seed}.fault(info));
            ASSERT_EQ(plan_from_json(to_json(plan)), plan) << to_json(plan);
        }
    }
}

TEST(PlanJsonTest, APlanWrittenByHandIsRead) {
    const Plan plan = plan_from_json(R"({ "scenario": "same-instant", "handler": "reconcile",
        "seed": "0x5eed", "parameters": {"batches": 3},
        "faults": [
          { "at": "A#1/daily-reconcile@2026-03-02T18:00:00Z/db.commit/1", "phase": "applied",
            "do": "crash", "restart_after": "5s" },
          { "at_time": "2026-03-02T18:00:03Z", "do": "partition", "between": ["B", "redis"],
            "for": "40s" } ] })");
    EXPECT_EQ(plan.scenario, "same-instant");
    EXPECT_EQ(plan.seed, 0x5eedU);
    EXPECT_EQ(plan.parameters.at("batches"), 3);
    ASSERT_EQ(plan.faults.size(), 2U);
    EXPECT_EQ(describe(plan.faults[0]),
              "crash at A#1/daily-reconcile@2026-03-02T18:00:00Z/db.commit/1 (applied), "
              "restart after 5s");
    EXPECT_EQ(describe(plan.faults[1]),
              "partition between B and redis at 2026-03-02T18:00:03Z for 40s");
}

TEST(PlanJsonTest, APhaseThatIsNotGivenIsTheUsualOneOfTheKind) {
    const Plan plan = plan_from_json(
        R"({"scenario": "s", "faults": [{"do": "lose-answer", "at": "A#1/j/db.commit/1"}]})");
    EXPECT_EQ(plan.faults.at(0).phase, Phase::Applied);
}

TEST(PlanJsonTest, TheTextIsStable) {
    Plan plan;
    plan.scenario = "s";
    plan.handler = "h";
    plan.seed = 255;
    Fault fault;
    fault.at = "A#1/j/db.commit/1";
    fault.phase = Phase::Sent;
    fault.restart_after = 5s;
    plan.faults.push_back(fault);
    EXPECT_EQ(to_json(plan), R"({
  "scenario": "s",
  "handler": "h",
  "seed": "0xff",
  "faults": [
    {
      "at": "A#1/j/db.commit/1",
      "phase": "sent",
      "do": "crash",
      "restart_after": "5s"
    }
  ]
}
)");
}

TEST(PlanJsonTest, TextThatIsNotUtf8IsWrittenWithoutAnError) {
    Plan plan;
    plan.scenario = "\xff\xfe";
    EXPECT_NO_THROW((void)plan_from_json(to_json(plan)));
}

// --- refusals

std::string refusal(const std::string& text) {
    try {
        (void)plan_from_json(text);
    } catch (const PlanError& error) {
        return error.what();
    }
    return "accepted";
}

// A plan whose only fault is this.
std::string fault_refusal(const std::string& fault) {
    return refusal(R"({"scenario": "s", "faults": [)" + fault + "]}");
}

struct Refusal {
    const char* text;
    const char* message;
};

TEST(PlanRefusalTest, NamesThePlaceInThePlan) {
    for (const auto& [text, message] : std::initializer_list<Refusal>{
             {"[]", "the plan: an object in braces is expected here"},
             {"{}", "the plan: \"scenario\" is missing"},
             {R"({"scenario": 1})", "scenario: a text in quotes is expected here"},
             {R"({"scenario": "s", "sead": 1})",
              "sead: unknown key; known here are scenario, handler, seed, parameters, faults"},
             {R"({"scenario": "s", "handler": []})", "handler: a text in quotes is expected here"},
             {R"({"scenario": "s", "seed": -1})",
              "seed: a number such as 42 or \"0x5eed\" is expected here"},
             {R"({"scenario": "s", "seed": 1.5})",
              "seed: a number such as 42 or \"0x5eed\" is expected here"},
             {R"({"scenario": "s", "seed": "0xyz"})",
              "seed: \"0xyz\" is not a seed; write a number such as 42 or \"0x5eed\""},
             {R"({"scenario": "s", "seed": ""})",
              "seed: \"\" is not a seed; write a number such as 42 or \"0x5eed\""},
             {R"({"scenario": "s", "seed": "0x10000000000000000"})",
              "seed: \"0x10000000000000000\" is not a seed; write a number such as 42 or "
              "\"0x5eed\""},
             {R"({"scenario": "s", "parameters": 1})",
              "parameters: an object in braces is expected here"},
             {R"({"scenario": "s", "parameters": {"n": 1.5}})",
              "parameters.n: a whole number is expected here"},
             {R"({"scenario": "s", "parameters": {"n": 18446744073709551615}})",
              "parameters.n: a whole number is expected here"},
             {R"({"scenario": "s", "faults": {}})", "faults: a list in brackets is expected here"},
             {R"({"scenario": "s", "faults": [1]})",
              "faults[0]: an object in braces is expected here"},
         }) {
        EXPECT_EQ(refusal(text), message);
    }
}

TEST(PlanRefusalTest, NamesThePlaceInAFault) {
    for (const auto& [text, message] : std::initializer_list<Refusal>{
             {"{}", "faults[0]: \"do\" is missing"},
             {R"({"do": 1})", "faults[0].do: a text in quotes is expected here"},
             {R"({"do": "crash"})",
              "faults[0]: \"crash\" needs \"at\" (a fault point) or \"at_time\""},
             {R"({"do": "reset"})", "faults[0]: \"reset\" needs \"at\" (a fault point)"},
             {R"({"do": "fire-twice", "node": "A"})",
              "faults[0]: \"fire-twice\" needs \"at_time\""},
             {R"({"do": "crash", "at": "A#1/j/o/1", "at_time": "2026-03-02T18:00:03Z"})",
              "faults[0]: give either \"at\" or \"at_time\", not both"},
             {R"({"do": "crash", "at_time": "soon", "node": "A"})",
              "faults[0].at_time: \"soon\" is not an instant; write for example "
              "\"2026-03-02T18:00:03Z\""},
             {R"({"do": "crash", "at": "A/j/o/1"})",
              "faults[0].at: \"A/j/o/1\" is not a fault point; write "
              "NODE#INCARNATION/TASK/OPERATION/ORDINAL, for example \"A#1/*/db.commit/1\""},
             {R"({"do": "reset", "at": "A#1/j/o/1", "phase": "after"})",
              "faults[0].phase: \"after\" is not a phase at which \"reset\" can strike; possible: "
              "before, sent, applied"},
             {R"({"do": "crash", "at": "A#1/j/o/1", "phase": "during"})",
              "faults[0].phase: \"during\" is not a phase at which \"crash\" can strike; possible: "
              "before, sent, applied, after"},
             {R"({"do": "crash", "at_time": "2026-03-02T18:00:03Z"})",
              "faults[0]: \"node\" is missing"},
             {R"({"do": "pause", "at": "A#1/j/o/1"})",
              "faults[0]: \"pause\" needs \"for\", a duration such as \"5s\""},
             {R"({"do": "pause", "at": "A#1/j/o/1", "for": "5 parsecs"})",
              "faults[0].for: \"5 parsecs\" is not a duration; write for example \"5s\", \"250ms\" "
              "or \"1m30s\" (units: h m s ms us ns)"},
             {R"({"do": "pause", "at": "A#1/j/o/1", "for": 5})",
              "faults[0].for: a text in quotes is expected here"},
             {R"({"do": "pause", "at": "A#1/j/o/1", "for": "-5s"})",
              "faults[0].for: a negative duration makes no sense here"},
             {R"({"do": "pause", "at": "A#1/j/o/1", "for": "900000h"})",
              "faults[0].for: a duration is at most 876000h"},
             {R"({"do": "delay", "at": "A#1/j/o/1", "by": "-5s"})",
              "faults[0].by: a negative duration makes no sense here"},
             {R"({"do": "pause", "at": "A#1/j/o/1", "for": "5s", "grace": "1s"})",
              "faults[0].grace: unknown key; known here are do, at, phase, at_time, node, for"},
             {R"({"do": "restart", "at": "A#1/j/o/1", "for": "5s"})",
              "faults[0]: \"server\" is missing"},
             {R"({"do": "restart", "at": "A#1/j/o/1", "for": "5s", "server": "r", "keep": "most"})",
              "faults[0].keep: \"most\" is unknown; possible: all, last-second-lost, none"},
             {R"({"do": "clock-drift", "at": "A#1/j/o/1", "of": "A"})",
              "faults[0].ppm: a whole number of microseconds a second from -500000 to 500000 is "
              "expected"},
             {R"({"do": "clock-drift", "at": "A#1/j/o/1", "of": "A", "ppm": 500001})",
              "faults[0].ppm: a whole number of microseconds a second from -500000 to 500000 is "
              "expected"},
             {R"({"do": "clock-drift", "at": "A#1/j/o/1", "of": "A", "ppm": 18446744073709551615})",
              "faults[0].ppm: a whole number of microseconds a second from -500000 to 500000 is "
              "expected"},
             {R"({"do": "partition", "at": "A#1/j/o/1", "for": "5s"})",
              "faults[0]: \"partition\" needs \"between\" (both ways) or \"from\" and \"to\" (one "
              "way)"},
             {R"({"do": "partition", "at": "A#1/j/o/1", "for": "5s", "between": ["A"]})",
              "faults[0].between: two names in brackets are expected, for example [\"B\", "
              "\"redis\"]"},
             {R"({"do": "partition", "at": "A#1/j/o/1", "for": "5s", "between": ["A", "B"],
                  "to": "B"})",
              "faults[0]: give either \"between\" or \"from\" and \"to\""},
             {R"({"do": "partition", "at": "A#1/j/o/1", "for": "5s", "from": "A"})",
              "faults[0]: \"to\" is missing"},
             {R"({"do": "partition", "at": "A#1/j/o/1", "for": "5s", "between": ["A", "A"]})",
              "faults[0]: a partition needs two different parties"},
         }) {
        EXPECT_EQ(fault_refusal(text), message);
    }
}

TEST(PlanRefusalTest, AnUnknownKindListsTheKnownOnes) {
    const std::string message = fault_refusal(R"({"do": "explode", "at": "A#1/j/o/1"})");
    EXPECT_TRUE(message.starts_with("faults[0].do: \"explode\" is not a fault; known are crash, "))
        << message;
    for (const FaultKindInfo& info : fault_kinds())
        EXPECT_NE(message.find(info.name), std::string::npos) << info.name;
}

TEST(PlanRefusalTest, DamagedJsonIsNamedWithLineAndColumn) {
    EXPECT_EQ(refusal("{\n  \"scenario\": \"s\",,\n}"),
              "line 2, column 19: this is not JSON any more");
    EXPECT_EQ(refusal(""), "line 1, column 1: the file ends too early; it may have been cut off");
    EXPECT_EQ(refusal("{\"scenario\": \"s\""),
              "line 1, column 17: the file ends too early; it may have been cut off");
    EXPECT_EQ(refusal(R"({"handler": "a", "parameters": {"handler": 1}, "handler": "b"})"),
              "the file: the key \"handler\" stands twice in one object");
    EXPECT_EQ(refusal("{} x"), "line 1, column 4: this is not JSON any more");
}

TEST(PlanRefusalTest, EveryPrefixOfAPlanIsRefused) {
    const std::string text = to_json(PlanMaker{5}.plan());
    for (std::size_t size = 0; size + 2 < text.size(); ++size)
        ASSERT_NE(refusal(text.substr(0, size)), "accepted") << size;
}

TEST(PlanRefusalTest, DamagedBytesAreRefusedOrReadButNeverCrash) {
    const Random random{9};
    for (std::uint64_t i = 0; i < 20'000; ++i) {
        std::string text = to_json(PlanMaker{i % 200}.plan());
        for (std::uint64_t n = 0; n <= random.below(3, 1, i); ++n) {
            const std::size_t at = random.below(text.size(), 2, i, n);
            text[at] = static_cast<char>(random.below(256, 3, i, n));
        }
        (void)refusal(text);  // no other exception than PlanError leaves it
    }
}

TEST(PlanRefusalTest, DeepNestingIsRefusedWithoutACrash) {
    const std::string deep(200'000, '[');
    EXPECT_NE(refusal(deep), "accepted");
    const std::string closed = deep + std::string(200'000, ']');
    EXPECT_EQ(refusal(closed), "the plan: an object in braces is expected here");
    EXPECT_EQ(refusal(R"({"scenario": "s", "faults": )" + closed + "}"),
              "faults[0]: an object in braces is expected here");
}

TEST(PlanRefusalTest, NumbersThatNothingHoldsAreRefused) {
    EXPECT_NE(refusal(R"({"scenario": "s", "seed": 1e999})"), "accepted");
    EXPECT_NE(refusal(R"({"scenario": "s", "seed": 99999999999999999999})"), "accepted");
}

TEST(SeedTextTest, RoundTripsAndTakesDecimalDigits) {
    for (const std::uint64_t seed : {0UL, 1UL, 0x5eedUL, ~0UL})
        EXPECT_EQ(seed_from_text(seed_to_text(seed)), seed);
    EXPECT_EQ(seed_from_text("42"), 42U);
    EXPECT_EQ(seed_from_text("0XFF"), 255U);
    for (const char* text : {"", "0x", "-1", "+1", "4 2", "0x-1", "12three"})
        EXPECT_THROW((void)seed_from_text(text), PlanError) << text;
}

}  // namespace
}  // namespace fencepost::sim
