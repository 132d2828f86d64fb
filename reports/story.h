// The story of a violation: only the events that led to it, in their order.
//
// It is a backward slice. From the records on which the finding rests it follows causes to the
// tasks that wrote them, adds the tasks that were asked to do the same work, and of these keeps
// what decides: who was asked, who held the lease and the claim, what was committed and what was
// refused, the faults that took effect. What matters least goes first when there are too many
// lines.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "checkers/judgement.h"
#include "reports/narrator.h"

namespace fencepost::reports {

struct StoryLine {
    sim::RecordId record = sim::kNoRecord;
    sim::Time at{};
    std::string who;   // "A#1", "redis", "world"
    std::string what;  // "takes the lease: 1:A#1.1, for 10s"
    int times = 1;     // as often in a row
    bool is_fault = false;
    bool is_evidence = false;  // one of the records that the finding rests on
};

struct Story {
    std::string unit;         // the business act; empty when the finding is about none
    sim::Time moment{};       // the interesting one: times are told relative to it
    std::string moment_text;  // what it is: "the violation", "the first fault"
    std::vector<StoryLine> lines;
    std::size_t left_out = 0;
    std::vector<std::uint32_t> faults;  // of the plan, counted from 0: those that the slice holds
    // The kinds of all steps, those left out as well: by it two stories can be compared.
    std::vector<std::string> shape;
};

inline constexpr std::size_t kStoryLines = 15;

// `narrator` is told what the story is about. The finding is one of the narrator's history.
Story story_of(Narrator& narrator, const checkers::Finding& finding,
               std::size_t most_lines = kStoryLines);

// The finding's message with "A#1 (record 63)" in place of long names and times.
std::string short_message(const Narrator& narrator, const checkers::Finding& finding);

// From 0, nothing in common, to 1, the same.
double likeness(const std::vector<std::string>& shape, const std::vector<std::string>& other);

}  // namespace fencepost::reports
