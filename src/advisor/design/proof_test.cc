// Compares the bounds that a review proves with the partitions that the executor reads, for random tables,
// data and queries.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <future>
#include <random>
#include <set>

#include "advisor/review/review.h"
#include "engine/engine.h"
#include "row/record_key.h"

namespace sibyl::advisor {
namespace {

class Chance {
 public:
  explicit Chance(uint64_t seed) : engine_(seed) {}
  int below(int count) { return static_cast<int>(engine_() % static_cast<uint64_t>(count)); }
  bool one_in(int count) { return below(count) == 0; }

 private:
  std::mt19937_64 engine_;
};

// A random table: one or two partition key columns, up to two clustering columns, sometimes static columns
// and an index.
struct RandomTable {
  int partition = 1, clustering = 0;
  bool has_static = false, has_index = false, descends = false;

  explicit RandomTable(Chance& chance)
      : partition(1 + chance.below(2)),
        clustering(chance.below(3)),
        has_static(clustering > 0 && chance.one_in(3)),
        has_index(chance.one_in(4)),
        descends(clustering > 0 && chance.one_in(3)) {}

  std::vector<std::string> key() const {
    std::vector<std::string> names = {"p", "q"};
    names.resize(static_cast<size_t>(partition));
    return names;
  }
  std::string definition() const {
    std::string text = fmt::format("CREATE TABLE t (p int, {}{}{}v int, {}PRIMARY KEY (({}){}))",
                                   partition > 1 ? "q int, " : "", clustering > 0 ? "c int, " : "",
                                   clustering > 1 ? "d int, " : "", has_static ? "s int STATIC, " : "",
                                   fmt::join(key(), ", "),
                                   clustering == 2   ? ", c, d"
                                   : clustering == 1 ? ", c"
                                                     : "");
    if (descends) text += " WITH CLUSTERING ORDER BY (c DESC)";
    return text + ";\n" + (has_index ? "CREATE INDEX by_v ON t (v);\n" : "");
  }
};

constexpr int values = 6;  // distinct values per column; few, so that keys and rows often match

std::string key_relations(const RandomTable& table, Chance& chance) {
  std::string text = fmt::format("p = {}", chance.below(values));
  if (table.partition > 1) text += fmt::format(" AND q = {}", chance.below(values));
  return text;
}

std::string random_write(const RandomTable& table, Chance& chance) {
  const std::string key = key_relations(table, chance);
  std::string row = key;
  if (table.clustering > 0) row += fmt::format(" AND c = {}", chance.below(values));
  if (table.clustering > 1) row += fmt::format(" AND d = {}", chance.below(values));
  switch (chance.below(12)) {
    case 0:
      return fmt::format("DELETE FROM t WHERE {}", row);
    case 1:
      return fmt::format("DELETE FROM t WHERE {}", key);
    case 2:
      if (table.clustering > 0)
        return fmt::format("DELETE FROM t WHERE {} AND c > {}", key, chance.below(values));
      return fmt::format("UPDATE t SET v = null WHERE {}", row);
    case 3:
      if (table.has_static) return fmt::format("UPDATE t SET s = {} WHERE {}", chance.below(values), key);
      [[fallthrough]];
    default:
      return fmt::format("UPDATE t SET v = {} WHERE {}", chance.below(values), row);
  }
}

class RandomQuery {
 public:
  RandomQuery(const RandomTable& table, Chance& chance) : table_(table), chance_(chance) { write(); }

  const std::string& text() const { return text_; }
  // Total number of values in the `IN ?` lists of the query.
  double listed() const { return listed_; }

 private:
  std::string value() { return chance_.one_in(2) ? "?" : std::to_string(chance_.below(values)); }
  std::string list() {
    std::string text;
    for (int i = 0, count = 1 + chance_.below(4); i < count; ++i) text += (i > 0 ? ", " : "") + value();
    return "(" + text + ")";
  }
  void relation(const std::string& text) { where_.push_back(text); }

