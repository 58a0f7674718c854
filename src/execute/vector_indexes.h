// The graphs of the indexes on vectors, made when they are first asked for and kept up with the writes.
//
// An index's entries are records of its storage id: the same keys as the rows they are of but for the table
// id, each with the vector as its only cell. The graph of an index is filled from them once, and follows
// every write set that is committed after that. Threads: everything may be called by any thread.
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
#include "execute/vector_graph.h"
#include "schema/schema.h"
#include "storage/store.h"

namespace sibyl::execute {

// What an index on vectors orders by.
plan::Similarity similarity_of(const schema::Index& index);

// The record of a row's vector. `partition_key` is serialised.
Bytes vector_entry_key(const schema::Index& index, BytesView partition_key, BytesView clustering);

struct RowChange;  // upkeep.h
// Refuses a write that gives an indexed column a vector that is like nothing (plan::check_indexable).
base::Status check_vector_change(const schema::Index& index, const RowChange& change);
// Keeps the entry of a row with its vector. One that is like nothing has none: it may have been there before
// the index.
void write_vector_change(const schema::Index& index, const RowChange& change, storage::WriteSet& writes);

class VectorIndexes {
 public:
  VectorIndexes();
  ~VectorIndexes();

  // The storage ids of all indexes on vectors; to be told before the first write to one of them. The graphs
  // of others are given up.
  void watch(std::set<uint32_t> storage_ids);

  struct Row {
    Bytes partition_key;  // serialised
    Bytes clustering;
  };
  // About the nearest `count` rows, nearest first; fewer only when there are no more. The first call for an
  // index reads all of its entries. REQUIRES: the index is built.
  base::Result<std::vector<Row>> nearest(const storage::Store& store, const schema::Table& table,
                                         const schema::Index& index, std::span<const float> query,
                                         size_t count, int64_t now_seconds);

  // What a write set means for the graphs. Ask before it is committed, tell once it is, before the locks of
  // its partitions are given back: so changes of one row come in their order. Telling never waits.
  struct Change {
    uint32_t storage_id = 0;
    Bytes row;                                 // the entry's key without the table id; empty: all rows
    std::optional<std::vector<float>> vector;  // nullopt: the row is gone
  };
  std::vector<Change> changes_of(const storage::WriteSet& writes) const;
  void committed(std::vector<Change> changes);

 private:
  struct Graph;
  std::shared_ptr<Graph> find(uint32_t storage_id) const;

  mutable std::shared_mutex mutex_;  // guards what follows
  std::set<uint32_t> watched_;
  std::map<uint32_t, std::shared_ptr<Graph>> graphs_;
};

}  // namespace sibyl::execute
