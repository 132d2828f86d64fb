// JSON with // and /* */ comments, whose every value knows where in the text it stands.
//
// Input is hostile until it is read: its size, its depth and the keys of an object are bounded, no
// key stands twice in an object, and what is wrong is a ScenarioFileError with its line and column.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/plan.h"

namespace fencepost::scenarios {

using Json = nlohmann::ordered_json;

// Of the first character of something, both counted from 1. A column is a character of UTF-8.
struct FilePosition {
    std::size_t line = 1;
    std::size_t column = 1;

    bool operator==(const FilePosition&) const = default;
};

// "line 3, column 7: jobs[0].schedule: …": one sentence that says what would be right.
class ScenarioFileError : public sim::PlanError {
public:
    // `place` is that of a value, "jobs[0].schedule"; empty: the file itself.
    ScenarioFileError(FilePosition position, const std::string& place, const std::string& sentence);

    [[nodiscard]] FilePosition position() const { return position_; }
    // "jobs[0].schedule: …", for who says the position in another way.
    [[nodiscard]] const std::string& unplaced() const { return unplaced_; }

private:
    FilePosition position_;
    std::string unplaced_;
};

struct LocatedJson {
    static constexpr std::size_t kMostBytes = 1U << 20U;
    static constexpr std::size_t kMostLevels = 64;
    static constexpr std::size_t kMostKeys = 1000;  // of one object

    // Where a value stands in the text, with how many values it and all that it holds are.
    struct Mark {
        std::uint32_t begin = 0;
        std::uint32_t key = 0;  // where its key begins; as `begin` where it has none
        std::uint32_t values = 1;
    };

    std::string text;
    Json value;
    std::vector<Mark> marks;  // of each value, in the order in which they begin; the root is first

    [[nodiscard]] FilePosition position_of(std::size_t offset) const;
};

// Throws ScenarioFileError.
LocatedJson parse_located(std::string_view text);

// A value of such a file, with its place. It refers to the file, which must outlive it.
class FileValue {
public:
    explicit FileValue(const LocatedJson& file) : FileValue(file, file.value, 0, {}) {}

    [[nodiscard]] const Json& json() const { return *json_; }
    [[nodiscard]] const std::string& place() const { return place_; }  // "jobs[0].schedule"

    // Throw ScenarioFileError at the value, at its key, or at a byte within its text.
    [[noreturn]] void fail(const std::string& sentence) const;
    [[noreturn]] void fail_at_key(const std::string& sentence) const;
    [[noreturn]] void fail_within(std::size_t offset, const std::string& sentence) const;

    // What it holds; each throws where something else stands.
    [[nodiscard]] std::string text() const;
    [[nodiscard]] bool flag() const;
    [[nodiscard]] std::int64_t number(std::int64_t least, std::int64_t most) const;
    [[nodiscard]] std::vector<FileValue> elements() const;  // of a list
    struct Member;
    [[nodiscard]] std::vector<Member> members() const;  // of an object
    // Of an object: nothing where the key is not there.
    [[nodiscard]] std::optional<FileValue> find(std::string_view key) const;

    // Throws with that place, at where it is or, when it is not there, at what should hold it.
    [[noreturn]] void fail_at_place(const std::string& place, const std::string& sentence) const;

private:
    [[nodiscard]] FileValue nearest(std::string_view place) const;
    FileValue(const LocatedJson& file, const Json& json, std::size_t mark, std::string place)
        : file_(&file), json_(&json), mark_(mark), place_(std::move(place)) {}
    [[noreturn]] void fail_at(std::size_t offset, const std::string& sentence) const;
    [[nodiscard]] std::string place_of(const std::string& key) const;

    const LocatedJson* file_;
    const Json* json_;
    std::size_t mark_;  // an index of LocatedJson::marks
    std::string place_;
};

struct FileValue::Member {
    std::string key;
    FileValue value;
};

}  // namespace fencepost::scenarios
