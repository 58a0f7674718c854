#include "storage/rocksdb/shared/log_chain.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "storage/objects/files/repeat.h"
#include "storage/rocksdb/crc32c.h"
#include "storage/rocksdb/log_format.h"

namespace sibyl::storage::rocksdb {

using base::Bytes;
using base::BytesView;
using objects::Mutation;
using objects::Read;
using objects::ReadReply;
using objects::Reason;
using objects::Reply;

namespace {

constexpr size_t record_header_size = 28;
constexpr uint8_t last_part = 1, first_part = 2, cancelled_record = 4;  // flags
const Bytes writers_epoch = "1", sealed_epoch = "2";
constexpr const char* end_attribute = "end";  // an attribute of the segment that sealing created
constexpr const char* cancelled_attribute = "cancelled";
constexpr uint64_t read_bytes = 4 << 20;

std::string segment_object(const std::string& log, uint64_t number) {
  return fmt::format("log/{}/{:08}", log, number);
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

base::Status check_reply(Reply reply, const char* what) {
  if (reply.is_done()) return {};
  return base::fail(objects::error_of(reply, what));
}

}  // namespace

base::Error damaged_log(const std::string& object, const std::string& why) {
  return base::Error(base::ErrorCode::server, fmt::format("The log is damaged: {}: {}", object, why))
      .with_hint("acknowledged writes would be lost; restore a snapshot or ask for help");
}

base::Error group_too_large() {
  return base::Error(base::ErrorCode::invalid, "The write is too large for the log")
      .with_hint(fmt::format("at most {} MiB at once", max_log_group_bytes >> 20));
}

base::Error log_error(Reply reply) {
  base::Error error = objects::error_of(reply, "The log cannot be written");
  if (reply.outcome != objects::Outcome::refused) return error;
  base::ErrorDetails details = error.details();
  details.code = base::ErrorCode::write_failure;
  return base::Error(std::move(details));
}

// --- Writing

// Returns the segment for a group of this size. A group never crosses the end of a segment, so a segment can
// be released as soon as its groups are not needed.
uint64_t LogChain::segment_for(uint64_t bytes) const {
  const bool is_full = segment_size_ > 0 && segment_size_ + bytes > options_.segment_bytes;
  return segment_ == 0 ? 1 : segment_ + (is_full ? 1 : 0);
}

Reply LogChain::append(BytesView group) {
  Reply reply;
  const uint64_t segment = segment_for(group.size());
  uint8_t flags = first_part;
  while (reply.is_done() && (flags & last_part) == 0) {
    const BytesView part = group.substr(0, options_.record_bytes);
    group.remove_prefix(part.size());
    if (group.empty()) flags |= last_part;
    reply = append_record(segment, part, flags);
    flags &= last_part;
  }
  return reply;
}

Mutation LogChain::mutation_of(uint64_t segment, BytesView part, uint8_t flags) const {
  Mutation mutation;
  if (segment != segment_)
    mutation.must_not_exist().set_attribute("epoch", writers_epoch);
  else
    mutation.if_attribute("epoch", writers_epoch).if_attribute("sequence", std::to_string(sequence_));
  mutation.append(encode_record(sequence_ + 1, options_.shard_epoch, flags, part));
  mutation.set_attribute("sequence", std::to_string(sequence_ + 1));
  return mutation;
}

// Appends a record. If this returns `unknown`, the log cannot be used any more.
Reply LogChain::append_record(uint64_t segment, BytesView part, uint8_t flags) {
  Mutation cancel = mutation_of(segment, {}, cancelled_record);
  cancel.set_attribute(cancelled_attribute, std::to_string(sequence_ + 1)).allow_when_full();
  auto found = objects::repeat_or_cancel(*options_.store, segment_object(name(), segment),
                                         mutation_of(segment, part, flags), cancel, options_.patience);
  if (found.was_in_doubt && segment != segment_) created_in_doubt_.insert(segment);
  const bool is_full = found.reply.is_refused(Reason::full);
  if (found.reply.outcome == objects::Outcome::refused && !is_full) found = resolve(segment);
  if (!found.reply.is_done() && !found.is_cancelled) return found.reply;
  ++sequence_;
  if (segment != segment_) {
    segment_ = segment;
    segment_size_ = 0;
  }
  const uint64_t size = record_header_size + (found.is_cancelled ? 0 : part.size());
  segment_size_ += size;
  sizes_[segment] = segment_size_;
  bytes_.fetch_add(size, std::memory_order_relaxed);
  return found.reply;
}

// The append was refused. Either an earlier attempt of the append or of its cancellation was applied, or
// another server has sealed the log.
objects::ChainReply LogChain::resolve(uint64_t segment) const {
  const ReadReply found = objects::repeat_read(*options_.store, segment_object(name(), segment),
                                               Read::state(), options_.patience);
  const auto is = [&found](const std::string& attribute, const Bytes& value) {
    const auto at = found.attributes.find(attribute);
    return at != found.attributes.end() && at->second == value;
  };
  const Bytes next = std::to_string(sequence_ + 1);
  if (!found.reply.is_done() || !is("epoch", writers_epoch) || !is("sequence", next))
    return {Reply::unknown(Reason::fenced)};
  if (is(cancelled_attribute, next)) return {Reply::refused(Reason::full), true};
  return {};
}

// Nothing waits for the removal. If a segment remains, it is removed together with the log.
void LogChain::release(uint64_t number) {
  while (!sizes_.empty() && sizes_.begin()->first <= number && sizes_.begin()->first < segment_) {
    bytes_.fetch_sub(sizes_.begin()->second, std::memory_order_relaxed);
    Mutation release;
    if (created_in_doubt_.erase(sizes_.begin()->first) > 0)
      release.must_exist().replace({}).allow_when_full();
    else
      release.remove().allow_when_full();
    options_.store->mutate(segment_object(name(), sizes_.begin()->first), std::move(release), [](Reply) {});
    sizes_.erase(sizes_.begin());
  }
}

// --- Sealing and replaying

namespace {

class Replayer {
 public:
  using Group = std::function<base::Status(uint64_t sequence, BytesView group)>;
  Replayer(objects::ObjectStore& store, const std::string& log, const LogStart& start,
           std::chrono::milliseconds patience, const Group& group)
      : store_(store), log_(log), start_(start), patience_(patience), group_(group) {}

