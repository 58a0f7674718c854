#include "storage/rocksdb/shared/object_log.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <random>

#include "storage/objects/files/repeat.h"
#include "storage/rocksdb/crc32c.h"
#include "storage/rocksdb/log_format.h"

namespace sibyl::storage::rocksdb {
namespace {

using base::Bytes;
using base::BytesView;
using objects::Mutation;
using objects::Outcome;
using objects::Read;
using objects::ReadReply;
using objects::Reason;
using objects::Reply;

constexpr const char* log_file = "SIBYL_LOG";
constexpr int position_version = 1;
constexpr size_t record_header_size = 28;
constexpr uint8_t last_part = 1, first_part = 2;  // flags
constexpr uint64_t max_group_bytes = 64 << 20;    // Ceph limits objects to 128 MiB
const Bytes writers_epoch = "1", sealed_epoch = "2";
constexpr uint64_t read_bytes = 4 << 20;

std::string segment_object(const std::string& log, uint64_t number) {
  return fmt::format("log/{}/{:08}", log, number);
}

template <typename Unsigned>
Unsigned get_fixed(const char* at) {
  Unsigned value = 0;
  for (size_t i = 0; i < sizeof value; ++i)
    value |= static_cast<Unsigned>(static_cast<unsigned char>(at[i])) << (8 * i);
  return value;
}

Bytes encode_record(uint64_t sequence, uint64_t shard_epoch, uint8_t flags, BytesView bytes) {
  Bytes record(record_header_size, '\0');
  put_fixed(record.data() + 4, static_cast<uint32_t>(bytes.size()));
  put_fixed(record.data() + 8, sequence);
  put_fixed(record.data() + 16, shard_epoch);
  put_fixed(record.data() + 24, uint32_t{flags});
  record += bytes;
  put_fixed(record.data(), crc32c(0, BytesView(record).substr(4)));
  return record;
}

std::string random_name() {
  std::random_device device;
  return fmt::format("{:08x}{:08x}", device(), device());
}

base::Status damaged(const std::string& object, const std::string& why) {
  return base::fail(
      base::Error(base::ErrorCode::server, fmt::format("The log is damaged: {}: {}", object, why))
          .with_hint("acknowledged writes would be lost; restore a snapshot or ask for help"));
}

base::Status check_done(Reply reply, const std::string& what) {
  if (reply.is_done()) return {};
  return base::fail(objects::error_of(reply, what));
}

}  // namespace

// --- Positions

Bytes encode(const LogPosition& position) {
  return fmt::format("{} {} {} {} {}", position_version, position.log, position.segment, position.sequence,
                     position.shard_epoch);
}

std::optional<LogPosition> parse_log_position(BytesView bytes) {
  constexpr size_t fields = 5;
  std::vector<BytesView> parts;
  for (size_t begin = 0; begin <= bytes.size();) {
    const size_t end = std::min(bytes.find(' ', begin), bytes.size());
    parts.push_back(bytes.substr(begin, end - begin));
    begin = end + 1;
  }
  const auto parse = [](BytesView text, auto& value) {
    const auto end = std::from_chars(text.data(), text.data() + text.size(), value);
    return end.ec == std::errc() && end.ptr == text.data() + text.size();
  };
  LogPosition position;
  int version = 0;
  if (parts.size() != fields || !parse(parts[0], version) || version != position_version) return std::nullopt;
  position.log = parts[1];
  if (!parse(parts[2], position.segment) || !parse(parts[3], position.sequence) ||
      !parse(parts[4], position.shard_epoch))
    return std::nullopt;
  return position;
}

// --- Opening

ObjectLog::ObjectLog(Options options)
    : options_(options), name_(options.directory->name() + "-" + random_name()) {}

base::Result<std::unique_ptr<ObjectLog>> ObjectLog::open(Options options, const Replay& replay,
                                                         BytesView position) {
  std::unique_ptr<ObjectLog> log(new ObjectLog(options));
  SIBYL_TRY(log->recover(replay, position));
  return log;
}

base::Status ObjectLog::recover(const Replay& replay, BytesView position) {
  const std::optional<objects::FileRecord> record = options_.directory->find(log_file);
  std::optional<LogPosition> known;
  if (!position.empty()) {
    known = parse_log_position(position);
    if (!known) return damaged(log_file, "the position in the tables cannot be read");
  }
  if (!record) {
    if (known) return damaged(log_file, "the shard has data, but names no log");
    return {};
  }
  for (size_t begin = 0; begin < record->inlined.size();) {
    const size_t end = std::min(record->inlined.find('\n', begin), record->inlined.size());
    old_logs_.push_back({record->inlined.substr(begin, end - begin)});
    begin = end + 1;
  }
  // Only the first one may hold groups that the tables lack.
  if (known && known->log != old_logs_.front().name) known.reset();
  return replay_log(old_logs_.front(), known, replay);
}

base::Status ObjectLog::replay_log(OldLog& old, const std::optional<LogPosition>& position,
                                   const Replay& replay) {
  uint64_t sequence = 0;
  const uint64_t after = position ? position->sequence : 0;
  if (position) {
    // Segments before this one are released, and this one may be, if its last group is in the tables.
    old.first = position->segment;
    SIBYL_ASSIGN(const bool exists, seal(segment_object(old.name, old.first)));
    if (!exists) ++old.first;
  }
  for (uint64_t number = old.first;; ++number) {
    const std::string object = segment_object(old.name, number);
    SIBYL_ASSIGN(const bool exists, seal(object));
    if (!exists) {
      const Reply end = objects::repeat(store(), object,
                                        Mutation()
                                            .must_not_exist()
                                            .create()
                                            .set_attribute("epoch", sealed_epoch)
                                            .set_attribute("sequence", "0")
                                            .allow_when_full(),
                                        options_.directory->patience());
      if (end.is_refused(Reason::exists)) {  // the writer was faster
        --number;
        continue;
      }
      SIBYL_TRY(check_done(end, "Cannot seal the log"));
      break;
    }
    SIBYL_TRY(replay_segment(object, after, sequence, replay));
    ++recovered_.segments;
  }
  // The writer keeps its last segment.
  if (sequence == 0 && position) return damaged(segment_object(old.name, old.first), "it is missing");
  return {};
}

// Returns false if there is no such segment.
base::Result<bool> ObjectLog::seal(const std::string& object) const {
  const Reply reply = objects::repeat(
      store(), object, Mutation().must_exist().set_attribute("epoch", sealed_epoch).allow_when_full(),
      options_.directory->patience());
  if (reply.is_refused(Reason::missing)) return false;
  SIBYL_TRY(check_done(reply, "Cannot seal the log"));
  return true;
}

base::Result<Bytes> ObjectLog::read_whole(const std::string& object) const {
  Bytes content;
  for (;;) {
    const ReadReply part = objects::repeat_read(store(), object, Read::data(content.size(), read_bytes),
                                                options_.directory->patience());
    SIBYL_TRY(check_done(part.reply, "Cannot read the log"));
    content += part.data;
    if (content.size() >= part.size) return content;
  }
}

// `after` is the first record of the last group in the tables. `sequence` is that of the last record read, 0 before the
// first one.
base::Status ObjectLog::replay_segment(const std::string& object, uint64_t after, uint64_t& sequence,
                                       const Replay& replay) {
  SIBYL_ASSIGN(const Bytes content, read_whole(object));
  BytesView rest = content;
  Bytes parts;
  uint64_t group_begin = 0;
  while (!rest.empty()) {
    if (rest.size() < record_header_size) return damaged(object, "a record is incomplete");
    const uint64_t size = get_fixed<uint32_t>(rest.data() + 4), number = get_fixed<uint64_t>(rest.data() + 8);
    const uint32_t flags = get_fixed<uint32_t>(rest.data() + 24);
    if (rest.size() < record_header_size + size) return damaged(object, "a record is incomplete");
    const BytesView record = rest.substr(0, record_header_size + size);
    if (get_fixed<uint32_t>(record.data()) != crc32c(0, record.substr(4)))
      return damaged(object, fmt::format("record {} has a wrong checksum", number));
    const bool follows = sequence == 0 ? number <= after + 1 : number == sequence + 1;
    if (!follows) return damaged(object, fmt::format("record {} is missing", std::max(sequence, after) + 1));
    sequence = number;
    rest.remove_prefix(record.size());
    if ((flags & first_part) != 0) {  // what precedes it was never completed
      parts.clear();
      group_begin = number;
    }
    if (group_begin <= after) continue;
    parts += record.substr(record_header_size);
    if ((flags & last_part) == 0) continue;
    SIBYL_TRY(replay.group(parts));
    ++recovered_.groups;
    recovered_.bytes += parts.size();
  }
  return {};
}

// The old logs are named until they are removed, so that a crash leaves nothing behind.
base::Status ObjectLog::begin() {
  Bytes names = name_;
  for (const OldLog& old : old_logs_) names += "\n" + old.name;
  SIBYL_TRY(check_done(options_.directory->create_inline(log_file, names), "Cannot begin a log"));
  if (old_logs_.empty()) return {};
  for (const OldLog& old : old_logs_) remove(old);
  SIBYL_TRY(check_done(options_.directory->create_inline(log_file, name_), "Cannot begin a log"));
  old_logs_.clear();
  return {};
}

// Also segments that were released but are left over. Two missing ones in a row are the end.
void ObjectLog::remove(const OldLog& old) const {
  const auto is_missing = [&](uint64_t number) {
    return objects::Blocking(store())
        .mutate(segment_object(old.name, number), Mutation().remove().allow_when_full())
        .is_refused(Reason::missing);
  };
  for (uint64_t number = old.first, missing = 0; missing < 2; ++number)
    missing = is_missing(number) ? missing + 1 : 0;
  for (uint64_t number = old.first - 1, missing = 0; number > 0 && missing < 2; --number)
    missing = is_missing(number) ? missing + 1 : 0;
}

// --- Writing

// A group never crosses the end of a segment, so that a segment can be released by the groups in it.
uint64_t ObjectLog::next_segment(uint64_t bytes) const {
  const bool is_full = segment_size_ > 0 && segment_size_ + bytes > options_.segment_bytes;
  return segment_ == 0 ? 1 : segment_ + (is_full ? 1 : 0);
}

Bytes ObjectLog::next_position() const {
  return encode({name_, std::max<uint64_t>(segment_, 1), sequence_ + 1, options_.directory->epoch()});
}

base::Status ObjectLog::append(BytesView group, bool) {
  if (group.size() > max_group_bytes)
    return base::fail(base::Error(base::ErrorCode::invalid, "The write is too large for the log")
                          .with_hint(fmt::format("at most {} MiB at once", max_group_bytes >> 20)));
  Reply reply = is_ended_ || options_.directory->is_lost() ? Reply::unknown(Reason::fenced) : Reply{};
  const uint64_t segment = next_segment(group.size());
  uint8_t flags = first_part;
  while (reply.is_done() && (flags & last_part) == 0) {
    const BytesView part = group.substr(0, options_.record_bytes);
    group.remove_prefix(part.size());
    if (group.empty()) flags |= last_part;
    reply = append_record(segment, part, flags);
    flags &= last_part;
  }
  if (reply.is_done()) return {};
  const std::string what = "The log cannot be written";
  if (reply.outcome == Outcome::refused) {
    base::ErrorDetails details = objects::error_of(reply, what).details();
    details.code = base::ErrorCode::write_failure;
    return base::fail(base::Error(std::move(details)));
  }
  is_ended_ = true;
  options_.directory->lose(reply);
  return base::fail(objects::error_of(reply, what));
}

// Returns `unknown` only if the log cannot be used any more.
Reply ObjectLog::append_record(uint64_t segment, BytesView part, uint8_t flags) {
  const Bytes record = encode_record(sequence_ + 1, options_.directory->epoch(), flags, part);
  const bool creates = segment != segment_;
  Mutation mutation;
  if (creates)
    mutation.must_not_exist().set_attribute("epoch", writers_epoch);
  else
    mutation.if_attribute("epoch", writers_epoch).if_attribute("sequence", std::to_string(sequence_));
  mutation.append(record).set_attribute("sequence", std::to_string(sequence_ + 1));
  Reply reply =
      objects::repeat(store(), segment_object(name_, segment), mutation, options_.directory->patience());
  if (reply.outcome == Outcome::refused && reply.reason != Reason::full) reply = resolve(segment);
  if (!reply.is_done()) return reply;
  ++sequence_;
  if (creates) {
    segment_ = segment;
    segment_size_ = 0;
    sizes_[segment] = 0;
  }
  segment_size_ += record.size();
  sizes_[segment] = segment_size_;
  bytes_.fetch_add(record.size(), std::memory_order_relaxed);
  return {};
}

// The append was refused. Either an earlier attempt of it was applied, or another server has sealed the log.
Reply ObjectLog::resolve(uint64_t segment) const {
  const ReadReply found = objects::repeat_read(store(), segment_object(name_, segment), Read::state(),
                                               options_.directory->patience());
  if (!found.reply.is_done()) return Reply::unknown(Reason::fenced);
  const auto is = [&found](const std::string& attribute, const Bytes& value) {
    const auto at = found.attributes.find(attribute);
    return at != found.attributes.end() && at->second == value;
  };
  if (is("epoch", writers_epoch) && is("sequence", std::to_string(sequence_ + 1))) return {};
  return Reply::unknown(Reason::fenced);
}

base::Status ObjectLog::undo() {
  is_ended_ = true;
  return base::fail(base::ErrorCode::server, "A log on an object store cannot take back a group");
}

// Nothing waits for it. A segment that is left over is removed when the log is.
void ObjectLog::release(uint64_t number) {
  while (!sizes_.empty() && sizes_.begin()->first <= number && sizes_.begin()->first < segment_) {
    bytes_.fetch_sub(sizes_.begin()->second, std::memory_order_relaxed);
    store().mutate(segment_object(name_, sizes_.begin()->first), Mutation().remove().allow_when_full(),
                   [](Reply) {});
    sizes_.erase(sizes_.begin());
  }
}

base::Status ObjectLog::release_all() {
  if (segment_ > 0) release(segment_ - 1);
  return {};
}

}  // namespace sibyl::storage::rocksdb
