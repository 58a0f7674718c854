// Maps records to shards.
#pragma once

#include <cstdint>
#include <vector>

#include "base/bytes.h"
#include "storage/partition_sample.h"
#include "storage/store.h"

namespace sibyl::storage {

class ShardMap {
 public:
  // The shards that may have records of a range of keys.
  struct Range {
    std::vector<uint32_t> shards;
    // The records of a shard in the list are all before those of the next shard, within the range of keys.
    bool is_in_order = false;
  };

  virtual ~ShardMap() = default;
  virtual uint32_t count() const = 0;
  virtual uint32_t shard_of(base::BytesView key) const = 0;
  // An empty end means no upper bound.
  virtual Range shards_of(base::BytesView begin, base::BytesView end) const = 0;
  // The range of tokens of the shard's partitions, in which they are spread evenly.
  virtual TokenSpan tokens_of(uint32_t shard) const = 0;
  // Each run is in the shard of its partitions.
  virtual const std::vector<EntryRun>& entry_runs() const;
};

// Shard 0 is the meta shard: it has the records of tables below PurgePolicy::first_table_id, which are the
// catalogue and system tables. The other shards divide the ring of tokens evenly, for all tables. If there is
// only one shard, it has everything.
class TokenShards final : public ShardMap {
 public:
  // REQUIRES: count > 0
  explicit TokenShards(uint32_t count);

  uint32_t count() const override { return count_; }
  uint32_t shard_of(base::BytesView key) const override;
  Range shards_of(base::BytesView begin, base::BytesView end) const override;

  uint32_t shard_of_token(int64_t token) const;
  // Returns all tokens for the meta shard.
  TokenSpan tokens_of(uint32_t shard) const override;
  // There is one run for each shard, with the shard's first token. A single shard has the run of stores
  // without shards.
  const std::vector<EntryRun>& entry_runs() const override { return entry_runs_; }

 private:
  uint32_t ranges() const { return count_ == 1 ? 1 : count_ - 1; }
  uint32_t shard_of_biased(uint64_t token) const;

  const uint32_t count_;
  std::vector<EntryRun> entry_runs_;
};

}  // namespace sibyl::storage
