#include "tests/fidelity/redis/generate.h"

#include <array>

#include "model/redis/text.h"

namespace fencepost::fidelity {
namespace {

constexpr std::int64_t kMostJumpUs = 3'600'000'000;

std::int64_t draw_pass_us(Draw& draw) {
    constexpr std::array<std::int64_t, 12> kSteps = {
        1, 500, 999, 1000, 1001, 2000, 3000, 5000, 10'000, 100'000, 1'000'000, 1'001'000};
    return draw.of(kSteps);
}

Step draw_time(Draw& draw) {
    if (!draw.one_in(4)) return {.kind = Step::Kind::Pass, .us = draw_pass_us(draw)};
    std::int64_t us =
        draw.one_in(10) ? draw.between(-kMostJumpUs, kMostJumpUs) : draw_pass_us(draw);
    if (draw.one_in(2)) us = -us;
    return {.kind = Step::Kind::Jump, .us = us};
}

struct Mixture {
    std::size_t most_steps = 20;
    std::size_t one_in_time = 5;
    std::size_t one_in_script = 6;
    bool with_memory = false;
};

// Commands go on with the same client for a while: each change of client costs a round trip.
class SessionDraw {
public:
    SessionDraw(const rc::Random& random, Mixture mixture) : draw_(random), mixture_(mixture) {
        if (draw_.one_in(3))
            mixture_.one_in_script = 1'000'000;  // without scripts, the whole of it
    }

    Draw& draw() { return draw_; }

    Step next(Step::To to = Step::To::Primary) {
        if (draw_.one_in(mixture_.one_in_time)) return draw_time(draw_);
        if (mixture_.with_memory && draw_.one_in(60)) {
            return {.kind = draw_.one_in(3) ? Step::Kind::MemoryFreed : Step::Kind::MemoryFull};
        }
        if (draw_.one_in(5)) client_ = static_cast<std::uint8_t>(draw_.below(kClients));
        Step step{.to = to, .client = client_};
        step.arguments =
            draw_.one_in(mixture_.one_in_script) ? draw_script_command(draw_) : draw_command(draw_);
        return step;
    }

    std::size_t length() { return 1 + draw_.below(mixture_.most_steps); }

private:
    Draw draw_;
    Mixture mixture_;
    std::uint8_t client_ = 0;
};

// Smaller first: without an argument, with a plainer one, with a line of the script less.
std::vector<std::string> plainer(const std::string& text) {
    std::vector<std::string> smaller;
    for (std::size_t end = text.find('\n'), begin = 0; end != std::string::npos;
         begin = end + 1, end = text.find('\n', begin)) {
        if (begin > 0) smaller.push_back(text.substr(0, begin) + text.substr(end + 1));
    }
    const bool is_number = model::redis::parse_integer(text).has_value();
    for (const char* plain : {"", "0", "1", "a", "x"}) {
        const bool fits = is_number ? plain[0] == '0' || plain[0] == '1' : true;
        if (text == plain) break;
        if (fits && text.size() >= std::string_view(plain).size()) smaller.emplace_back(plain);
    }
    return smaller;
}

std::vector<Step> smaller_steps(const Step& step) {
    std::vector<Step> smaller;
    const auto with = [&](auto change) {
        Step changed = step;
        change(changed);
        smaller.push_back(std::move(changed));
    };
    if (step.client != 0) with([](Step& changed) { changed.client = 0; });
    if (step.us != 0 && step.us != 1000) {
        if (step.us < 0) with([](Step& changed) { changed.us = -changed.us; });
        if (step.us > 1000) with([](Step& changed) { changed.us = 1000; });
        if (step.us / 2 != 0) with([](Step& changed) { changed.us /= 2; });
    }
    for (std::size_t i = step.arguments.size(); i > 1; --i) {
        with([&](Step& changed) {
            changed.arguments.erase(changed.arguments.begin() + static_cast<std::ptrdiff_t>(i) - 1);
        });
        if (i > 2) {
            with([&](Step& changed) {
                const auto end = changed.arguments.begin() + static_cast<std::ptrdiff_t>(i);
                changed.arguments.erase(end - 2, end);
            });
        }
    }
    for (std::size_t i = 1; i < step.arguments.size(); ++i) {
        for (std::string& text : plainer(step.arguments[i])) {
            with([&](Step& changed) { changed.arguments[i] = std::move(text); });
        }
    }
    return smaller;
}

rc::Seq<Session> smaller_sessions(const Session& session) {
    std::vector<Session> with_smaller_step;
    for (std::size_t i = 0; i < session.size(); ++i) {
        for (Step& step : smaller_steps(session[i])) {
            Session changed = session;
            changed[i] = std::move(step);
            with_smaller_step.push_back(std::move(changed));
        }
    }
    return rc::seq::concat(rc::shrink::removeChunks(session),
                           rc::seq::fromContainer(std::move(with_smaller_step)));
}

template <typename Build>
rc::Gen<Session> generator(Mixture mixture, Build build) {
    return [=](const rc::Random& random, int) {
        SessionDraw draw(random, mixture);
        return rc::shrinkable::shrinkRecur(
            build(draw), [](const Session& session) { return smaller_sessions(session); });
    };
}

void add_steps(Session& session, SessionDraw& draw, std::size_t count, Step::To to) {
    for (; count > 0; --count) session.push_back(draw.next(to));
}

}  // namespace

rc::Gen<Session> sessions() {
    return generator({.with_memory = true}, [](SessionDraw& draw) {
        Session session;
        add_steps(session, draw, draw.length(), Step::To::Primary);
        return session;
    });
}

rc::Gen<Session> sessions_with_restarts(bool with_snapshots, bool with_power_cuts) {
    return generator({.most_steps = 6}, [=](SessionDraw& draw) {
        Session session;
        for (std::size_t rounds = 1 + draw.draw().below(2); rounds > 0; --rounds) {
            add_steps(session, draw, draw.length(), Step::To::Primary);
            if (with_snapshots && !draw.draw().one_in(3)) {
                session.push_back({.kind = Step::Kind::Snapshot});
                add_steps(session, draw, draw.draw().below(4), Step::To::Primary);
            }
            const bool cut = with_power_cuts && draw.draw().one_in(2);
            const std::int64_t down_us = draw.draw().one_in(2) ? 0 : draw_pass_us(draw.draw());
            session.push_back(
                {.kind = cut ? Step::Kind::PowerCut : Step::Kind::Kill, .us = down_us});
        }
        add_steps(session, draw, draw.draw().below(6), Step::To::Primary);
        return session;
    });
}

rc::Gen<Session> sessions_with_failover() {
    return generator({.most_steps = 8}, [](SessionDraw& draw) {
        Session session;
        add_steps(session, draw, draw.length(), Step::To::Primary);
        add_steps(session, draw, draw.draw().below(3), Step::To::Replica);
        session.push_back({.kind = Step::Kind::Cut});
        for (std::size_t count = draw.length(); count > 0; --count) {
            const bool read = draw.draw().one_in(3);
            session.push_back(draw.next(read ? Step::To::Replica : Step::To::Primary));
        }
        session.push_back({.kind = Step::Kind::Promote});
        for (std::size_t count = draw.length(); count > 0; --count) {
            const bool old = draw.draw().one_in(3);
            session.push_back(draw.next(old ? Step::To::FormerPrimary : Step::To::Primary));
        }
        session.push_back({.kind = Step::Kind::Demote});
        add_steps(session, draw, draw.draw().below(4), Step::To::Primary);
        add_steps(session, draw, draw.draw().below(3), Step::To::Replica);
        return session;
    });
}

}  // namespace fencepost::fidelity
