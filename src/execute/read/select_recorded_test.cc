// Compares statements with the responses of Cassandra 5.0 to the same statements in the same order.
#include <gtest/gtest.h>

#include "base/source_path.h"
#include "execute/read/select_fixture_test.h"
#include "execute/recorded_test.h"

namespace sibyl::execute {
namespace {

size_t compare_reads(const std::string& name) {
  ReadFixture database;
  return compare_answers(base::source_path("tests/data/" + name),
                         [&](const std::string& statement) { return database.answer(statement); });
}

TEST(Recorded, SelectsMatchCassandra) {
  EXPECT_GT(compare_reads("selects.txt"), 500u);
}
TEST(Recorded, ValuesMatchCassandra) {
  EXPECT_GT(compare_reads("values.txt"), 300u);
}

}  // namespace
}  // namespace sibyl::execute
