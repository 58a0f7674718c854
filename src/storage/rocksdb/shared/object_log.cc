#include "storage/rocksdb/shared/object_log.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <random>

namespace sibyl::storage::rocksdb {
namespace {

using base::Bytes;
using base::BytesView;
using objects::Outcome;
using objects::Reason;
using objects::Reply;

constexpr const char* log_file = "SIBYL_LOG";
constexpr int position_version = 1, position_version_with_timestamp = 2;

std::string random_name() {
  std::random_device device;
  return fmt::format("{:08x}{:08x}", device(), device());
}

base::Status check_done(Reply reply, const std::string& what) {
  if (reply.is_done()) return {};
  return base::fail(objects::error_of(reply, what));
}

}  // namespace

// --- Positions

Bytes encode(const LogPosition& position) {
  const bool has_timestamp = position.timestamp != 0;
  Bytes text =
      fmt::format("{} {} {} {} {}", has_timestamp ? position_version_with_timestamp : position_version,
                  position.log, position.segment, position.sequence, position.shard_epoch);
  if (has_timestamp) text += fmt::format(" {}", position.timestamp);
  return text;
}

std::optional<LogPosition> parse_log_position(BytesView bytes) {
  constexpr size_t fields = 5, fields_with_timestamp = 6;
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
  if (!parse(parts[0], version)) return std::nullopt;
  const bool has_timestamp = version == position_version_with_timestamp;
  if (!has_timestamp && version != position_version) return std::nullopt;
  if (parts.size() != (has_timestamp ? fields_with_timestamp : fields)) return std::nullopt;
  position.log = parts[1];
  if (!parse(parts[2], position.segment) || !parse(parts[3], position.sequence) ||
      !parse(parts[4], position.shard_epoch) || (has_timestamp && !parse(parts[5], position.timestamp)))
    return std::nullopt;
  return position;
}

// --- Opening

ObjectLog::ObjectLog(Options options)
    : options_(options),
      chain_({.store = &options.directory->store(),
              .name = options.directory->name() + "-" + random_name(),
              .shard_epoch = options.directory->epoch(),
              .segment_bytes = options.segment_bytes,
              .record_bytes = options.record_bytes,
              .patience = options.directory->patience()}) {}

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
    if (!known) return base::fail(damaged_log(log_file, "the position in the tables cannot be read"));
  }
  if (!record) {
    if (known) return base::fail(damaged_log(log_file, "the shard has data, but names no log"));
    return {};
  }
  for (size_t begin = 0; begin < record->inlined.size();) {
    const size_t end = std::min(record->inlined.find('\n', begin), record->inlined.size());
    old_logs_.push_back({record->inlined.substr(begin, end - begin)});
    begin = end + 1;
  }
  // Of the old logs, only the first one may hold groups that the tables lack.
  if (known && known->log != old_logs_.front().name) known.reset();
  return replay_log(old_logs_.front(), known, replay);
}

base::Status ObjectLog::replay_log(OldLog& old, const std::optional<LogPosition>& position,
                                   const Replay& replay) {
  LogStart start;
  if (position) {
    // Segments before this one are released. This one may be released too, if its last group is in the
    // tables.
    start = {.segment = position->segment, .sequence = position->sequence, .may_be_released = true};
  }
  SIBYL_ASSIGN(const SealedLog sealed,
               seal_and_replay(store(), old.name, start, options_.directory->patience(),
                               [&](uint64_t, BytesView group) {
                                 ++recovered_.groups;
                                 recovered_.bytes += group.size();
                                 return replay.group(group);
                               }));
  recovered_.segments += sealed.segments;
  old.first = sealed.first;
  // The writer never releases its last segment, so a log with a position has a segment.
  if (sealed.last_sequence == 0 && position)
    return base::fail(damaged_log("log/" + old.name, fmt::format("segment {} is missing", old.first)));
  return {};
}

// Creates the log file. It also names the old logs until they are removed: if this owner crashes first, the
// next one removes them.
base::Status ObjectLog::begin() {
  Bytes names = chain_.name();
  for (const OldLog& old : old_logs_) names += "\n" + old.name;
  SIBYL_TRY(check_done(options_.directory->create_inline(log_file, names), "Cannot begin a log"));
  return remove_old_logs();
}

base::Status ObjectLog::remove_old_logs() {
  if (old_logs_.empty()) return {};
  for (const OldLog& old : old_logs_)
    SIBYL_TRY(remove_log_segments(store(), old.name, old.first, options_.directory->patience()));
  old_logs_.clear();
  return check_done(options_.directory->create_inline(log_file, chain_.name()), "Cannot begin a log");
}

// --- Writing

Bytes ObjectLog::next_position() const {
  return encode({chain_.name(), chain_.next_segment(), chain_.next_sequence(), options_.directory->epoch()});
}

base::Status ObjectLog::append(BytesView group, bool) {
  if (group.size() > max_log_group_bytes) return base::fail(group_too_large());
  const bool is_usable = !is_ended_ && !options_.directory->is_lost();
  const Reply reply = is_usable ? chain_.append(group) : Reply::unknown(Reason::fenced);
  if (reply.is_done()) return {};
  if (reply.outcome != Outcome::refused) {
    is_ended_ = true;
    options_.directory->lose(reply);
  }
  return base::fail(log_error(reply));
}

base::Status ObjectLog::undo() {
  is_ended_ = true;
  return base::fail(base::ErrorCode::server, "A log on an object store cannot take back a group");
}

base::Status ObjectLog::release_all() {
  if (chain_.segment() > 0) chain_.release(chain_.segment() - 1);
  return {};
}

}  // namespace sibyl::storage::rocksdb
