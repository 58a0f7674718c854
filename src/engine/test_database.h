// For tests: an engine that runs statements synchronously in keyspace e.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "engine/test_result.h"
#include "execute/index/check.h"

namespace sibyl::engine {

class TestDatabase {
 public:
  explicit TestDatabase(const std::string& data) {
    auto opened = Engine::open({.data = data});
    EXPECT_TRUE(opened) << opened.error().text();
    engine = std::move(*opened);
    must(
        "CREATE KEYSPACE IF NOT EXISTS e WITH replication = {'class': 'SimpleStrategy', "
        "'replication_factor': 1}");
  }

  base::Result<execute::ResultSet> run(const std::string& text) { return run_text(*engine, text, "e"); }
  void must(const std::string& text) {
    auto result = run(text);
    ASSERT_TRUE(result) << text << ": " << result.error().text();
  }
  size_t count(const std::string& text) {
    auto result = run(text);
    EXPECT_TRUE(result) << text << ": " << result.error().text();
    return result ? result->rows.count() : 0;
  }
  // Returns the rows for which an index or a view does not agree with its table.
  std::vector<std::string> faults() {
    auto found =
        execute::check_index_maintenance(*engine->schema(), engine->store(), engine->clock().now_seconds());
    EXPECT_TRUE(found) << found.error().text();
    return found ? *found : std::vector<std::string>{"failed"};
  }

  std::unique_ptr<Engine> engine;
};

}  // namespace sibyl::engine
