// For tests: runs statements synchronously and decodes the rows of their results.
#pragma once

#include <gtest/gtest.h>

#include <future>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/bytes.h"
#include "engine/engine.h"
#include "types/print_value.h"

namespace sibyl::engine {

inline base::Result<execute::ResultSet> run_plan(Engine& engine, plan::PreparedPtr plan,
                                                 const execute::Request& request = {}) {
  std::promise<base::Result<execute::ResultSet>> answer;
  engine.executor().execute(std::move(plan), request, [&](base::Result<execute::ResultSet> result) {
    answer.set_value(std::move(result));
  });
  return answer.get_future().get();
}

inline base::Result<execute::ResultSet> run_text(Engine& engine, std::string_view text,
                                                 const std::string& keyspace,
                                                 const execute::Request& request = {}) {
  auto plan = engine.planner().plan_query(text, keyspace);
  if (!plan) return base::fail(plan.error());
  return run_plan(engine, *plan, request);
}

// Rows of values; nullopt is null. The values point into the result.
inline std::vector<std::vector<std::optional<base::BytesView>>> values_of(const execute::ResultSet& result) {
  std::vector<std::vector<std::optional<base::BytesView>>> rows(result.rows.count());
  base::Reader reader(result.rows.bytes());
  for (auto& row : rows) {
    row.resize(result.metadata->columns.size());
    for (std::optional<base::BytesView>& value : row) {
      uint32_t size = 0;
      EXPECT_TRUE(reader.big_endian(size));
      if (static_cast<int32_t>(size) >= 0) {
        EXPECT_TRUE(reader.take(size, value.emplace()));
      }
    }
  }
  return rows;
}

using PrintValue = std::string (*)(const types::Type& type, base::BytesView value);

inline std::string as_shown(const types::Type& type, base::BytesView value) {
  return types::to_display(type, value);
}
inline std::string as_literal(const types::Type& type, base::BytesView value) {
  return types::to_literal(type, value);
}

// Rows of texts; null is "null".
inline std::vector<std::vector<std::string>> cells_of(const execute::ResultSet& result,
                                                      PrintValue print = as_shown) {
  std::vector<std::vector<std::string>> out;
  for (const auto& row : values_of(result)) {
    auto& cells = out.emplace_back();
    for (size_t i = 0; i < row.size(); ++i)
      cells.push_back(row[i] ? print(*result.metadata->columns[i].type, *row[i]) : "null");
  }
  return out;
}

// Returns one line for each row.
inline std::vector<std::string> lines_of(const execute::ResultSet& result, std::string_view separator = "|",
                                         PrintValue print = as_shown) {
  std::vector<std::string> lines;
  for (const auto& cells : cells_of(result, print)) {
    std::string& line = lines.emplace_back();
    for (const std::string& cell : cells) (line += line.empty() ? "" : separator) += cell;
  }
  return lines;
}

}  // namespace sibyl::engine
