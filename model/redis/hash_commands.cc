#include "model/redis/commands.h"
#include "model/redis/text.h"

namespace fencepost::model::redis {
namespace {

bool is_string(const Entry* entry) {
    return entry != nullptr && !entry->second.is_hash;
}

const Field* field_in(const Entry* entry, std::string_view name) {
    return entry == nullptr ? nullptr : find_field(entry->second, name);
}

Reply value_or_nil(const Field* field) {
    return field == nullptr ? Reply::nil() : Reply::bulk(field->value);
}

// The number of fields added, or the error.
Reply set_fields(Execution& execution, std::string_view command) {
    const auto pairs = execution.arguments.subspan(2);
    if (pairs.size() % 2 != 0) return wrong_arity(command);
    Entry* entry = execution.keys.find(execution.key());
    if (is_string(entry)) return wrong_type();
    std::int64_t added = 0;
    for (std::size_t i = 0; i < pairs.size(); i += 2) {
        if (execution.keys.set_field(entry, execution.key(), pairs[i], pairs[i + 1])) ++added;
        if (entry == nullptr) entry = execution.keys.find(execution.key());
    }
    return Reply::number(added);
}

enum class Part : std::uint8_t { Names, Values, Both };

Reply list_fields(Execution& execution, Part part) {
    const Entry* entry = execution.keys.find(execution.key());
    if (is_string(entry)) return wrong_type();
    std::vector<Reply> listed;
    if (entry == nullptr) return Reply::array(std::move(listed));
    for (const Field& field : entry->second.fields) {
        if (part != Part::Values) listed.push_back(Reply::bulk(field.name));
        if (part != Part::Names) listed.push_back(Reply::bulk(field.value));
    }
    return Reply::array(std::move(listed));
}

}  // namespace

namespace commands {

Reply hset(Execution& execution) {
    return set_fields(execution, "hset");
}

Reply hmset(Execution& execution) {
    Reply answer = set_fields(execution, "hmset");
    return answer.is_error() ? answer : ok();
}

Reply hsetnx(Execution& execution) {
    Entry* entry = execution.keys.find(execution.key());
    if (is_string(entry)) return wrong_type();
    if (field_in(entry, execution.arguments[2]) != nullptr) return Reply::number(0);
    execution.keys.set_field(entry, execution.key(), execution.arguments[2],
                             execution.arguments[3]);
    return Reply::number(1);
}

Reply hget(Execution& execution) {
    const Entry* entry = execution.keys.find(execution.key());
    return is_string(entry) ? wrong_type() : value_or_nil(field_in(entry, execution.arguments[2]));
}

Reply hmget(Execution& execution) {
    const Entry* entry = execution.keys.find(execution.key());
    if (is_string(entry)) return wrong_type();
    std::vector<Reply> values;
    for (const std::string& name : execution.arguments.subspan(2)) {
        values.push_back(value_or_nil(field_in(entry, name)));
    }
    return Reply::array(std::move(values));
}

Reply hgetall(Execution& execution) {
    return list_fields(execution, Part::Both);
}

Reply hkeys(Execution& execution) {
    return list_fields(execution, Part::Names);
}

Reply hvals(Execution& execution) {
    return list_fields(execution, Part::Values);
}

Reply hdel(Execution& execution) {
    Entry* entry = execution.keys.find(execution.key());
    if (is_string(entry)) return wrong_type();
    std::int64_t removed = 0;
    for (const std::string& name : execution.arguments.subspan(2)) {
        if (entry == nullptr) break;
        if (execution.keys.remove_field(*entry, name)) ++removed;
        entry = execution.keys.find(execution.key());
    }
    return Reply::number(removed);
}

Reply hexists(Execution& execution) {
    const Entry* entry = execution.keys.find(execution.key());
    if (is_string(entry)) return wrong_type();
    return Reply::number(field_in(entry, execution.arguments[2]) != nullptr ? 1 : 0);
}

Reply hlen(Execution& execution) {
    const Entry* entry = execution.keys.find(execution.key());
    if (is_string(entry)) return wrong_type();
    return Reply::number(entry == nullptr ? 0
                                          : static_cast<std::int64_t>(entry->second.fields.size()));
}

Reply hstrlen(Execution& execution) {
    const Entry* entry = execution.keys.find(execution.key());
    if (is_string(entry)) return wrong_type();
    const Field* field = field_in(entry, execution.arguments[2]);
    return Reply::number(field == nullptr ? 0 : static_cast<std::int64_t>(field->value.size()));
}

Reply hincrby(Execution& execution) {
    const auto increment = parse_integer(execution.arguments[3]);
    if (!increment) return not_an_integer();
    Entry* entry = execution.keys.find(execution.key());
    if (is_string(entry)) return wrong_type();
    std::int64_t value = 0;
    if (const Field* field = field_in(entry, execution.arguments[2])) {
        const auto parsed = parse_integer(field->value);
        if (!parsed) return Reply::error("ERR hash value is not an integer");
        value = *parsed;
    }
    if (__builtin_add_overflow(value, *increment, &value)) {
        return Reply::error("ERR increment or decrement would overflow");
    }
    execution.keys.set_field(entry, execution.key(), execution.arguments[2], to_text(value));
    return Reply::number(value);
}

}  // namespace commands
}  // namespace fencepost::model::redis
