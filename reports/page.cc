#include "reports/page.h"

#include <fmt/format.h>

#include <algorithm>

#include "reports/layout.h"
#include "reports/markup.h"
#include "reports/text.h"
#include "reports/verdicts.h"

namespace fencepost::reports {
namespace {

std::string whole_page(std::string_view title, std::string_view body) {
    return fmt::format(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
        "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
        "style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:\">\n"
        "<link rel=\"icon\" href=\"data:,\">\n"
        "<title>{}</title>\n<style>\n{}</style>\n</head>\n<body>\n{}<script>\n{}</script>\n"
        "</body>\n</html>\n",
        html(title), page_style(), body, page_script());
}

std::string paragraph(std::string_view text, std::string_view of_class = {}) {
    if (of_class.empty()) return fmt::format("<p>{}</p>\n", html(text));
    return fmt::format("<p class=\"{}\">{}</p>\n", of_class, html(text));
}

std::string command(std::string_view text) {
    return text.empty() ? "" : fmt::format("<pre class=\"command\">{}</pre>\n", html(text));
}

// Lines as they are.
std::string preformatted(std::string_view text) {
    std::string out = "<pre class=\"command\">";
    for (std::size_t from = 0; from < text.size();) {
        const std::size_t to = std::min(text.find('\n', from), text.size());
        out += html(text.substr(from, to - from)) + "\n";
        from = to + 1;
    }
    return out + "</pre>\n";
}

std::string list_of(const std::vector<std::string>& items) {
    std::string out = "<ul>\n";
    for (const std::string& item : items) out += fmt::format("<li>{}</li>\n", html(item));
    return out + "</ul>\n";
}

std::string what_broke(const Explanation& of) {
    std::string out = paragraph(fmt::format("{}: {}", of.checker, of.invariant));
    if (!of.also.empty()) out += paragraph("Also broken: " + joined(of.also) + ".");
    out += paragraph(of.message, "finding");
    if (of.further > 0)
        out += paragraph("And " + counted(of.further, "further violation", "further violations") +
                         " like it.");
    std::vector<std::string> witnesses;
    for (const Witness& witness : of.witnesses) {
        witnesses.push_back(
            fmt::format("{} at {} (record {}) {}{}", witness.who,
                        moment_text(witness.at, of.story.moment), witness.record, witness.what,
                        witness.holding.empty() ? "" : fmt::format("; {}", witness.holding)));
    }
    return witnesses.empty() ? out : out + list_of(witnesses);
}

std::string story_list(const Explanation& of, const std::string& name) {
    std::string out = fmt::format("<ol class=\"story\" data-for=\"{}\">\n", name);
    for (const StoryLine& line : of.story.lines) {
        out += fmt::format(
            "<li class=\"{}\"><button type=\"button\" data-r=\"{}\"><span class=\"when\">{}</span> "
            "<span class=\"who\">{}</span> {}{}</button></li>\n",
            line.is_evidence ? "evidence"
            : line.is_fault  ? "struck"
                             : "plain",
            line.record, moment_text(line.at, of.story.moment), html(line.who),
            html(on_one_line(line.what)),
            line.times > 1 ? fmt::format(" ({} times)", line.times) : "");
    }
    return out + "</ol>\n";
}

std::string what_it_takes(const Explanation& of) {
    std::vector<std::string> items;
    for (std::size_t i = 0; i < of.roles.size(); ++i) {
        const FaultRole& role = of.roles[i];
        items.push_back(fmt::format("Fault {}, {}: without it {}{}.", i + 1, role.fault,
                                    role.outcome,
                                    role.consequence.empty() ? "" : ": " + role.consequence));
    }
    if (items.empty()) items.push_back(of.without_faults);
    if (of.twin) {
        const Twin& twin = *of.twin;
        items.push_back(fmt::format(
            "The nearest run that passes: {}. It parts at {}: here {}; there, at {}, {}.{}",
            twin.change, moment_text(twin.parted, of.story.moment), twin.here,
            moment_text(twin.there_at, of.story.moment), twin.there,
            twin.consequence.empty() ? "" : fmt::format(" So {}.", twin.consequence)));
    }
    return list_of(items);
}

std::string cause_text(const Explanation& of) {
    if (!of.cause) return {};
    if (of.cause->lesson.empty()) return paragraph("See " + of.cause->reading + ".");
    std::string out = paragraph(of.cause->lesson, "lesson");
    if (!of.cause->mistake.empty() && of.cause->match != CauseMatch::Own) {
        out +=
            paragraph(fmt::format("So the planted mistake {}, which breaks {}.", of.cause->mistake,
                                  of.cause->match == CauseMatch::SamePlan
                                      ? "it under the same plan, in the most similar way"
                                      : "the same invariant"));
    }
    return out + paragraph("See " + of.cause->reading + ".");
}

std::string options_of(std::string_view all,
                       const std::vector<std::pair<std::string, std::string>>& options) {
    std::string out = fmt::format("<option value=\"\">{}</option>", all);
    for (const auto& [value, text] : options)
        out += fmt::format("<option value=\"{}\">{}</option>", html(value), html(text));
    return out;
}

std::string controls(const Diagram& diagram) {
    std::vector<std::pair<std::string, std::string>> tasks(diagram.tasks.begin(),
                                                           diagram.tasks.end());
    std::ranges::sort(tasks, {}, &std::pair<std::string, std::string>::second);
    std::vector<std::pair<std::string, std::string>> keys;
    for (const std::string& key : diagram.keys) keys.emplace_back(key, key);
    std::string out = "<div class=\"controls\">\n";
    out +=
        "<span class=\"zoom\"><button type=\"button\" data-zoom=\"-\" aria-label=\"smaller\">"
        "&minus;</button><button type=\"button\" data-zoom=\"+\" aria-label=\"larger\">+</button>"
        "<button type=\"button\" data-zoom=\"0\">fit</button></span>\n";
    out += fmt::format("<label>Task <select data-filter=\"task\">{}</select></label>\n",
                       options_of("all", tasks));
    out += fmt::format("<label>Key <select data-filter=\"key\">{}</select></label>\n",
                       options_of("all", keys));
    out += "<label><input type=\"checkbox\" data-filter=\"told\"> only the story</label>\n";
    out += "<fieldset><legend>Kinds</legend>\n";
    for (const DiagramKind& kind : diagram_kinds()) {
        const auto count = diagram.marks.find(std::string(kind.name));
        if (count == diagram.marks.end()) continue;
        out += fmt::format(
            "<label class=\"k-{0}\"><input type=\"checkbox\" checked "
            "data-kind=\"{0}\"> {1} <span class=\"count\">{2}</span></label>\n",
            kind.name, kind.title, count->second);
    }
    return out + "</fieldset>\n</div>\n";
}

std::string picture(const Diagram& diagram) {
    std::string out = "<div class=\"picture\">\n" + controls(diagram);
    if (diagram.left_out > 0) {
        out += paragraph(fmt::format("{} of the scheduler's own are left out of the picture.",
                                     counted(diagram.left_out, "call", "calls")));
    }
    out +=
        "<p class=\"hint\">Click a mark, or focus the diagram and use the arrow keys: up and "
        "down go from mark to mark, + and &minus; zoom, Escape shows everything.</p>\n";
    out += "<p class=\"details\" role=\"status\" aria-live=\"polite\">&nbsp;</p>\n";
    return out + "<div class=\"scroll\">\n" + diagram.svg + "</div>\n</div>\n";
}

std::string_view class_of(CellVerdict verdict) {
    switch (verdict) {
        case CellVerdict::Pass:
            return "pass";
        case CellVerdict::Fail:
            return "fail";
        case CellVerdict::Unknown:
            return "unknown";
        case CellVerdict::NotApplicable:
            return "not-applicable";
    }
    return "unknown";
}

// Told by a sign as well as by a colour.
std::string_view sign_of(CellVerdict verdict) {
    switch (verdict) {
        case CellVerdict::Pass:
            return "&#10003; pass";
        case CellVerdict::Fail:
            return "&#10007; FAIL";
        case CellVerdict::Unknown:
            return "? unknown";
        case CellVerdict::NotApplicable:
            return "&ndash; n/a";
    }
    return "?";
}

std::string matrix(const AcceptReport& report) {
    std::string out =
        "<table class=\"matrix\">\n<caption>A cell leads to its evidence.</caption>\n"
        "<thead><tr><th scope=\"col\">Condition</th>";
    for (const VerdictColumn& column : verdict_columns())
        out += fmt::format("<th scope=\"col\">{}</th>", html(column.name));
    out += "</tr></thead>\n<tbody>\n";
    for (const ConditionReport& condition : report.conditions) {
        out += fmt::format("<tr><th scope=\"row\">{}. {}</th>", condition.condition,
                           html(condition.title));
        for (const VerdictColumn& column : verdict_columns()) {
            const CellVerdict verdict = cell_of(column, condition);
            out += fmt::format("<td class=\"{}\"><a href=\"#condition-{}\">{}</a></td>",
                               class_of(verdict), condition.condition, sign_of(verdict));
        }
        out += "</tr>\n";
    }
    return out + "</tbody>\n</table>\n";
}

std::string search_part(const SearchReport& search) {
    if (search.runs == 0 && search.failures.empty()) return {};
    std::string out = fmt::format("<h4>{}</h4>\n", html(search.what));
    out += paragraph(fmt::format("{}, {} with a broken invariant.",
                                 counted(search.runs, "run", "runs"), grouped(search.failed)));
    std::vector<std::string> faults;
    for (const FaultCounts& fault : search.faults) {
        faults.push_back(fmt::format("{} {} of {}", fault.kind, grouped(fault.took_effect),
                                     grouped(fault.planned)));
    }
    if (!faults.empty()) out += paragraph("Faults that took effect: " + joined(faults) + ".");
    std::vector<std::string> probes;
    for (const ProbeCounts& probe : search.probes)
        probes.push_back(fmt::format("{} ({})", probe.probe, grouped(probe.reached)));
    if (!probes.empty()) out += paragraph("States reached: " + joined(probes) + ".");
    out +=
        "<table class=\"verdicts\"><thead><tr><th scope=\"col\">Invariant</th><th "
        "scope=\"col\">Verdict</th><th scope=\"col\">passed</th><th scope=\"col\">failed</th><th "
        "scope=\"col\">unknown</th></tr></thead>\n<tbody>\n";
    for (const VerdictCounts& counts : search.verdicts) {
        const CellVerdict verdict = verdict_of(counts);
        out += fmt::format(
            "<tr><th scope=\"row\">{}</th><td class=\"{}\">{}</td><td>{}</td>"
            "<td>{}</td><td>{}</td></tr>\n",
            html(counts.checker), class_of(verdict), sign_of(verdict), grouped(counts.pass),
            grouped(counts.fail), grouped(counts.unknown));
    }
    out += "</tbody></table>\n";
    for (const BrokenRun& run : search.broken_runs) {
        out += paragraph(fmt::format("{}: {}", run.run, run.what), "finding");
        out += command(run.replay);
    }
    return out;
}

std::string failure_part(const FailureReport& failure) {
    std::string out =
        fmt::format("<details class=\"failure\"><summary>{}: {}</summary>\n", html(failure.checker),
                    html(shortened(on_one_line(failure.message), 160)));
    if (!failure.picture.empty()) {
        out += failure.picture;
    } else if (!failure.explanation.empty()) {
        out +=
            "<p>In text, so that the page stays small; fencepost explain FILE --html draws it."
            "</p>\n" +
            preformatted(failure.explanation);
    } else {
        out += paragraph(failure.message, "finding");
    }
    out += command(failure.replay);
    return out + "</details>\n";
}

std::string evidence_part(const Evidence& evidence) {
    std::string out = fmt::format("<section class=\"evidence\">\n<h3>{}, {}</h3>\n",
                                  html(evidence.random.scenario), html(evidence.random.handler));
    out += paragraph(evidence.title);
    for (const std::string& gap : gaps_of(evidence))
        out += paragraph("Inconclusive: " + gap, "gap");
    out += "<details><summary>Runs, faults and states</summary>\n";
    out += search_part(evidence.random) + search_part(evidence.one_fault) + "</details>\n";
    for (const SearchReport* search : {&evidence.random, &evidence.one_fault}) {
        for (const FailureReport& failure : search->failures) out += failure_part(failure);
    }
    return out + "</section>\n";
}

}  // namespace

std::string explanation_part(const Explanation& of, const Diagram& diagram,
                             const std::string& name) {
    std::string out = "<div class=\"explanation\">\n";
    out += "<h3>What broke</h3>\n" + what_broke(of);
    out += fmt::format("<h3>What happened</h3>\n<p>Seconds from {}.</p>\n",
                       html(of.story.moment_text));
    out += story_list(of, name);
    out += "<h3>What it takes</h3>\n" + what_it_takes(of);
    if (of.cause && !of.cause->lesson.empty()) out += "<h3>What usually causes this</h3>\n";
    out += cause_text(of);
    return out + "</div>\n" + picture(diagram);
}

std::string explanation_page(const Explanation& of, const Diagram& diagram) {
    const std::string title = fmt::format("{} is broken", of.checker);
    std::string body = fmt::format("<main>\n<h1>{}</h1>\n", html(title));
    body += paragraph(fmt::format("{}, handler {}, seed {}, {}", of.plan.scenario, of.plan.handler,
                                  sim::seed_to_text(of.plan.seed),
                                  counted(of.plan.faults.size(), "fault", "faults")));
    body += explanation_part(of, diagram, "diagram");
    body += command(of.replay);
    return whole_page(fmt::format("{} in {}, {}", title, of.plan.scenario, of.plan.handler),
                      body + "</main>\n");
}

std::string accept_page(const AcceptReport& report) {
    const std::string handler = report.handler.empty() ? "the reference handlers" : report.handler;
    std::string body = fmt::format("<main>\n<h1>Two-node acceptance of {}</h1>\n", html(handler));
    if (report.interrupted) body += paragraph("Interrupted: what is shown is not all.", "gap");
    body += matrix(report);
    for (const ConditionReport& condition : report.conditions) {
        body += fmt::format("<section id=\"condition-{0}\">\n<h2>{0}. {1}</h2>\n",
                            condition.condition, html(condition.title));
        for (const std::string& obstacle : condition.obstacles)
            body += paragraph("Takes no part: " + obstacle, "gap");
        for (const Evidence& evidence : condition.evidence) body += evidence_part(evidence);
        body += "</section>\n";
    }
    return whole_page("Two-node acceptance of " + handler, body + "</main>\n");
}

}  // namespace fencepost::reports
