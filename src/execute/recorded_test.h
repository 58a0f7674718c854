// Compares statements with recorded responses of Cassandra 5.0.
#pragma once

#include <gtest/gtest.h>

#include <fstream>
#include <functional>
#include <string>

namespace sibyl::execute {

// Runs the statements of a file in order and returns their number. `reset` is called at each "# fresh"
// line.
inline size_t compare_answers(
    const std::string& path, const std::function<std::string(const std::string&)>& answer,
    const std::function<void()>& reset = [] {}) {
  std::ifstream file(path);
  EXPECT_TRUE(file) << path << " not found";
  size_t statements = 0;
  std::string line, statement, expected;
  while (std::getline(file, line)) {
    if (line == "# fresh") reset();
    if (line.starts_with("> ")) {
      statement = line.substr(2);
    } else if (line.starts_with("OK ")) {
      expected = "OK\n";
    } else if (!line.empty()) {
      expected += line + "\n";
    } else if (!statement.empty()) {
      EXPECT_EQ(answer(statement), expected) << statement;
      ++statements;
      statement.clear();
      expected.clear();
    }
  }
  return statements;
}

}  // namespace sibyl::execute
