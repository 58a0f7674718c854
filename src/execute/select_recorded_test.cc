// Statements against what Cassandra 5.0 answered to the same ones in the same order.
#include <gtest/gtest.h>

#include "execute/recorded_test.h"
#include "execute/select_fixture_test.h"

namespace sibyl::execute {
namespace {

size_t compare_reads(const std::string& name) {
  ReadFixture database;
  return compare_answers(SIBYL_SOURCE_DIR "/tests/data/" + name,
                         [&](const std::string& statement) { return database.answer(statement); });
}

TEST(Recorded, SelectsAnswerAsCassandraDid) {
  EXPECT_GT(compare_reads("selects.txt"), 500u);
}
TEST(Recorded, ValuesAreReadAsCassandraReadsThem) {
  EXPECT_GT(compare_reads("values.txt"), 300u);
}

}  // namespace
}  // namespace sibyl::execute
