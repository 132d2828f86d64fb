#include "scenarios/files/annotated.h"

namespace fencepost::scenarios {
namespace {

constexpr std::size_t kWidth = 100;
constexpr std::size_t kStep = 2;

std::string scalar_text(const Json& value) {
    return value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

bool is_container(const Json& value) {
    return value.is_structured() && !value.empty();
}

// Everything on one line: { "a": 1, "b": [2, 3] }.
std::string on_one_line(const Json& value) {
    if (!is_container(value)) return scalar_text(value);
    std::string text;
    for (const auto& [key, each] : value.items()) {
        text += text.empty() ? "" : ", ";
        if (value.is_object()) text += scalar_text(key) + ": ";
        text += on_one_line(each);
    }
    return value.is_object() ? "{ " + text + " }" : "[" + text + "]";
}

// `column` is where the value begins; `indent`, where its lines do.
void add(std::string& out, const Json& value, std::size_t indent, std::size_t column) {
    const std::string line = on_one_line(value);
    if (!is_container(value) || column + line.size() < kWidth) {
        out += line;
        return;
    }
    const std::string margin(indent + kStep, ' ');
    out += value.is_object() ? "{" : "[";
    bool first = true;
    for (const auto& [key, each] : value.items()) {
        out += first ? "\n" : ",\n";
        first = false;
        const std::string name = value.is_object() ? scalar_text(key) + ": " : "";
        out += margin + name;
        add(out, each, indent + kStep, margin.size() + name.size());
    }
    out += "\n" + std::string(indent, ' ') + (value.is_object() ? "}" : "]");
}

}  // namespace

std::string annotated(const Json& object, std::span<const Section> sections) {
    std::string out = "{";
    std::string_view comment;
    bool first = true;
    for (const auto& [key, value] : object.items()) {
        for (const Section& section : sections) {
            if (section.first == key) comment = section.comment;
        }
        out += first ? "\n" : ",\n";
        if (!comment.empty()) {
            if (!first) out += "\n";
            out += std::string(kStep, ' ') + "// " + std::string(comment) + "\n";
            comment = {};
        }
        first = false;
        const std::string name = std::string(kStep, ' ') + scalar_text(key) + ": ";
        out += name;
        add(out, value, kStep, name.size());
    }
    return out + "\n}\n";
}

}  // namespace fencepost::scenarios
