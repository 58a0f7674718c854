#include "engine/describe/describe.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "base/source_path.h"
#include "cql/script.h"
#include "engine/test_schema.h"

namespace sibyl::engine {
namespace {

const std::string recorded_answers = base::source_path("tests/data/describe.txt");

using execute::Request;
using execute::ResultSet;

// Prints the rows of a result as `row a b c` lines. A create_statement follows in lines that begin with `
// `.
std::string print(const ResultSet& result) {
  std::string out;
  base::Reader reader(result.rows.bytes());
  for (size_t row = 0; row < result.rows.count(); ++row) {
    out += "row";
    for (size_t column = 0; column < result.metadata->columns.size(); ++column) {
      uint32_t size = 0;
      BytesView value;
      EXPECT_TRUE(reader.big_endian(size) && reader.take(size, value));
      if (column < 3) {
        out += " " + std::string(value);
        continue;
      }
      out += "\n| ";
      for (char c : value) out += c == '\n' ? std::string("\n| ") : std::string(1, c);
    }
    out += "\n";
  }
  EXPECT_TRUE(reader.at_end());
  return out;
}

base::Result<ResultSet> ask(const schema::Snapshot& schema, const std::string& keyspace,
                            const std::string& text, const Request& request = {}) {
  auto statement = cql::parse_statement(text);
  EXPECT_TRUE(statement.has_value()) << text;
  const auto* described = std::get_if<cql::Describe>(&(*statement)->node);
  EXPECT_NE(described, nullptr) << text;
  Node node;
  node.cluster_name = "Test Cluster";
  return describe(*described, keyspace, schema, node, request);
}

std::string answer(const schema::Snapshot& schema, const std::string& keyspace, const std::string& text) {
  auto result = ask(schema, keyspace, text);
  return result ? print(*result) : "error " + result.error().message() + "\n";
}

// Our results equal all results that were recorded from Cassandra.
TEST(Describe, MatchesCassandra) {
  std::ifstream file(recorded_answers);
  ASSERT_TRUE(file) << "tests/data/describe.txt not found";
  schema::SnapshotPtr schema = system_snapshot();
  std::string keyspace, question, expected, line;
  size_t asked = 0;
  auto check = [&] {
    if (question.starts_with("USE ")) {
      keyspace = question.substr(4);
    } else if (!question.empty()) {
      EXPECT_EQ(answer(*schema, keyspace, question), expected) << question;
      ++asked;
    }
    question.clear();
    expected.clear();
  };
  while (std::getline(file, line)) {
    if (line.starts_with("= ")) {
      schema = define(schema, line.substr(2));
    } else if (line.starts_with("> ")) {
      check();
      question = line.substr(2);
    } else if (!line.empty() && line[0] != '#') {
      expected += line + "\n";
    }
  }
  check();
  EXPECT_GT(asked, 40u);
}

schema::SnapshotPtr recorded_schema() {
  std::ifstream file(recorded_answers);
  schema::SnapshotPtr schema = system_snapshot();
  for (std::string line; std::getline(file, line);)
    if (line.starts_with("= ")) schema = define(schema, line.substr(2));
  return schema;
}

// Running DESCRIBE's statements on an empty schema creates a schema with the same description.
TEST(Describe, OutputRecreatesTheSchema) {
  schema::SnapshotPtr schema = recorded_schema();
  for (const char* question : {"DESCRIBE SCHEMA", "DESCRIBE SCHEMA WITH INTERNALS"}) {
    auto result = ask(*schema, "", question);
    ASSERT_TRUE(result.has_value());
    std::string script;
    base::Reader reader(result->rows.bytes());
    for (size_t i = 0; i < result->rows.count() * 4; ++i) {
      uint32_t size = 0;
      BytesView value;
      ASSERT_TRUE(reader.big_endian(size) && reader.take(size, value));
      if (i % 4 == 3) script += std::string(value) + "\n";
    }
    schema::SnapshotPtr again = system_snapshot();
    for (const cql::ScriptPiece& piece : cql::split_script(script)) again = define(again, piece.text);
    EXPECT_EQ(answer(*again, "", question), answer(*schema, "", question));
  }
}

TEST(Describe, Keyspaces) {
  schema::SnapshotPtr schema = recorded_schema();
  std::string expected;
  for (const char* name : {"\"Odd\"", "shop", "system", "system_auth", "system_distributed", "system_schema",
                           "system_traces", "system_views", "system_virtual_schema"})
    expected += std::string("row ") + name + " keyspace " + name + "\n";
  EXPECT_EQ(answer(*schema, "", "DESCRIBE KEYSPACES"), expected);
  EXPECT_EQ(answer(*schema, "shop", "DESCRIBE KEYSPACES WITH INTERNALS"), expected);
}

TEST(Describe, FullSchemaHasTheSystemKeyspaces) {
  schema::SnapshotPtr schema = recorded_schema();
  EXPECT_THAT(answer(*schema, "", "DESCRIBE FULL SCHEMA"),
              testing::HasSubstr("row system_schema table columns\n"));
  EXPECT_THAT(answer(*schema, "", "DESCRIBE SCHEMA"), testing::Not(testing::HasSubstr("row system")));
}

TEST(Describe, Cluster) {
  schema::SnapshotPtr schema = recorded_schema();
  EXPECT_EQ(answer(*schema, "", "DESCRIBE CLUSTER"),
            "row Test Cluster Murmur3Partitioner DynamicEndpointSnitch\n");
  auto result = ask(*schema, "shop", "DESCRIBE CLUSTER");
  ASSERT_TRUE(result.has_value());
  ASSERT_EQ(result->metadata->columns.size(), 4u);
  EXPECT_EQ(result->metadata->columns[3].name, "range_ownership");
  EXPECT_EQ(result->metadata->columns[3].type->cql_name(), "map<text, list<text>>");
  EXPECT_THAT(result->rows.bytes(), testing::HasSubstr("/127.0.0.1:7000"));
  EXPECT_EQ(ask(*schema, "system", "DESCRIBE CLUSTER")->metadata->columns.size(), 3u);
}

TEST(Describe, Pages) {
  schema::SnapshotPtr schema = recorded_schema();
  std::string all = answer(*schema, "shop", "DESCRIBE TABLES"), pages;
  Request request;
  request.page_size = 3;
  size_t count = 0;
  do {
    auto result = ask(*schema, "shop", "DESCRIBE TABLES", request);
    ASSERT_TRUE(result.has_value()) << result.error().message();
    EXPECT_LE(result->rows.count(), 3u);
    pages += print(*result);
    request.paging_state = result->paging_state;
    ++count;
  } while (request.paging_state);
  EXPECT_EQ(pages, all);
  EXPECT_EQ(count, 4u);

  request.paging_state = ask(*schema, "shop", "DESCRIBE TABLES", request)->paging_state;
  auto changed = std::make_shared<schema::Snapshot>(*schema);
  changed->version = std::string(16, '\2');
  auto result = ask(*changed, "shop", "DESCRIBE TABLES", request);
  ASSERT_FALSE(result.has_value());
  EXPECT_THAT(result.error().message(),
              testing::StartsWith("The schema has changed since the previous page"));
  request.paging_state = "x";
  EXPECT_FALSE(ask(*schema, "shop", "DESCRIBE TABLES", request).has_value());
}

}  // namespace
}  // namespace sibyl::engine