  void write_partition() {
    const int form = chance_.below(6);
    if (form == 0) return;
    if (form == 1) {
      relation(fmt::format("token({}) {} {}", fmt::join(table_.key(), ", "), chance_.one_in(2) ? ">" : "<=",
                           (chance_.below(2000) - 1000) * 9'000'000'000'000'000LL));
      return;
    }
    for (int i = 0; i < table_.partition; ++i) {
      const std::string name = table_.key()[static_cast<size_t>(i)];
      if (form == 2 && i > 0) continue;  // gives only a part of the key
      if (form == 3 && i + 1 == table_.partition) {
        relation(fmt::format("{} IN {}", name, list()));
      } else if (form == 4 && i + 1 == table_.partition) {
        relation(name + " IN ?");
        lists_ = true;
      } else {
        relation(fmt::format("{} = {}", name, value()));
      }
    }
    by_key_ = form >= 3 || table_.partition == 1;
  }

  void write_clustering() {
    if (table_.clustering == 0 || chance_.one_in(2)) return;
    switch (chance_.below(5)) {
      case 0:
        relation(fmt::format("c {} {}", chance_.one_in(2) ? ">" : "<=", value()));
        return;
      case 1:
        relation(fmt::format("c > {} AND c < {}", value(), value()));
        return;
      case 2:
        relation("c IN " + list());
        return;
      case 3:
        if (table_.clustering > 1) relation(fmt::format("(c, d) >= ({}, {})", value(), value()));
        return;
      default:
        relation(fmt::format("c = {}", value()));
        if (table_.clustering > 1 && chance_.one_in(2))
          relation(fmt::format("d {} {}", chance_.one_in(2) ? "=" : ">=", value()));
    }
  }

  void write() {
    write_partition();
    write_clustering();
    if (chance_.one_in(4)) relation(fmt::format("v {} {}", chance_.one_in(3) ? ">" : "=", value()));
    const std::string key = fmt::format("{}", fmt::join(table_.key(), ", "));
    const std::vector<std::string> selected = {"*", "*", "v", "DISTINCT " + key, "count(*)", "max(v)"};
    text_ = fmt::format("SELECT {} FROM t", selected[static_cast<size_t>(chance_.below(6))]);
    if (!where_.empty()) text_ += fmt::format(" WHERE {}", fmt::join(where_, " AND "));
    if (chance_.one_in(6)) text_ += " GROUP BY " + key;
    if (by_key_ && table_.clustering > 0 && chance_.one_in(4))
      text_ += chance_.one_in(2) ? " ORDER BY c DESC" : " ORDER BY c ASC";
    if (chance_.one_in(5)) text_ += fmt::format(" PER PARTITION LIMIT {}", 1 + chance_.below(3));
    if (chance_.one_in(3)) text_ += fmt::format(" LIMIT {}", 1 + chance_.below(5));
    if (chance_.one_in(2)) text_ += " ALLOW FILTERING";
    if (lists_) listed_ = 1 + chance_.below(5);
  }

  const RandomTable& table_;
  Chance& chance_;
  std::vector<std::string> where_;
  std::string text_;
  bool by_key_ = false, lists_ = false;
  double listed_ = 0;
};

class ProofTest : public testing::Test {
 protected:
  ProofTest() {
    auto opened = engine::Engine::open({});
    EXPECT_TRUE(opened.has_value());
    engine_ = std::move(*opened);
    must("CREATE KEYSPACE k WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}");
  }

  base::Result<execute::ResultSet> run(const plan::PreparedPtr& plan, const execute::Request& request) {
    std::promise<base::Result<execute::ResultSet>> answer;
    engine_->executor().execute(
        plan, request, [&](base::Result<execute::ResultSet> result) { answer.set_value(std::move(result)); });
    return answer.get_future().get();
  }
  void must(const std::string& text) {
    const auto plan = engine_->planner().plan_query(text, "k");
    ASSERT_TRUE(plan.has_value()) << text << ": " << plan.error().message();
    const auto result = run(*plan, {});
    ASSERT_TRUE(result.has_value()) << text << ": " << result.error().message();
  }
  void must_all(const std::string& script) {
    for (size_t from = 0, end = 0; (end = script.find(";\n", from)) != std::string::npos; from = end + 2)
      must(script.substr(from, end - from));
  }

  // Partitions that have a record, including those with only a deletion.
  size_t stored_partitions() {
    const uint32_t id = engine_->schema()->find_table("k", "t")->storage_id;
    const auto iterator = engine_->store().iterate(row::table_begin(id), row::table_end(id));
    std::set<base::Bytes> prefixes;
    for (iterator->seek_to_first(); iterator->valid(); iterator->next()) {
      row::RecordKey key;
      EXPECT_TRUE(row::parse_record_key(iterator->key(), key));
      prefixes.emplace(key.prefix(iterator->key()));
    }
    return prefixes.size();
  }

  static base::Bytes random_value(const types::Type& type, double listed, Chance& chance) {
    base::Bytes bytes;
    if (type.kind() != types::Kind::list) {
      base::append_big_endian(bytes, static_cast<uint32_t>(chance.below(values)));
      return bytes;
    }
    base::append_big_endian(bytes, static_cast<uint32_t>(listed));
    for (int i = 0; i < static_cast<int>(listed); ++i) {
      base::append_big_endian(bytes, uint32_t{4});
      base::append_big_endian(bytes, static_cast<uint32_t>(chance.below(values)));
    }
    return bytes;
  }

  // Returns the partitions that each page reads; nullopt if the query is rejected.
  std::optional<std::vector<size_t>> partitions_read(const RandomQuery& query, int32_t page_size,
                                                     Chance& chance) {
    const auto prepared = engine_->planner().prepare(query.text(), "k");
    if (!prepared) return std::nullopt;
    std::vector<base::Bytes> bytes;
    std::vector<types::ValueView> views;
    for (const plan::ColumnSpec& marker : prepared->plan->markers)
      bytes.push_back(random_value(*marker.type, query.listed(), chance));
    for (const base::Bytes& one : bytes) views.push_back(types::ValueView::of(one));
    std::vector<size_t> pages;
    execute::Request request;
    request.values = views;
    request.page_size = page_size;
    do {
      auto result = run(prepared->plan, request);
      if (!result) return std::nullopt;
      pages.push_back(result->partitions_read);
      request.paging_state = std::move(result->paging_state);
    } while (request.paging_state);
    return pages;
  }

  std::unique_ptr<engine::Engine> engine_;
};

double max_partitions(const QueryReview& query, double all, double listed) {
  if (query.bound == "all" || query.bound == "≤ all") return all;
  if (query.bound == "n") return listed > 0 ? listed : all;
  return std::stod(query.bound);
}

TEST_F(ProofTest, BoundsHoldInRandomCases) {
  Chance chance(20260501);
  size_t cases = 0, exact = 0, fewer = 0;
  for (int attempt = 0; cases < 1000; ++attempt) {
    ASSERT_LT(attempt, 10'000);
    const RandomTable table(chance);
    must_all(table.definition());
    for (int i = 0, count = chance.below(40); i < count; ++i) must(random_write(table, chance));
    const auto stored = static_cast<double>(stored_partitions());
    for (int tries = 0; tries < 10; ++tries) {
      const RandomQuery query(table, chance);
      const auto pages = partitions_read(query, chance.one_in(4) ? 1 + chance.below(4) : 0, chance);
      if (!pages) continue;
      const auto workload = parse_workload(table.definition() + query.text() + ";\n", "case.cql");
      ASSERT_TRUE(workload.has_value()) << workload.error().message();
      const auto review = review_workloads({*workload}, {});
      ASSERT_TRUE(review.has_value()) << review.error().message();
      ASSERT_EQ(review->queries.size(), 1u);
      const QueryReview& proved = review->queries[0];
      EXPECT_TRUE(proved.supported) << query.text();
      const double most = max_partitions(proved, stored, query.listed());
      for (const size_t page : *pages)
        EXPECT_LE(static_cast<double>(page), most)
            << table.definition() << query.text() << "\nbound " << proved.bound;
      if (proved.exact && pages->size() == 1) {
        EXPECT_EQ(static_cast<double>(pages->front()), most)
            << table.definition() << query.text() << "\nbound " << proved.bound << " claimed as exact";
      }
      exact += proved.exact ? 1 : 0;
      fewer += !proved.exact && static_cast<double>(pages->front()) < most ? 1 : 0;
      ++cases;
      break;
    }
    must("DROP TABLE t");
  }
  // Both exact and inexact bounds occur, and inexact bounds are often not reached.
  EXPECT_GT(exact, 300u);
  EXPECT_GT(fewer, 100u);
}

}  // namespace
}  // namespace sibyl::advisor
