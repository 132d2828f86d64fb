#include "reports/markup.h"

namespace fencepost::reports {

std::string markup(std::string_view text, char instead, std::string_view kept) {
    std::string out;
    for (const char c : text) {
        switch (c) {
            case '&':
                out += "&amp;";
                break;
            case '<':
                out += "&lt;";
                break;
            case '>':
                out += "&gt;";
                break;
            case '"':
                out += "&quot;";
                break;
            default: {
                const bool is_control = static_cast<unsigned char>(c) < 0x20;
                out += is_control && !kept.contains(c) ? instead : c;
            }
        }
    }
    return out;
}

}  // namespace fencepost::reports
