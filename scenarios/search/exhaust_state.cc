#include "scenarios/search/exhaust_state.h"

#include <fmt/format.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "scenarios/search/whole_file.h"
#include "sim/random.h"

namespace fencepost::scenarios {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kFormat = 1;

std::string to_hex(std::string_view bytes) {
    std::string text;
    text.reserve(2 * bytes.size());
    for (const char byte : bytes)
        text += fmt::format("{:02x}", static_cast<unsigned>(static_cast<unsigned char>(byte)));
    return text;
}

std::optional<std::string> from_hex(std::string_view text) {
    const auto digit = [](char c) { return c >= '0' && c <= '9' ? c - '0' : c - 'a' + 10; };
    if (text.size() % 2 != 0 || text.find_first_not_of("0123456789abcdef") != std::string::npos)
        return std::nullopt;
    std::string bytes;
    bytes.reserve(text.size() / 2);
    for (std::size_t i = 0; i < text.size(); i += 2)
        bytes += static_cast<char>(digit(text[i]) * 16 + digit(text[i + 1]));
    return bytes;
}

std::string hash_text(std::uint64_t hash) {
    return fmt::format("{:#018x}", hash);
}

}  // namespace

ExhaustStateFile::ExhaustStateFile(const Subject& subject, const ExhaustOptions& options,
                                   std::uint64_t plans)
    : path_(options.state_file) {
    if (path_.empty()) return;
    Json kinds = Json::array();
    for (const sim::FaultKind kind : options.kinds) kinds.push_back(sim::info_of(kind).name);
    whose_ = Json{{"scenario", subject.scenario},
                  {"handler", subject.handler},
                  {"parameters", Json(subject.parameters)},
                  {"seed", sim::seed_to_text(options.seed)},
                  {"faults", options.faults},
                  {"kinds", std::move(kinds)},
                  {"equals_left_out", options.leave_out_equals},
                  {"plans", hash_text(plans)},
                  {"program", hash_text(hash_of_this_program())}}
                 .dump();
}

std::optional<ExhaustState> ExhaustStateFile::read() const {
    if (path_.empty() || !std::filesystem::exists(path_)) return std::nullopt;
    const Json json = Json::parse(read_whole_file(path_), nullptr, false);
    const auto broken = [this](const char* what) {
        return sim::PlanError(
            fmt::format("{}: {}; remove it, or leave out --resume, to begin anew", path_, what));
    };
    try {
        if (!json.is_object() || json.at("fencepost_exhaust") != kFormat)
            throw broken("this is no state of an exhaustive search");
        const Json whose = Json::parse(whose_);
        for (const auto& [key, value] : whose.items()) {
            if (json.at("search").at(key) != value) {
                throw broken(fmt::format("this is the state of another search: its {} is {} and "
                                         "not {}",
                                         key, json.at("search").at(key).dump(), value.dump())
                                 .c_str());
            }
        }
        const auto bytes = from_hex(json.at("sum").get<std::string>());
        Json hashed = json;
        hashed.erase("hash");
        if (!bytes || hash_text(sim::hash_of(hashed.dump())) != json.at("hash").get<std::string>())
            throw broken("what was counted so far cannot be read");
        return ExhaustState{.branching = json.at("branching").get<std::uint64_t>(),
                            .items = json.at("items").get<std::uint64_t>(),
                            .sum = batch_from_bytes(*bytes),
                            .seconds = json.at("seconds").get<double>()};
    } catch (const Json::exception&) {
        throw broken("this is no state of an exhaustive search");
    }
}

void ExhaustStateFile::write(const ExhaustState& state) const {
    if (path_.empty()) return;
    const std::string bytes = to_bytes(state.sum);
    Json json{{"fencepost_exhaust", kFormat}, {"search", Json::parse(whose_)},
              {"branching", state.branching}, {"items", state.items},
              {"plans", state.sum.planned},   {"violating", state.sum.totals.failed_runs},
              {"seconds", state.seconds},     {"sum", to_hex(bytes)}};
    json["hash"] = hash_text(sim::hash_of(json.dump()));
    write_whole_file(path_, json.dump(2) + "\n");
}

}  // namespace fencepost::scenarios
