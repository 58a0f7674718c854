#include "engine/statistics/usage_records.h"

#include <utility>

#include "engine/statistics/usage_store.h"
#include "row/record_key.h"

namespace sibyl::engine {
namespace {

using base::Bytes;

class StoreRecords final : public UsageRecords {
 public:
  explicit StoreRecords(storage::Store& store) : store_(store) {}

  base::Result<Records> load() override {
    Records found;
    const auto records = store_.iterate(prefix_, row::table_end(usage_table_id));
    for (records->seek_to_first(); records->valid(); records->next())
      found.emplace(records->key().substr(prefix_.size()), records->value());
    SIBYL_TRY(records->status());
    return found;
  }
  base::Status write(Records changed, std::vector<Bytes> erased) override {
    storage::WriteSet writes;
    for (auto& [key, value] : changed) writes.put(prefix_ + key, std::move(value));
    for (const Bytes& key : erased) writes.erase(prefix_ + key);
    return store_.commit(std::move(writes));
  }

 private:
  storage::Store& store_;
  const Bytes prefix_ = row::table_begin(usage_table_id);
};

}  // namespace

std::unique_ptr<UsageRecords> make_usage_records(storage::Store& store) {
  return std::make_unique<StoreRecords>(store);
}

}  // namespace sibyl::engine
