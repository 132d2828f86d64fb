#include "reports/ci.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "reports/layout.h"
#include "reports/markup.h"
#include "reports/text.h"
#include "reports/verdicts.h"

namespace fencepost::reports {
namespace {

// What XML 1.0 has no character for becomes '?'.
std::string xml(std::string_view text) {
    return markup(text, '?', "\n\t");
}

std::string xml_attribute(std::string_view text) {
    return xml(on_one_line(text));
}

std::vector<const FailureReport*> failures_of(const Evidence& evidence) {
    std::vector<const FailureReport*> failures;
    for (const SearchReport* search : {&evidence.random, &evidence.one_fault}) {
        for (const FailureReport& failure : search->failures) failures.push_back(&failure);
    }
    return failures;
}

bool belongs_to(const VerdictColumn& column, const FailureReport& failure) {
    const auto names = [&](const std::string& checker) {
        return std::ranges::find(column.checkers, checker) != column.checkers.end();
    };
    return names(failure.checker) || std::ranges::any_of(failure.also, names);
}

std::string text_of(const FailureReport& failure) {
    std::string text = failure.explanation.empty() ? failure_text(failure) : failure.explanation;
    if (!failure.replay.empty()) text += fmt::format("\nreplay: {}\n", failure.replay);
    if (!failure.file.empty()) text += fmt::format("file: {}\n", failure.file);
    return text;
}

std::string headline(const FailureReport& failure) {
    return fmt::format("{}: {}", failure.checker, failure.message);
}

struct Counts {
    std::size_t tests = 0;
    std::size_t failures = 0;
    std::size_t errors = 0;
    std::size_t skipped = 0;

    void add(const Counts& other) {
        tests += other.tests;
        failures += other.failures;
        errors += other.errors;
        skipped += other.skipped;
    }
    [[nodiscard]] std::string attributes() const {
        return fmt::format(R"(tests="{}" failures="{}" errors="{}" skipped="{}")", tests, failures,
                           errors, skipped);
    }
};

// The cases of one condition.
class Suite {
public:
    Suite(const AcceptReport& report, const ConditionReport& condition)
        : condition_(condition),
          class_(fmt::format("{}.condition-{}",
                             report.handler.empty() ? "reference" : report.handler,
                             condition.condition)) {}

    std::string text(Counts& all) {
        for (const VerdictColumn& column : verdict_columns()) add_cell(column);
        add_evidence();
        all.add(counts_);
        return fmt::format("  <testsuite name=\"condition {}: {}\" {}>\n{}  </testsuite>\n",
                           condition_.condition, xml_attribute(condition_.title),
                           counts_.attributes(), cases_);
    }

private:
    void begin(std::string_view name) {
        ++counts_.tests;
        cases_ += fmt::format("    <testcase classname=\"{}\" name=\"{}\"", xml_attribute(class_),
                              xml_attribute(name));
    }
    void end_empty() { cases_ += "/>\n"; }
    void end_with(std::string_view element, std::string_view type, std::string_view message,
                  std::string_view body) {
        cases_ += fmt::format(">\n      <{} ", element);
        if (!type.empty()) cases_ += fmt::format("type=\"{}\" ", xml_attribute(type));
        cases_ += fmt::format("message=\"{}\"", xml_attribute(message));
        cases_ += body.empty() ? "/>\n" : fmt::format(">{}</{}>\n", xml(body), element);
        cases_ += "    </testcase>\n";
    }

    void add_cell(const VerdictColumn& column) {
        begin(column.name);
        switch (cell_of(column, condition_)) {
            case CellVerdict::Pass:
                return end_empty();
            case CellVerdict::NotApplicable:
                ++counts_.skipped;
                return end_with("skipped", {},
                                condition_.obstacles.empty() ? "does not apply"
                                                             : joined(condition_.obstacles, "; "),
                                {});
            case CellVerdict::Unknown:
                ++counts_.errors;
                return end_with("error", "unknown", "nothing was judged", {});
            case CellVerdict::Fail:
                break;
        }
        ++counts_.failures;
        std::string message;
        std::string body;
        for (const Evidence& evidence : condition_.evidence) {
            for (const FailureReport* failure : failures_of(evidence)) {
                if (!belongs_to(column, *failure)) continue;
                if (message.empty()) message = headline(*failure);
                body += (body.empty() ? "" : "\n") + text_of(*failure);
            }
        }
        end_with("failure", "broken invariant", message.empty() ? "an invariant broke" : message,
                 body);
    }

    // Whether what was seen is enough, and whether every run gave a history.
    void add_evidence() {
        std::vector<std::string> gaps;
        for (const Evidence& evidence : condition_.evidence) {
            for (const std::string& gap : gaps_of(evidence)) {
                gaps.push_back(fmt::format("{}, {}: {}", evidence.random.scenario,
                                           evidence.random.handler, gap));
            }
            for (const SearchReport* search : {&evidence.random, &evidence.one_fault}) {
                for (const BrokenRun& run : search->broken_runs)
                    gaps.push_back(fmt::format("{}: {}; {}", run.run, run.what, run.replay));
            }
        }
        begin("evidence");
        if (condition_.evidence.empty()) {
            ++counts_.skipped;
            return end_with("skipped", {}, "the handler takes no part", {});
        }
        if (gaps.empty()) return end_empty();
        ++counts_.errors;
        end_with("error", "inconclusive", gaps.front(), joined(gaps, "\n"));
    }