  base::Result<SealedLog> run() {
    SealedLog log{.first = start_.segment};
    if (start_.may_be_released) {
      SIBYL_ASSIGN(const bool exists, seal(segment_object(log_, log.first)));
      if (!exists) ++log.first;
    }
    for (uint64_t number = log.first;; ++number) {
      const std::string object = segment_object(log_, number);
      SIBYL_ASSIGN(const bool exists, seal(object));
      if (!exists) {
        SIBYL_ASSIGN(const bool is_end, create_end(object));
        if (is_end) break;
        --number;  // the writer, or another server that seals the log, was faster
        continue;
      }
      SIBYL_ASSIGN(const bool is_end, replay_segment(object));
      if (is_end) break;
      ++log.segments;
    }
    log.last_sequence = sequence_;
    return log;
  }

  // Seals without reading. Returns the number of the end segment.
  base::Result<uint64_t> seal_all() {
    for (uint64_t number = start_.segment;; ++number) {
      const std::string object = segment_object(log_, number);
      SIBYL_ASSIGN(const bool exists, seal(object));
      if (!exists) {
        SIBYL_ASSIGN(const bool is_end, create_end(object));
        if (is_end) return number;
        --number;  // the writer, or another server that seals the log, was faster
        continue;
      }
      const ReadReply found = objects::repeat_read(store_, object, Read::state(), patience_);
      if (!found.reply.is_refused(Reason::missing))
        SIBYL_TRY(check_reply(found.reply, "Cannot read the log"));
      if (found.attributes.contains(end_attribute)) return number;
    }
  }

 private:
  // Returns false if there is no such segment.
  base::Result<bool> seal(const std::string& object) const {
    const Reply reply = objects::repeat(
        store_, object, Mutation().must_exist().set_attribute("epoch", sealed_epoch).allow_when_full(),
        patience_);
    if (reply.is_refused(Reason::missing)) return false;
    SIBYL_TRY(check_reply(reply, "Cannot seal the log"));
    return true;
  }

  base::Result<bool> create_end(const std::string& object) const {
    Mutation create;
    create.must_not_exist().create().set_attribute("epoch", sealed_epoch).set_attribute("sequence", "0");
    create.set_attribute(end_attribute, "1").allow_when_full();
    const Reply reply = objects::repeat(store_, object, create, patience_);
    if (reply.is_refused(Reason::exists)) return false;
    SIBYL_TRY(check_reply(reply, "Cannot seal the log"));
    return true;
  }

  // Returns true if the segment is the end that another server's sealing has created.
  base::Result<bool> read_whole(const std::string& object, Bytes& content) const {
    for (;;) {
      Read read = Read::data(content.size(), read_bytes);
      read.attributes = true;
      const ReadReply part = objects::repeat_read(store_, object, read, patience_);
      SIBYL_TRY(check_reply(part.reply, "Cannot read the log"));
      content += part.data;
      if (content.size() >= part.size) return part.attributes.contains(end_attribute);
    }
  }

