#include "execute/vector/vector_graph.h"

#include <algorithm>
#include <cmath>
#include <mutex>

// hnswlib prefetches up to one neighbour beyond its lists. Only unused bytes of the allocated block are
// touched, but the address sanitizer reports it.
#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define NO_MANUAL_VECTORIZATION
#endif
#elif defined(__SANITIZE_ADDRESS__)
#define NO_MANUAL_VECTORIZATION
#endif
// hnswlib's headers define functions that are not inline, so only this file may include them.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wall"
#pragma GCC diagnostic ignored "-Wextra"
#pragma GCC diagnostic ignored "-Wpedantic"
#include <hnswlib/hnswlib.h>
#pragma GCC diagnostic pop

#include "base/check.h"

namespace sibyl::execute {

namespace {

// The number of links per vector, and of candidates considered when a vector is added or searched for. Higher
// values are slower and more accurate.
constexpr size_t links = 16;
constexpr size_t candidates_when_built = 128;
constexpr size_t candidates_when_searched = 400;
constexpr size_t first_capacity = 1024;

std::unique_ptr<hnswlib::SpaceInterface<float>> space_of(plan::Similarity similarity, size_t dimension) {
  if (similarity == plan::Similarity::euclidean) return std::make_unique<hnswlib::L2Space>(dimension);
  return std::make_unique<hnswlib::InnerProductSpace>(dimension);
}

}  // namespace

struct VectorGraph::Index {
  Index(plan::Similarity similarity, size_t dimension)
      : space(space_of(similarity, dimension)),
        graph(space.get(), first_capacity, links, candidates_when_built) {
    graph.setEf(candidates_when_searched);
  }
  std::unique_ptr<hnswlib::SpaceInterface<float>> space;
  hnswlib::HierarchicalNSW<float> graph;
};

VectorGraph::VectorGraph(plan::Similarity similarity, size_t dimension)
    : similarity_(similarity),
      dimension_(dimension),
      index_(std::make_unique<Index>(similarity, dimension)) {}

VectorGraph::~VectorGraph() = default;

// For vectors of length one, inner products give the same order as cosines.
std::vector<float> VectorGraph::prepared(std::span<const float> vector) const {
  SIBYL_CHECK(vector.size() == dimension_);
  std::vector<float> out(vector.begin(), vector.end());
  if (similarity_ != plan::Similarity::cosine) return out;
  double sum = 0;
  for (float one : out) sum += double{one} * one;
  const auto length = static_cast<float>(std::sqrt(sum));
  if (length > 0)
    for (float& one : out) one /= length;
  return out;
}

void VectorGraph::put(BytesView row, std::span<const float> vector) {
  const std::vector<float> point = prepared(vector);
  std::unique_lock lock(mutex_);
  auto [found, is_new] = labels_.try_emplace(std::string(row));
  if (is_new) {
    if (free_labels_.empty()) {
      free_labels_.push_back(rows_.size());
      rows_.emplace_back();
      if (rows_.size() > index_->graph.max_elements_) index_->graph.resizeIndex(rows_.size() * 2);
    }
    found->second = free_labels_.back();
    free_labels_.pop_back();
    rows_[found->second] = Bytes(row);
  }
  // If the label was used before, its vector is moved, and undeleted if it was marked as deleted.
  index_->graph.addPoint(point.data(), found->second);
}

void VectorGraph::erase(BytesView row) {
  std::unique_lock lock(mutex_);
  auto found = labels_.find(std::string(row));
  if (found == labels_.end()) return;
  index_->graph.markDelete(found->second);
  rows_[found->second].clear();
  free_labels_.push_back(found->second);
  labels_.erase(found);
}

std::vector<Bytes> VectorGraph::nearest(std::span<const float> query, size_t count) const {
  const std::vector<float> point = prepared(query);
  std::shared_lock lock(mutex_);
  std::vector<Bytes> rows;
  if (labels_.empty() || count == 0) return rows;
  auto found = index_->graph.searchKnn(point.data(), std::min(count, labels_.size()));
  rows.reserve(found.size());
  for (; !found.empty(); found.pop()) rows.push_back(rows_[found.top().second]);
  std::reverse(rows.begin(), rows.end());
  return rows;
}

size_t VectorGraph::size() const {
  std::shared_lock lock(mutex_);
  return labels_.size();
}

}  // namespace sibyl::execute
