#include "kit/explaining.h"

#include <fmt/format.h>

#include <algorithm>

#include "checkers/checker.h"
#include "scenarios/handler.h"
#include "scenarios/scenario.h"
#include "scenarios/search/what_if.h"

namespace fencepost::kit {
namespace {

constexpr std::size_t kSeedsToTry = 20;

const checkers::Judgement* failure_of(const scenarios::RunResult& result,
                                      const std::string& checker) {
    if (checker.empty()) return result.failure();
    const auto found = std::ranges::find_if(result.judgements, [&](const auto& judgement) {
        return judgement.checker == checker && judgement.verdict == checkers::Verdict::Fail;
    });
    return found == result.judgements.end() ? nullptr : &*found;
}

// The finding on the key; the first where there is none.
checkers::Finding finding_of(const checkers::Judgement& judgement, const std::string& key) {
    const auto same = std::ranges::find(judgement.findings, key, &checkers::Finding::key);
    if (same != judgement.findings.end()) return *same;
    return checkers::first_finding(judgement);
}

std::vector<std::string> words_of(std::string_view text) {
    std::vector<std::string> words;
    for (std::string& word : reports::wrapped(text, 1)) {
        const bool plain = std::ranges::all_of(word, [](char c) { return c >= 'a' && c <= 'z'; });
        if (plain) words.push_back(std::move(word));
    }
    return words;
}

// Of a record, or of the last one where there is no such record.
sim::Time time_of(const sim::History& history, sim::RecordId record) {
    return history[std::min(record, static_cast<sim::RecordId>(history.size() - 1))].at();
}

class Explainer {
public:
    Explainer(const sim::Plan& plan, scenarios::Runner& runner) : plan_(plan), runner_(runner) {}

    std::optional<ExplainedRun> run(const std::string& checker, const std::string& key) {
        result_ = runner_.run(plan_);
        const checkers::Judgement* const judgement = failure_of(result_, checker);
        if (judgement == nullptr) return std::nullopt;
        history_ = runner_.history();
        finding_ = finding_of(*judgement, key);
        checker_ = judgement->checker;
        narrator_.emplace(history_, runner_.expectations(plan_));

        reports::Explanation& out = explanation_;
        out.plan = plan_;
        out.fingerprint = result_.fingerprint;
        out.checker = checker_;
        out.invariant = checkers::find_checker(checker_)->invariant;
        for (const checkers::Judgement& other : result_.judgements) {
            if (other.verdict == checkers::Verdict::Fail && other.checker != checker_)
                out.also.push_back(other.checker);
        }
        out.key = finding_.key;
        out.further = judgement->findings.size() - 1;
        out.story = reports::story_of(*narrator_, finding_);
        out.message = reports::short_message(*narrator_, finding_);
        out.witnesses = reports::witnesses_of(*narrator_, finding_);
        make_sure_of_faults();
        tell_roles();
        tell_twin();
        tell_cause();
        (void)runner_.run(plan_);  // whoever reads its history next reads the failing one
        return ExplainedRun{
            .explanation = std::move(explanation_), .result = result_, .finding = finding_};
    }

private:
    // The slice must hold enough: with the faults that it names, alone, the invariant breaks. Where
    // it does not, all that took effect belong to it.
    void make_sure_of_faults() {
        reports::Story& story = explanation_.story;
        if (with_only(story.faults)) {
            explanation_.story_suffices = true;
            return;
        }
        story.faults.clear();
        for (std::uint32_t i = 0; i < result_.faults.size(); ++i) {
            if (result_.faults[i] == scenarios::FaultFate::TookEffect) story.faults.push_back(i);
        }
        explanation_.story_suffices = with_only(story.faults);
    }

    bool with_only(const std::vector<std::uint32_t>& faults) {
        sim::Plan fewer = plan_;
        fewer.faults.clear();
        for (const std::uint32_t fault : faults) fewer.faults.push_back(plan_.faults.at(fault));
        return fewer == plan_ || scenarios::breaks(runner_.run(fewer), checker_);
    }

    void tell_roles() {
        for (const scenarios::Neighbour& without : scenarios::without_each_fault(plan_, runner_)) {
            reports::FaultRole role{
                .fault = sim::describe(plan_.faults[*without.fault]),
                .took_effect = result_.faults[*without.fault] == scenarios::FaultFate::TookEffect,
                .outcome = outcome_of(without.result)};
            if (!scenarios::breaks(without.result, checker_))
                role.consequence = consequence(without);
            explanation_.roles.push_back(std::move(role));
        }
        if (!plan_.faults.empty()) return;
        const std::size_t failed =
            scenarios::also_fails_with(plan_, checker_, kSeedsToTry, runner_);
        explanation_.without_faults =
            failed == kSeedsToTry
                ? fmt::format("No fault: it breaks with each of {} other seeds as well.",
                              kSeedsToTry)
                : fmt::format("No fault, but its timing: it breaks with {} of {} other seeds.",
                              failed, kSeedsToTry);
    }

    [[nodiscard]] std::string outcome_of(const scenarios::RunResult& result) const {
        if (scenarios::breaks(result, checker_)) return "the same invariant breaks";
        if (const checkers::Judgement* other = result.failure())
            return fmt::format("{} breaks instead", other->checker);
        return "the run passes";
    }

    [[nodiscard]] std::string consequence(const scenarios::Neighbour& neighbour) const {
        reports::Narrator other{neighbour.history, runner_.expectations(neighbour.plan)};
        other.about(explanation_.story.unit);
        std::string became = reports::consequence_of(*narrator_, finding_, other);
        if (!became.empty()) return became;
        const auto parting = scenarios::parting_of(history_, neighbour.history);
        return reports::told(other, parting.there);
    }

