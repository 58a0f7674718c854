// Files of statements with what Cassandra 5.0 answered to them, in the same order.
#pragma once

#include <gtest/gtest.h>

#include <fstream>
#include <functional>
#include <string>

namespace sibyl::execute {

// How many statements there were. `begin_anew` is called where the file says that nothing is there any more.
inline size_t compare_answers(
    const std::string& path, const std::function<std::string(const std::string&)>& answer,
    const std::function<void()>& begin_anew = [] {}) {
  std::ifstream file(path);
  EXPECT_TRUE(file) << path << " not found";
  size_t statements = 0;
  std::string line, statement, expected;
  while (std::getline(file, line)) {
    if (line == "# fresh") begin_anew();
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
