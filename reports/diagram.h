// A space-time diagram of a history, as SVG: time goes down, a column for each node and server.
//
// Columns hold the lives of nodes (and their pauses), the leases that stand in Redis as spans with
// owner and token, transactions as brackets. Calls are arrows there and back; what got lost breaks
// off. Marks stand for commits, fires, messages, charges and faults. What a mark stands for is its
// record; shapes tell the kinds apart, colours only help. Long gaps of time are drawn short.
//
// Every mark is an element of class "mark" and of a class for its kind ("k-call"), with its record
// (data-r), its task (data-task), what it is about (data-key) and a <title> that says it in words.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "checkers/judgement.h"
#include "reports/story.h"

namespace fencepost::reports {

struct DiagramKind {
    std::string_view name;   // as in the class: "call"
    std::string_view title;  // as a reader calls it: "calls and answers"
};
// In the order of the legend.
const std::vector<DiagramKind>& diagram_kinds();

struct Diagram {
    std::string svg;
    std::map<std::string, std::size_t> marks;  // by kind
    std::map<std::string, std::string> tasks;  // that have marks: data-task and how it is called
    std::vector<std::string> keys;             // that marks are about, in the order of appearance
    std::size_t left_out = 0;  // calls of the scheduler's own tasks in a history that is too long
};

// `name` makes the ids of the picture's elements unique in its page.
Diagram diagram_of(const Narrator& narrator, const Story& story, const checkers::Finding& finding,
                   const std::string& name);

}  // namespace fencepost::reports
