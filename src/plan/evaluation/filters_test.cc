// Row filters, the entries of indexes, and the filters of views.
#include "plan/evaluation/filters.h"

#include <string>

#include "cql/printer.h"
#include "plan/evaluation/view_filter.h"
#include "plan/indexes/index_terms.h"
#include "plan/statements/select.h"
#include "plan/test_planning.h"
#include "types/print_value.h"

namespace sibyl::plan {
namespace {

class FiltersTest : public PlanningTest {
 protected:
  void SetUp() override {
    PlanningTest::SetUp();
    define(
        "CREATE TABLE t (k int, c int, v int, txt text, s set<int>, m map<text, int>, PRIMARY KEY (k, c))");
  }

  RestrictionsPtr where(const std::string& relations, bool filters = true) {
    const std::string text = "SELECT * FROM t WHERE " + relations + (filters ? " ALLOW FILTERING" : "");
    const auto planned = plan(text);
    EXPECT_TRUE(planned) << text << ": " << planned.error().message();
    return planned ? std::get<std::shared_ptr<const Select>>((*planned)->plan)->where : nullptr;
  }

  // Returns "column op value" for each filter, separated by "; "; or the error.
  std::string filters(const std::string& relations) {
    const RestrictionsPtr bound = where(relations);
    if (!bound) return "not planned";
    const auto found = row_filters(*bound, {}, scratch_);
    if (!found) return found.error().message();
    std::string text;
    for (const Filter& one : *found) {
      text += (text.empty() ? "" : "; ") + one.column->name;
      const types::Type& type = *one.column->type;
      const auto literal = [](const types::TypePtr& of, BytesView bytes) {
        return types::to_literal(*of, bytes);
      };
      if (one.is_entry) text += "[" + literal(type.map_key(), one.key) + "]";
      text += std::string(" ") + std::string(cql::to_string(one.op));
      const types::TypePtr value = one.is_entry                            ? type.map_value()
                                   : one.op == cql::Operator::contains_key ? type.map_key()
                                   : one.op == cql::Operator::contains && type.kind() == types::Kind::map
                                       ? type.map_value()
                                   : type.is_collection() ? type.element()
                                                          : one.column->type;
      if (one.op == cql::Operator::in)
        for (const BytesView each : one.values) text += " " + literal(value, each);
      else
        text += " " + literal(value, one.value);
    }
    return text;
  }

  // New indexes are not used until they contain the older rows.
  void finish_indexes() {
    auto table = std::make_shared<schema::Table>(*schema_->find_table("e", "t"));
    for (schema::Index& index : table->indexes) index.is_built = true;
    auto keyspace = std::make_shared<schema::Keyspace>(*schema_->find_keyspace("e"));
    keyspace->tables.insert_or_assign("t", std::move(table));
    auto snapshot = std::make_shared<schema::Snapshot>(*schema_);
    snapshot->keyspaces.insert_or_assign("e", std::move(keyspace));
    schema_ = std::move(snapshot);
  }

