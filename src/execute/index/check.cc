#include "execute/index/check.h"

#include <fmt/format.h>

#include <unordered_set>

#include "execute/index/build.h"
#include "row/record_key.h"

namespace sibyl::execute {

namespace {

class Checker {
 public:
  Checker(const storage::Store& store, int64_t now_seconds, size_t max_faults)
      : store_(store), now_seconds_(now_seconds), max_faults_(max_faults) {}

  base::Status check(const schema::Table& table, const BuildTarget& target, uint32_t storage_id,
                     const std::string& name) {
    name_ = fmt::format("{}.{}", table.keyspace, name);
    expected_.clear();
    Bytes position;
    do {
      SIBYL_ASSIGN(const BuildStep step, next_build_step(table, store_, position));
      storage::WriteSet writes;
      if (!step.partitions.empty()) SIBYL_TRY(add_existing(table, target, store_, step, writes));
      for (const storage::WriteSet::Operation& operation : writes.operations())
        SIBYL_TRY(compare(operation.key, operation.value));
      position = step.next;
    } while (!position.empty());
    return find_left_over(target, storage_id);
  }

  std::vector<std::string> faults;

 private:
  base::Status compare(const Bytes& key, const Bytes& value) {
    expected_.insert(key);
    Bytes stored;
    SIBYL_ASSIGN(const bool exists, store_.get(key, stored));
    if (exists && stored == value) return {};
    if (!exists && has_expired(value)) return {};
    if (exists && is_same_now(stored, value)) return {};
    report(exists ? "differs" : "is missing", key);
    return {};
  }

  base::Status find_left_over(const BuildTarget& target, uint32_t storage_id) {
    const auto records = store_.iterate(row::table_begin(storage_id), row::table_end(storage_id));
    for (records->seek_to_first(); records->valid(); records->next()) {
      const Bytes key(records->key());
      row::RecordKey parsed;
      // Records of this kind say which shards have been built (engine/builds/shard_build.h).
      if (target.index != nullptr && row::parse_record_key(key, parsed) &&
          parsed.kind == row::RecordKind::partition)
        continue;
      if (!expected_.contains(key) && !has_expired(records->value())) report("is left over", key);
    }
    return records->status();
  }

  bool has_expired(BytesView value) {
    if (!row::decode(value, left_)) return false;
    return !row::visible_at(left_, {}, now_seconds_) || !left_.marker.exists();
  }

  bool is_same_now(BytesView stored, BytesView value) {
    if (has_expired(stored) && has_expired(value)) return true;
    if (!row::decode(stored, left_) || !row::decode(value, right_)) return false;
    for (row::Fragment* each : {&left_, &right_}) {
      row::visible_at(*each, {}, now_seconds_);
      // Only the expiry of a marker matters: entries with the same expiry are not written again.
      each->marker.timestamp = 0;
      each->marker.time_to_live = each->marker.time_to_live != 0;
    }
    Bytes left, right;
    row::encode(left_, left);
    row::encode(right_, right);
    return left == right;
  }

  void report(const char* what, const Bytes& key) {
    if (faults.size() < max_faults_)
      faults.push_back(fmt::format("{}: the record {} {}", name_, base::to_hex(key), what));
  }

  const storage::Store& store_;
  int64_t now_seconds_;
  size_t max_faults_;
  std::string name_;
  std::unordered_set<Bytes> expected_;
  row::Fragment left_, right_;
};

}  // namespace

base::Result<std::vector<std::string>> check_index_maintenance(const schema::Snapshot& schema,
                                                               const storage::Store& store,
                                                               int64_t now_seconds, size_t max_faults) {
  Checker checker(store, now_seconds, max_faults);
  for (const auto& [keyspace_name, keyspace] : schema.keyspaces) {
    for (const auto& [table_name, table] : keyspace->tables) {
      for (const schema::Index& index : table->indexes)
        if (index.is_built) SIBYL_TRY(checker.check(*table, {.index = &index}, index.storage_id, index.name));
      for (const schema::TablePtr& view : table->views)
        if (view->view->is_built)
          SIBYL_TRY(checker.check(*table, {.view = view}, view->storage_id, view->name));
    }
  }
  return std::move(checker.faults);
}

}  // namespace sibyl::execute
