// Random writes of all kinds, on a table with indexes and on the same table without: every query must return
// the same rows, and the entries must match the rows exactly.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <limits>
#include <map>
#include <random>
#include <set>

#include "execute/read/index_entries.h"
#include "execute/read/reader.h"
#include "execute/read/select_fixture_test.h"
#include "plan/evaluation/intervals.h"
#include "plan/statements/select.h"
#include "row/record_key.h"
#include "types/keys/murmur3.h"
#include "types/value.h"

namespace sibyl::execute {
namespace {

constexpr const char* table_definition =
    "CREATE TABLE t (a int, b int, c int, d text, v int, w text, x int, y decimal, s int STATIC, l "
    "list<int>, "
    "st set<text>, m map<text, int>, fl frozen<list<int>>, PRIMARY KEY ((a, b), c, d)) WITH CLUSTERING ORDER "
    "BY (c DESC, d ASC)";
constexpr const char* index_definitions[] = {
    "CREATE INDEX ON t (v)",
    "CREATE INDEX ON t (b)",
    "CREATE INDEX ON t (l)",
    "CREATE INDEX ON t (keys(m))",
    "CREATE INDEX ON t (full(fl))",
    "CREATE INDEX ON t (d)",
    "CREATE INDEX ON t (a) USING 'sai'",
    "CREATE INDEX ON t (c) USING 'sai'",
    "CREATE INDEX ON t (w) USING 'sai' WITH OPTIONS = {'case_sensitive': 'false'}",
    "CREATE INDEX ON t (x) USING 'sai'",
    "CREATE INDEX ON t (y) USING 'sai'",
    "CREATE INDEX ON t (s) USING 'sai'",
    "CREATE INDEX ON t (st) USING 'sai'",
    "CREATE INDEX ON t (entries(m)) USING 'sai'",
};

class Random {
 public:
  explicit Random(uint64_t seed) : engine_(seed) {}
  int below(int end) { return static_cast<int>(engine_() % static_cast<uint64_t>(end)); }
  bool one_in(int n) { return below(n) == 0; }
  template <typename Value, size_t size>
  Value of(const Value (&values)[size]) {
    return values[below(static_cast<int>(size))];
  }