  base::Result<bool> replay_segment(const std::string& object) {
    Bytes content, parts;
    SIBYL_ASSIGN(const bool is_end, read_whole(object, content));
    BytesView rest = content;
    while (!rest.empty()) {
      SIBYL_ASSIGN(const BytesView record, next_record(object, rest));
      SIBYL_TRY(add_part(record, parts));
    }
    return is_end;
  }

  base::Result<BytesView> next_record(const std::string& object, BytesView& rest) {
    const uint64_t after = start_.sequence;
    if (rest.size() < record_header_size) return base::fail(damaged_log(object, "a record is incomplete"));
    const auto size = take_fixed<uint32_t>(rest.data() + 4);
    const auto number = take_fixed<uint64_t>(rest.data() + 8);
    if (rest.size() - record_header_size < size)
      return base::fail(damaged_log(object, "a record is incomplete"));
    const BytesView record = rest.substr(0, record_header_size + size);
    if (take_fixed<uint32_t>(record.data()) != crc32c(0, record.substr(4)))
      return base::fail(damaged_log(object, fmt::format("record {} has a wrong checksum", number)));
    const bool follows =
        sequence_ != 0 ? number == sequence_ + 1 : !start_.must_follow || number <= after + 1;
    if (!follows)
      return base::fail(
          damaged_log(object, fmt::format("record {} is missing", std::max(sequence_, after) + 1)));
    sequence_ = number;
    rest.remove_prefix(record.size());
    return record;
  }

  base::Status add_part(BytesView record, Bytes& parts) {
    const auto flags = take_fixed<uint32_t>(record.data() + 24);
    if ((flags & cancelled_record) != 0) {
      parts.clear();
      return {};
    }
    if ((flags & first_part) != 0) {  // the parts before this one belong to a group that was never completed
      parts.clear();
      group_begin_ = sequence_;
    }
    if (group_begin_ <= start_.sequence) return {};
    parts += record.substr(record_header_size);
    return (flags & last_part) != 0 ? group_(group_begin_, parts) : base::Status();
  }

  objects::ObjectStore& store_;
  const std::string& log_;
  const LogStart start_;
  const std::chrono::milliseconds patience_;
  const Group& group_;
  uint64_t sequence_ = 0, group_begin_ = 0;
};

}  // namespace

base::Result<SealedLog> seal_and_replay(
    objects::ObjectStore& store, const std::string& log, const LogStart& start,
    std::chrono::milliseconds patience,
    const std::function<base::Status(uint64_t sequence, BytesView group)>& group) {
  return Replayer(store, log, start, patience, group).run();
}

// Removes from the last segment to the first, so that the segments that an interrupted removal leaves can
// still be found from `first` on. Failed releases may have left segments before `first`.
base::Status remove_log_segments(objects::ObjectStore& store, const std::string& log, uint64_t first,
                                 std::chrono::milliseconds patience) {
  const Replayer::Group nothing;
  SIBYL_ASSIGN(const uint64_t end, Replayer(store, log, {.segment = first}, patience, nothing).seal_all());
  for (uint64_t number = end - 1, missing = 0; number > 0 && missing < 2; --number) {
    Mutation remove;
    if (number + 1 == end)
      remove.must_exist().replace({}).allow_when_full();
    else
      remove.remove().allow_when_full();
    const Reply reply = objects::repeat(store, segment_object(log, number), remove, patience);
    if (!reply.is_refused(Reason::missing)) SIBYL_TRY(check_reply(reply, "Cannot remove a log"));
    missing = reply.is_done() || number >= first ? 0 : missing + 1;
  }
  return {};
}

// --- Watching

namespace {

uint64_t number_of(const ReadReply& found, const char* attribute) {
  uint64_t number = 0;
  if (const auto at = found.attributes.find(attribute); at != found.attributes.end())
    std::from_chars(at->second.data(), at->second.data() + at->second.size(), number);
  return number;
}

}  // namespace

base::Result<LogSummary> summarise_segments(objects::ObjectStore& store, const std::string& log,
                                            uint64_t first) {
  LogSummary summary;
  for (uint64_t number = first;; ++number) {
    const ReadReply found = objects::Blocking(store).read(segment_object(log, number), Read::state());
    if (found.reply.is_refused(Reason::missing)) return summary;
    SIBYL_TRY(check_reply(found.reply, "Cannot read the log"));
    if (number_of(found, "epoch") > 1) summary.is_sealed = true;
    if (found.attributes.contains(end_attribute)) return summary;
    if (summary.first_segment == 0) summary.first_segment = number;
    summary.last_segment = number;
    summary.last_record = number_of(found, "sequence");
    summary.bytes += found.size;
  }
}

}  // namespace sibyl::storage::rocksdb
