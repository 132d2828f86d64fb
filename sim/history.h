// The history of a run: an append-only log of binary records, and a rolling fingerprint over it.
//
// A record says when, by which task, caused by which earlier record, and what: an event type with
// its fields. Event types are plain structs (see sim/events.h): a kind, a name, names of the fields
// and fields(self). Records are formatted only when somebody looks.
// Text read back points into the history: it lives as long as the history is not appended to.
#pragma once

#include <array>
#include <concepts>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <vector>

#include "sim/phase.h"
#include "sim/require.h"
#include "sim/time.h"

namespace fencepost::sim {

using RecordId = std::uint32_t;
inline constexpr RecordId kNoRecord = 0xffffffffU;

using EventKind = std::uint16_t;
using PartyId = std::uint8_t;  // a node or a server; 0 is the world itself
using TaskId = std::uint32_t;  // 0 is no task

inline constexpr PartyId kWorld = 0;
inline constexpr TaskId kNoTask = 0;

// Who a task is. `root` is the task that it works for: of a lease renewal, the task that took the
// lease; of most tasks, themselves.
struct TaskInfo {
    std::string name;
    PartyId party = kWorld;
    std::uint32_t incarnation = 0;
    TaskId root = kNoTask;
};

struct RecordHeader {
    std::int64_t at = 0;  // nanoseconds since the epoch
    RecordId cause = kNoRecord;
    TaskId task = kNoTask;
    EventKind kind = 0;
    PartyId party = kWorld;
    std::uint8_t unused = 0;
    std::uint32_t size = 0;  // of the payload that follows
};
static_assert(sizeof(RecordHeader) == 24 && std::has_unique_object_representations_v<RecordHeader>);

// A call came to a phase: had a fault been armed there, it would have struck.
struct PhaseReached {
    RecordId call = kNoRecord;  // its CallStarted
    RecordId next = 0;          // the first record that was written after that, if any was
    Phase phase = Phase::Before;

    bool operator==(const PhaseReached&) const = default;
};

// Bytes that only grow, and keep their memory when they are emptied.
class ByteLog {
public:
    void clear() { size_ = 0; }
    [[nodiscard]] std::size_t size() const { return size_; }
    [[nodiscard]] const std::byte* data() const { return bytes_.data(); }
    [[nodiscard]] std::span<const std::byte> from(std::size_t start) const {
        return {bytes_.data() + start, size_ - start};
    }
    // Room for `size` more bytes, which the caller fills.
    std::byte* grow(std::size_t size) {
        if (size_ + size > bytes_.size()) bytes_.resize(2 * (size_ + size));
        std::byte* const room = bytes_.data() + size_;
        size_ += size;
        return room;
    }
    std::byte* at(std::size_t start) { return bytes_.data() + start; }

private:
    std::vector<std::byte> bytes_;
    std::size_t size_ = 0;
};

class PayloadWriter {
public:
    explicit PayloadWriter(ByteLog& out) : out_(out) {}
    void bytes(const void* data, std::size_t size) {
        if (size > 0) std::memcpy(out_.grow(size), data, size);
    }
    template <typename T>
        requires std::is_arithmetic_v<T> || std::is_enum_v<T>
    void scalar(T value) {
        bytes(&value, sizeof value);
    }

private:
    ByteLog& out_;
};

class PayloadReader {
public:
    explicit PayloadReader(std::span<const std::byte> bytes) : rest_(bytes) {}
    template <typename T>
        requires std::is_arithmetic_v<T> || std::is_enum_v<T>
    T scalar() {
        T value{};
        std::memcpy(&value, take(sizeof value), sizeof value);
        return value;
    }
    std::string_view text(std::size_t size) {
        return {reinterpret_cast<const char*>(take(size)), size};
    }
    [[nodiscard]] bool empty() const { return rest_.empty(); }

private:
    const std::byte* take(std::size_t size) {
        require(size <= rest_.size(), "a record is longer than its event type says");
        const std::byte* at = rest_.data();
        rest_ = rest_.subspan(size);
        return at;
    }
    std::span<const std::byte> rest_;
};

// How a field of type T is written, read and printed. Specialise for further types.
template <typename T>
struct Codec {
    static_assert(std::is_arithmetic_v<T> || std::is_enum_v<T>);
    static void write(PayloadWriter& out, const T& value) { out.scalar(value); }
    static void read(PayloadReader& in, T& value) { value = in.scalar<T>(); }
    static void print(std::string& out, const T& value) {
        if constexpr (std::is_same_v<T, bool>) {
            out += value ? "yes" : "no";
        } else if constexpr (std::is_enum_v<T>) {
            out += name_of(value);
        } else {
            out += std::to_string(value);
        }
    }
};
template <>
struct Codec<std::string_view> {
    static void write(PayloadWriter& out, std::string_view text) {
        out.scalar(static_cast<std::uint32_t>(text.size()));
        out.bytes(text.data(), text.size());
    }
    static void read(PayloadReader& in, std::string_view& text) {
        text = in.text(in.scalar<std::uint32_t>());
    }
    static void print(std::string& out, std::string_view text) { out += text; }
};
template <>
struct Codec<Duration> {
    static void write(PayloadWriter& out, Duration value) { out.scalar(value.count()); }
    static void read(PayloadReader& in, Duration& value) {
        value = Duration{in.scalar<Duration::rep>()};
    }
    static void print(std::string& out, Duration value) { out += to_text(value); }
};
template <>
struct Codec<Time> {
    static void write(PayloadWriter& out, Time value) {
        out.scalar(value.time_since_epoch().count());
    }
    static void read(PayloadReader& in, Time& value) {
        value = Time{Duration{in.scalar<Duration::rep>()}};
    }
    static void print(std::string& out, Time value) { out += to_text(value); }
};

template <typename E>
concept EventType = requires(const E& event) {
    { E::kKind } -> std::convertible_to<EventKind>;
    { E::kName } -> std::convertible_to<std::string_view>;
    { E::fields(event) };
};

// One record, as it stands in the history.
class Record {
public:
    Record(RecordId id, const RecordHeader& header, std::span<const std::byte> payload)
        : id_(id), header_(header), payload_(payload) {}