 private:
  std::mt19937_64 engine_;
};

constexpr const char* words[] = {"one", "two", "three", "oné"};
constexpr const char* decimals[] = {"1", "1.0", "-2.5", "100", "0.001"};

std::string number(Random& random) {
  return random.one_in(8) ? "null" : fmt::format("{}", random.below(4));
}
std::string word(Random& random) {
  return fmt::format("'{}'", random.of(words));
}

// A non-key column and a value for it.
std::pair<std::string, std::string> assignment(Random& random) {
  switch (random.below(9)) {
    case 0:
      return {"w", random.one_in(8) ? "null" : word(random)};
    case 1:
      return {"x", number(random)};
    case 2:
      return {"s", number(random)};
    case 3:
      return {"l", fmt::format("[{}, {}]", random.below(4), random.below(4))};
    case 4:
      return {"st", random.one_in(4) ? "{}" : fmt::format("{{{}, {}}}", word(random), word(random))};
    case 5:
      return {"m", fmt::format("{{{}: {}}}", word(random), random.below(4))};
    case 6:
      return {"fl", fmt::format("[{}]", random.below(3))};
    case 7:
      return {"y", random.of(decimals)};
    default:
      return {"v", number(random)};
  }
}

// Changes of an element, which only UPDATE can make.
std::string element_change(Random& random) {
  switch (random.below(6)) {
    case 0:
      return fmt::format("l = l + [{}]", random.below(4));
    case 1:
      return fmt::format("l = l - [{}]", random.below(4));
    case 2:
      return fmt::format("st = st + {{{}}}", word(random));
    case 3:
      return fmt::format("st = st - {{{}}}", word(random));
    case 4:
      return fmt::format("m[{}] = {}", word(random), number(random));
    default:
      return fmt::format("m = m - {{{}}}", word(random));
  }
}

std::string partition(Random& random) {
  return fmt::format("a = {} AND b = {}", random.below(3), random.below(2));
}
std::string row(Random& random) {
  return fmt::format("{} AND c = {} AND d = {}", partition(random), random.below(3), word(random));
}
// Timestamps come in any order and may repeat.
std::string timestamp(Random& random) {
  return random.one_in(2) ? "" : fmt::format(" USING TIMESTAMP {}", 1'700'000'000'000'000 + random.below(20));
}
std::string attributes(Random& random) {
  std::string text = timestamp(random);
  if (random.one_in(3))
    text += fmt::format("{} TTL {}", text.empty() ? " USING" : " AND", 1 + random.below(20));
  return text;
}

std::string insert(Random& random) {
  std::string names = "a, b", values = fmt::format("{}, {}", random.below(3), random.below(2));
  std::set<std::string> seen;
  for (int i = random.below(4); i > 0; --i) {
    const auto [name, value] = assignment(random);
    if (!seen.insert(name).second) continue;
    names += ", " + name;
    values += ", " + value;
  }
  const bool only_static = seen.size() == 1 && seen.contains("s");
  if (!only_static) {
    names += ", c, d";
    values += fmt::format(", {}, {}", random.below(3), word(random));
  }
  return fmt::format("INSERT INTO t ({}) VALUES ({}){}", names, values, attributes(random));
}

std::string update(Random& random) {
  const std::string using_clause = attributes(random);
  if (random.one_in(3))
    return fmt::format("UPDATE t{} SET {} WHERE {}", using_clause, element_change(random), row(random));
  const auto [name, value] = assignment(random);
  return fmt::format("UPDATE t{} SET {} = {} WHERE {}", using_clause, name, value,
                     name == "s" ? partition(random) : row(random));
}

std::string deletion(Random& random) {
  const std::string using_clause = timestamp(random);
  switch (random.below(6)) {
    case 0:
      return fmt::format("DELETE FROM t{} WHERE {}", using_clause, partition(random));
    case 1:
      return fmt::format("DELETE FROM t{} WHERE {} AND c > {}", using_clause, partition(random),
                         random.below(3));
    case 2:
      return fmt::format("DELETE FROM t{} WHERE {} AND c = {}", using_clause, partition(random),
                         random.below(3));
    case 3:
      return fmt::format("DELETE s FROM t{} WHERE {}", using_clause, partition(random));
    case 4: {
      std::string name = assignment(random).first;
      if (name == "s") name = "v";
      return fmt::format("DELETE {} FROM t{} WHERE {}", name, using_clause, row(random));
    }
    default:
      return fmt::format("DELETE FROM t{} WHERE {}", using_clause, row(random));
  }
}

std::string single_write(Random& random) {
  const int kind = random.below(10);
  return kind < 5 ? insert(random) : kind < 8 ? update(random) : deletion(random);
}

std::string write(Random& random) {
  if (!random.one_in(6)) return single_write(random);
  std::string batch = "BEGIN BATCH ";
  for (int i = 1 + random.below(4); i > 0; --i) batch += single_write(random) + "; ";
  return batch + "APPLY BATCH";
}

// --- Queries

std::string relation(Random& random) {
  const int n = random.below(4);
  switch (random.below(14)) {
    case 0:
      return fmt::format("v = {}", n);
    case 1:
      return fmt::format("w = {}", word(random));
    case 2:
      return fmt::format("x > {}", n);
    case 3:
      return fmt::format("x >= {} AND x < {}", n, random.below(5));
    case 4:
      return fmt::format("s = {}", n);
    case 5:
      return fmt::format("s <= {}", n);
    case 6:
      return fmt::format("l CONTAINS {}", n);
    case 7:
      return fmt::format("st CONTAINS {}", word(random));
    case 8:
      return fmt::format("m CONTAINS KEY {}", word(random));
    case 9:
      return fmt::format("m[{}] = {}", word(random), n);
    case 10:
      return fmt::format("fl = [{}]", n);
    case 11:
      return fmt::format("y = {}", random.of(decimals));
    case 12:
      return fmt::format("y > {}", random.of(decimals));
    default:
      return fmt::format("x = {}", n);
  }
}

std::string key_relation(Random& random) {
  switch (random.below(8)) {
    case 0:
      return fmt::format("a = {}", random.below(3));
    case 1:
      return fmt::format("b = {}", random.below(2));
    case 2:
      return fmt::format("c = {}", random.below(3));
    case 3:
      return fmt::format("c > {}", random.below(3));
    case 4:
      return fmt::format("d = {}", word(random));
    case 5:
      return fmt::format("token(a, b) > {}", int64_t{random.below(9) - 4} * 2'000'000'000'000'000'000);
    case 6:
      return partition(random);
    default:
      return fmt::format("{} AND c = {}", partition(random), random.below(3));
  }
}

std::string column_of(const std::string& relation) {
  return relation.substr(0, relation.find_first_of(" [("));
}

std::string query(Random& random) {
  std::string where;
  std::set<std::string> seen;
  for (int i = random.below(3); i >= 0; --i) {
    const std::string one = relation(random);
    if (!seen.insert(column_of(one)).second) continue;
    where += (where.empty() ? "" : " AND ") + one;
  }
  if (random.one_in(2)) where += " AND " + key_relation(random);
  std::string text = "SELECT a, b, c, d, v, w, x, y, s, l, st, m, fl FROM t WHERE " + where;
  if (random.one_in(4)) text = "SELECT a, b, count(*), max(x) FROM t WHERE " + where + " GROUP BY a, b";
  if (random.one_in(5)) text += fmt::format(" PER PARTITION LIMIT {}", 1 + random.below(2));
  if (random.one_in(4)) text += fmt::format(" LIMIT {}", 1 + random.below(5));
  return text + " ALLOW FILTERING";
}

// --- Checking

void mark_built(ReadFixture& database) {
  auto snapshot = std::make_shared<schema::Snapshot>(*database.schema);
  auto keyspace = std::make_shared<schema::Keyspace>(*snapshot->find_keyspace("e"));
  auto table = std::make_shared<schema::Table>(*keyspace->find_table("t"));
  for (schema::Index& index : table->indexes) index.is_built = true;
  keyspace->tables.insert_or_assign("t", std::move(table));
  snapshot->keyspaces.insert_or_assign("e", std::move(keyspace));
  database.schema = std::move(snapshot);
}

std::set<Bytes> stored_entries(const ReadFixture& database, const schema::Index& index) {
  std::set<Bytes> entries;
  const auto iterator =
      database.store->iterate(row::table_begin(index.storage_id), row::table_end(index.storage_id));
  for (iterator->seek_to_first(); iterator->valid(); iterator->next()) entries.emplace(iterator->key());
  return entries;
}

// Returns the entries that follow from the rows themselves, whether or not they have expired.
std::set<Bytes> expected_entries(const ReadFixture& database, const schema::Table& table,
                                 const schema::Index& index) {
  std::set<Bytes> entries;
  const auto add = [&](const Bytes& key, bool is_static, BytesView clustering, const row::Fragment& row) {
    const auto terms = row_terms(table, index, key, is_static, clustering, row);
    RC_ASSERT(terms.has_value());
    const storage::EntryRun& run =
        storage::Store::run_of(database.store->entry_runs(), types::murmur3_token(key));
    for (const auto& [term, marker] : *terms)
      entries.insert(index_prefix(index, run) + term + row_suffix(key, is_static, clustering));
  };
  ReadPlan plan;
  plan.table = &table;
  plan.now_seconds = std::numeric_limits<int64_t>::min();
  plan.is_range = true;
  plan.intervals = {plan::Interval{}};
  auto reader = open_reader(*database.store, plan);
  while (*(*reader)->next_partition()) {
    add((*reader)->partition_key(), true, {}, (*reader)->static_row());
    while (*(*reader)->next_row())
      add((*reader)->partition_key(), false, (*reader)->clustering(), (*reader)->row());
  }
  return entries;
}

void check_entries(const ReadFixture& database) {
  const schema::TablePtr table = database.schema->find_table("e", "t");
  for (const schema::Index& index : table->indexes)
    RC_ASSERT(stored_entries(database, index) == expected_entries(database, *table, index));
}

void check_query(ReadFixture& indexed, ReadFixture& plain, const std::string& text, int32_t page_size) {
  const auto answer = [&](ReadFixture& database) {
    const auto prepared = database.prepare(text);
    if (!prepared) return std::vector<std::string>{"ERROR " + prepared.error().message()};
    return database.rows_in_pages(text, page_size);
  };
  const std::vector<std::string> got = answer(indexed), expected = answer(plain);
  if (got != expected) RC_LOG() << text << "\npage size " << page_size << "\n";
  RC_ASSERT(got == expected);
}

// The runs of a store with four shards.
std::vector<storage::EntryRun> four_runs() {
  constexpr int64_t quarter = int64_t{1} << 62, least = std::numeric_limits<int64_t>::min();
  return {{least, least, -quarter - 1},
          {-quarter, -quarter, -1},
          {0, 0, quarter - 1},
          {quarter, quarter, std::numeric_limits<int64_t>::max()}};
}

void check_random_writes(const std::vector<storage::EntryRun>& runs) {
  size_t through_index = 0;
  const bool is_good = rc::check([&] {
    const auto seeds = *rc::gen::resize(8, rc::gen::arbitrary<std::vector<uint64_t>>());
    ReadFixture indexed, plain;
    indexed.store = storage::memory::make_store({.entry_runs = runs});
    for (ReadFixture* database : {&indexed, &plain}) database->must(table_definition);
    for (const char* definition : index_definitions) indexed.must(definition);
    mark_built(indexed);
    for (const uint64_t seed : seeds) {
      Random random(seed);
      for (int i = 0; i < 8; ++i) {
        const std::string text = write(random);
        RC_LOG() << text << "\n";
        const auto left = indexed.run(text), right = plain.run(text);
        RC_ASSERT(left.has_value() == right.has_value());
      }
      if (random.one_in(3)) {
        const int seconds = random.below(8);
        for (ReadFixture* database : {&indexed, &plain}) database->clock.advance_seconds(seconds);
      }
      check_entries(indexed);
      for (int i = 0; i < 8; ++i) {
        const std::string text = query(random);
        const auto prepared = indexed.prepare(text);
        if (prepared) {
          const auto& plan = *std::get<std::shared_ptr<const plan::Select>>((*prepared)->plan);
          if (!plan.where->index_uses().empty()) ++through_index;
        }
        check_query(indexed, plain, text, random.below(4));
      }
    }
  });
  EXPECT_TRUE(is_good);
  EXPECT_GT(through_index, 500u);
}

TEST(Index, QueriesAndEntriesMatchTheRows) {
  check_random_writes({storage::EntryRun()});
}

TEST(Index, QueriesAndEntriesOfSeveralRunsMatchTheRows) {
  check_random_writes(four_runs());
}

// A query that names the partition reads only the run of that partition.
TEST(Index, EntriesAreInTheRunOfTheirRow) {
  ReadFixture database;
  database.store = storage::memory::make_store({.entry_runs = four_runs()});
  database.must("CREATE TABLE t (k int, c int, v int, PRIMARY KEY (k, c))");
  database.must("CREATE INDEX ON t (v)");
  mark_built(database);
  for (int k = 0; k < 40; ++k) database.must(fmt::format("INSERT INTO t (k, c, v) VALUES ({}, 1, 5)", k));
  const schema::TablePtr table = database.schema->find_table("e", "t");
  std::map<int64_t, int> entries;
  for (const Bytes& key : stored_entries(database, table->indexes[0])) {
    row::RecordKey parsed;
    ASSERT_TRUE(row::parse_record_key(key, parsed));
    ++entries[parsed.token];
  }
  EXPECT_EQ(entries.size(), 4u);
  for (const storage::EntryRun& run : four_runs()) {
    EXPECT_GT(entries[run.token], 0) << run.token;
    storage::WriteSet others;
    for (const storage::EntryRun& other : four_runs())
      if (other.token != run.token)
        others.erase_range(row::token_begin(table->indexes[0].storage_id, other.token),
                           row::token_end(table->indexes[0].storage_id, other.token));
    const auto before = stored_entries(database, table->indexes[0]);
    ASSERT_TRUE(database.store->commit(std::move(others)));
    const auto found = database.rows_in_pages("SELECT k FROM t WHERE v = 5", 3);
    EXPECT_EQ(found.size(), static_cast<size_t>(entries[run.token]));
    storage::WriteSet restored;
    Bytes value;
    row::Fragment entry;
    entry.marker = {1, 0, 0};
    row::encode(entry, value);
    for (const Bytes& key : before) restored.put(key, value);
    ASSERT_TRUE(database.store->commit(std::move(restored)));
  }
  for (int k = 0; k < 40; ++k)
    EXPECT_EQ(database.rows_in_pages(fmt::format("SELECT c FROM t WHERE k = {} AND v = 5", k), 0).size(), 1u);
}

TEST(Index, IsNotUsedBeforeItIsBuilt) {
  ReadFixture database;
  database.must("CREATE TABLE t (k int PRIMARY KEY, v int)");
  database.must("INSERT INTO t (k, v) VALUES (1, 5)");
  database.must("CREATE INDEX ON t (v)");
  database.must("INSERT INTO t (k, v) VALUES (2, 5)");
  EXPECT_EQ(database.rows_in_pages("SELECT k FROM t WHERE v = 5", 0), (std::vector<std::string>{"1", "2"}));
}

TEST(Index, ARangeWithManyMatchesIsScanned) {
  ReadFixture database;
  database.must("CREATE TABLE t (k int, c int, v int, PRIMARY KEY (k, c))");
  database.must("CREATE INDEX ON t (v) USING 'sai'");
  mark_built(database);
  for (int k = 0; k < 10; ++k) database.must(fmt::format("INSERT INTO t (k, c, v) VALUES ({}, 1, {})", k, k));
  // More entries without rows, as left by expired rows, than can be sorted in memory.
  const schema::TablePtr table = database.schema->find_table("e", "t");
  const schema::Index& index = table->indexes[0];
  const plan::TermForm form = plan::TermForm::of(*table, index);
  row::Fragment fragment;
  fragment.marker = {1, 1, 1};
  Bytes value;
  row::encode(fragment, value);
  storage::WriteSet writes;
  for (int i = 0; i < 70'000; ++i)
    writes.put(index_prefix(index, storage::EntryRun()) + form.term({}, types::encode_int32(i)) +
                   row_suffix(types::encode_int32(i + 1'000), false, {}),
               value);
  ASSERT_TRUE(database.store->commit(std::move(writes)));
  for (const int page_size : {0, 3})
    EXPECT_EQ(database.rows_in_pages("SELECT k FROM t WHERE v >= 0", page_size).size(), 10u);
  EXPECT_EQ(database.rows_in_pages("SELECT k FROM t WHERE v > 5 AND v < 100", 2).size(), 4u);
}

TEST(Index, EntriesOfExpiredRowsArePurged) {
  ReadFixture database;
  database.must("CREATE TABLE t (k int PRIMARY KEY, v int)");
  database.must("CREATE INDEX ON t (v)");
  mark_built(database);
  database.must("INSERT INTO t (k, v) VALUES (1, 5) USING TTL 10");
  database.must("INSERT INTO t (k, v) VALUES (2, 5)");
  const schema::TablePtr table = database.schema->find_table("e", "t");
  const schema::Index& index = table->indexes[0];
  EXPECT_EQ(stored_entries(database, index).size(), 2u);
  auto policy = std::make_shared<storage::PurgePolicy>();
  policy->tables = {{table->storage_id, {0}}, {index.storage_id, {0}}};
  database.store->set_purge_policy(std::move(policy));
  // The store uses the system clock. The clock of the database is years behind it.
  ASSERT_TRUE(database.store->compact({}, {}));
  EXPECT_EQ(stored_entries(database, index).size(), 1u);
  database.clock.advance_seconds(100);
  EXPECT_EQ(database.rows_in_pages("SELECT k FROM t WHERE v = 5", 0), std::vector<std::string>{"2"});
}

TEST(Index, LongValuesAreDistinguished) {
  ReadFixture database;
  database.must("CREATE TABLE t (k int PRIMARY KEY, v text, l frozen<list<text>>)");
  database.must("CREATE INDEX ON t (v)");
  database.must("CREATE INDEX ON t (full(l))");
  mark_built(database);
  const std::string start(3'000, 'x');
  for (int k = 0; k < 3; ++k)
    database.must(
        fmt::format("INSERT INTO t (k, v, l) VALUES ({}, '{}{}', ['{}', '{}'])", k, start, k, start, k));
  EXPECT_EQ(database.rows_in_pages(fmt::format("SELECT k FROM t WHERE v = '{}1'", start), 0),
            std::vector<std::string>{"1"});
  EXPECT_EQ(database.rows_in_pages(fmt::format("SELECT k FROM t WHERE l = ['{}', '2']", start), 0),
            std::vector<std::string>{"2"});
}

}  // namespace
}  // namespace sibyl::execute
