#include "reports/json.h"

#include <nlohmann/json.hpp>

#include "reports/text.h"
#include "reports/verdicts.h"

namespace fencepost::reports {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kVersion = 1;

std::string dumped(const Json& json) {
    return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

Json document(std::string_view report, int code) {
    return {{"version", kVersion}, {"report", report}, {"exit_code", code}};
}

// The fields of `more` after those of `json`.
Json extended(Json json, const Json& more) {
    for (const auto& [key, value] : more.items()) json[key] = value;
    return json;
}

Json plan_of(const sim::Plan& plan) {
    return Json::parse(sim::to_json(plan), nullptr, false);
}

std::string_view verdict_name(CellVerdict verdict) {
    switch (verdict) {
        case CellVerdict::Pass:
            return name_of(checkers::Verdict::Pass);
        case CellVerdict::Fail:
            return name_of(checkers::Verdict::Fail);
        case CellVerdict::Unknown:
            return name_of(checkers::Verdict::Unknown);
        case CellVerdict::NotApplicable:
            return name_of(checkers::Verdict::NotApplicable);
    }
    return "?";
}

Json fields_of(const checkers::Judgement& judgement) {
    Json findings = Json::array();
    for (const checkers::Finding& finding : judgement.findings) {
        Json record = nullptr;
        if (finding.record != sim::kNoRecord) record = finding.record;
        findings.push_back(
            {{"key", finding.key}, {"message", finding.message}, {"record", std::move(record)}});
    }
    return {{"checker", judgement.checker},
            {"verdict", name_of(judgement.verdict)},
            {"reason", judgement.reason},
            {"findings", std::move(findings)}};
}

Json fields_of(const RunReport& report) {
    Json faults = Json::array();
    for (std::size_t i = 0; i < report.plan.faults.size(); ++i) {
        const FaultFate fate = i < report.fates.size() ? report.fates[i] : FaultFate::NeverStruck;
        faults.push_back(
            {{"fault", sim::describe(report.plan.faults[i])}, {"fate", name_of(fate)}});
    }
    Json verdicts = Json::array();
    for (const checkers::Judgement& judgement : report.judgements)
        verdicts.push_back(fields_of(judgement));
    return {{"plan", plan_of(report.plan)},
            {"fingerprint", fingerprint_text(report.fingerprint)},
            {"end", report.end},
            {"steps", report.steps},
            {"records", report.records},
            {"virtual_time", sim::to_text(report.virtual_time)},
            {"verified", report.verified},
            {"faults", std::move(faults)},
            {"probes", {{"reached", report.probes_reached}, {"missed", report.probes_missed}}},
            {"verdicts", std::move(verdicts)},
            {"replay", report.replay}};
}

Json fields_of(const FailureReport& failure) {
    return {
        {"scenario", failure.scenario},   {"handler", failure.handler},
        {"checker", failure.checker},     {"also", failure.also},
        {"invariant", failure.invariant}, {"key", failure.key},
        {"message", failure.message},     {"fingerprint", fingerprint_text(failure.fingerprint)},
        {"runs", failure.seen},           {"first_seen", failure.first_seen},
        {"minimal", failure.minimal},     {"file", failure.file},
        {"replay", failure.replay},       {"explanation", failure.explanation},
        {"plan", plan_of(failure.plan)}};
}

Json fields_of(const CertificateReport& certificate) {
    Json equal = Json::array();
    for (const auto& [reason, plans] : certificate.equal)
        equal.push_back({{"reason", reason}, {"plans", plans}});
    Json kinds = Json::array();
    for (const auto& kind : certificate.by_kind) {
        kinds.push_back(
            {{"kind", kind.kind}, {"planned", kind.planned}, {"took_effect", kind.took_effect}});
    }
    return {{"complete", certificate.complete},
            {"scenario", certificate.scenario},
            {"handler", certificate.handler},
            {"parameters", certificate.parameters},
            {"seed", certificate.seed},
            {"faults", certificate.faults},
            {"only_kinds", certificate.kinds},
            {"points", certificate.points},
            {"further_points", certificate.further_points},
            {"planned", certificate.planned},
            {"run", certificate.run},
            {"skipped", certificate.skipped},
            {"cut_short", certificate.cut_short},
            {"never_struck", certificate.inert},
            {"in_vain", certificate.without_effect},
            {"violating", certificate.violating},
            {"equal", std::move(equal)},
            {"kinds", std::move(kinds)},
            {"fencepost", certificate.version},
            {"seconds", certificate.seconds}};
}

Json fields_of(const DrawnReport& drawn) {
    Json families = Json::object();
    for (const auto& [family, runs] : drawn.families) families[family] = runs;
    Json parameters = Json::object();
    for (const DrawnReport::Values& values : drawn.parameters) {
        parameters[values.parameter] = {
            {"least", values.least}, {"most", values.most}, {"runs", values.runs}};
    }
    return {{"profile", drawn.profile},
            {"families", std::move(families)},
            {"faults", drawn.sizes},
            {"parameters", std::move(parameters)}};
}

Json fields_of(const GuidedReport& guided) {
    Json features = Json::object();
    for (const auto& [kind, count] : guided.features) features[kind] = count;
    return {{"seed", guided.seed},
            {"changed", guided.changed},
            {"kept", guided.kept},
            {"features", std::move(features)}};
}

Json fields_of(const SearchReport& report) {
    Json verdicts = Json::array();
    for (const VerdictCounts& counts : report.verdicts) {
        verdicts.push_back({{"checker", counts.checker},
                            {"verdict", verdict_name(verdict_of(counts))},
                            {"passed", counts.pass},
                            {"failed", counts.fail},
                            {"unknown", counts.unknown},
                            {"not_applicable", counts.not_applicable},
                            {"reason", counts.reason}});
    }
    Json faults = Json::array();
    for (const FaultCounts& counts : report.faults) {
        faults.push_back({{"kind", counts.kind},
                          {"planned", counts.planned},
                          {"took_effect", counts.took_effect}});
    }
    Json probes = Json::array();
    for (const ProbeCounts& counts : report.probes)
        probes.push_back({{"probe", counts.probe}, {"reached", counts.reached}});
    Json failures = Json::array();
    for (const FailureReport& failure : report.failures) failures.push_back(fields_of(failure));
    Json broken = Json::array();
    for (const BrokenRun& run : report.broken_runs) {
        broken.push_back({{"run", run.run},
                          {"what", run.what},
                          {"handlers_doing", run.handlers_doing},
                          {"replay", run.replay}});
    }
    return {{"scenario", report.scenario},
            {"handler", report.handler},
            {"what", report.what},
            {"runs", report.runs},
            {"asked", report.asked},
            {"failed", report.failed},
            {"first_failed", report.first_failed ? Json(*report.first_failed) : Json(nullptr)},
            {"in_vain", report.in_vain},
            {"verified", report.verified},
            {"interrupted", report.interrupted},
            {"fingerprint", fingerprint_text(report.fingerprint)},
            {"verdicts", std::move(verdicts)},
            {"faults", std::move(faults)},
            {"probes", std::move(probes)},
            {"failures", std::move(failures)},
            {"broken_runs", std::move(broken)},
            {"certificate", report.certificate ? fields_of(*report.certificate) : Json(nullptr)},
            {"drawn", report.drawn ? fields_of(*report.drawn) : Json(nullptr)},
            {"guided", report.guided ? fields_of(*report.guided) : Json(nullptr)},
            {"gaps", gaps_of(report)}};
}

// The verdicts of a condition, or of one piece of evidence for it.
template <typename Judged>
Json cells_of(const Judged& judged) {
    Json cells = Json::object();
    for (const VerdictColumn& column : verdict_columns())
        cells[std::string(column.name)] = verdict_name(cell_of(column, judged));
    return cells;
}

}  // namespace

namespace {

Json fields_of(const SavedReplay& saved) {
    return {{"name", saved.name},
            {"file", saved.file},
            {"scenario", saved.scenario},
            {"handler", saved.handler},
            {"checker", saved.checker},
            {"faults", saved.faults},
            {"outcome", saved.trouble.empty() ? Json(name_of(saved.outcome)) : Json(nullptr)},
            {"same_history", saved.same_history},
            {"same_key", saved.same_key},
            {"moved", saved.moved},
            {"found_by", saved.found_by},
            {"saved_version", saved.saved_version},
            {"trouble", saved.trouble},
            {"replay", saved.replay}};
}

}  // namespace

std::string corpus_json(const CorpusReport& report, int exit_code) {
    Json json = document("corpus", exit_code);
    json["folder"] = report.folder;
    json["failures"] = Json::array();
    for (const SavedReplay& saved : report.failures) json["failures"].push_back(fields_of(saved));
    return dumped(json);
}

std::string run_json(const RunReport& report) {
    return dumped(extended(document("run", exit_code(ending_of(report))), fields_of(report)));
}

std::string search_json(const SearchReport& report) {
    return dumped(extended(document("search", exit_code(ending_of(report))), fields_of(report)));
}

std::string accept_json(const AcceptReport& report) {
    Json json = document("accept", exit_code(ending_of(report)));
    json["handler"] = report.handler.empty() ? Json(nullptr) : Json(report.handler);
    json["interrupted"] = report.interrupted;
    json["saved"] = Json::array();
    for (const SavedReplay& saved : report.saved) json["saved"].push_back(fields_of(saved));
    json["conditions"] = Json::array();
    for (const ConditionReport& condition : report.conditions) {
        Json evidence = Json::array();
        for (const Evidence& each : condition.evidence) {
            evidence.push_back({{"scenario", each.random.scenario},
                                {"handler", each.random.handler},
                                {"title", each.title},
                                {"verdicts", cells_of(each)},
                                {"random", fields_of(each.random)},
                                {"one_fault", fields_of(each.one_fault)},
                                {"gaps", gaps_of(each)}});
        }
        json["conditions"].push_back({{"condition", condition.condition},
                                      {"title", condition.title},
                                      {"verdicts", cells_of(condition)},
                                      {"obstacles", condition.obstacles},
                                      {"evidence", std::move(evidence)}});
    }
    return dumped(json);
}

std::string mistakes_json(const MistakesReport& report) {
    const auto fields_of_catch = [](const std::optional<MistakeCatch>& caught) -> Json {
        if (!caught) return nullptr;
        return {{"scenario", caught->scenario}, {"condition", caught->condition},
                {"checker", caught->checker},   {"first", caught->first},
                {"count", caught->count},       {"runs", caught->runs}};
    };
    Json json = document("mistakes", exit_code(ending_of(report)));
    json["seeds"] = report.seeds;
    json["interrupted"] = report.interrupted;
    json["checkers_unproven"] = report.checkers_unproven;
    json["fault_proofs"] = Json::array();
    for (const FaultProof& proof : report.fault_proofs) {
        json["fault_proofs"].push_back({{"fault", proof.fault},
                                        {"mistake", proof.mistake},
                                        {"scenario", proof.scenario},
                                        {"checker", proof.checker}});
    }
    json["faults_unproven"] = report.faults_unproven;
    json["mistakes"] = Json::array();
    for (const MistakeReport& mistake : report.mistakes) {
        json["mistakes"].push_back(
            {{"name", mistake.name},
             {"lesson", mistake.lesson},
             {"breaks", mistake.breaks},
             {"found", mistake.found},
             {"minimal", mistake.minimal},
             {"by_seeds", fields_of_catch(mistake.by_seeds)},
             {"by_one_fault", fields_of_catch(mistake.by_one_fault)},
             {"by_two_faults", fields_of_catch(mistake.by_two_faults)},
             {"failing", mistake.failing},
             {"least", mistake.found ? plan_of(mistake.least) : Json(nullptr)},
             {"trouble", mistake.trouble}});
    }
    return dumped(json);
}

std::string replay_json(const ReplayReport& report) {
    Json json = document("replay", exit_code(ending_of(report)));
    json["file"] = report.file;
    json["outcome"] = name_of(report.outcome);
    json["expected_checker"] = report.expected_checker;
    json["same_history"] = report.same_history;
    json["same_key"] = report.same_key;
    json["moved"] = report.moved;
    json["saved_version"] = report.saved_version;
    json["code_version"] = report.version;
    json["run"] = fields_of(report.run);
    return dumped(json);
}

std::string shrink_json(const FailureReport& failure, std::uint64_t runs) {
    Json json = document("shrink", 1);
    json["failure"] = fields_of(failure);
    json["runs"] = runs;
    return dumped(json);
}

std::string list_json(std::string_view what, const std::vector<ListItem>& items) {
    Json json = document("list", 0);
    json["what"] = what;
    json["items"] = Json::array();
    for (const ListItem& item : items) {
        json["items"].push_back({{"name", item.name}, {"text", item.text}, {"group", item.group}});
    }
    return dumped(json);
}

}  // namespace fencepost::reports