    const ConditionReport& condition_;
    std::string class_;
    std::string cases_;
    Counts counts_;
};

// A case for each failure that was once found: it passes when it is gone.
std::string saved_suite(const AcceptReport& report, Counts& all) {
    if (report.saved.empty()) return {};
    Counts counts;
    std::string cases;
    for (const SavedReplay& saved : report.saved) {
        ++counts.tests;
        cases += fmt::format("    <testcase classname=\"{}.saved\" name=\"{}\"",
                             xml_attribute(saved.handler), xml_attribute(saved.name));
        if (saved.is_gone()) {
            cases += "/>\n";
            continue;
        }
        const bool failed = saved.trouble.empty() || saved.handler_died;
        ++(failed ? counts.failures : counts.errors);
        const std::string message =
            saved.trouble.empty() ? fmt::format("{}: {}", saved.checker, name_of(saved.outcome))
                                  : saved.trouble;
        cases += fmt::format(
            ">\n      <{0} type=\"saved failure\" message=\"{1}\">{2}</{0}>\n    </testcase>\n",
            failed ? "failure" : "error", xml_attribute(message),
            xml(fmt::format("replay: {}\nfile: {}\n", saved.replay, saved.file)));
    }
    all.add(counts);
    return fmt::format("  <testsuite name=\"saved failures\" {}>\n{}  </testsuite>\n",
                       counts.attributes(), cases);
}

// '%', line ends and, in properties, ',' and ':' mean something to the runner.
std::string escaped(std::string_view text, bool is_property) {
    std::string out;
    for (const char c : text) {
        if (c == '%') {
            out += "%25";
        } else if (c == '\r') {
            out += "%0D";
        } else if (c == '\n') {
            out += "%0A";
        } else if (is_property && c == ':') {
            out += "%3A";
        } else if (is_property && c == ',') {
            out += "%2C";
        } else {
            out += c;
        }
    }
    return out;
}

const SourceLine* source_of(const AcceptReport& report, const std::string& handler) {
    const auto found = report.sources.find(handler);
    return found == report.sources.end() || found->second.line == 0 ? nullptr : &found->second;
}

}  // namespace

std::string junit_xml(const AcceptReport& report) {
    Counts all;
    std::string suites = saved_suite(report, all);
    for (const ConditionReport& condition : report.conditions)
        suites += Suite{report, condition}.text(all);
    return fmt::format(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
        "<testsuites name=\"fencepost accept\" {}>\n{}</testsuites>\n",
        all.attributes(), suites);
}

std::string sarif_json(const AcceptReport& report, const std::vector<Rule>& rules,
                       std::string_view version) {
    using Json = nlohmann::ordered_json;
    Json results = Json::array();
    for (const ConditionReport& condition : report.conditions) {
        for (const Evidence& evidence : condition.evidence) {
            for (const FailureReport* failure : failures_of(evidence)) {
                Json result{{"ruleId", failure->checker},
                            {"level", "error"},
                            {"message", {{"text", text_of(*failure)}}},
                            {"partialFingerprints",
                             {{"fencepost/v1",
                               fmt::format("{}/{}/{}/{}", failure->scenario, failure->handler,
                                           failure->checker, failure->key)}}},
                            {"properties",
                             {{"scenario", failure->scenario},
                              {"handler", failure->handler},
                              {"condition", condition.condition},
                              {"replay", failure->replay}}}};
                if (const SourceLine* source = source_of(report, failure->handler)) {
                    result["locations"] =
                        Json::array({{{"physicalLocation",
                                       {{"artifactLocation",
                                         {{"uri", source->file}, {"uriBaseId", "%SRCROOT%"}}},
                                        {"region", {{"startLine", source->line}}}}}}});
                }
                results.push_back(std::move(result));
            }
        }
    }
    Json listed = Json::array();
    for (const Rule& rule : rules) {
        listed.push_back({{"id", rule.name},
                          {"shortDescription", {{"text", rule.invariant}}},
                          {"helpUri", "docs/verdicts.md#" + rule.name}});
    }
    const Json json{
        {"$schema", "https://json.schemastore.org/sarif-2.1.0.json"},
        {"version", "2.1.0"},
        {"runs",
         Json::array(
             {{{"tool",
                {{"driver", {{"name", "Fencepost"}, {"version", version}, {"rules", listed}}}}},
               {"columnKind", "unicodeCodePoints"},
               {"results", std::move(results)}}})}};
    return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string github_annotations(const AcceptReport& report) {
    std::string out;
    for (const ConditionReport& condition : report.conditions) {
        for (const Evidence& evidence : condition.evidence) {
            for (const FailureReport* failure : failures_of(evidence)) {
                const std::string title = fmt::format("{} is broken ({}, {})", failure->checker,
                                                      failure->scenario, failure->handler);
                std::string place;
                if (const SourceLine* source = source_of(report, failure->handler)) {
                    place =
                        fmt::format("file={},line={},", escaped(source->file, true), source->line);
                }
                out += fmt::format("::error {}title={}::{}\n", place, escaped(title, true),
                                   escaped(text_of(*failure), false));
            }
            for (const std::string& gap : gaps_of(evidence)) {
                const std::string title =
                    fmt::format("condition {} is inconclusive ({}, {})", condition.condition,
                                evidence.random.scenario, evidence.random.handler);
                out += fmt::format("::warning title={}::{}\n", escaped(title, true),
                                   escaped(gap, false));
            }
        }
    }
    return out;
}

}  // namespace fencepost::reports
