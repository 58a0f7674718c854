// For tests: plans statements against a schema of the test's own, in keyspace e.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <string_view>

#include "cql/parser.h"
#include "plan/definitions/definitions.h"
#include "plan/prepared.h"
#include "plan/terms/term.h"
#include "types/print_value.h"

namespace sibyl::plan {

class PlanningTest : public testing::Test {
 protected:
  void SetUp() override {
    define("CREATE KEYSPACE e WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}");
  }

  void define(const std::string& text) {
    const auto statement = cql::parse_statement(text);
    ASSERT_TRUE(statement) << text << ": " << statement.error().message();
    auto defined = plan::define(**statement, schema_, {"e", 1});
    ASSERT_TRUE(defined) << text << ": " << defined.error().message();
    schema_ = defined->schema;
  }

  base::Result<std::shared_ptr<Prepared>> plan(const std::string& text) {
    auto statement = cql::parse_statement(text);
    if (!statement) return base::fail(statement.error());
    return prepare(std::shared_ptr<const cql::Statement>(std::move(*statement)), text, "e", schema_);
  }
  // The error of planning, without our hint; empty if there is none.
  std::string error(const std::string& text) {
    const auto planned = plan(text);
    return planned ? "" : planned.error().message();
  }

  // The value of an expression as a literal of the type, or the error.
  std::string value(const std::string& expression, const std::string& type) {
    const auto statement = cql::parse_statement("INSERT INTO t (c) VALUES (" + expression + ")");
    if (!statement) return statement.error().message();
    Binder binder(*schema_, "e", (*statement)->bind_markers);
    const auto raw = cql::parse_type(type);
    if (!raw) return raw.error().message();
    auto bound_type = binder.type(*raw, "e");
    if (!bound_type) return bound_type.error().message();
    const auto& insert = std::get<cql::Insert>((*statement)->node);
    auto term = binder.term(*insert.values[0], {"e", "t", "c", *bound_type});
    if (!term) return term.error().message();
    Scratch scratch;
    const auto result = (*term)->evaluate({{}, 1'700'000'000'123'456, {}, {}}, scratch);
    if (!result) return result.error().message();
    return result->is_present() ? types::to_literal(**bound_type, result->bytes) : "null";
  }

  schema::SnapshotPtr schema_ = std::make_shared<schema::Snapshot>();
};

}  // namespace sibyl::plan
