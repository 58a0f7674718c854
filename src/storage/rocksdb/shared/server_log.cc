#include "storage/rocksdb/shared/server_log.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "storage/objects/files/repeat.h"
#include "storage/rocksdb/log_format.h"
#include "storage/rocksdb/shared/object_log.h"

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

const Bytes open_epoch = "1", ended_epoch = "2";
constexpr size_t part_header_size = 16;

std::string head_object(const std::string& name) {
  return "log/" + name;
}

base::Status check_head(Reply reply, const char* what) {
  if (reply.is_done()) return {};
  return base::fail(objects::error_of(reply, what));
}

Bytes encode_parts(std::span<const ServerLog::Part> parts) {
  size_t size = 0;
  for (const ServerLog::Part& part : parts) size += part_header_size + part.group.size();
  Bytes group;
  group.reserve(size);
  for (const ServerLog::Part& part : parts) {
    char header[part_header_size];
    put_fixed(header, part.shard);
    put_fixed(header + 4, part.epoch);
    put_fixed(header + 12, static_cast<uint32_t>(part.group.size()));
    group.append(header, sizeof header);
    group.append(part.group);
  }
  return group;
}

bool add_parts(BytesView group, uint64_t sequence, DeadLog& log) {
  while (!group.empty()) {
    if (group.size() < part_header_size) return false;
    const auto shard = take_fixed<uint32_t>(group.data());
    const auto epoch = take_fixed<uint64_t>(group.data() + 4);
    const auto size = take_fixed<uint32_t>(group.data() + 12);
    group.remove_prefix(part_header_size);
    if (group.size() < size) return false;
    log.groups[{shard, epoch}].push_back({sequence, Bytes(group.substr(0, size))});
    group.remove_prefix(size);
  }
  return true;
}

// Reads from the head of a log which segment is the first that may exist.
base::Result<uint64_t> first_segment(const std::string& name, const ReadReply& head) {
  const auto text = head.attributes.find("first");
  uint64_t first = 0;
  if (text != head.attributes.end())
    std::from_chars(text->second.data(), text->second.data() + text->second.size(), first);
  if (first == 0) return base::fail(damaged_log(head_object(name), "its first segment is unknown"));
  return first;
}

// Returns the first segment that may exist.
base::Result<uint64_t> seal_head(objects::ObjectStore& store, const std::string& name,
                                 std::chrono::milliseconds patience) {
  // If the log's writer has not begun yet, this mutation prevents it from ever beginning.
  Mutation create;
  create.must_not_exist().create().set_attribute("epoch", ended_epoch).set_attribute("first", "1");
  create.allow_when_full();
  Reply reply = objects::repeat(store, head_object(name), create, patience);
  if (reply.is_refused(Reason::exists))
    reply = objects::repeat(store, head_object(name),
                            Mutation().must_exist().set_attribute("epoch", ended_epoch).allow_when_full(),
                            patience);
  SIBYL_TRY(check_head(reply, "Cannot seal the log of a server"));
  const ReadReply found = objects::repeat_read(store, head_object(name), Read::state(), patience);
  SIBYL_TRY(check_head(found.reply, "Cannot read the log of a server"));
  return first_segment(name, found);
}

}  // namespace

// --- The view of a shard

class ServerLog::ShardLog final : public WriteLog {
 public:
  ShardLog(ServerLog& log, uint32_t shard, uint64_t epoch, Recovered replayed)
      : log_(log), shard_(shard), epoch_(epoch), recovered_(std::move(replayed)) {}

