// Compares the sizes that a review estimates with the bytes that the engine stores.
#include "advisor/workload/stored_size.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <unistd.h>
#include <algorithm>
#include <cmath>

#include <filesystem>
#include <future>
#include <set>

#include "advisor/review/review.h"
#include "advisor/workload/synthetic.h"
#include "engine/engine.h"
#include "row/record_key.h"

namespace sibyl::advisor {
namespace {

struct Column {
  std::string name, type;
  double size = 0, elements = 0;
};

// A schema with correctly declared statistics.
struct Case {
  std::vector<Column> partition, clustering, fixed, regular;
  uint64_t partitions = 0, rows_each = 0;

  Case(uint64_t number, Random& random) : name_(fmt::format("t{}", number)) {
    const std::vector<std::string> key_types = {"int", "bigint", "text", "uuid", "timestamp", "text", "uuid"};
    const std::vector<std::string> other_types = {
        "int",       "text",    "text", "double",   "boolean",    "blob",          "bigint",
        "timestamp", "decimal", "inet", "date",     "time",       "smallint",      "frozen<set<int>>",
        "varint",    "uuid",    "text", "set<int>", "list<text>", "map<text, int>"};
    const auto add = [&](std::vector<Column>& into, const char* prefix, uint64_t count,
                         const std::vector<std::string>& types) {
      for (uint64_t i = 0; i < count; ++i) {
        Column column{fmt::format("{}{}", prefix, i), types[random.below(types.size())], 0, 0};
        if (column.type == "text" || column.type == "blob")
          column.size = static_cast<double>(8 + random.below(column.type == "text" ? 60 : 400));
        if (column.type.find('<') != std::string::npos)
          column.elements = static_cast<double>(1 + random.below(8));
        into.push_back(std::move(column));
      }
    };
    add(partition, "p", 1 + random.below(3), key_types);
    add(clustering, "c", random.below(3), key_types);
    add(regular, "v", 1 + random.below(6), other_types);
    if (!clustering.empty() && random.below(3) == 0) add(fixed, "s", 1 + random.below(2), {"int", "text"});
    rows_each = clustering.empty() ? 1 : 1 + random.below(30);
    partitions = std::max<uint64_t>(20, 200 / rows_each);
  }

  const std::string& name() const { return name_; }
  std::vector<Column> all() const {
    std::vector<Column> columns;
    for (const auto* some : {&partition, &clustering, &fixed, &regular})
      columns.insert(columns.end(), some->begin(), some->end());
    return columns;
  }
  std::string definition() const {
    const auto names = [](const std::vector<Column>& columns) {
      std::vector<std::string> out;
      for (const Column& column : columns) out.push_back(column.name);
      return fmt::format("{}", fmt::join(out, ", "));
    };
    std::string text = "CREATE TABLE " + name_ + " (";
    for (const Column& column : all())
      text += fmt::format("{} {}{}, ", column.name, column.type, column.name[0] == 's' ? " STATIC" : "");
    return text + fmt::format("PRIMARY KEY (({}){}{}));\n", names(partition), clustering.empty() ? "" : ", ",
                              names(clustering));
  }
  std::string statistics() const {
    std::string text =
        fmt::format("-- @table {} rows={} partitions={}\n", name_, partitions * rows_each, partitions);
    for (const Column& column : all()) {
      if (column.size > 0) text += fmt::format("-- @column {}.{} size={}\n", name_, column.name, column.size);
      if (column.elements > 0)
        text += fmt::format("-- @column {}.{} fanout={}\n", name_, column.name, column.elements);
    }
    return text;
  }

 private:
  std::string name_;
};

class StoredSizeTest : public testing::Test {
 protected:
  StoredSizeTest()
      : folder_(std::filesystem::temp_directory_path() / fmt::format("sibyl_sizes_{}", ::getpid())) {
    auto opened =
        engine::Engine::open({.data = folder_.string(), .commitlog_sync = engine::Options::Sync::periodic});
    EXPECT_TRUE(opened.has_value());
    engine_ = std::move(*opened);
    must("CREATE KEYSPACE k WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}");
  }
  ~StoredSizeTest() override {
    engine_.reset();
    std::filesystem::remove_all(folder_);
  }

