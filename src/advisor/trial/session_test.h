// Runs trials on an in-memory engine, for tests.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <future>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "advisor/trial/trial.h"
#include "engine/engine.h"
#include "row/record_key.h"

namespace sibyl::advisor {

// An in-memory engine with a trial's tables.
class TestConnection final : public TrialSession {
 public:
  explicit TestConnection(const Trial& trial) {
    auto opened = engine::Engine::open({});
    EXPECT_TRUE(opened.has_value());
    engine_ = std::move(*opened);
    define(fmt::format(
               "CREATE KEYSPACE {} WITH replication = {{'class': 'SimpleStrategy', 'replication_factor': 1}}",
               Trial::trial_keyspace),
           "");
    for (const Trial::Text& definition : trial.definitions) define(definition.text, definition.keyspace);
    for (const Trial::Text& statement : trial.statements) {
      const auto prepared = engine_->planner().prepare(statement.text, statement.keyspace);
      EXPECT_TRUE(prepared.has_value()) << statement.text << ": " << prepared.error().message();
      if (!prepared) continue;
      plans_.push_back(prepared->plan);
      std::vector<Marker>& markers = markers_.emplace_back();
      for (const plan::ColumnSpec& marker : prepared->plan->markers)
        markers.push_back({marker.name, marker.type});
    }
  }

  base::Result<std::vector<Cells>> run(size_t statement, const Cells& values) override {
    ++requests;
    auto answer = execute(plans_[statement], values);
    if (!answer) return answer;
    rows += answer->size();
    answers.insert(answers.end(), answer->begin(), answer->end());
    return answer;
  }
  const std::vector<Marker>& markers(size_t statement) const override { return markers_[statement]; }

  std::vector<Cells> query(const std::string& text) {
    const auto plan = engine_->planner().plan_query(text, Trial::trial_keyspace);
    EXPECT_TRUE(plan.has_value()) << text;
    auto rows = plan ? execute(*plan, {}) : base::Result<std::vector<Cells>>();
    EXPECT_TRUE(rows.has_value()) << text;
    return rows ? std::move(*rows) : std::vector<Cells>();
  }
  // Bytes of all records of a table.
  double bytes(const std::string& keyspace, const std::string& name) {
    const uint32_t id = engine_->schema()->find_table(keyspace, name)->storage_id;
    const auto iterator = engine_->store().iterate(row::table_begin(id), row::table_end(id));
    double sum = 0;
    for (iterator->seek_to_first(); iterator->valid(); iterator->next())
      sum += static_cast<double>(iterator->key().size() + iterator->value().size());
    return sum;
  }
  // Bytes of the table's largest partition.
  double largest_partition(const std::string& name) {
    const uint32_t id = engine_->schema()->find_table(Trial::trial_keyspace, name)->storage_id;
    const auto iterator = engine_->store().iterate(row::table_begin(id), row::table_end(id));
    std::map<base::Bytes, double> sizes;
    double largest = 0;
    for (iterator->seek_to_first(); iterator->valid(); iterator->next()) {
      row::RecordKey key;
      EXPECT_TRUE(row::parse_record_key(iterator->key(), key));
      double& size = sizes[base::Bytes(key.prefix(iterator->key()))];
      size += static_cast<double>(iterator->key().size() + iterator->value().size());
      largest = std::max(largest, size);
    }
    return largest;
  }

  void reset() {
    requests = rows = partitions_read = tombstones_read = 0;
    answers.clear();
  }

  size_t requests = 0, rows = 0, partitions_read = 0, tombstones_read = 0;
  std::vector<Cells> answers;  // all rows returned

 private:
  void define(const std::string& text, const std::string& keyspace) {
    const auto plan = engine_->planner().plan_query(text, keyspace);
    ASSERT_TRUE(plan.has_value()) << text << ": " << plan.error().message();
    const auto result = execute(*plan, {});
    ASSERT_TRUE(result.has_value()) << text << ": " << result.error().message();
  }

  base::Result<std::vector<Cells>> execute(const plan::PreparedPtr& plan, const Cells& values) {
    std::vector<types::ValueView> views;
    for (const auto& value : values)
      views.push_back(value ? types::ValueView::of(*value) : types::ValueView::null());
    execute::Request request;
    request.values = views;
    std::promise<base::Result<execute::ResultSet>> answer;
    engine_->executor().execute(
        plan, request, [&](base::Result<execute::ResultSet> result) { answer.set_value(std::move(result)); });
    auto result = answer.get_future().get();
    if (!result) return base::fail(result.error());
    partitions_read += result->partitions_read;
    tombstones_read += result->tombstones_read;
    std::vector<Cells> rows;
    if (result->metadata == nullptr) return rows;
    const base::BytesView bytes = result->rows.bytes();
    size_t at = 0;
    for (size_t row = 0; row < result->rows.count(); ++row) {
      Cells& cells = rows.emplace_back();
      for (size_t column = 0; column < result->metadata->columns.size(); ++column) {
        const auto size = static_cast<int32_t>(base::read_big_endian<uint32_t>(bytes.substr(at, 4)));
        at += 4;
        cells.push_back(size < 0 ? std::nullopt
                                 : std::optional(base::Bytes(bytes.substr(at, static_cast<size_t>(size)))));
        at += size < 0 ? 0 : static_cast<size_t>(size);
      }
    }
    return rows;
  }

  std::unique_ptr<engine::Engine> engine_;
  std::vector<plan::PreparedPtr> plans_;
  std::vector<std::vector<Marker>> markers_;
};

inline void load(const Trial& trial, TestConnection& connection) {
  const base::Status loaded = trial.load([&](size_t statement, const Cells& values) -> base::Status {
    SIBYL_TRY(connection.run(statement, values));
    return {};
  });
  ASSERT_TRUE(loaded) << loaded.error().message();
}

inline void run_all(const Trial& trial, TestConnection& connection, int times) {
  Random random(7);
  for (int i = 0; i < times; ++i) {
    for (const Operation& operation : trial.operations) {
      const base::Status ran = operation.run(connection, random);
      ASSERT_TRUE(ran) << trial.name << " / " << operation.name << ": " << ran.error().message();
    }
  }
}

}  // namespace sibyl::advisor
