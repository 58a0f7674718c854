#include "plan/naming_hints.h"

#include "plan/test_planning.h"

namespace sibyl::plan {
namespace {

class NamingHintsTest : public PlanningTest {
 protected:
  void SetUp() override {
    PlanningTest::SetUp();
    define("CREATE KEYSPACE shop WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}");
    define("CREATE TYPE address (street text)");
    define("CREATE TABLE orders (id int PRIMARY KEY, customer text, total decimal, stock int)");
    define("CREATE TABLE shop.\"Items\" (id int PRIMARY KEY, price decimal)");
  }

  // The hint of a query or a definition that fails.
  std::string hint(const std::string& text) {
    const auto statement = cql::parse_statement(text);
    EXPECT_TRUE(statement) << text;
    if (!statement) return "";
    const auto planned = plan(text);
    if (!planned) return planned.error().hint();
    DefinitionContext context;
    context.keyspace = "e";
    context.datacenter = "amsterdam";
    const auto defined = plan::define(**statement, schema_, context);
    EXPECT_FALSE(defined) << text;
    return defined ? "" : defined.error().hint();
  }
};

TEST_F(NamingHintsTest, OfQueries) {
  EXPECT_EQ(hint("SELECT * FROM shpo.orders"), "did you mean shop?");
  EXPECT_EQ(hint("USE shpo"), "did you mean shop?");
  EXPECT_EQ(hint("SELECT * FROM ordrs"), "did you mean orders?");
  EXPECT_EQ(hint("SELECT * FROM shop.items"), "did you mean \"Items\"?");
  EXPECT_EQ(hint("SELECT custmer FROM orders"), "did you mean customer?");
  EXPECT_EQ(hint("SELECT * FROM orders WHERE custmer = 'x'"), "did you mean customer?");
  EXPECT_EQ(hint("INSERT INTO orders (id, totl) VALUES (1, 2)"), "did you mean total?");
  EXPECT_EQ(hint("UPDATE orders SET totl = 1 WHERE id = 1"), "did you mean total?");
  EXPECT_EQ(hint("DELETE totl FROM orders WHERE id = 1"), "did you mean total?");
  EXPECT_EQ(hint("SELECT cuont(customer) FROM orders"), "did you mean count?");
  EXPECT_EQ(hint("UPDATE orders SET stock = stock + 1 WHERE id = 1"),
            "only counters change by adding; read stock, and write the new value with a condition: SET stock "
            "= ? IF "
            "stock = ?");
}

TEST_F(NamingHintsTest, OfDefinitions) {
  EXPECT_EQ(hint("CREATE TABLE t (id intt PRIMARY KEY)"), "did you mean int?");
  EXPECT_EQ(hint("CREATE TABLE t (id int PRIMARY KEY, a adress)"), "did you mean address?");
  EXPECT_EQ(hint("CREATE TABLE t (id string PRIMARY KEY)"), "in CQL it is text");
  EXPECT_EQ(hint("CREATE TABLE t (id int PRIMARY KEY) WITH gc_grace_second = 1"),
            "did you mean gc_grace_seconds?");
  EXPECT_EQ(hint("ALTER TABLE orders DROP totl"), "did you mean total?");
  EXPECT_EQ(hint("DROP TABLE ordrs"), "did you mean orders?");
  EXPECT_EQ(hint("CREATE TABLE shpo.t (id int PRIMARY KEY)"), "did you mean shop?");
  EXPECT_EQ(hint("CREATE INDEX ON orders (custmer)"), "did you mean customer?");
  EXPECT_EQ(hint("CREATE KEYSPACE x WITH replication = {'class': 'NetworkTopologyStrategy', 'dc9': 1}"),
            "the data center of this server is 'amsterdam'");
  EXPECT_EQ(hint("CREATE KEYSPACE x WITH replication = {'class': 'SimpelStrategy', 'replication_factor': 1}"),
            "did you mean 'SimpleStrategy'?");
  EXPECT_EQ(
      hint("CREATE TABLE t (id int PRIMARY KEY) WITH compaction = {'class': 'LevelledCompactionStrategy'}"),
      "did you mean 'LeveledCompactionStrategy'?");
  EXPECT_EQ(hint("CREATE TABLE t (id int PRIMARY KEY) WITH compaction = {'class': 'Fifo'}"), "");
}

// Suggestions name existing things. Other errors have no suggestion.
TEST_F(NamingHintsTest, NothingSimilar) {
  EXPECT_EQ(hint("SELECT * FROM shipments"), "");
  EXPECT_EQ(hint("SELECT weight FROM orders"), "");
  EXPECT_EQ(hint("CREATE TABLE t (id zebra PRIMARY KEY)"), "");
  for (const char* name : {"ordrs", "custmer", "shpo"}) {
    const base::Error error(base::ErrorCode::invalid, std::string("table ") + name + " is tired");
    const auto statement = cql::parse_statement("SELECT * FROM orders");
    EXPECT_EQ(with_naming_hint(error, **statement, {*schema_, "e"}).hint(), "");
  }
}

}  // namespace
}  // namespace sibyl::plan