    void tell_twin() {
        const auto nearest = scenarios::nearest_passing(plan_, history_, runner_);
        if (!nearest) return;
        reports::Narrator other{nearest->history, runner_.expectations(nearest->plan)};
        other.about(explanation_.story.unit);
        const auto parting = scenarios::parting_of(history_, nearest->history);
        explanation_.twin =
            reports::Twin{.change = nearest->change,
                          .parted = time_of(history_, parting.here),
                          .here = reports::told(*narrator_, parting.here),
                          .there = reports::told(other, parting.there),
                          .there_at = time_of(nearest->history, parting.there),
                          .consequence = reports::consequence_of(*narrator_, finding_, other),
                          .plan = nearest->plan};
    }

    void tell_cause() {
        const scenarios::HandlerSpec& handler = *scenarios::find_handler(plan_.handler);
        reports::Cause cause{.reading = reading_for(checker_)};
        if (handler.is_mistake()) {
            cause.match = reports::CauseMatch::Own;
            cause.mistake = handler.name;
            cause.lesson = handler.lesson;
        } else if (const auto* reference = reference_that_breaks_it()) {
            cause.match = reports::CauseMatch::Reference;
            cause.lesson = fmt::format(
                "Not the handler: under this plan the reference handler {} leaves the same behind, "
                "so "
                "that the scheduler, the scenario or its bounds are to be looked at.",
                reference->name);
        } else if (const auto* like = most_alike()) {
            cause.match = reports::CauseMatch::SamePlan;
            cause.mistake = like->name;
            cause.lesson = like->lesson;
        } else if (const auto* other = any_that_breaks_it(); other != nullptr && !is_missing()) {
            cause.match = reports::CauseMatch::SameInvariant;
            cause.mistake = other->name;
            cause.lesson = other->lesson;
        }
        explanation_.cause = std::move(cause);
    }

    // The reference handler that breaks it as well, on the same key: a trigger of the scheduler's,
    // say.
    const scenarios::HandlerSpec* reference_that_breaks_it() {
        const scenarios::HandlerSpec* const own = scenarios::find_handler(plan_.handler);
        if (!own->is_mistake() && scenarios::is_built_in(own->name)) return own;
        for (const scenarios::Neighbour& neighbour :
             scenarios::references_that_break(plan_, checker_, runner_)) {
            const checkers::Judgement& judgement = *failure_of(neighbour.result, checker_);
            if (finding_of(judgement, finding_.key).key == finding_.key)
                return scenarios::find_handler(neighbour.plan.handler);
        }
        return nullptr;
    }

    // Of the planted mistakes that break the invariant under the same plan, the one whose story and
    // whose finding are the most alike.
    const scenarios::HandlerSpec* most_alike() {
        const scenarios::HandlerSpec* best = nullptr;
        double most = 0.0;
        for (const scenarios::Neighbour& neighbour :
             scenarios::mistakes_that_break(plan_, checker_, runner_)) {
            const checkers::Finding finding =
                finding_of(*failure_of(neighbour.result, checker_), finding_.key);
            reports::Narrator narrator{neighbour.history, runner_.expectations(neighbour.plan)};
            const reports::Story story = reports::story_of(narrator, finding);
            const double alike =
                reports::likeness(explanation_.story.shape, story.shape) +
                reports::likeness(words_of(finding_.message), words_of(finding.message));
            if (alike <= most) continue;
            most = alike;
            best = scenarios::find_handler(neighbour.plan.handler);
        }
        return best;
    }

    // Too little has as many causes as there are ways to fail: another mistake teaches nothing
    // here.
    [[nodiscard]] bool is_missing() const {
        return checker_ == "once" && finding_.message.find(" again by ") == std::string::npos;
    }

    [[nodiscard]] const scenarios::HandlerSpec* any_that_breaks_it() const {
        const scenarios::Scenario& scenario = *scenarios::find_scenario(plan_.scenario);
        for (const bool must_fit : {true, false}) {
            for (const scenarios::HandlerSpec& mistake : scenarios::all_handlers()) {
                const bool breaks =
                    std::ranges::find(mistake.breaks, checker_) != mistake.breaks.end();
                if (breaks && (!must_fit || !scenarios::obstacle(scenario, mistake)))
                    return &mistake;
            }
        }
        return nullptr;
    }

    const sim::Plan& plan_;
    scenarios::Runner& runner_;
    scenarios::RunResult result_;
    sim::History history_;
    checkers::Finding finding_;
    std::string checker_;
    std::optional<reports::Narrator> narrator_;
    reports::Explanation explanation_;
};

}  // namespace

std::optional<ExplainedRun> explain(const sim::Plan& plan, const std::string& checker,
                                    const std::string& key, scenarios::Runner& runner) {
    return Explainer{plan, runner}.run(checker, key);
}

reports::Diagram diagram_of(const ExplainedRun& run, const scenarios::Runner& runner,
                            const std::string& name) {
    const reports::Story& story = run.explanation.story;
    reports::Narrator narrator{runner.history(), runner.expectations(run.explanation.plan)};
    narrator.about(story.unit);
    std::vector<sim::RecordId> told;
    for (const reports::StoryLine& line : story.lines) told.push_back(line.record);
    narrator.distinguish(told);
    return reports::diagram_of(narrator, story, run.finding, name);
}

std::string reading_for(std::string_view checker) {
    return fmt::format("docs/verdicts.md#{}", checker);
}

}  // namespace fencepost::kit
