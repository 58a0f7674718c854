#include "plan/evaluation/keys.h"

#include <string>
#include <vector>

#include "plan/evaluation/clustering.h"
#include "plan/statements/select.h"
#include "plan/test_planning.h"
#include "types/keys/key.h"
#include "types/literals/literal.h"
#include "types/value.h"

namespace sibyl::plan {
namespace {

class KeysTest : public PlanningTest {
 protected:
  void SetUp() override {
    PlanningTest::SetUp();
    define("CREATE TABLE one (k text PRIMARY KEY)");
    define(
        "CREATE TABLE two (a int, b text, c decimal, d text, PRIMARY KEY ((a, b), c, d)) WITH CLUSTERING "
        "ORDER "
        "BY (c DESC, d ASC)");
  }

  const schema::Table& table(const char* name) { return *schema_->find_table("e", name); }

  std::string key_error(const char* name, const std::vector<ValueView>& components) {
    const auto key = partition_key_of(table(name), components);
    return key ? "" : key.error().message();
  }

  Bytes decimal_of(const char* text) {
    return *types::from_string(*types::scalar(types::Kind::decimal), text);
  }
};

TEST_F(KeysTest, PartitionKeysAreChecked) {
  const Bytes longest(max_key_size, 'x'), longer(max_key_size + 1, 'x'), number = types::encode_int32(1);
  EXPECT_EQ(key_error("one", {ValueView::of(longest)}), "");
  EXPECT_EQ(key_error("one", {ValueView::of(longer)}), "Key length of 65536 is longer than maximum of 65535");
  EXPECT_EQ(key_error("one", {ValueView::of("")}), "Key may not be empty");
  EXPECT_EQ(key_error("one", {ValueView::null()}), "Invalid null value in condition for column k");
  EXPECT_EQ(key_error("one", {ValueView::unset()}), "Invalid unset value for column k");
  EXPECT_EQ(key_error("two", {ValueView::of(number), ValueView::of("")}), "");
  EXPECT_EQ(key_error("two", {ValueView::of(number), ValueView::null()}),
            "Invalid null value in condition for column b");
  // Six bytes of lengths and separators, and four of the number.
  EXPECT_EQ(key_error("two", {ValueView::of(number), ValueView::of(BytesView(longest).substr(10))}), "");
  EXPECT_EQ(key_error("two", {ValueView::of(number), ValueView::of(BytesView(longest).substr(9))}),
            "Key length of 65536 is longer than maximum of 65535");
}

TEST_F(KeysTest, ASingleComponentIsTheWholeKey) {
  const ValueView only = ValueView::of("text");
  EXPECT_EQ(partition_key_of(table("one"), std::span(&only, 1)).value(), "text");
  const Bytes number = types::encode_int32(7);
  const ValueView both[] = {ValueView::of(number), ValueView::of("ab")};
  const BytesView components[] = {number, "ab"};
  EXPECT_EQ(
      partition_key_of(table("two"), both).value(),
      types::serialise_partition_key(std::vector<BytesView>(std::begin(components), std::end(components))));
}

TEST_F(KeysTest, ClusteringBytesSortLikeTheValues) {
  // In the order of the table: c descending, then d ascending.
  const std::vector<std::pair<const char*, std::string>> rows = {{"10", ""},   {"10", "a"}, {"10", "ab"},
                                                                 {"9.5", "z"}, {"0", "a"},  {"-3", "a"}};
  Bytes before;
  for (const auto& [number, text] : rows) {
    const Bytes c = decimal_of(number);
    const BytesView values[] = {c, text};
    const Bytes key = clustering_of(table("two"), values);
    EXPECT_LT(before, key) << number << " " << text;
    EXPECT_TRUE(key.starts_with(clustering_of(table("two"), std::span(values, 1))))
        << "the first column is a prefix";
    before = key;
  }
}

TEST_F(KeysTest, ValuesAreReadBack) {
  const auto read_back = [&](const char* number) {
    const Bytes c = decimal_of(number);
    const BytesView values[] = {c, "text"};
    const Bytes key = clustering_of(table("two"), values);
    const Bytes original = original_clustering_of(table("two"), values, key);
    const auto read = clustering_values(table("two"), key, original);
    EXPECT_TRUE(read);
    EXPECT_EQ(read.value_or(std::vector<Bytes>()), (std::vector<Bytes>{c, "text"})) << number;
    return !original.empty();
  };
  // 1.0 and 1 are the same key. If the key decodes to other bytes than those that were written, the row
  // stores the written ones.
  EXPECT_NE(read_back("1"), read_back("1.0"));
  EXPECT_EQ(original_clustering_of(table("one"), {}, ""), "");
  EXPECT_FALSE(clustering_values(table("two"), "\x01", "")) << "bytes that are not a key";
}

TEST_F(KeysTest, NamedRowsAreSortedAndDistinct) {
  define(
      "CREATE TABLE r (k int, a int, b int, PRIMARY KEY (k, a, b)) WITH CLUSTERING ORDER BY (a DESC, b ASC)");
  const auto rows_of = [&](const std::string& relations) {
    const auto planned = plan("SELECT * FROM r WHERE k = 1 AND " + relations);
    EXPECT_TRUE(planned) << relations;
    const auto& where = *std::get<std::shared_ptr<const Select>>((*planned)->plan)->where;
    Scratch scratch;
    const auto rows = named_rows(where, {}, scratch);
    EXPECT_TRUE(rows) << relations;
    std::string text;
    for (const NamedRow& row : *rows) {
      EXPECT_EQ(row.original, "") << "integers are never lossy";
      const auto values = clustering_values(where.table(), row.clustering, row.original);
      text += text.empty() ? "" : " ";
      for (const Bytes& value : *values)
        text += std::to_string(types::decode_integer(types::Kind::int_, value)) + ";";
    }
    return text;
  };
  EXPECT_EQ(rows_of("a = 1 AND b = 2"), "1;2;");
  EXPECT_EQ(rows_of("a IN (1, 3, 1) AND b IN (2, 0)"), "3;0; 3;2; 1;0; 1;2;");
  EXPECT_EQ(rows_of("(a, b) IN ((1, 2), (3, 4), (1, 2))"), "3;4; 1;2;");
  EXPECT_EQ(rows_of("a IN () AND b = 1"), "");
}

}  // namespace
}  // namespace sibyl::plan
