// The graphs of vector indexes. A graph is built on the first search and updated by writes.
//
// An index's entries are records under its storage id. A record has the key of its row, except for the table
// id, and the vector as its only cell. The graph of an index is loaded from them once and then follows every
// committed write set. Thread-safe.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <shared_mutex>
#include <span>
#include <vector>

#include "base/result.h"
#include "execute/vector/vector_graph.h"
#include "schema/schema.h"
#include "storage/store.h"

namespace sibyl::execute {

// The similarity function that a vector index orders by.
plan::Similarity similarity_of(const schema::Index& index);

// The key of the entry for a row's vector. `partition_key` is serialised.
Bytes vector_entry_key(const schema::Index& index, BytesView partition_key, BytesView clustering);

struct RowChange;  // execute/row_change.h
// Returns an error if the change sets an indexed column to a vector that cannot be compared
// (plan::check_indexable).
base::Status check_vector_change(const schema::Index& index, const RowChange& change);
// Updates the entry of a row's vector. A vector that cannot be compared has no entry; it may have been
// written before the index existed.
void write_vector_change(const schema::Index& index, const RowChange& change, storage::WriteSet& writes);

class VectorIndexes {
 public:
  VectorIndexes();
  ~VectorIndexes();

  // Sets the storage ids of all vector indexes. Must be called before the first write to one of them. The
  // graphs of other indexes are dropped.
  void watch(std::set<uint32_t> storage_ids);

  struct Row {
    Bytes partition_key;  // serialised
    Bytes clustering;
  };
  // Returns approximately the nearest `count` rows, nearest first. Returns fewer only if the index has fewer.
  // The first call for an index reads all of its entries. REQUIRES: the index is built.
  base::Result<std::vector<Row>> nearest(const storage::Store& store, const schema::Table& table,
                                         const schema::Index& index, std::span<const float> query,
                                         size_t count, int64_t now_seconds);

  // The effect of a write set on the graphs. Call changes_of() before the commit and committed() after it,
  // before the partitions' locks are released, so that changes of one row are applied in order. committed()
  // does not block.
  struct Change {
    uint32_t storage_id = 0;
    Bytes row;                                 // the entry's key without the table id; empty: all rows
    std::optional<std::vector<float>> vector;  // nullopt: the row was deleted
  };
  std::vector<Change> changes_of(const storage::WriteSet& writes) const;
  void committed(std::vector<Change> changes);

 private:
  struct Graph;
  std::shared_ptr<Graph> find(uint32_t storage_id) const;

  mutable std::shared_mutex mutex_;  // guards the members below
  std::set<uint32_t> watched_;
  std::map<uint32_t, std::shared_ptr<Graph>> graphs_;
};

}  // namespace sibyl::execute