  void run(const plan::PreparedPtr& plan, const std::vector<base::Bytes>& values) {
    std::vector<types::ValueView> views;
    for (const base::Bytes& value : values) views.push_back(types::ValueView::of(value));
    execute::Request request;
    request.values = views;
    std::promise<base::Result<execute::ResultSet>> answer;
    engine_->executor().execute(
        plan, request, [&](base::Result<execute::ResultSet> result) { answer.set_value(std::move(result)); });
    const auto result = answer.get_future().get();
    ASSERT_TRUE(result.has_value()) << plan->text << ": " << result.error().message();
  }
  void must(const std::string& text) {
    const auto plan = engine_->planner().plan_query(text, "k");
    ASSERT_TRUE(plan.has_value()) << text << ": " << plan.error().message();
    run(*plan, {});
  }

  void load(const Case& one) {
    must(one.definition().substr(0, one.definition().size() - 2));
    std::vector<std::string> names;
    for (const Column& column : one.all()) names.push_back(column.name);
    const auto insert = engine_->planner().prepare(
        fmt::format("INSERT INTO {} ({}) VALUES ({})", one.name(), fmt::join(names, ", "),
                    fmt::join(std::vector<std::string>(names.size(), "?"), ", ")),
        "k");
    ASSERT_TRUE(insert.has_value()) << insert.error().message();
    for (uint64_t partition = 0; partition < one.partitions; ++partition) {
      for (uint64_t row = 0; row < one.rows_each; ++row) {
        std::vector<base::Bytes> values;
        const std::vector<Column> columns = one.all();
        for (size_t i = 0; i < columns.size(); ++i) {
          const char role = columns[i].name[0];
          const uint64_t number = role == 'p'   ? partition
                                  : role == 'c' ? row
                                  : role == 's' ? mix(partition, i) % 100'000
                                                : mix(partition * 1000 + row, i) % 100'000;
          values.push_back(
              synthetic_value(*insert->plan->markers[i].type, number, columns[i].size, columns[i].elements));
        }
        run(insert->plan, values);
      }
    }
  }

  // Bytes of the records' keys and values before compression.
  double stored_bytes(const std::string& table) {
    const uint32_t id = engine_->schema()->find_table("k", table)->storage_id;
    const auto iterator = engine_->store().iterate(row::table_begin(id), row::table_end(id));
    double bytes = 0;
    for (iterator->seek_to_first(); iterator->valid(); iterator->next())
      bytes += static_cast<double>(iterator->key().size() + iterator->value().size());
    return bytes;
  }

  std::filesystem::path folder_;
  std::unique_ptr<engine::Engine> engine_;
};

TEST_F(StoredSizeTest, EstimatesAreWithinFifteenPercentOfStoredBytes) {
  Random random(17);
  std::vector<Case> cases;
  for (uint64_t i = 0; i < 60; ++i) cases.emplace_back(i, random);
  std::string text;
  for (const Case& one : cases) {
    load(one);
    text += one.definition() + one.statistics();
  }
  ASSERT_TRUE(engine_->flush());
  ASSERT_TRUE(engine_->compact());
  const auto workload = parse_workload(text, "sizes.cql");
  ASSERT_TRUE(workload.has_value()) << workload.error().message();
  const auto review = review_workloads({*workload}, {});
  ASSERT_TRUE(review.has_value()) << review.error().message();
  std::vector<double> errors;
  for (const Case& one : cases) {
    const TableReview* table = review->find_table(one.name());
    ASSERT_NE(table, nullptr);
    const double stored = stored_bytes(one.name());
    ASSERT_GT(stored, 0);
    errors.push_back(std::abs(*table->bytes / stored - 1));
    EXPECT_LT(errors.back(), 0.5) << one.definition() << *table->bytes << " estimated, " << stored
                                  << " stored";
  }
  std::sort(errors.begin(), errors.end());
  const double median = errors[errors.size() / 2], p90 = errors[errors.size() * 9 / 10];
  EXPECT_LT(median, 0.15);
  EXPECT_LT(p90, 0.3);
  RecordProperty("median_error", fmt::format("{:.4f}", median));
  RecordProperty("p90_error", fmt::format("{:.4f}", p90));
  fmt::print("sizes: median error {:.1f}%, p90 {:.1f}%\n", 100 * median, 100 * p90);
}

}  // namespace
}  // namespace sibyl::advisor
