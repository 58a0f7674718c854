#include "cli/serve/cluster_checkpoint.h"

#include <boost/json.hpp>
#include <chrono>
#include <cstdint>
#include <utility>

#include "row/record_key.h"
#include "storage/rocksdb/shared/object_snapshots.h"

namespace sibyl::cli {
namespace {

namespace json = boost::json;

// Commits wait during the stop, so the limit is shorter than the timeouts of drivers.
constexpr std::chrono::milliseconds stop_limit{8'000};
// After this time shards can be moved again, even if the links were never requested.
constexpr int64_t attempt_limit_micros = 20'000'000;

base::Error no_attempt() {
  return base::Error(base::ErrorCode::server, "The snapshot took too long, or was dropped")
      .with_hint("the storage is slow; try again");
}

json::object shards_json(const std::vector<storage::ShardedStore::Checkpoint::ShardFiles>& shards) {
  json::array list;
  for (const auto& shard : shards) {
    json::array files;
    for (const storage::CheckpointFile& file : shard.files)
      files.push_back({{"path", file.path}, {"size", file.size}, {"crc32c", file.crc32c}});
    list.push_back({{"shard", shard.shard}, {"epoch", shard.epoch}, {"files", std::move(files)}});
  }
  return {{"shards", std::move(list)}};
}

json::array tables_json(const storage::Store& store, const schema::Snapshot& schema) {
  json::array tables;
  for (const auto& [name, keyspace] : schema.keyspaces) {
    if (keyspace->is_virtual || keyspace->is_system) continue;
    for (const auto* kind : {&keyspace->tables, &keyspace->views})
      for (const auto& [table_name, table] : *kind)
        tables.push_back({{"keyspace", name},
                          {"name", table_name},
                          {"bytes", store.approximate_size(row::table_begin(table->storage_id),
                                                           row::table_end(table->storage_id))}});
  }
  return tables;
}

}  // namespace

std::unique_ptr<ClusterCheckpoint::Attempt> ClusterCheckpoint::take(const std::string& id) {
  const base::MutexLock lock(slot_->mutex);
  if (!slot_->attempt || slot_->attempt->id != id) return nullptr;
  slot_->is_running = true;
  return std::move(slot_->attempt);
}

void ClusterCheckpoint::finish_step(std::unique_ptr<Attempt> attempt) {
  const base::MutexLock lock(slot_->mutex);
  slot_->is_running = false;
  slot_->attempt = std::move(attempt);
}

base::Status ClusterCheckpoint::stop(const std::string& id) {
  {
    const base::MutexLock lock(slot_->mutex);
    if (slot_->attempt || slot_->is_running)
      return base::fail(base::ErrorCode::overloaded, "Another snapshot is being taken");
    slot_->is_running = true;
  }
  auto attempt = std::make_unique<Attempt>(Attempt{id, member_.shards().make_checkpoint(), nullptr});
  base::Status stopped = attempt->checkpoint->stop(stop_limit);
  finish_step(stopped ? std::move(attempt) : nullptr);
  member_.timers().run_after(attempt_limit_micros, [weak = std::weak_ptr(slot_), id] {
    const auto slot = weak.lock();
    if (!slot) return;
    std::unique_ptr<Attempt> expired;
    const base::MutexLock lock(slot->mutex);
    if (slot->attempt && slot->attempt->id == id) expired = std::move(slot->attempt);
  });
  return stopped;
}

base::Result<json::object> ClusterCheckpoint::cut(const std::string& id) {
  std::unique_ptr<Attempt> attempt = take(id);
  if (!attempt) return base::fail(no_attempt());
  attempt->schema = engine_.schema();
  const auto cut = attempt->checkpoint->cut();
  finish_step(cut ? std::move(attempt) : nullptr);
  if (!cut) return base::fail(cut.error());
  return shards_json(*cut);
}

base::Result<json::object> ClusterCheckpoint::link(const std::string& id, const std::string& snapshot) {
  SIBYL_TRY(storage::rocksdb::check_snapshot_name(snapshot));
  std::unique_ptr<Attempt> attempt = take(id);
  if (!attempt) return base::fail(no_attempt());
  if (!attempt->schema) {  // the shards were not cut
    attempt.reset();
    finish_step(nullptr);
    return base::fail(no_attempt());
  }
  const auto linked = attempt->checkpoint->link(
      [&](uint32_t shard) { return storage::rocksdb::snapshot_directory(snapshot, shard); });
  const schema::SnapshotPtr schema = attempt->schema;
  attempt.reset();
  finish_step(nullptr);
  if (!linked) return base::fail(linked.error());
  json::object result = shards_json(*linked);
  result["tables"] = tables_json(engine_.store(), *schema);
  return result;
}

void ClusterCheckpoint::drop(const std::string& id) {
  if (take(id)) finish_step(nullptr);
}

}  // namespace sibyl::cli
