#include "tests/fidelity/redis/session.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "model/redis/text.h"

namespace fencepost::fidelity {
namespace {

std::string quoted(const std::string& text) {
    std::string out = "\"";
    for (const char c : text) {
        if (c == '\n') {
            out += "\\n";
        } else if (c == '\r') {
            out += "\\r";
        } else if (c == '"' || c == '\\') {
            out += '\\';
            out += c;
        } else if (std::isprint(static_cast<unsigned char>(c)) == 0) {
            out += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
        } else {
            out += c;
        }
    }
    return out + '"';
}

bool is_plain(const std::string& text) {
    return !text.empty() && std::ranges::all_of(text, [](unsigned char c) {
        return std::isalnum(c) != 0 || c == '-' || c == ':' || c == '_' || c == '.';
    });
}

std::string place(Step::To to) {
    switch (to) {
        case Step::To::Primary:
            return "";
        case Step::To::Replica:
            return "replica ";
        case Step::To::FormerPrimary:
            return "old primary ";
    }
    return "";
}

}  // namespace

bool concerns_scripts(const Step& step) {
    if (step.arguments.empty()) return false;
    const std::string name = model::redis::lower_case(step.arguments[0]);
    return name.starts_with("eval") || name == "script";
}

std::string show(const Reply& reply) {
    switch (reply.kind) {
        case Reply::Kind::Nil:
            return "(nil)";
        case Reply::Kind::Status:
            return reply.text;
        case Reply::Kind::Integer:
            return fmt::format("(integer) {}", reply.integer);
        case Reply::Kind::Bulk:
            return quoted(reply.text);
        case Reply::Kind::Error: {
            const std::string text = quoted(reply.text);
            return "(error) " + text.substr(1, text.size() - 2);
        }
        case Reply::Kind::Array: {
            std::string out = "[";
            for (const Reply& element : reply.elements) {
                if (out.size() > 1) out += ", ";
                out += show(element);
            }
            return out + ']';
        }
    }
    return "";
}

std::string show(const Step& step) {
    switch (step.kind) {
        case Step::Kind::Command: {
            std::string out = place(step.to) + static_cast<char>('A' + step.client) + '>';
            for (const std::string& argument : step.arguments) {
                out += ' ' + (is_plain(argument) ? argument : quoted(argument));
            }
            return out;
        }
        case Step::Kind::Pass:
            return fmt::format("# {} us go by", step.us);
        case Step::Kind::Jump:
            return fmt::format("# the wall clock jumps by {} us", step.us);
        case Step::Kind::MemoryFull:
            return "# memory is full";
        case Step::Kind::MemoryFreed:
            return "# there is memory again";
        case Step::Kind::Snapshot:
            return "# the primary saves a snapshot";
        case Step::Kind::Kill:
            return fmt::format("# the primary is killed and starts again {} us later", step.us);
        case Step::Kind::PowerCut:
            return fmt::format("# the primary's machine loses power and starts again {} us later",
                               step.us);
        case Step::Kind::Cut:
            return "# the replica is cut off";
        case Step::Kind::Promote:
            return "# the replica is promoted; the old primary lives on, cut off";
        case Step::Kind::Demote:
            return "# the old primary becomes a replica";
    }
    return "";
}

std::string show(const Difference& difference) {
    std::string out;
    for (const Step& step : difference.session) {
        const bool last = &step == &difference.session.back();
        if (last && difference.at_the_end) out += "# what that has left:\n";
        out += show(step) + '\n';
    }
    out += "  model: " + show(difference.model) + '\n';
    out += "  Redis: " + show(difference.real) + '\n';
    return out;
}

}  // namespace fencepost::fidelity
