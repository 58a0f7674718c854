// ORDER BY v ANN OF x on enough rows that the graph of the index is used. Small cases are recorded in
// tests/compat/vector_search.cql.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>
#include <sibyl/sibyl.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>
#include <random>
#include <set>
#include <stdexcept>

#include "plan/terms/similarity.h"

namespace sibyl {
namespace {

using Vector = std::vector<float>;

class VectorSearch : public testing::Test {
 protected:
  VectorSearch()
      : folder_(std::filesystem::temp_directory_path() / fmt::format("sibyl-vectors-{}", ::getpid())) {
    std::filesystem::remove_all(folder_);
    open();
    must("CREATE KEYSPACE e WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}");
    must("CREATE TABLE e.t (p int, c int, n int, v vector<float, 8>, PRIMARY KEY (p, c))");
  }
  ~VectorSearch() override {
    database_.reset();
    std::filesystem::remove_all(folder_);
  }

  void open() {
    database_.reset();
    auto opened = Database::open(folder_.string());
    ASSERT_TRUE(opened) << opened.error().text();
    database_.emplace(std::move(*opened));
  }
  Rows must(const std::string& text) {
    auto rows = database_->session().execute(text);
    if (!rows) throw std::runtime_error(text + ": " + rows.error().text());
    return std::move(*rows);
  }

  size_t count(const std::string& text) {
    size_t rows = 0;
    for ([[maybe_unused]] const Row& row : must(text)) ++rows;
    return rows;
  }

  Vector some_vector() {
    Vector out(8);
    for (float& one : out) one = normal_(random_);
    return out;
  }
  void put(int row) {
    all_[row] = some_vector();
    must(fmt::format("INSERT INTO e.t (p, c, n, v) VALUES ({}, {}, {}, [{}])", row % 20, row, row % 7,
                     fmt::join(all_[row], ", ")));
  }
  void erase(int row) {
    must(fmt::format("DELETE FROM e.t WHERE p = {} AND c = {}", row % 20, row));
    all_.erase(row);
  }

  // Returns the share of the true nearest ten that is found, with or without another restriction.
  double found(bool restricted) {
    size_t hits = 0;
    for (int i = 0; i < 20; ++i) {
      const Vector query = some_vector();
      std::vector<std::pair<float, int>> truth;
      for (const auto& [row, vector] : all_)
        if (!restricted || row % 7 == 3)
          truth.emplace_back(-plan::similarity_between(plan::Similarity::cosine, vector, query), row);
      std::sort(truth.begin(), truth.end());
      std::set<int> answers;
      for (const Row& row : must(fmt::format("SELECT c FROM e.t {}ORDER BY v ANN OF [{}] LIMIT 10",
                                             restricted ? "WHERE n = 3 " : "", fmt::join(query, ", "))))
        answers.insert(*row.get<int>("c"));
      EXPECT_EQ(answers.size(), 10u);
      for (size_t place = 0; place < 10; ++place) hits += answers.contains(truth[place].second);
    }
    return static_cast<double>(hits) / 200;
  }
  void expect_nearest(const char* when) {
    EXPECT_GE(found(false), 0.97) << when;
    EXPECT_GE(found(true), 0.97) << when;
  }

  std::filesystem::path folder_;
  std::optional<Database> database_;
  std::mt19937 random_{3};
  std::normal_distribution<float> normal_;
  std::map<int, Vector> all_;
};

TEST_F(VectorSearch, FollowsWritesAndRestarts) {
  for (int row = 0; row < 400; ++row) put(row);
  must("CREATE INDEX ON e.t (v) USING 'sai'");
  must("CREATE INDEX ON e.t (n) USING 'sai'");
  expect_nearest("built from rows that were there");
  for (int row = 400; row < 600; ++row) put(row);
  for (int row = 0; row < 200; ++row) put(row);
  for (int row = 200; row < 300; ++row) erase(row);
  expect_nearest("after writes");
  open();
  expect_nearest("after a restart");
}

// Vectors that cannot be indexed may exist before the index. The index is built without them, and queries
// never return them.
TEST_F(VectorSearch, OmitsVectorsThatCannotBeIndexed) {
  for (int row = 0; row < 30; ++row) put(row);
  for (const char* vector :
       {"NaN, 0, 0, 0, 0, 0, 0, 0", "0, 0, 0, 0, 0, 0, 0, 0", "Infinity, 0, 0, 0, 0, 0, 0, 0"})
    must(fmt::format("INSERT INTO e.t (p, c, n, v) VALUES (0, {}, 3, [{}])", 1000 + all_.size() + vector[0],
                     vector));
  must("CREATE INDEX ON e.t (v) USING 'sai'");
  EXPECT_EQ(count("SELECT * FROM system.\"IndexInfo\" WHERE table_name = 'e'"), 1u);
  const std::string nearest = fmt::format("ORDER BY v ANN OF [{}] LIMIT 100", fmt::join(some_vector(), ", "));
  EXPECT_EQ(count("SELECT c FROM e.t " + nearest), 30u);
  EXPECT_EQ(count("SELECT c FROM e.t WHERE p = 0 " + nearest), 2u);
  auto refused =
      database_->session().execute("UPDATE e.t SET v = [0, 0, 0, 0, 0, 0, 0, 0] WHERE p = 1 AND c = 1");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message, "Zero vectors cannot be indexed or queried with cosine similarity");
}

}  // namespace
}  // namespace sibyl