  Scratch scratch_;
};

TEST_F(FiltersTest, OfRelations) {
  const struct {
    const char* relations;
    std::string_view filters;
  } cases[] = {
      {"k = 1 AND c = 2", ""},
      {"k = 1 AND v = 5", "v = 5"},
      {"k = 1 AND v > 5 AND v <= 9", "v > 5; v <= 9"},
      {"v IN (3, 1, 3)", "v IN 3 1 3"},
      {"c = 7", ""},  // the intervals contain only matching rows
      {"k = 1 AND txt >= 'b'", "txt >= 'b'"},
      {"s CONTAINS 1 AND s CONTAINS 2", "s CONTAINS 1; s CONTAINS 2"},
      {"m CONTAINS 1", "m CONTAINS 1"},
      {"m CONTAINS KEY 'a'", "m CONTAINS KEY 'a'"},
      {"m['a'] = 5", "m['a'] = 5"},
      {"v = null", "Unsupported null value for column v"},
      {"s CONTAINS null", "Unsupported null value for column s"},
      {"m['a'] = null", "Unsupported null map value for column m"},
      {"m[null] = 1", "Unsupported null map key for column m"},
      {"v IN (1, null)", "Invalid null value in condition for column v"},
  };
  for (const auto& one : cases) EXPECT_EQ(filters(one.relations), one.filters) << one.relations;
}

TEST_F(FiltersTest, LikeFindsItsPlace) {
  define(
      "CREATE CUSTOM INDEX inside ON t (txt) USING 'org.apache.cassandra.index.sasi.SASIIndex' WITH OPTIONS "
      "= "
      "{'mode': 'CONTAINS'}");
  using Place = Filter::Place;
  const struct {
    const char* pattern;
    Place place;
    std::string_view text;
  } cases[] = {
      {"'abc'", Place::whole, "abc"},      {"'abc%'", Place::beginning, "abc"}, {"'%abc'", Place::end, "abc"},
      {"'%abc%'", Place::anywhere, "abc"}, {"'a%c'", Place::whole, "a%c"},
  };
  for (const auto& one : cases) {
    const auto found = row_filters(*where(std::string("txt LIKE ") + one.pattern), {}, scratch_);
    ASSERT_TRUE(found) << one.pattern << ": " << found.error().message();
    ASSERT_EQ(found->size(), 1u);
    EXPECT_EQ(found->front().place, one.place) << one.pattern;
    EXPECT_EQ(found->front().value, one.text) << one.pattern;
  }
  for (const char* empty : {"''", "'%'", "'%%'"}) {
    const auto refused = row_filters(*where(std::string("txt LIKE ") + empty), {}, scratch_);
    ASSERT_FALSE(refused) << empty;
    EXPECT_EQ(refused.error().message(), "LIKE value can't be empty.");
  }
}

TEST_F(FiltersTest, EntriesOfAnIndex) {
  define("CREATE INDEX by_v ON t (v) USING 'sai'");
  EXPECT_TRUE(where("v = 5")->index_uses().empty());
  finish_indexes();
  const schema::Table& table = *schema_->find_table("e", "t");
  const TermForm form = TermForm::of(table, table.indexes.front());
  const auto entries = [&](const std::string& relations) {
    const RestrictionsPtr bound = where(relations, false);
    if (bound == nullptr || bound->index_uses().size() != 1) {
      ADD_FAILURE() << relations;
      return Interval();
    }
    const auto interval = index_interval(*bound, 0, {}, scratch_);
    EXPECT_TRUE(interval) << relations;
    return interval.value_or(Interval());
  };
  const auto term = [&](int32_t value) { return form.term({}, types::encode_int32(value)); };

  const Interval one = entries("v = 5");
  EXPECT_EQ(one.begin, term(5));
  EXPECT_FALSE(one.end) << "a single term";
  const Interval range = entries("v >= 5 AND v <= 9");
  EXPECT_EQ(range.begin, term(5));
  ASSERT_TRUE(range.end);
  EXPECT_GT(*range.end, term(9));
  EXPECT_LE(*range.end, term(10));
  const Interval open = entries("v > 5");
  EXPECT_EQ(open.begin, term(5)) << "the rows decide whether the bound itself matches";
  EXPECT_EQ(open.end, Bytes()) << "after all terms";
  EXPECT_EQ(entries("v < 5").begin, "");
}

class ViewFilterTest : public FiltersTest {
 protected:
  // The clause as a view of `t` stores it, or the error.
  std::string clause(const std::string& relations) {
    const auto parsed = cql::parse_statement("SELECT * FROM t WHERE " + relations);
    EXPECT_TRUE(parsed) << relations;
    const auto stored = view_clause(std::get<cql::Select>((*parsed)->node).where, *schema_,
                                    *schema_->find_table("e", "t"), 1'700'000'000'123'456);
    return stored ? *stored : stored.error().message();
  }

  std::unique_ptr<const ViewFilter> filter(const std::string& relations) {
    schema::ViewDefinition view;
    view.where_clause = clause(relations);
    auto bound = bind_view_filter(view, *schema_->find_table("e", "t"));
    EXPECT_TRUE(bound) << relations;
    return bound ? std::move(*bound) : nullptr;
  }
};

TEST_F(ViewFilterTest, StoresCallsAsTheirValues) {
  const struct {
    const char *written, *stored;
  } cases[] = {
      {"k IS NOT NULL AND c IS NOT NULL", "k IS NOT NULL AND c IS NOT NULL"},
      {"k = 1 AND c > 2 + 3", "k = 1 AND c > 5"},
      {"k IN (abs(-1), 2) AND c IS NOT NULL", "k IN (1, 2) AND c IS NOT NULL"},
      {"k = blob_as_int(0x00000007) AND c = 1", "k = 7 AND c = 1"},
  };
  for (const auto& one : cases) {
    const std::string stored = clause(one.written);
    EXPECT_EQ(clause(stored), stored) << "a stored clause stays as it is";
    // Pure calls of constants may be kept, because they always have the same value.
    const auto a = filter(one.written), b = filter(one.stored);
    EXPECT_EQ(a == nullptr, b == nullptr) << one.written;
    if (a != nullptr && b != nullptr) {
      EXPECT_EQ(a->partition_keys, b->partition_keys) << one.written;
    }
  }
}

TEST_F(ViewFilterTest, SelectsByKey) {
  EXPECT_EQ(filter("k IS NOT NULL AND c IS NOT NULL"), nullptr) << "every row with a complete key";
  const auto keys = filter("k IN (3, 1) AND c > 5");
  ASSERT_NE(keys, nullptr);
  ASSERT_TRUE(keys->partition_keys);
  EXPECT_EQ(*keys->partition_keys, (std::vector<Bytes>{types::encode_int32(1), types::encode_int32(3)}));
  ASSERT_EQ(keys->intervals.size(), 1u);
  EXPECT_FALSE(keys->intervals.front().end && keys->intervals.front().end->empty());
  EXPECT_FALSE(keys->excludes_all);

  const auto tokens = filter("token(k) > 5 AND token(k) <= 9 AND c IS NOT NULL");
  ASSERT_NE(tokens, nullptr);
  EXPECT_FALSE(tokens->partition_keys);
  EXPECT_EQ(tokens->tokens.first, 6);
  EXPECT_EQ(tokens->tokens.last, 9);
  EXPECT_TRUE(filter("k = 1 AND c = null")->excludes_all);
}

}  // namespace
}  // namespace sibyl::plan
