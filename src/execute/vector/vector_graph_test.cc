#include "execute/vector/vector_graph.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <set>

namespace sibyl::execute {
namespace {

using plan::Similarity;
using Vectors = std::map<Bytes, std::vector<float>>;

class VectorGraphTest : public testing::TestWithParam<Similarity> {
 protected:
  static constexpr size_t dimension = 24;

  std::vector<float> some_vector() {
    std::vector<float> out(dimension);
    for (float& one : out) one = normal_(random_);
    return out;
  }
  void put(const Bytes& row) { graph_.put(row, all_[row] = some_vector()); }

  std::vector<Bytes> exact(const std::vector<float>& query, size_t count) const {
    std::vector<std::pair<float, Bytes>> scored;
    for (const auto& [row, vector] : all_)
      scored.emplace_back(-plan::similarity_between(GetParam(), vector, query), row);
    std::sort(scored.begin(), scored.end());
    std::vector<Bytes> out;
    for (size_t i = 0; i < std::min(count, scored.size()); ++i) out.push_back(scored[i].second);
    return out;
  }
  // The fraction of the true nearest ten that the graph finds.
  double recall(int queries) {
    size_t hits = 0, wanted = 0;
    for (int i = 0; i < queries; ++i) {
      const std::vector<float> query = some_vector();
      const std::vector<Bytes> truth = exact(query, 10), found = graph_.nearest(query, 10);
      EXPECT_EQ(found.size(), truth.size());
      const std::set<Bytes> set(found.begin(), found.end());
      for (const Bytes& row : truth) hits += set.contains(row);
      wanted += truth.size();
    }
    return static_cast<double>(hits) / static_cast<double>(wanted);
  }

  std::mt19937 random_{42};
  std::normal_distribution<float> normal_;
  Vectors all_;
  VectorGraph graph_{GetParam(), dimension};
};

TEST_P(VectorGraphTest, FindsNearlyAllOfTheNearest) {
  for (int i = 0; i < 1200; ++i) put("row" + std::to_string(i));
  EXPECT_GE(recall(30), 0.95);
}

TEST_P(VectorGraphTest, StaysAccurateAfterUpdatesAndDeletions) {
  for (int i = 0; i < 600; ++i) put("row" + std::to_string(i));
  for (int i = 0; i < 600; i += 3) put("row" + std::to_string(i));
  for (int i = 1; i < 600; i += 3) {
    graph_.erase("row" + std::to_string(i));
    all_.erase("row" + std::to_string(i));
  }
  EXPECT_EQ(graph_.size(), all_.size());
  for (int i = 0; i < 150; ++i) put("late" + std::to_string(i));
  EXPECT_EQ(graph_.size(), all_.size());
  EXPECT_GE(recall(30), 0.95);
}

TEST_P(VectorGraphTest, ReturnsNoMoreRowsThanExist) {
  EXPECT_TRUE(graph_.nearest(some_vector(), 5).empty());
  put("a");
  put("b");
  graph_.erase("nobody");
  EXPECT_EQ(graph_.nearest(all_["b"], 5).size(), 2u);
  graph_.erase("a");
  EXPECT_EQ(graph_.nearest(some_vector(), 5), std::vector<Bytes>{"b"});
  graph_.erase("b");
  EXPECT_TRUE(graph_.nearest(some_vector(), 5).empty());
}

INSTANTIATE_TEST_SUITE_P(Similarities, VectorGraphTest,
                         testing::Values(Similarity::cosine, Similarity::dot_product, Similarity::euclidean));

}  // namespace
}  // namespace sibyl::execute
