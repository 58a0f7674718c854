#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "execute/read/paging.h"
#include "execute/read/reader.h"
#include "execute/read/select.h"
#include "execute/read/select_fixture_test.h"
#include "types/value.h"

namespace sibyl::execute {
namespace {

using types::ValueView;

std::string error_of(const base::Result<ResultSet>& result) {
  return result ? "" : result.error().message();
}

// --- Visibility

TEST(Select, SkipsDeletedAndExpiredData) {
  ReadFixture db;
  db.must("CREATE TABLE t (k int, c int, s int STATIC, v int, w int, PRIMARY KEY (k, c))");
  for (int c = 0; c < 10; ++c) db.must(fmt::format("INSERT INTO t (k, c, v, w) VALUES (1, {}, {}, 0)", c, c));
  db.must("INSERT INTO t (k, c, v) VALUES (1, 10, 10) USING TTL 100");
  db.must("UPDATE t USING TTL 50 SET v = 11 WHERE k = 1 AND c = 11");
  db.must("DELETE FROM t WHERE k = 1 AND c > 2 AND c <= 5");
  db.must("DELETE FROM t WHERE k = 1 AND c = 7");
  db.must("DELETE v FROM t WHERE k = 1 AND c = 8");
  const std::string all = "SELECT c, v FROM t WHERE k = 1";
  EXPECT_EQ(db.rows_in_pages(all, 0), (std::vector<std::string>{"0 | 0", "1 | 1", "2 | 2", "6 | 6",
                                                                "8 | null", "9 | 9", "10 | 10", "11 | 11"}));
  EXPECT_EQ(db.rows_in_pages(all + " ORDER BY c DESC", 0),
            (std::vector<std::string>{"11 | 11", "10 | 10", "9 | 9", "8 | null", "6 | 6", "2 | 2", "1 | 1",
                                      "0 | 0"}));
  // Reading a single row also applies the range deletion.
  EXPECT_TRUE(db.rows_in_pages(all + " AND c = 4", 0).empty());
  EXPECT_EQ(db.rows_in_pages(all + " AND c IN (4, 6)", 0), std::vector<std::string>{"6 | 6"});
  EXPECT_EQ(db.rows_in_pages("SELECT ttl(v) FROM t WHERE k = 1 AND c IN (9, 10, 11)", 0),
            (std::vector<std::string>{"null", "100", "50"}));
  db.clock.advance_seconds(60);
  EXPECT_TRUE(db.rows_in_pages(all + " AND c = 11", 0).empty());
  EXPECT_EQ(db.rows_in_pages("SELECT ttl(v) FROM t WHERE k = 1 AND c = 10", 0),
            std::vector<std::string>{"40"});
  db.clock.advance_seconds(60);
  EXPECT_TRUE(db.rows_in_pages(all + " AND c = 10", 0).empty());
  // A newer write survives the range deletion, an older one does not.
  db.must("INSERT INTO t (k, c, v) VALUES (1, 4, 44)");
  db.must("INSERT INTO t (k, c, v) VALUES (1, 5, 55) USING TIMESTAMP 5");
  EXPECT_EQ(db.rows_in_pages(all + " AND c IN (4, 5)", 0), std::vector<std::string>{"4 | 44"});
  db.must("DELETE FROM t WHERE k = 1");
  EXPECT_TRUE(db.rows_in_pages("SELECT * FROM t", 0).empty());
}

TEST(Select, ADroppedColumnsCellsStayHidden) {
  ReadFixture db;
  db.must("CREATE TABLE t (k int PRIMARY KEY, v int, w int)");
  db.must("INSERT INTO t (k, v, w) VALUES (1, 2, 3)");
  db.must("ALTER TABLE t DROP v");
  EXPECT_EQ(db.rows_in_pages("SELECT * FROM t", 0), std::vector<std::string>{"1 | 3"});
  db.must("ALTER TABLE t ADD v int");
  EXPECT_EQ(db.rows_in_pages("SELECT * FROM t", 0), std::vector<std::string>{"1 | null | 3"});
  EXPECT_TRUE(db.rows_in_pages("SELECT * FROM t WHERE v = 2 ALLOW FILTERING", 0).empty());
}

// --- Markers

TEST(Select, NamesItsMarkersAsCassandraDoes) {
  ReadFixture db;
  db.must(
      "CREATE TABLE p (a int, b text, c int, d int, v int, s int STATIC, m map<text, int>, "
      "PRIMARY KEY ((a, b), c, d))");
  const auto markers = [&](const std::string& text) {
    auto prepared = db.prepare(text);
    EXPECT_TRUE(prepared) << text << (prepared ? "" : prepared.error().message());
    std::string names;
    if (!prepared) return names;
    for (const auto& marker : (*prepared)->markers)
      names += fmt::format("{}{} {}", names.empty() ? "" : ", ", marker.name, printed_type(*marker.type));
    names += ";";
    for (const uint16_t index : (*prepared)->partition_key_markers) names += fmt::format(" {}", index);
    return names;
  };
  EXPECT_EQ(markers("SELECT v FROM p WHERE a = ? AND b = ? AND c = ? AND d > ? LIMIT ?"),
            "a int, b varchar, c int, d int, [limit] int; 0 1");
  EXPECT_EQ(markers("SELECT v FROM p WHERE b = ? AND a = ?"), "b varchar, a int; 1 0");
  EXPECT_EQ(markers("SELECT v FROM p WHERE a = ? AND b = 'x'"), "a int;");
  EXPECT_EQ(markers("SELECT v FROM p WHERE a = ? AND b = ? AND (c, d) = ?"),
            "a int, b varchar, (c,d) tuple<int, int>; 0 1");
  EXPECT_EQ(markers("SELECT v FROM p WHERE a = ? AND b = ? AND (c, d) IN ?"),
            "a int, b varchar, in(c,d) list<tuple<int, int>>; 0 1");
  EXPECT_EQ(markers("SELECT v FROM p WHERE a = ? AND b = ? AND (c, d) > (?, ?)"),
            "a int, b varchar, c int, d int; 0 1");
  EXPECT_EQ(markers("SELECT v FROM p WHERE a = :aa AND b = :bb AND c IN :cc"),
            "aa int, bb varchar, cc list<int>; 0 1");
  EXPECT_EQ(markers("SELECT v FROM p WHERE token(a, b) > ? AND token(a, b) <= token(?, ?)"),
            "partition key token bigint, arg0(system.token) int, arg1(system.token) varchar;");
  EXPECT_EQ(markers("SELECT m[?], blob_as_int(?), (int)?, c + (int)? FROM p WHERE a IN (?, ?) AND b IN ?"),
            "key(m) varchar, [selection] blob, [selection] int, [selection] int, a int, a int, in(b) "
            "list<varchar>;");
  EXPECT_EQ(
      markers("SELECT v FROM p WHERE m[?] = ? AND m CONTAINS KEY ? AND m CONTAINS ? PER PARTITION LIMIT ? "
              "ALLOW FILTERING"),
      "key(m) varchar, value(m) int, key(m) varchar, value(m) int, [per_partition_limit] int;");
}

TEST(Select, RefusesNullAndUnsetValuesAsCassandraDoes) {
  ReadFixture db;
  db.must("CREATE TABLE p (a int, b text, c int, d int, v int, PRIMARY KEY ((a, b), c, d))");
  const Bytes one = types::encode_int32(1), zero = types::encode_int32(0), text = "x", short_int(1, '\0');
  const auto error = [&](const std::string& rest, std::vector<ValueView> more) {
    std::vector<ValueView> values = {ValueView::of(one), ValueView::of(text)};
    values.insert(values.end(), more.begin(), more.end());
    Request request;
    request.values = values;
    return error_of(db.run("SELECT v FROM p WHERE a = ? AND b = ? " + rest, request));
  };
  const ValueView null = ValueView::null(), unset = ValueView::unset();
  EXPECT_EQ(error("AND (c, d) IN ?", {null}), "Invalid null value for IN restriction");
  EXPECT_EQ(error("AND c IN ?", {null}), "Invalid null value for column c");
  EXPECT_EQ(error("AND c IN ?", {unset}), "Invalid unset value for column c");
  EXPECT_EQ(error("AND c > ?", {unset}), "Invalid unset value for column c");
  EXPECT_EQ(error("AND c = ?", {unset}), "Invalid unset value for column c");
  EXPECT_EQ(error("AND (c, d) = (?, ?)", {ValueView::of(one), unset}),
            "Invalid unset value for tuple field number 1");
  EXPECT_EQ(error("LIMIT ?", {null}), "Invalid null value of limit");
  EXPECT_EQ(error("LIMIT ?", {unset}), "");
  EXPECT_EQ(error("LIMIT ?", {ValueView::of(zero)}), "LIMIT must be strictly positive");
  EXPECT_EQ(error("AND v = ? ALLOW FILTERING", {unset}), "Unsupported unset value for column v");
  EXPECT_EQ(error("AND c = ?", {ValueView::of(short_int)}), "Expected 4 or 0 byte int (1)");
  EXPECT_EQ(error("AND c = ?", {}), "Invalid amount of bind variables");
}

// --- Pages

TEST(Select, PagesEndLikeCassandras) {
  ReadFixture db;
  db.must("CREATE TABLE q (k int, c int, s int STATIC, v int, PRIMARY KEY (k, c))");
  for (int c = 1; c <= 4; ++c) db.must(fmt::format("INSERT INTO q (k, c, v, s) VALUES (1, {}, 1, 1)", c));
  db.must("INSERT INTO q (k, s) VALUES (2, 1)");
  const auto pages = [&](const std::string& text) {
    int count = 0;
    db.rows_in_pages(text, 2, &count);
    return count;
  };
  // A full page has a paging state even if no row follows. A page that ends at the LIMIT has none.
  EXPECT_EQ(pages("SELECT c FROM q WHERE k = 1"), 3);
  EXPECT_EQ(pages("SELECT c FROM q WHERE k = 1 LIMIT 2"), 1);
  EXPECT_EQ(pages("SELECT c FROM q WHERE k = 1 LIMIT 4"), 2);
  EXPECT_EQ(pages("SELECT c FROM q WHERE k = 1 LIMIT 3"), 2);
  EXPECT_EQ(pages("SELECT * FROM q"), 3);
  EXPECT_EQ(pages("SELECT * FROM q PER PARTITION LIMIT 2"), 2);
  EXPECT_EQ(pages("SELECT DISTINCT k FROM q"), 2);
  EXPECT_EQ(pages("SELECT c FROM q WHERE k IN (1, 2)"), 3);
  EXPECT_EQ(pages("SELECT count(*) FROM q"), 1);
  EXPECT_EQ(pages("SELECT k, count(*) FROM q GROUP BY k"), 2);
  EXPECT_EQ(pages("SELECT k, c, count(*) FROM q GROUP BY k, c"), 3);
  Request request;
  request.page_size = 2;
  EXPECT_EQ(error_of(db.run("SELECT c FROM q WHERE k IN (1, 2) ORDER BY c", request)),
            "Cannot page queries with both ORDER BY and a IN restriction on the partition key; you must "
            "either remove "
            "the ORDER BY or the IN and sort client side, or disable paging for this query");
}

TEST(Select, RefusesInvalidPagingStates) {
  ReadFixture db;
  db.must("CREATE TABLE t (k int, c int, PRIMARY KEY (k, c))");
  db.must("CREATE TABLE other (k int, c int, PRIMARY KEY (k, c))");
  for (int c = 0; c < 4; ++c) db.must(fmt::format("INSERT INTO t (k, c) VALUES (1, {})", c));
  Request request;
  request.page_size = 2;
  const auto first = db.run("SELECT * FROM t", request);
  ASSERT_TRUE(first && first->paging_state);
  const auto refused = [&](const Bytes& state, const char* text = "SELECT * FROM t") {
    request.paging_state = state;
    const auto result = db.run(text, request);
    return !result && result.error().code() == base::ErrorCode::invalid &&
           result.error().message() == "Invalid value for the paging state";
  };
  EXPECT_FALSE(refused(*first->paging_state));
  EXPECT_TRUE(refused(*first->paging_state, "SELECT * FROM other"));
  EXPECT_TRUE(refused("garbage"));
  EXPECT_TRUE(refused(Bytes(1000, '\xff')));
  for (size_t i = 0; i < first->paging_state->size(); ++i) {
    Bytes damaged = *first->paging_state;
    damaged[i] = static_cast<char>(damaged[i] ^ 0x10);
    EXPECT_TRUE(refused(damaged)) << i;
    EXPECT_TRUE(refused(first->paging_state->substr(0, i)) || i == 0) << i;
  }
}

// Reads random partitions with deletions, static columns and gaps. Every page size must give the same rows as
// a single page.
TEST(SelectProperty, PagesOfAnySizeGiveTheSameRows) {
  const bool ok = rc::check([] {
    ReadFixture db;
    db.must(
        "CREATE TABLE t (k int, a int, b int, s int STATIC, v int, PRIMARY KEY (k, a, b)) "
        "WITH CLUSTERING ORDER BY (a ASC, b DESC)");
    const int writes = *rc::gen::inRange(0, 60);
    for (int i = 0; i < writes; ++i) {
      const int k = *rc::gen::inRange(0, 4), a = *rc::gen::inRange(0, 4), b = *rc::gen::inRange(0, 4);
      switch (*rc::gen::inRange(0, 12)) {
        case 0:
          db.must(fmt::format("INSERT INTO t (k, s) VALUES ({}, {})", k, a));
          break;
        case 1:
          db.must(fmt::format("DELETE FROM t WHERE k = {} AND a > {} AND a <= {}", k, a, a + b));
          break;
        case 2:
          db.must(fmt::format("DELETE FROM t WHERE k = {} AND a = {}", k, a));
          break;
        case 3:
          db.must(fmt::format("DELETE FROM t WHERE k = {} AND a = {} AND b = {}", k, a, b));
          break;
        case 4:
          if (b == 0) db.must(fmt::format("DELETE FROM t WHERE k = {}", k));
          break;
        default:
          db.must(fmt::format("INSERT INTO t (k, a, b, v) VALUES ({}, {}, {}, {})", k, a, b, i));
      }
    }
    for (const char* query :
         {"SELECT * FROM t", "SELECT * FROM t WHERE k = 1", "SELECT * FROM t WHERE k = 1 ORDER BY a DESC",
          "SELECT * FROM t WHERE k IN (0, 1, 3)", "SELECT * FROM t PER PARTITION LIMIT 3",
          "SELECT * FROM t WHERE k IN (2, 1) PER PARTITION LIMIT 2 LIMIT 3", "SELECT DISTINCT k, s FROM t",
          "SELECT * FROM t LIMIT 7", "SELECT * FROM t WHERE token(k) > -4069959284402364209",
          "SELECT * FROM t WHERE k = 1 AND (a, b) > (1, 2)",
          "SELECT * FROM t WHERE k = 1 AND a IN (0, 2, 3) AND b >= 1",
          "SELECT * FROM t WHERE k = 1 AND a IN (0, 2, 3) AND b IN (0, 2) ORDER BY a DESC",
          "SELECT * FROM t WHERE a = 2 ALLOW FILTERING", "SELECT * FROM t WHERE s = 1 ALLOW FILTERING",
          "SELECT * FROM t WHERE v > 20 PER PARTITION LIMIT 2 ALLOW FILTERING",
          "SELECT k, a, count(*), max(v), sum(b) FROM t GROUP BY k, a",
          "SELECT k, count(*) FROM t GROUP BY k",
          "SELECT k, a, b, count(*) FROM t GROUP BY k, a PER PARTITION LIMIT 2 LIMIT 5",
          "SELECT count(*) FROM t"}) {
      const std::vector<std::string> expected = db.rows_in_pages(query, 0);
      for (const int page_size : {1, 2, 3, 5, 100}) RC_ASSERT(db.rows_in_pages(query, page_size) == expected);
    }
  });
  EXPECT_TRUE(ok);
}

// --- Multi-column relations, compared with a filter in the test

TEST(SelectProperty, MultiColumnRelationsMatchAFilter) {
  const bool ok = rc::check([] {
    ReadFixture db;
    const char* orders[3];
    for (auto& order : orders) order = *rc::gen::element("ASC", "DESC");
    db.must(fmt::format(
        "CREATE TABLE t (k int, a int, b int, c int, PRIMARY KEY (k, a, b, c)) WITH CLUSTERING ORDER BY "
        "(a {}, b {}, c {})",
        orders[0], orders[1], orders[2]));
    using Key = std::array<int, 3>;
    std::set<Key> rows;
    for (int i = *rc::gen::inRange(0, 40); i > 0; --i) {
      const Key key = {*rc::gen::inRange(0, 4), *rc::gen::inRange(0, 4), *rc::gen::inRange(0, 4)};
      rows.insert(key);
      db.must(fmt::format("INSERT INTO t (k, a, b, c) VALUES (0, {}, {}, {})", key[0], key[1], key[2]));
    }
    struct Bound {
      std::vector<int> values;
      bool inclusive, greater;
      bool allows(const Key& key) const {
        const std::vector<int> prefix(key.begin(), key.begin() + static_cast<std::ptrdiff_t>(values.size()));
        if (prefix == values) return inclusive;
        return greater ? prefix > values : prefix < values;
      }
      std::string text() const {
        std::string left, right;
        const char* names[] = {"a", "b", "c"};
        for (size_t i = 0; i < values.size(); ++i) {
          left += fmt::format("{}{}", i == 0 ? "" : ", ", names[i]);
          right += fmt::format("{}{}", i == 0 ? "" : ", ", values[i]);
        }
        return fmt::format(" AND ({}) {}{} ({})", left, greater ? ">" : "<", inclusive ? "=" : "", right);
      }
    };
    const auto bound = [](bool greater) {
      Bound made{{}, *rc::gen::arbitrary<bool>(), greater};
      for (int i = *rc::gen::inRange(1, 4); i > 0; --i) made.values.push_back(*rc::gen::inRange(0, 4));
      return made;
    };
    std::vector<Bound> bounds;
    if (*rc::gen::arbitrary<bool>()) bounds.push_back(bound(true));
    if (*rc::gen::arbitrary<bool>() || bounds.empty()) bounds.push_back(bound(false));
    std::string query = "SELECT a, b, c FROM t WHERE k = 0";
    for (const Bound& one : bounds) query += one.text();

    std::vector<Key> expected;
    for (const Key& key : rows)
      if (std::all_of(bounds.begin(), bounds.end(), [&](const Bound& one) { return one.allows(key); }))
        expected.push_back(key);
    std::sort(expected.begin(), expected.end(), [&](const Key& left, const Key& right) {
      for (size_t i = 0; i < 3; ++i)
        if (left[i] != right[i]) return (left[i] < right[i]) == (orders[i][0] == 'A');
      return false;
    });
    std::vector<std::string> printed;
    for (const Key& key : expected) printed.push_back(fmt::format("{} | {} | {}", key[0], key[1], key[2]));
    RC_ASSERT(db.rows_in_pages(query, 0) == printed);
    RC_ASSERT(db.rows_in_pages(query, 2) == printed);
    std::reverse(printed.begin(), printed.end());
    const std::string reversed = query + (orders[0][0] == 'A' ? " ORDER BY a DESC" : " ORDER BY a ASC");
    RC_ASSERT(db.rows_in_pages(reversed, 0) == printed);
    RC_ASSERT(db.rows_in_pages(reversed, 3) == printed);
  });
  EXPECT_TRUE(ok);
}

TEST(RangeDeletionsProperty, TheLatestCoveringDeletionWins) {
  const bool ok = rc::check([] {
    struct Range {
      Bytes begin;
      std::optional<Bytes> end;
      int64_t timestamp;
    };
    std::vector<Range> ranges;
    RangeDeletions deletions;
    for (int i = *rc::gen::inRange(0, 12); i > 0; --i) {
      const int begin = *rc::gen::inRange(0, 20);
      Range range{Bytes(1, static_cast<char>(begin)), std::nullopt, *rc::gen::inRange(1, 9)};
      if (*rc::gen::arbitrary<bool>())
        range.end = Bytes(1, static_cast<char>(begin + *rc::gen::inRange(0, 8)));
      ranges.push_back(range);
      deletions.add(range.begin, range.end, {range.timestamp, 0});
    }
    deletions.finish();
    for (int at = 0; at < 30; ++at) {
      const Bytes clustering(1, static_cast<char>(at));
      int64_t latest = row::no_timestamp;
      for (const Range& range : ranges)
        if (range.begin <= clustering && (!range.end || clustering < *range.end))
          latest = std::max(latest, range.timestamp);
      RC_ASSERT(deletions.covering(clustering).timestamp == latest);
    }
  });
  EXPECT_TRUE(ok);
}

// --- Interrupts

struct EndAfter final : Interrupt {
  explicit EndAfter(int checks) : left(checks) {}
  base::Status check() const override {
    return left-- > 0 ? base::Status() : base::fail(base::Error(base::ErrorCode::read_timeout, "over"));
  }
  mutable int left;
};

TEST(Select, ALongReadEndsWhenInterrupted) {
  ReadFixture db;
  db.must("CREATE TABLE t (k int, c int, PRIMARY KEY (k, c))");
  for (int i = 0; i < 200; ++i) db.must(fmt::format("INSERT INTO t (k, c) VALUES ({}, {})", i % 50, i));
  Environment environment{*db.store, *db.store, db.clock, db.timestamps, db.locks};
  const auto read = [&](const char* text, int checks) {
    const auto prepared = db.prepare(text);
    const EndAfter interrupt(checks);
    Request request;
    request.interrupt = &interrupt;
    const auto result = select(**prepared, request, environment);
    EXPECT_EQ(result.has_value(), interrupt.left >= 0);
    return result ? "whole" : result.error().message();
  };
  for (const char* text :
       {"SELECT * FROM t", "SELECT count(*) FROM t", "SELECT * FROM t WHERE c = 7 ALLOW FILTERING"}) {
    EXPECT_EQ(read(text, 3), "over") << text;
    EXPECT_EQ(read(text, 1'000'000), "whole") << text;
  }
  EXPECT_EQ(read("SELECT * FROM t WHERE k = 3", 0), "whole") << "a short read does not poll the interrupt";
  // Deleted rows are not returned, but a read still has to skip them.
  db.must("CREATE TABLE d (k int, c int, v int, PRIMARY KEY (k, c))");
  for (int i = 0; i < 600; ++i)
    db.must(fmt::format("INSERT INTO d (k, c, v) VALUES ({}, {}, 1)", i / 300, i));
  db.must("DELETE FROM d WHERE k = 0");
  db.must("DELETE FROM d WHERE k = 1 AND c >= 300");
  for (const char* text : {"SELECT * FROM d WHERE k = 0", "SELECT * FROM d WHERE k = 1 ORDER BY c DESC"}) {
    EXPECT_EQ(read(text, 3), "over") << text;
    EXPECT_EQ(read(text, 1'000'000), "whole") << text;
  }
}

// --- Observers

struct KeysObserver final : Observer {
  void read(const schema::Table&, std::span<const Bytes> keys, uint64_t) override {
    for (const Bytes& key : keys) partitions.push_back(base::read_big_endian<int32_t>(key));
  }
  void written(const schema::Table&, std::span<const Bytes>) override {}
  void ended(const Counted&, const ResultSet&) override {}
  std::vector<int32_t> partitions;
};

TEST(Select, OnlyPartitionsThatAPageReadsAreObserved) {
  ReadFixture db;
  db.must("CREATE TABLE t (k int, c int, PRIMARY KEY (k, c))");
  for (const char* row : {"1, 1", "1, 2", "2, 1", "2, 2", "3, 1"})
    db.must("INSERT INTO t (k, c) VALUES (" + std::string(row) + ")");
  KeysObserver observer;
  Environment environment{*db.store, *db.store, db.clock, db.timestamps, db.locks};
  environment.observer = &observer;
  const auto read = [&](const std::string& text, int32_t page_size) {
    const auto prepared = db.prepare(text);
    Request request;
    request.page_size = page_size;
    std::vector<std::vector<int32_t>> pages;
    do {
      observer.partitions.clear();
      const auto result = select(**prepared, request, environment);
      EXPECT_TRUE(result);
      request.paging_state = result->paging_state;
      pages.push_back(observer.partitions);
    } while (request.paging_state);
    return pages;
  };
  using Pages = std::vector<std::vector<int32_t>>;
  EXPECT_EQ(read("SELECT * FROM t WHERE k IN (1, 2, 3) LIMIT 1", 0), (Pages{{1}}));
  EXPECT_EQ(read("SELECT * FROM t WHERE k IN (1, 2, 3)", 3), (Pages{{1, 2}, {2, 3}}));
  EXPECT_EQ(read("SELECT * FROM t WHERE k = 2", 0), (Pages{{2}}));
  EXPECT_EQ(read("SELECT * FROM t WHERE k = 9", 0), (Pages{{9}}));
  EXPECT_EQ(read("SELECT * FROM t", 0), (Pages{{}}));
}

// --- Blocking

TEST(Select, OnlyReadsOfOnePartitionRunInline) {
  ReadFixture db;
  db.must("CREATE TABLE t (k int, c int, v int, PRIMARY KEY (k, c))");
  const auto blocks = [&](const std::string& text) { return (**db.prepare(text)).profile.may_block; };
  EXPECT_FALSE(blocks("SELECT * FROM t WHERE k = 1"));
  EXPECT_FALSE(blocks("SELECT * FROM t WHERE k = 1 AND c = 1"));
  EXPECT_FALSE(blocks("SELECT * FROM t WHERE k = 1 AND c > 1 LIMIT 5"));
  EXPECT_TRUE(blocks("SELECT * FROM t"));
  EXPECT_TRUE(blocks("SELECT * FROM t WHERE k IN (1, 2)"));
  EXPECT_TRUE(blocks("SELECT * FROM t WHERE k = 1 AND c IN ?"));
  EXPECT_TRUE(blocks("SELECT * FROM t WHERE token(k) > 1"));
  EXPECT_TRUE(blocks("SELECT * FROM t WHERE k = 1 AND v = 1 ALLOW FILTERING"));
  EXPECT_TRUE(blocks("SELECT count(*) FROM t WHERE k = 1"));
}

TEST(Select, ErrorsHaveHints) {
  ReadFixture db;
  db.must("CREATE TABLE p (a int, b int, c int, d int, v int, PRIMARY KEY ((a, b), c, d))");
  const auto hint = [&](const std::string& text) {
    const auto result = db.run(text);
    return result ? std::string() : result.error().hint();
  };
  EXPECT_EQ(hint("SELECT * FROM p WHERE a = 1"), "the partition key is (a, b): also give b");
  EXPECT_EQ(
      hint("SELECT * FROM p WHERE v = 1"),
      "v is not part of the primary key: CREATE INDEX ON e.p (v) USING 'sai'; or keep a second table whose "
      "partition key is v");
  EXPECT_EQ(
      hint("SELECT * FROM p WHERE c = 1"),
      "also give the partition key (a, b), or CREATE INDEX ON e.p (c) USING 'sai'; or keep a second table "
      "whose partition key is c");
  EXPECT_EQ(hint("SELECT * FROM p WHERE a = 1 AND b = 1 AND d = 1"),
            "also restrict c, or keep a table that is clustered by d first");
  EXPECT_EQ(hint("SELECT * FROM p WHERE a = '1' AND b = 1"), "numbers are written without quotes");
}

}  // namespace
}  // namespace sibyl::execute
