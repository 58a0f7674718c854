// Everything that a review of an example prints runs in the engine.
#include <sibyl/sibyl.h>

#include <gtest/gtest.h>

#include "advisor/review/examples_test.h"

namespace sibyl::advisor {
namespace {

void run_all(Session& session, const std::string& title, const std::string& cql) {
  for (const CqlStatement& statement : workload_of(cql).cql) {
    // Statements with markers are prepared; they need values to run.
    const bool marked = statement.text.find('?') != std::string::npos;
    const auto done = session.execute((marked ? "EXPLAIN " : "") + statement.text);
    EXPECT_TRUE(done) << title << "\n" << statement.text << (done ? "" : done.error().text());
  }
}

TEST(Examples, PrintWhatRuns) {
  for (const Example& example : read_examples()) {
    auto database = Database::open(":memory:");
    ASSERT_TRUE(database) << database.error().text();
    ASSERT_TRUE(database->execute(
        "CREATE KEYSPACE d WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}"));
    Session session = database->session("d");
    const Review review = review_of(example.model);
    for (const CqlStatement& statement : workload_of(example.model).cql) {
      if (statement.text.find("CREATE") == std::string::npos || find(review, Verdict::counter_mix)) continue;
      EXPECT_TRUE(session.execute(statement.text)) << statement.text;
    }
    for (const Finding& finding : review.findings) run_all(session, example.title, finding.cql);
  }
}

}  // namespace
}  // namespace sibyl::advisor
