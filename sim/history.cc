#include "sim/history.h"

#include <fmt/format.h>

#include <cstddef>

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace fencepost::sim {

void History::clear() {
    bytes_.clear();
    starts_.clear();
    parties_.assign(1, "world");
    tasks_.assign(1, {});
    fingerprint_ = 0;
    fingerprints_.clear();
    phases_.clear();
}

PartyId History::add_party(std::string_view name) {
    require(parties_.size() < 250, "more parties than a history can tell apart");
    fold(std::as_bytes(std::span{name.data(), name.size()}));
    parties_.emplace_back(name);
    return static_cast<PartyId>(parties_.size() - 1);
}

TaskId History::add_task(TaskInfo info) {
    const auto id = static_cast<TaskId>(tasks_.size());
    if (info.root == kNoTask) info.root = id;
    const std::array<std::uint32_t, 3> numbers{info.party, info.incarnation, info.root};
    fold(std::as_bytes(std::span{numbers}));
    fold(std::as_bytes(std::span{info.name.data(), info.name.size()}));
    tasks_.push_back(std::move(info));
    return id;
}

std::size_t History::begin_record() {
    const std::size_t start = bytes_.size();
    static_cast<void>(bytes_.grow(sizeof(RecordHeader)));
    return start;
}

RecordId History::end_record(std::size_t start, RecordHeader header) {
    header.size = static_cast<std::uint32_t>(bytes_.size() - start - sizeof header);
    std::memcpy(bytes_.at(start), &header, sizeof header);
    fold(bytes_.from(start));
    if (keep_fingerprints_) fingerprints_.push_back(fingerprint_);
    starts_.push_back(static_cast<std::uint32_t>(start));
    return static_cast<RecordId>(starts_.size() - 1);
}

void History::fold(std::span<const std::byte> bytes) {
    fingerprint_ = XXH3_64bits_withSeed(bytes.data(), bytes.size(), fingerprint_);
}

Record History::operator[](RecordId id) const {
    const std::size_t start = starts_.at(id);
    RecordHeader header;
    std::memcpy(&header, bytes_.data() + start, sizeof header);
    return {id, header, bytes_.from(start + sizeof header).first(header.size)};
}

EventKind History::kind_of(RecordId id) const {
    EventKind kind = 0;
    std::memcpy(&kind, bytes_.data() + starts_[id] + offsetof(RecordHeader, kind), sizeof kind);
    return kind;
}

std::string History::actor(TaskId task) const {
    const TaskInfo& info = tasks_.at(task);
    if (task == kNoTask) return parties_.front();
    return fmt::format("{}#{}/{}", parties_[info.party], info.incarnation, info.name);
}

std::string History::actor(const Record& record) const {
    return record.task() == kNoTask ? parties_.at(record.party()) : actor(record.task());
}

}  // namespace fencepost::sim
