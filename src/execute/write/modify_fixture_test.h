// A small database for write tests: a schema, a memory store and a manual clock.
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "cql/parser.h"
#include "execute/write/batch.h"
#include "execute/write/locks.h"
#include "execute/write/modify.h"
#include "execute/write/truncate.h"
#include "plan/definitions/definitions.h"
#include "plan/prepared.h"
#include "row/counter.h"
#include "row/fragment.h"
#include "row/fragment_print.h"
#include "row/record_key.h"
#include "storage/memory/memory_store.h"

namespace sibyl::execute {

class WriteFixture {
 public:
  static constexpr int64_t start_micros = 1'700'000'000'000'000;
  static constexpr int64_t start_seconds = start_micros / 1'000'000;

  explicit WriteFixture(storage::memory::Options options = {})
      : clock(start_micros), store(storage::memory::make_store(std::move(options))), timestamps(clock) {
    auto snapshot = std::make_shared<schema::Snapshot>();
    schema = snapshot;
    run("CREATE KEYSPACE e WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}");
    keyspace = "e";
  }

  base::Result<plan::PreparedPtr> prepare(const std::string& text) {
    auto statement = cql::parse_statement(text);
    if (!statement) return base::fail(statement.error());
    return plan::prepare(std::shared_ptr<const cql::Statement>(std::move(*statement)), text, keyspace,
                         schema);
  }

  // Runs a statement to completion.
  base::Result<ResultSet> run(const std::string& text, std::vector<types::ValueView> values = {},
                              Request request = {}) {
    auto prepared = prepare(text);
    if (!prepared) return base::fail(prepared.error());
    return run(**prepared, std::move(values), std::move(request));
  }
  base::Result<ResultSet> run(const plan::Prepared& prepared, std::vector<types::ValueView> values = {},
                              Request request = {}) {
    if (const auto* definition = std::get_if<plan::Definition>(&prepared.plan)) return define(*definition);
    request.values = values;
    base::Result<ResultSet> answer = base::invalid("never answered");
    Environment environment = this->environment();
    auto take = [&](base::Result<ResultSet> result) { answer = std::move(result); };
    if (std::holds_alternative<plan::Truncate>(prepared.plan)) {
      truncate(prepared, environment, take);
    } else if (std::holds_alternative<std::shared_ptr<const plan::Batch>>(prepared.plan)) {
      batch(prepared, request, environment, take);
    } else {
      modify(prepared, request, environment, take);
    }
    return answer;
  }
  void must(const std::string& text, std::vector<types::ValueView> values = {}) {
    auto result = run(text, std::move(values));
    ASSERT_TRUE(result) << text << ": " << result.error().text();
  }
  // Returns the message of the error, or "" if the statement succeeded.
  std::string error_of(const std::string& text, std::vector<types::ValueView> values = {}) {
    auto result = run(text, std::move(values));
    return result ? "" : result.error().message();
  }

  struct Record {
    row::RecordKind kind;
    Bytes rest;
    Bytes bytes;
    row::Fragment fragment;  // borrows from bytes

    std::string print() const { return row::print(fragment); }
  };
  // Returns every record of a table, in order.
  std::vector<std::unique_ptr<Record>> records(const std::string& table) const {
    const uint32_t id = schema->find_table("e", table)->storage_id;
    std::vector<std::unique_ptr<Record>> found;
    auto iterator = store->iterate(row::table_begin(id), row::table_end(id));
    for (iterator->seek_to_first(); iterator->valid(); iterator->next()) {
      auto record = std::make_unique<Record>();
      row::RecordKey key;
      EXPECT_TRUE(row::parse_record_key(iterator->key(), key));
      record->kind = key.kind;
      record->rest = key.rest;
      record->bytes = iterator->value();
      EXPECT_TRUE(row::decode(record->bytes, record->fragment));
      found.push_back(std::move(record));
    }
    return found;
  }
  // The table's records as text, one per line.
  std::vector<std::string> lines(const std::string& table) const {
    static const char* kinds[] = {"partition: ", "range: ", "row: "};
    std::vector<std::string> out;
    for (const auto& record : records(table))
      out.push_back(kinds[static_cast<size_t>(record->kind)] + record->print());
    return out;
  }
  // The sums of the table's counters, by column.
  std::map<std::string, int64_t> counters(const std::string& table) const {
    std::map<std::string, int64_t> values;
    for (const auto& record : records(table)) {
      row::Fragment fragment = record->fragment;
      row::visible_at(fragment, {}, start_seconds);
      for (const row::Cell& cell : fragment.cells) {
        row::CounterValue counter;
        EXPECT_TRUE(row::decode_counter(cell.value, counter));
        values[schema->find_table("e", table)->find_by_id(cell.column)->name] += counter.value;
      }
    }
    return values;
  }
  uint32_t column(const std::string& table, const std::string& name) const {
    return schema->find_table("e", table)->find(name)->id;
  }

  Environment environment() { return {*store, *store, clock, timestamps, locks}; }

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
    ResultSet answer;
    if (!result->changes.empty()) {
      answer.kind = ResultSet::Kind::schema_change;
      answer.change = result->changes.front();
    }
    return answer;
  }
};

}  // namespace sibyl::execute
