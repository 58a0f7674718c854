#include "types/type.h"

#include <gtest/gtest.h>

#include "types/type_name.h"

namespace sibyl::types {
namespace {

const TypePtr& int_type() {
  return scalar(Kind::int_);
}
const TypePtr& text_type() {
  return scalar(Kind::text);
}

std::string marshal(std::string text) {
  for (size_t at = 0; (at = text.find('@', at)) != std::string::npos;)
    text.replace(at, 1, "org.apache.cassandra.db.marshal.");
  return text;
}

TEST(Type, ScalarsAreSharedAndFoundByName) {
  EXPECT_EQ(scalar_by_name("varchar"), scalar(Kind::text));
  EXPECT_EQ(scalar_by_name("double"), scalar(Kind::double_));
  EXPECT_EQ(scalar_by_name("INT"), nullptr);
  EXPECT_EQ(scalar_by_name("list"), nullptr);
  EXPECT_EQ(scalar(Kind::text)->cql_name(), "text");
}

TEST(Type, CqlNames) {
  EXPECT_EQ(map_of(text_type(), int_type(), false)->cql_name(), "map<text, int>");
  EXPECT_EQ(map_of(text_type(), int_type(), true)->cql_name(), "frozen<map<text, int>>");
  EXPECT_EQ(list_of(set_of(int_type(), false), true)->cql_name(), "frozen<list<frozen<set<int>>>>");
  EXPECT_EQ(tuple_of({int_type(), list_of(text_type(), false)})->cql_name(),
            "frozen<tuple<int, frozen<list<text>>>>");
  EXPECT_EQ(vector_of(scalar(Kind::float_), 3)->cql_name(), "vector<float, 3>");
  EXPECT_EQ(vector_of(set_of(int_type(), false), 3)->cql_name(), "vector<set<int>, 3>");
  EXPECT_EQ(vector_of(set_of(int_type(), true), 3)->cql_name(), "vector<frozen<set<int>>, 3>");
  EXPECT_EQ(udt_of("ks", "point", {"x"}, {int_type()}, false)->cql_name(), "point");
  EXPECT_EQ(udt_of("ks", "My Type", {"x"}, {int_type()}, true)->cql_name(), "frozen<\"My Type\">");
  EXPECT_EQ(udt_of("ks", "select", {"x"}, {int_type()}, false)->cql_name(), "\"select\"");
  EXPECT_EQ(custom_of("com.example.T")->cql_name(), "'com.example.T'");
}

TEST(Type, ClassNames) {
  EXPECT_EQ(scalar(Kind::bigint)->class_name(), marshal("@LongType"));
  EXPECT_EQ(list_of(int_type(), false)->class_name(), marshal("@ListType(@Int32Type)"));
  EXPECT_EQ(list_of(set_of(int_type(), true), true)->class_name(),
            marshal("@FrozenType(@ListType(@SetType(@Int32Type)))"));
  EXPECT_EQ(list_of(set_of(int_type(), true), false)->class_name(),
            marshal("@ListType(@FrozenType(@SetType(@Int32Type)))"));
  EXPECT_EQ(vector_of(scalar(Kind::float_), 3)->class_name(), marshal("@VectorType(@FloatType , 3)"));
  EXPECT_EQ(vector_of(set_of(int_type(), false), 3)->class_name(),
            marshal("@VectorType(@SetType(@Int32Type) , 3)"));
  EXPECT_EQ(list_of(vector_of(set_of(int_type(), true), 3), false)->class_name(),
            marshal("@ListType(@VectorType(@FrozenType(@SetType(@Int32Type)) , 3))"));
  EXPECT_EQ(tuple_of({int_type(), list_of(text_type(), true)})->class_name(),
            marshal("@TupleType(@Int32Type,@ListType(@UTF8Type))"));
  EXPECT_EQ(udt_of("ks", "point", {"x", "Y"}, {int_type(), text_type()}, true)->class_name(),
            marshal("@FrozenType(@UserType(ks,706f696e74,78:@Int32Type,59:@UTF8Type))"));
}

TEST(Type, ParsesClassNames) {
  EXPECT_EQ(parse_class_name("Int32Type"), int_type());
  EXPECT_EQ(parse_class_name(marshal("@ReversedType(@TimeUUIDType)")), scalar(Kind::timeuuid));
  EXPECT_EQ(parse_class_name("MapType( UTF8Type , Int32Type )")->cql_name(), "map<text, int>");
  const TypePtr udt = parse_class_name("FrozenType(UserType(ks,706f696e74,78:Int32Type))");
  ASSERT_NE(udt, nullptr);
  EXPECT_TRUE(udt->is_frozen());
  EXPECT_EQ(udt->field_index("x"), 0);
  EXPECT_EQ(parse_class_name("com.example.Odd(a(b))")->cql_name(), "'com.example.Odd(a(b))'");
  EXPECT_EQ(parse_class_name("OddType")->cql_name(), marshal("'@OddType'"));
  // Older names.
  EXPECT_EQ(parse_class_name("DateType"), scalar(Kind::timestamp));
  EXPECT_EQ(parse_class_name("LegacyTimeUUIDType"), scalar(Kind::timeuuid));
}

TEST(Type, CustomClassesHaveCompleteNames) {
  EXPECT_EQ(parse_class_name("LexicalUUIDType")->class_name(), marshal("@LexicalUUIDType"));
  EXPECT_EQ(parse_class_name("CompositeType( Int32Type , ReversedType(UTF8Type) )")->class_name(),
            marshal("@CompositeType(@Int32Type,@ReversedType(@UTF8Type))"));
  // In the order of a Java HashMap.
  EXPECT_EQ(parse_class_name("DynamicCompositeType(i=>Int32Type,b=>BytesType,B=>BytesType,a=>AsciiType)")
                ->class_name(),
            marshal("@DynamicCompositeType(a=>@AsciiType,b=>@BytesType,B=>@BytesType,i=>@Int32Type)"));
  EXPECT_EQ(parse_class_name("DynamicCompositeType")->class_name(), marshal("@DynamicCompositeType()"));
  for (const char* text :
       {"CompositeType", "CompositeType()", "CompositeType(NoSuch)", "CompositeType(Int32Type",
        "DynamicCompositeType(AsciiType)", "DynamicCompositeType(ab=>AsciiType)"})
    EXPECT_EQ(parse_class_name(text), nullptr) << text;
  std::string nested = "Int32Type";
  for (uint32_t i = 0; i < 2 * max_type_depth; ++i) nested = "CompositeType(" + nested + ")";
  EXPECT_EQ(parse_class_name(nested), nullptr);
}

TEST(Type, MalformedClassNamesAreRefused) {
  for (const char* text :
       {"", "ListType", "ListType()", "ListType(Int32Type", "ListType(Int32Type,Int32Type)",
        "MapType(Int32Type)", "VectorType(FloatType)", "VectorType(FloatType , 0)",
        "VectorType(FloatType , x)", "UserType(ks)", "UserType(ks,7)", "UserType(ks,70,78)", "TupleType()",
        "Int32Type)", "FrozenType()", "Odd(", "Int32Type Int32Type"})
    EXPECT_EQ(parse_class_name(text), nullptr) << text;
}

TEST(Type, DeepClassNamesAreRefused) {
  const auto nested = [](int depth) {
    std::string text = "Int32Type";
    for (int i = 1; i < depth; ++i) text = "ListType(" + text + ")";
    return text;
  };
  ASSERT_NE(parse_class_name(nested(max_type_depth)), nullptr);
  EXPECT_EQ(parse_class_name(nested(max_type_depth))->depth(), max_type_depth);
  EXPECT_EQ(parse_class_name(nested(max_type_depth + 1)), nullptr);
  EXPECT_EQ(parse_class_name(std::string(1'000'000, '(')), nullptr);
  std::string frozen = "Int32Type";
  for (int i = 0; i < 1000; ++i) frozen = "FrozenType(" + frozen + ")";
  EXPECT_EQ(parse_class_name(frozen), nullptr);
}

TEST(Type, FreezeIsDeepAndUnfreezeIsNot) {
  const TypePtr nested = list_of(map_of(int_type(), set_of(int_type(), false), false), false);
  EXPECT_EQ(freeze(nested)->cql_name(), "frozen<list<frozen<map<int, frozen<set<int>>>>>>");
  EXPECT_EQ(unfreeze(freeze(nested))->cql_name(), "list<frozen<map<int, frozen<set<int>>>>>");
  EXPECT_EQ(freeze(int_type()), int_type());
  EXPECT_TRUE(unfreeze(tuple_of({int_type()}))->is_frozen());
}

TEST(Type, MultiCell) {
  EXPECT_TRUE(list_of(int_type(), false)->is_multi_cell());
  EXPECT_FALSE(list_of(int_type(), true)->is_multi_cell());
  EXPECT_TRUE(udt_of("ks", "t", {"x"}, {int_type()}, false)->is_multi_cell());
  EXPECT_FALSE(tuple_of({int_type()})->is_multi_cell());
  EXPECT_FALSE(vector_of(int_type(), 2)->is_multi_cell());
}

TEST(Type, References) {
  const TypePtr point = udt_of("ks", "point", {"x", "d"}, {int_type(), scalar(Kind::duration)}, true);
  const TypePtr list = list_of(point, false);
  EXPECT_TRUE(list->references(Kind::duration));
  EXPECT_FALSE(list->references(Kind::counter));
  EXPECT_TRUE(list->references_udt("ks", "point"));
  EXPECT_FALSE(list->references_udt("other", "point"));
  EXPECT_EQ(point->field_index("d"), 1);
  EXPECT_EQ(point->field_index("z"), -1);
}

TEST(Type, Equality) {
  EXPECT_EQ(*list_of(int_type(), true), *list_of(int_type(), true));
  EXPECT_FALSE(*list_of(int_type(), true) == *list_of(int_type(), false));
  EXPECT_FALSE(*list_of(int_type(), true) == *set_of(int_type(), true));
  EXPECT_FALSE(*vector_of(int_type(), 2) == *vector_of(int_type(), 3));
  EXPECT_FALSE(*tuple_of({int_type()}) == *tuple_of({int_type(), int_type()}));
  EXPECT_FALSE(*udt_of("a", "t", {"x"}, {int_type()}, true) == *udt_of("b", "t", {"x"}, {int_type()}, true));
}

TEST(Type, FixedSizesAreThoseOfCassandra) {
  EXPECT_EQ(scalar(Kind::smallint)->fixed_size(), -1);
  EXPECT_EQ(scalar(Kind::date)->fixed_size(), -1);
  EXPECT_EQ(scalar(Kind::timeuuid)->fixed_size(), 16);
  EXPECT_EQ(vector_of(vector_of(scalar(Kind::float_), 3), 2)->fixed_size(), 24);
  EXPECT_EQ(vector_of(text_type(), 3)->fixed_size(), -1);
  // Huge dimensions must not overflow.
  TypePtr huge = scalar(Kind::float_);
  for (int i = 0; i < 4; ++i) huge = vector_of(huge, 4'000'000'000u);
  EXPECT_EQ(huge->fixed_size(), std::numeric_limits<int64_t>::max());
}

}  // namespace
}  // namespace sibyl::types