  Bytes next_position() const override { return log_.position(epoch_); }
  base::Status append(BytesView, bool) override {
    return base::fail(base::ErrorCode::server, "A shard does not write the log of its server itself");
  }
  base::Status undo() override {
    return base::fail(base::ErrorCode::server, "A log on an object store cannot take back a group");
  }
  bool can_undo() const override { return false; }
  base::Status sync() override { return {}; }
  void note_synced() override {}
  bool sync_failed() const override { return false; }
  uint64_t segment() const override { return log_.chain_.segment(); }
  void release(uint64_t number) override { log_.release_up_to(shard_, number); }
  base::Status release_all() override {
    log_.release_up_to(shard_, UINT64_MAX);
    return {};
  }
  base::Status trim() override { return {}; }
  const Recovered& recovered() const override { return recovered_; }
  uint64_t bytes() const override { return 0; }

 private:
  ServerLog& log_;
  const uint32_t shard_;
  const uint64_t epoch_;
  const Recovered recovered_;
};

// --- Writing

ServerLog::ServerLog(Options options)
    : options_(std::move(options)),
      chain_({.store = options_.store,
              .name = options_.name,
              .segment_bytes = options_.segment_bytes,
              .record_bytes = options_.record_bytes,
              .patience = options_.patience}) {}

base::Result<std::unique_ptr<ServerLog>> ServerLog::create(Options options) {
  std::unique_ptr<ServerLog> log(new ServerLog(std::move(options)));
  Mutation create;
  create.must_not_exist().create().set_attribute("epoch", open_epoch).set_attribute("first", "1");
  const Reply reply =
      objects::repeat(*log->options_.store, head_object(log->name()), create, log->options_.patience);
  // If the head exists, an earlier attempt may have created it. Names are unique, so only the epoch has to be
  // compared.
  if (reply.is_refused(Reason::exists)) {
    const ReadReply found = objects::repeat_read(*log->options_.store, head_object(log->name()),
                                                 Read::state(), log->options_.patience);
    SIBYL_TRY(check_head(found.reply, "Cannot create the log of the server"));
    if (const auto epoch = found.attributes.find("epoch");
        epoch == found.attributes.end() || epoch->second != open_epoch)
      return base::fail(base::ErrorCode::server, "The log of this server has been ended by another server");
    return log;
  }
  SIBYL_TRY(check_head(reply, "Cannot create the log of the server"));
  return log;
}

Bytes ServerLog::position(uint64_t epoch) const {
  return encode(LogPosition{options_.name, chain_.next_segment(), chain_.next_sequence(), epoch,
                            options_.highest_timestamp ? options_.highest_timestamp() : 0});
}

base::Status ServerLog::append(std::span<const Part> parts) {
  const Bytes group = encode_parts(parts);
  if (group.size() > max_log_group_bytes) return base::fail(group_too_large());
  {
    // This is done before the append, so that a shard that flushes everything meanwhile does not release a
    // needed segment. If the group goes to the next segment, that segment becomes the end of the list.
    const base::MutexLock lock(mutex_);
    for (const Part& part : parts)
      if (auto& needed = needed_[part.shard]; needed.empty() || needed.back() < chain_.next_segment())
        needed.push_back(chain_.next_segment());
  }
  const Reply reply = is_ended_ ? Reply::unknown(Reason::fenced) : chain_.append(group);
  if (!reply.is_done()) {
    if (reply.outcome != Outcome::refused) end(reply);
    return base::fail(log_error(reply));
  }
  const base::MutexLock lock(mutex_);
  for (const Part& part : parts)
    if (auto& needed = needed_[part.shard]; needed.empty() || needed.back() < chain_.segment())
      needed.push_back(chain_.segment());
  return {};
}

void ServerLog::end(Reply why) {
  if (!std::exchange(is_ended_, true) && options_.on_lost) options_.on_lost(why);
}

// --- Releasing

void ServerLog::release_up_to(uint32_t shard, uint64_t segment) {
  const base::MutexLock lock(mutex_);
  auto& needed = needed_[shard];
  while (!needed.empty() && needed.front() <= segment) needed.pop_front();
}

std::vector<ServerLog::Need> ServerLog::needs() const {
  std::vector<Need> needs;
  {
    const base::MutexLock lock(mutex_);
    for (const auto& [shard, segments] : needed_)
      if (!segments.empty()) needs.push_back({segments.front(), shard});
  }
  std::sort(needs.begin(), needs.end());
  return needs;
}

