// A graph of vectors in memory (HNSW): finds near neighbours without looking at all of them.
//
// Rows are named by bytes that mean nothing here. The graph holds a copy of each vector; what it gives is
// approximate, so a caller that wants the true order compares the vectors of the rows it is given.
// Threads: any number may search at once; changes wait for searches and for each other.
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
#include "plan/similarity.h"

namespace sibyl::execute {

using base::Bytes;
using base::BytesView;

class VectorGraph {
 public:
  VectorGraph(plan::Similarity similarity, size_t dimension);
  ~VectorGraph();

  // Adds the row, or moves it. REQUIRES: as many floats as dimensions, all finite; for cosine not all zero.
  void put(BytesView row, std::span<const float> vector);
  void erase(BytesView row);

  // At most `count` rows, the nearest first.
  std::vector<Bytes> nearest(std::span<const float> query, size_t count) const;
  size_t size() const;

 private:
  struct Index;  // hnswlib's

  std::vector<float> prepared(std::span<const float> vector) const;

  const plan::Similarity similarity_;
  const size_t dimension_;
  mutable std::shared_mutex mutex_;
  std::unique_ptr<Index> index_;
  std::unordered_map<std::string, size_t> labels_;  // of rows
  std::vector<Bytes> rows_;                         // by label; empty: free
  std::vector<size_t> free_labels_;
};

}  // namespace sibyl::execute