    [[nodiscard]] RecordId id() const { return id_; }
    [[nodiscard]] Time at() const { return Time{Duration{header_.at}}; }
    [[nodiscard]] RecordId cause() const { return header_.cause; }
    [[nodiscard]] TaskId task() const { return header_.task; }
    [[nodiscard]] PartyId party() const { return header_.party; }
    [[nodiscard]] EventKind kind() const { return header_.kind; }
    [[nodiscard]] std::span<const std::byte> payload() const { return payload_; }

    // The event, when it is an E.
    template <EventType E>
    [[nodiscard]] std::optional<E> as() const {
        if (header_.kind != E::kKind) return std::nullopt;
        return decode<E>(payload_);
    }

    template <EventType E>
    static E decode(std::span<const std::byte> payload) {
        E event{};
        PayloadReader in{payload};
        std::apply(
            [&](auto&... field) {
                (Codec<std::remove_cvref_t<decltype(field)>>::read(in, field), ...);
            },
            E::fields(event));
        return event;
    }

private:
    RecordId id_;
    RecordHeader header_;
    std::span<const std::byte> payload_;
};

class History {
public:
    void clear();

    // Names are given before the first record that uses them, and are part of the fingerprint.
    PartyId add_party(std::string_view name);
    TaskId add_task(TaskInfo info);

    template <EventType E>
    RecordId append(Time at, PartyId party, TaskId task, RecordId cause, const E& event) {
        const std::size_t start = begin_record();
        PayloadWriter out{bytes_};
        std::apply(
            [&](const auto&... field) {
                (Codec<std::remove_cvref_t<decltype(field)>>::write(out, field), ...);
            },
            E::fields(event));
        return end_record(start, {.at = at.time_since_epoch().count(),
                                  .cause = cause,
                                  .task = task,
                                  .kind = E::kKind,
                                  .party = party});
    }

    // Where faults could have struck, in the order in which the run came to it. Beside the records,
    // and no part of the fingerprint: it follows from the run.
    void note_phase(RecordId call, Phase phase) {
        phases_.push_back({call, static_cast<RecordId>(starts_.size()), phase});
    }
    [[nodiscard]] const std::vector<PhaseReached>& phases() const { return phases_; }

    [[nodiscard]] std::size_t size() const { return starts_.size(); }
    [[nodiscard]] Record operator[](RecordId id) const;
    [[nodiscard]] EventKind kind_of(RecordId id) const;

    [[nodiscard]] std::uint64_t fingerprint() const { return fingerprint_; }
    // The fingerprint as it was after each record, when it was asked for before the run.
    void keep_fingerprints(bool keep) { keep_fingerprints_ = keep; }
    [[nodiscard]] const std::vector<std::uint64_t>& fingerprints() const { return fingerprints_; }

    [[nodiscard]] const std::string& party_name(PartyId party) const { return parties_.at(party); }
    [[nodiscard]] std::size_t parties() const { return parties_.size(); }
    [[nodiscard]] const TaskInfo& task(TaskId task) const { return tasks_.at(task); }
    [[nodiscard]] std::size_t tasks() const { return tasks_.size(); }
    // "A#1/daily-reconcile@2026-03-02T18:00:00Z", or the party's name where there is no task.
    [[nodiscard]] std::string actor(const Record& record) const;
    [[nodiscard]] std::string actor(TaskId task) const;

private:
    std::size_t begin_record();
    RecordId end_record(std::size_t start, RecordHeader header);
    void fold(std::span<const std::byte> bytes);

    ByteLog bytes_;
    std::vector<std::uint32_t> starts_;
    std::vector<std::string> parties_;
    std::vector<TaskInfo> tasks_;
    std::uint64_t fingerprint_ = 0;
    bool keep_fingerprints_ = false;
    std::vector<std::uint64_t> fingerprints_;
    std::vector<PhaseReached> phases_;
};

// How records of one kind are called and printed: "row-changed table=ledger …" is name and text.
struct EventPrinter {
    EventKind kind = 0;
    std::string_view name;
    std::string (*text)(std::span<const std::byte> payload) = nullptr;
};

template <EventType E>
std::string print_fields(std::span<const std::byte> payload) {
    const E event = Record::decode<E>(payload);
    std::string out;
    std::size_t index = 0;
    std::apply(
        [&](const auto&... field) {
            ((out += index == 0 ? "" : " ", out += E::kFields[index++], out += '=',
              Codec<std::remove_cvref_t<decltype(field)>>::print(out, field)),
             ...);
        },
        E::fields(event));
    return out;
}

template <EventType... Events>
constexpr std::array<EventPrinter, sizeof...(Events)> printers_of() {
    return {{{Events::kKind, Events::kName, &print_fields<Events>}...}};
}

}  // namespace fencepost::sim
