// Functions of collections, vectors and JSON, and the accumulators of aggregates.
#include "plan/functions/collection.h"

#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "plan/functions/aggregate.h"
#include "plan/test_planning.h"
#include "types/literals/literal.h"

namespace sibyl::plan {
namespace {

class CollectionFunctionsTest : public PlanningTest {
 protected:
  void check(std::initializer_list<std::tuple<const char*, const char*, std::string_view>> cases) {
    for (const auto& [expression, type, result] : cases)
      EXPECT_EQ(value(expression, type), result) << expression;
  }
};

TEST_F(CollectionFunctionsTest, Maps) {
  check({
      {"map_keys((map<text, int>) {'b': 2, 'a': 1})", "frozen<set<text>>", "{'a', 'b'}"},
      {"map_values((map<text, int>) {'b': 2, 'a': 1})", "frozen<list<int>>", "[1, 2]"},
      {"map_keys((map<text, int>) {})", "frozen<set<text>>", "{}"},
      {"map_keys((set<int>) {1})", "frozen<set<int>>",
       "Function system.map_keys requires a map argument, but found argument (set<int>){1} of type set<int>"},
      {"collection_count((map<text, int>) {'b': 2, 'a': 1})", "int", "2"},
  });
}

TEST_F(CollectionFunctionsTest, ListsAndSets) {
  check({
      {"collection_count((list<int>) [5, 5, 6])", "int", "3"},
      {"collection_min((list<int>) [5, -1, 6])", "int", "-1"},
      {"collection_max((set<text>) {'a', 'B', 'b'})", "text", "'b'"},
      {"collection_sum((list<tinyint>) [100, 100])", "tinyint", "-56"},
      {"collection_avg((list<int>) [1, 2])", "int", "1"},
      {"collection_avg((list<double>) [1, 2])", "double", "1.5"},
      {"collection_sum((list<int>) [])", "int", "0"},
      {"collection_max((list<int>) [])", "int", "null"},
      {"collection_sum((list<text>) ['a'])", "int",
       "Function system.collection_sum requires a numeric set/list argument, but found argument "
       "(list<text>)['a'] of type list<text>"},
      {"collection_min((map<int, int>) {1: 1})", "int",
       "Function system.collection_min requires a set or list argument, but found argument (map<int, "
       "int>){1: 1} "
       "of type map<int, int>"},
      {"collection_count((int) 5)", "int",
       "Function system.collection_count requires a collection argument, but found argument (int)5 of type "
       "int"},
      {"collection_count()", "int",
       "Invalid number of arguments for function system.collection_count(collection)"},
  });
}

TEST_F(CollectionFunctionsTest, Similarities) {
  check({
      {"similarity_cosine((vector<float, 2>) [1, 0], [1, 0])", "float", "1.0"},
      {"similarity_cosine((vector<float, 2>) [1, 0], [-1, 0])", "float", "0.0"},
      {"similarity_euclidean((vector<float, 2>) [1, 0], [1, 2])", "float", "0.2"},
      {"similarity_dot_product((vector<float, 2>) [1, 2], [3, 4])", "float", "6.0"},
      {"similarity_cosine([1, 0], [0, 0])", "float",
       "Function system.similarity_cosine doesn't support all-zero vectors."},
      {"similarity_cosine((vector<float, 2>) [1, 0], (vector<float, 3>) [1, 0, 0])", "float",
       "All arguments must have the same vector dimensions"},
      {"similarity_cosine((vector<int, 2>) [1, 0], [1, 0])", "float",
       "Function system.similarity_cosine requires a float vector argument, but found argument (vector<int, "
       "2>)"
       "[1, 0] of type vector<int, 2>"},
      {"similarity_cosine([1, 0])", "float",
       "Invalid number of arguments for function system.similarity_cosine(vector<float, n>, vector<float, "
       "n>)"},
  });
}

TEST_F(CollectionFunctionsTest, Json) {
  check({
      {"to_json((map<text, int>) {'a': 1})", "text", "'{\"a\": 1}'"},
      {"to_json((text) 'x\"y')", "text", "'\"x\\\"y\"'"},
      {"to_json((int) null)", "text", "'null'"},
      {"from_json('{\"b\": [1, 2]}')", "map<text, frozen<list<int>>>", "{'b': [1, 2]}"},
      {"from_json('\"{1: 2}\"')", "int",
       "org.apache.cassandra.serializers.MarshalException: Unable to make int from '{1: 2}'"},
      {"from_json('null')", "int", "null"},
      {"from_json('1.5')", "decimal", "1.5"},
      {"from_json(5)", "int",
       "Function system.from_json requires an argument of type text, but found argument 5 of type int"},
  });
}

// The result of the accumulator over the values, as a literal; or the error.
std::string accumulated(const char* name, types::Kind kind, std::initializer_list<const char*> values) {
  const types::TypePtr type = types::scalar(kind);
  const auto accumulator = make_accumulator(name, type);
  for (const char* text : values) {
    Bytes bytes;
    ValueView value = ValueView::null();
    if (text != nullptr) {
      const auto parsed = types::from_string(*type, text);
      EXPECT_TRUE(parsed) << text;
      if (parsed) bytes = *parsed;
      value = ValueView::of(bytes);
    }
    if (const base::Status added = accumulator->add(std::span(&value, 1)); !added)
      return added.error().message();
  }
  const auto result = accumulator->result();
  if (!result) return result.error().message();
  return result->is_present() ? types::to_literal(*type, result->bytes) : "null";
}

TEST(Aggregates, ComputeLikeCassandra) {
  using types::Kind;
  const struct {
    const char* name;
    Kind kind;
    std::initializer_list<const char*> values;
    const char* result;
  } cases[] = {
      {"min", Kind::int_, {"3", nullptr, "-2", "5"}, "-2"},
      {"max", Kind::text, {"b", "a", "B"}, "'b'"},
      {"max", Kind::int_, {nullptr}, "null"},
      {"sum", Kind::int_, {"2147483647", "1"}, "-2147483648"},
      {"sum", Kind::int_, {"1", nullptr, "2"}, "3"},
      {"sum", Kind::bigint, {}, "0"},
      {"avg", Kind::int_, {"2147483647", "2147483647"}, "2147483647"},
      {"avg", Kind::int_, {"-1", "-2"}, "-1"},
      {"avg", Kind::tinyint, {}, "0"},
      {"sum", Kind::double_, {"1e308", "1e308"}, "Infinity"},
      {"avg", Kind::double_, {"1e308", "1e308"}, "1.0E308"},
      {"sum", Kind::double_, {"0.1", "0.1", "0.1", "0.1", "0.1", "0.1", "0.1", "0.1", "0.1", "0.1"}, "1.0"},
      {"sum", Kind::float_, {"Infinity", "1"}, "Infinity"},
      {"sum", Kind::varint, {"9223372036854775807", "1"}, "9223372036854775808"},
      {"avg", Kind::varint, {"-7", "2"}, "-2"},
      {"sum", Kind::decimal, {"1.5", "0.25"}, "1.75"},
      {"avg", Kind::decimal, {"1", "2"}, "1"},
      {"avg", Kind::decimal, {"1.0", "2.0"}, "1.5"},
      {"sum", Kind::decimal, {"1e-20000", "1"}, "The values' scales are too far apart"},
  };
  for (const auto& one : cases)
    EXPECT_EQ(accumulated(one.name, one.kind, one.values), one.result) << one.name;
}

}  // namespace
}  // namespace sibyl::plan
