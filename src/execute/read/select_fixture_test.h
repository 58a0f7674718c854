// A small database for read tests: a schema, a memory store, a manual clock, and results as text.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "base/clock.h"
#include "cql/parser.h"
#include "execute/read/select.h"
#include "execute/write/batch.h"
#include "execute/write/locks.h"
#include "execute/write/modify.h"
#include "plan/definitions/definitions.h"
#include "plan/prepared.h"
#include "storage/memory/memory_store.h"

namespace sibyl::execute {

class ReadFixture {
 public:
  static constexpr int64_t start_micros = 1'700'000'000'000'000;

  ReadFixture() : clock(start_micros), store(storage::memory::make_store()), timestamps(clock) {
    schema = std::make_shared<schema::Snapshot>();
    must("CREATE KEYSPACE e WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}");
    keyspace = "e";
  }

  base::Result<plan::PreparedPtr> prepare(const std::string& text) {
    auto statement = cql::parse_statement(text);
    if (!statement) return base::fail(statement.error());
    return plan::prepare(std::shared_ptr<const cql::Statement>(std::move(*statement)), text, keyspace,
                         schema);
  }

  base::Result<ResultSet> run(const plan::Prepared& prepared, Request request = {}) {
    if (const auto* definition = std::get_if<plan::Definition>(&prepared.plan)) return define(*definition);
    Environment environment{*store, *store, clock, timestamps, locks};
    if (std::holds_alternative<std::shared_ptr<const plan::Select>>(prepared.plan))
      return select(prepared, request, environment);
    base::Result<ResultSet> answer = base::invalid("never answered");
    const auto take = [&](base::Result<ResultSet> result) { answer = std::move(result); };
    if (std::holds_alternative<std::shared_ptr<const plan::Batch>>(prepared.plan))
      batch(prepared, request, environment, take);
    else
      modify(prepared, request, environment, take);
    return answer;
  }
  base::Result<ResultSet> run(const std::string& text, Request request = {}) {
    auto prepared = prepare(text);
    if (!prepared) return base::fail(prepared.error());
    return run(**prepared, std::move(request));
  }
  void must(const std::string& text) {
    auto result = run(text);
    ASSERT_TRUE(result) << text << ": " << result.error().text();
  }
  // Reads all pages of `page_size` rows and returns the rows as text. `pages` receives the number of pages.
  std::vector<std::string> rows_in_pages(const std::string& text, int32_t page_size, int* pages = nullptr);
  // The response as text: columns, rows and warnings, or the error.
  std::string answer(const std::string& text);

  base::ManualClock clock;
  std::unique_ptr<storage::Store> store;
  TimestampSource timestamps;
  PartitionLocks locks;
  schema::SnapshotPtr schema;
  std::string keyspace;

 private:
  base::Result<ResultSet> define(const plan::Definition& definition) {
    auto result = plan::define(*definition.statement, schema, {keyspace, clock.now_micros()});
    if (!result) return base::fail(result.error());
    schema = result->schema;
    return ResultSet{};
  }
};

// The rows of a result, with values printed as `1 | 'one' | null`.
std::vector<std::string> printed_rows(const ResultSet& result);
std::string printed_type(const types::Type& type);

}  // namespace sibyl::execute
