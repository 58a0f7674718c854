#include "storage/rocksdb/shared/shards_checkpoint.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <thread>
#include <utility>

#include "base/contain.h"
#include "storage/objects/files/block_writer.h"
#include "storage/objects/files/object_directory.h"
#include "storage/rocksdb/crc32c.h"

namespace sibyl::storage::rocksdb {
namespace {

using objects::ObjectDirectory;
using objects::Reply;

// Flushing a shard mostly waits for the storage, so several are flushed at once.
constexpr size_t max_flushing_threads = 8;
// Files that are not tables are copied, because they are small.
constexpr uint64_t max_copied_bytes = 1 << 30;

base::Status done_or_failed(Reply reply, const std::string& what) {
  if (reply.is_done()) return {};
  return base::fail(objects::error_of(reply, what));
}

// Runs the task for each element, several at a time. Returns the first error.
template <typename Element, typename Task>
base::Status for_each_in_parallel(std::vector<Element>& elements, Task task) {
  std::atomic<size_t> next = 0;
  std::vector<base::Status> results(elements.size());
  const auto work = [&] {
    for (size_t i = next++; i < elements.size(); i = next++)
      results[i] = base::contain([&] { return task(elements[i]); });
  };
  std::vector<std::thread> threads;
  while (threads.size() + 1 < std::min(elements.size(), max_flushing_threads)) threads.emplace_back(work);
  work();
  for (std::thread& thread : threads) thread.join();
  for (const base::Status& result : results) SIBYL_TRY(result);
  return {};
}

// Copies the first bytes of a file that is still being written. The part that the store has described is
// durable.
base::Result<uint32_t> copy_beginning(ObjectDirectory& from, ObjectDirectory& to, const HeldFile& file) {
  const std::string what = "copying " + file.name;
  std::optional<objects::FileRecord> record = from.find(file.name);
  if (!record || file.size > max_copied_bytes)
    return base::fail(base::ErrorCode::server, fmt::format("{} cannot be copied", file.name));
  record->is_complete = true;
  record->size = file.size;
  base::Bytes content;
  objects::BlockRead read(from.store(), *record, 0, file.size);
  SIBYL_TRY(done_or_failed(read.finish(from.patience(), content), what));
  if (content.size() != file.size)
    return base::fail(base::ErrorCode::server, fmt::format("{} is shorter than its store", file.name));
  objects::FileRecord made;
  SIBYL_TRY(done_or_failed(to.create(file.name, false, made), what));
  objects::BlockWriter writer(to, made.id);
  SIBYL_TRY(done_or_failed(writer.append(content), what));
  SIBYL_TRY(done_or_failed(writer.sync(), what));
  SIBYL_TRY(done_or_failed(to.complete(file.name, made.id, content.size()), what));
  return crc32c(0, content);
}

// Returns the checksum of the file as it is now in the target.
base::Result<uint32_t> add_to(ObjectDirectory& from, ObjectDirectory& to, const HeldFile& file) {
  if (!file.content.empty()) {
    SIBYL_TRY(done_or_failed(to.create_inline(file.name, file.content), "copying " + file.name));
    return crc32c(0, file.content);
  }
  if (!file.is_table) return copy_beginning(from, to, file);
  SIBYL_TRY(done_or_failed(from.link(file.name, to, file.name), "linking " + file.name));
  if (!file.crc32c) return base::fail(base::ErrorCode::server, fmt::format("{} has no checksum", file.name));
  return *file.crc32c;
}

}  // namespace

ShardsCheckpoint::~ShardsCheckpoint() {
  resume();
  release();
}

base::Status ShardsCheckpoint::stop(std::chrono::milliseconds limit) {
  gate_ = std::make_shared<Gate>();
  const auto deadline = std::chrono::steady_clock::now() + limit;
  of_.post_to_committer([gate = gate_, deadline] {
    const base::MutexLock lock(gate->mutex);
    if (gate->state != Gate::State::waiting) return;
    gate->state = Gate::State::stopped;
    gate->changed.notify_all();
    while (gate->state == Gate::State::stopped && gate->changed.wait_until(gate->mutex, deadline)) {
    }
    gate->state = Gate::State::resumed;
  });
  const base::MutexLock lock(gate_->mutex);
  while (gate_->state == Gate::State::waiting && gate_->changed.wait_until(gate_->mutex, deadline)) {
  }
  if (gate_->state == Gate::State::stopped) return {};
  gate_->state = Gate::State::resumed;
  return base::fail(
      base::Error(base::ErrorCode::server, "Commits cannot be stopped in time")
          .with_hint("a write may be waiting for the storage; `sibyl cluster status` shows its state"));
}

bool ShardsCheckpoint::is_stopped() const {
  if (!gate_) return false;
  const base::MutexLock lock(gate_->mutex);
  return gate_->state == Gate::State::stopped;
}

void ShardsCheckpoint::resume() {
  if (!gate_) return;
  const base::MutexLock lock(gate_->mutex);
  gate_->state = Gate::State::resumed;
  gate_->changed.notify_all();
}

void ShardsCheckpoint::release() {
  for (const Shard& shard : shards_)
    if (shard.is_held) shard.use->parts->release_files();
  shards_.clear();
}

base::Status ShardsCheckpoint::hold(Shard& shard) {
  SIBYL_TRY(shard.use->store->flush());
  SIBYL_ASSIGN(shard.files, shard.use->parts->hold_files());
  shard.is_held = true;
  return {};
}

base::Result<std::vector<ShardsCheckpoint::ShardFiles>> ShardsCheckpoint::cut() {
  for (uint32_t number = 0; number < of_.shards; ++number)
    if (OpenShards::Use use = of_.open.find(number, true)) shards_.push_back({std::move(use), {}, false});
  base::Status held = for_each_in_parallel(shards_, hold);
  // If commits have resumed, a write may be in some of the shards and not in others.
  if (held && !is_stopped())
    held = base::fail(base::Error(base::ErrorCode::server, "Commits resumed before all shards were in files")
                          .with_hint("the storage is slow; try again"));
  if (!held) {
    resume();
    release();
    return base::fail(held.error());
  }
  std::vector<ShardFiles> cut;
  for (const Shard& shard : shards_) cut.push_back({shard.use->number, shard.use->epoch, {}});
  return cut;
}

base::Result<std::vector<ShardsCheckpoint::ShardFiles>> ShardsCheckpoint::link(
    const std::function<std::string(uint32_t shard)>& directory_of) {
  resume();
  std::vector<ShardFiles> linked;
  for (Shard& shard : shards_) {
    SIBYL_ASSIGN(ShardFiles files, link_shard(shard, directory_of(shard.use->number)));
    linked.push_back(std::move(files));
    shard.use->parts->release_files();
    shard.is_held = false;
    shard.use = {};
    shard.files.clear();
  }
  shards_.clear();
  return linked;
}

// The former owner of the directory is not fenced, because it may be a serving member of the cluster. It can
// only write blocks of files that are not in the directory any more.
base::Result<ShardsCheckpoint::ShardFiles> ShardsCheckpoint::link_shard(const Shard& shard,
                                                                        const std::string& directory) const {
  ObjectDirectory::Options options;
  options.store = &of_.objects;
  options.name = directory;
  options.patience = of_.patience;
  options.fences_previous_owner = false;
  SIBYL_ASSIGN(const std::unique_ptr<ObjectDirectory> to, ObjectDirectory::open(std::move(options)));
  for (const std::string& name : to->names()) SIBYL_TRY(done_or_failed(to->remove(name), "removing " + name));
  SIBYL_TRY(done_or_failed(to->collect(), "removing files of " + directory));
  ShardFiles files{shard.use->number, shard.use->epoch, {}};
  for (const HeldFile& file : shard.files) {
    // A shard that must move does not wait for this copy.
    for (const Shard& held : shards_)
      if (held.use && held.use->is_closing) return base::fail(storage::not_here(held.use->number));
    SIBYL_ASSIGN(const uint32_t crc, add_to(*shard.use->directory, *to, file));
    files.files.push_back({file.name, file.content.empty() ? file.size : uint64_t{file.content.size()}, crc});
  }
  SIBYL_TRY(done_or_failed(to->release(), "closing " + directory));
  return files;
}

}  // namespace sibyl::storage::rocksdb
