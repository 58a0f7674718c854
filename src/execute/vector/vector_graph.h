// A graph of vectors in memory (HNSW): finds near neighbours without comparing all vectors.
//
// Rows are identified by opaque bytes. The graph holds a copy of each vector. Results are approximate; a
// caller that needs the exact order must compare the vectors of the returned rows. Thread-safe: searches run
// concurrently; a change waits for searches and other changes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <shared_mutex>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/bytes.h"
#include "plan/terms/similarity.h"

namespace sibyl::execute {

using base::Bytes;
using base::BytesView;

class VectorGraph {
 public:
  VectorGraph(plan::Similarity similarity, size_t dimension);
  ~VectorGraph();

  // Adds the row or replaces its vector. REQUIRES: `dimension` finite floats, not all zero for cosine.
  void put(BytesView row, std::span<const float> vector);
  void erase(BytesView row);

  // Returns at most `count` rows, nearest first.
  std::vector<Bytes> nearest(std::span<const float> query, size_t count) const;
  size_t size() const;

 private:
  struct Index;  // hnswlib's index

  std::vector<float> prepared(std::span<const float> vector) const;

  const plan::Similarity similarity_;
  const size_t dimension_;
  mutable std::shared_mutex mutex_;
  std::unique_ptr<Index> index_;
  std::unordered_map<std::string, size_t> labels_;  // by row
  std::vector<Bytes> rows_;                         // rows by label; empty: the label is unused
  std::vector<size_t> free_labels_;
};

}  // namespace sibyl::execute