// The head is changed before segments are removed. A change whose outcome is unknown is repeated first, so
// that no copy of it can arrive after the next change.
void ServerLog::release_unneeded() {
  const std::vector<Need> needed = needs();
  const uint64_t first =
      needed.empty() ? chain_.segment() : std::min(needed.front().segment, chain_.segment());
  if (is_ended_ || first <= first_) return;
  Mutation change;
  change.if_attribute("epoch", open_epoch).if_attribute("first", std::to_string(first_));
  change.set_attribute("first", std::to_string(first)).allow_when_full();
  const Reply reply = objects::repeat(*options_.store, head_object(name()), change, options_.patience);
  if (!reply.is_done()) {
    const ReadReply found =
        objects::repeat_read(*options_.store, head_object(name()), Read::state(), options_.patience);
    const auto is = [&found](const char* attribute, const Bytes& value) {
      const auto at = found.attributes.find(attribute);
      return at != found.attributes.end() && at->second == value;
    };
    if (!found.reply.is_done() || !is("epoch", open_epoch) || !is("first", std::to_string(first)))
      return end(Reply::unknown(Reason::fenced));
  }
  first_ = first;
  chain_.release(first - 1);
}

std::unique_ptr<WriteLog> ServerLog::open_shard(uint32_t shard, uint64_t epoch,
                                                WriteLog::Recovered replayed) {
  return std::make_unique<ShardLog>(*this, shard, epoch, std::move(replayed));
}

// --- Logs of servers that are gone

base::Result<DeadLog> seal_and_read(objects::ObjectStore& store, const std::string& name,
                                    std::chrono::milliseconds patience) {
  LogStart start;
  SIBYL_ASSIGN(start.segment, seal_head(store, name, patience));
  start.must_follow = false;
  DeadLog log;
  SIBYL_ASSIGN(
      const SealedLog sealed,
      seal_and_replay(store, name, start, patience, [&](uint64_t sequence, BytesView group) -> base::Status {
        if (add_parts(group, sequence, log)) return {};
        return base::fail(damaged_log(head_object(name), "a group cannot be read"));
      }));
  log.segments = sealed.segments;
  return log;
}

base::Status remove_log(objects::ObjectStore& store, const std::string& name,
                        std::chrono::milliseconds patience) {
  const ReadReply found = objects::repeat_read(store, head_object(name), Read::state(), patience);
  if (found.reply.is_refused(Reason::missing)) return {};
  SIBYL_ASSIGN(const uint64_t first, seal_head(store, name, patience));
  SIBYL_TRY(remove_log_segments(store, name, first, patience));
  const Reply reply =
      objects::repeat(store, head_object(name), Mutation().remove().allow_when_full(), patience);
  return reply.is_refused(Reason::missing) ? base::Status() : check_head(reply, "Cannot remove a log");
}

// The writer may release the first segments after their number was read from the head. Then the head is read
// again.
base::Result<LogSummary> summarise_log(objects::ObjectStore& store, const std::string& name) {
  constexpr int attempts = 3;
  LogSummary summary;
  for (int i = 0; i < attempts && summary.last_segment == 0; ++i) {
    const ReadReply head = objects::Blocking(store).read(head_object(name), Read::state());
    if (head.reply.is_refused(Reason::missing)) return summary;
    SIBYL_TRY(check_head(head.reply, "Cannot read the log of a server"));
    SIBYL_ASSIGN(const uint64_t first, first_segment(name, head));
    SIBYL_ASSIGN(summary, summarise_segments(store, name, first));
    const auto epoch = head.attributes.find("epoch");
    summary.is_sealed |= epoch != head.attributes.end() && epoch->second == ended_epoch;
    if (first == 1) break;  // nothing was released, so nothing has been written yet
  }
  return summary;
}

}  // namespace sibyl::storage::rocksdb
