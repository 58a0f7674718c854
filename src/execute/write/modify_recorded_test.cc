// Compares modifications and batches with the responses of Cassandra 5.0 to the same statements in the same
// order.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/source_path.h"
#include "execute/recorded_test.h"
#include "execute/write/modify_fixture_test.h"

namespace sibyl::execute {
namespace {

std::string print_answer(const base::Result<ResultSet>& result) {
  if (!result) {
    const bool is_syntax = result.error().code() == base::ErrorCode::syntax;
    return fmt::format("ERROR 0x{:04x} {}: {}\n", static_cast<int>(result.error().code()),
                       is_syntax ? "SyntaxError" : "InvalidRequest", result.error().message());
  }
  std::string text = "OK\n";
  for (const std::string& warning : result->warnings) text += "  WARNING: " + warning + "\n";
  return text;
}

TEST(RecordedModifications, ResponsesMatchCassandra) {
  auto database = std::make_unique<WriteFixture>();
  const size_t statements = compare_answers(
      base::source_path("tests/data/modifications.txt"),
      [&](const std::string& statement) { return print_answer(database->run(statement)); },
      [&] { database = std::make_unique<WriteFixture>(); });
  EXPECT_GT(statements, 300u);
}

}  // namespace
}  // namespace sibyl::execute
