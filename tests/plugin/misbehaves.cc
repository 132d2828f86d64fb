// A plug-in that does what FENCEPOST_TEST_MISBEHAVES names while it is registered, and whose
// handlers and checker do what plug-ins should not.
#include <fencepost/plugin.h>
#include <unistd.h>

#include <cstdlib>
#include <stdexcept>
#include <string>
#include <string_view>

namespace {

using namespace fencepost::jobs;

constexpr const char* kSchema = R"(
CREATE TABLE expiry (business_key TEXT PRIMARY KEY, member BIGINT NOT NULL);
)";

void expire(JobContext& job, std::int64_t member) {
    job.commit(Checkpoint::at(member), [&](sql::Transaction& tx) {
        tx.execute("INSERT INTO expiry VALUES ($1, $2)", job.effect_key(member), member);
    });
}

Outcome expire_one(JobContext& job) {
    if (job.checkpoint()) return Outcome::succeeded();
    expire(job, 1);
    return Outcome::more();
}

Outcome drop(JobContext& job) {
    if (!job.checkpoint()) return expire_one(job);
    if (job.checkpoint()->number() == 2) return Outcome::succeeded();
    job.commit(Checkpoint::at(2), [](sql::Transaction& tx) { tx.execute("DROP TABLE expiry"); });
    return Outcome::more();
}

std::string half_way(const Fire&, const Ports& ports) {
    ports.database.connect()->execute("INSERT INTO expiry VALUES ('1', 1) ON CONFLICT DO NOTHING");
    throw std::runtime_error("no second member");
}

fencepost::HandlerSpec with_effects(fencepost::HandlerSpec handler) {
    handler.effects = {{.table = "expiry", .identity = {"member"}}};
    return handler;
}

fencepost::HandlerSpec gated(const char* name, Handler body) {
    return with_effects(fencepost::gated(name, std::move(body), kSchema));
}

fencepost::Judgement throw_a_number(const fencepost::Reading&) {
    throw 42;
}

fencepost::Scenario scenario(const char* name) {
    fencepost::Scenario like = *fencepost::scenarios::find_scenario("same-instant");
    like.name = name;
    return like;
}

}  // namespace

FENCEPOST_PLUGIN(registry) {
    const char* const set = std::getenv("FENCEPOST_TEST_MISBEHAVES");
    const std::string_view what = set == nullptr ? "" : set;
    if (what == "exit") std::exit(0);
    if (what == "abort") std::abort();
    if (what == "throw") throw 42;
    if (what == "name") registry.add(gated("../expire points", expire_one));
    if (what == "scenario") {
        fencepost::Scenario own = scenario("own");
        own.nodes.clear();
        registry.add(own);
    }

    registry.add(gated("right", expire_one));
    registry.add(gated("exits", [](JobContext&) -> Outcome { std::exit(0); }));
    registry.add(gated("ends", [](JobContext&) -> Outcome { ::_exit(3); }));
    registry.add(gated("drops", drop));
    registry.add(with_effects(fencepost::ungated("half-way", half_way, kSchema)));

    auto twice = gated("named-twice", expire_one);
    twice.effects.push_back({.table = "expiry", .identity = {"business_key"}});
    registry.add(std::move(twice));

    auto number = gated("schema-throws", expire_one);
    number.schema = [](const auto&) -> std::vector<std::string> { throw 42; };
    registry.add(std::move(number));

    auto error = gated("expectations-throw", expire_one);
    error.expectations = [](const auto&, const auto&) -> fencepost::checkers::Expectations {
        throw std::runtime_error("nothing to expect");
    };
    registry.add(std::move(error));

    registry.add(fencepost::Checker{
        .name = "numbers", .invariant = "Nothing is thrown.", .judge = &throw_a_number});
    auto judged = scenario("judged-by-numbers");
    judged.checkers = {"numbers"};
    registry.add(judged);
}
