#include "schema/codec.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <limits>

#include "schema/codec_table.h"

namespace sibyl::schema {
namespace {

using testing::HasSubstr;
using types::Kind;

constexpr Kind scalars[] = {Kind::ascii,   Kind::bigint,    Kind::blob,     Kind::boolean, Kind::counter,
                            Kind::decimal, Kind::date,      Kind::double_,  Kind::float_,  Kind::int_,
                            Kind::text,    Kind::timestamp, Kind::uuid,     Kind::varint,  Kind::timeuuid,
                            Kind::inet,    Kind::time,      Kind::smallint, Kind::tinyint, Kind::duration};

std::string some_text() {
  return *rc::gen::container<std::string>(rc::gen::arbitrary<char>());
}
bool some_flag() {
  return *rc::gen::arbitrary<bool>();
}

TypePtr some_type(int depth) {
  auto inner = [&] { return some_type(depth - 1); };
  switch (depth <= 0 ? 0 : *rc::gen::inRange(0, 8)) {
    case 1:
      return types::list_of(inner(), some_flag());
    case 2:
      return types::set_of(inner(), some_flag());
    case 3:
      return types::map_of(inner(), inner(), some_flag());
    case 4:
      return types::tuple_of({inner(), inner()});
    case 5:
      return types::vector_of(inner(), *rc::gen::inRange<uint32_t>(1, 8192));
    case 6:
      return types::udt_of(some_text(), some_text(), {"f", some_text() + "g"}, {inner(), inner()},
                           some_flag());
    case 7:
      return types::custom_of("org.example." + some_text());
    default:
      return types::scalar(*rc::gen::elementOf(std::vector<Kind>(std::begin(scalars), std::end(scalars))));
  }
}

std::map<std::string, std::string> some_map() {
  return *rc::gen::container<std::map<std::string, std::string>>(rc::gen::arbitrary<std::string>(),
                                                                 rc::gen::arbitrary<std::string>());
}

TableOptions some_options() {
  TableOptions options;
  options.additional_write_policy = some_text();
  options.allow_auto_snapshot = some_flag();
  options.bloom_filter_fp_chance = *rc::gen::arbitrary<double>();
  options.caching = some_map();
  options.cdc = some_flag();
  options.comment = some_text();
  options.compaction = some_map();
  options.compression = some_map();
  options.crc_check_chance = *rc::gen::arbitrary<double>();
  options.default_time_to_live = *rc::gen::arbitrary<int32_t>();
  options.extensions = some_map();
  options.gc_grace_seconds = *rc::gen::arbitrary<int32_t>();
  options.incremental_backups = some_flag();
  options.max_index_interval = *rc::gen::arbitrary<int32_t>();
  options.memtable_flush_period_in_ms = *rc::gen::arbitrary<int32_t>();
  options.memtable = some_text();
  options.min_index_interval = *rc::gen::arbitrary<int32_t>();
  options.read_repair = some_text();
  options.speculative_retry = some_text();
  return options;
}

Table some_table() {
  Table table;
  table.keyspace = some_text();
  table.name = some_text();
  table.id = some_text();
  table.storage_id = *rc::gen::arbitrary<uint32_t>();
  table.columns.push_back({.name = "key", .type = some_type(2), .kind = ColumnKind::partition_key, .id = 1});
  const ColumnKind kinds[] = {ColumnKind::partition_key, ColumnKind::clustering, ColumnKind::static_,
                              ColumnKind::regular};
  for (uint32_t id = 2, end = *rc::gen::inRange(2u, 9u); id < end; ++id) {
    table.columns.push_back({.name = some_text() + std::to_string(id),
                             .type = some_type(3),
                             .kind = kinds[*rc::gen::inRange(0, 4)],
                             .id = id * 1000,
                             .descending = some_flag()});
    table.dropped_columns.push_back({.name = some_text(),
                                     .type = some_type(2),
                                     .kind = kinds[*rc::gen::inRange(0, 4)],
                                     .dropped_micros = *rc::gen::arbitrary<int64_t>()});
  }
  table.options = some_options();
  table.indexes.push_back({.name = some_text(),
                           .is_custom = some_flag(),
                           .options = some_map(),
                           .column_id = 1,
                           .target = static_cast<Index::Target>(*rc::gen::inRange(0, 5)),
                           .storage_id = *rc::gen::arbitrary<uint32_t>(),
                           .is_built = some_flag()});
  if (some_flag()) {
    table.view = std::make_shared<ViewDefinition>(
        ViewDefinition{some_text(), some_text(), some_flag(), some_text(), some_flag()});
  }
  table.finish();
  return table;
}

TEST(Codec, TablesRoundTrip) {
  EXPECT_TRUE(rc::check("decode(encode(table)) encodes alike", [] {
    Table table = some_table();
    std::string text = encode(table);
    auto decoded = decode_table(text);
    RC_ASSERT(decoded.has_value());
    RC_ASSERT(encode(*decoded) == text);
    RC_ASSERT(decoded->columns.size() == table.columns.size());
    for (size_t i = 0; i < table.columns.size(); ++i) {
      const Column &expected = table.columns[i], &got = decoded->columns[i];
      RC_ASSERT(got.name == expected.name);
      RC_ASSERT(*got.type == *expected.type);
      RC_ASSERT(got.type->is_frozen() == expected.type->is_frozen());
      RC_ASSERT(got.kind == expected.kind);
      RC_ASSERT(got.id == expected.id);
      RC_ASSERT(got.position == expected.position);
      RC_ASSERT(got.descending == expected.descending);
    }
    RC_ASSERT(decoded->next_column_id == table.next_column_id);
    RC_ASSERT(decoded->options.comment == table.options.comment);
    RC_ASSERT(decoded->options.crc_check_chance == table.options.crc_check_chance);
    RC_ASSERT(decoded->options.extensions == table.options.extensions);
    RC_ASSERT(decoded->dropped_columns.size() == table.dropped_columns.size());
    RC_ASSERT(decoded->indexes == table.indexes);
    RC_ASSERT(decoded->is_view() == table.is_view());
    if (table.is_view()) RC_ASSERT(*decoded->view == *table.view);
  }));
}

TEST(Codec, TheOthersRoundTrip) {
  EXPECT_TRUE(rc::check("decode(encode(x)) == x", [] {
    Keyspace keyspace;
    keyspace.name = some_text();
    keyspace.replication = some_map();
    keyspace.durable_writes = some_flag();
    auto decoded = decode_keyspace(encode(keyspace));
    RC_ASSERT(decoded.has_value());
    RC_ASSERT(decoded->name == keyspace.name);
    RC_ASSERT(decoded->replication == keyspace.replication);
    RC_ASSERT(decoded->durable_writes == keyspace.durable_writes);

    Header header{some_text(), some_text(), *rc::gen::arbitrary<uint32_t>()};
    auto head = decode_header(encode(header));
    RC_ASSERT(head.has_value());
    RC_ASSERT(head->host_id == header.host_id);
    RC_ASSERT(head->version == header.version);
    RC_ASSERT(head->next_storage_id == header.next_storage_id);

    UserType type{some_text(), some_text(), {"a", "b"}, {some_type(3), some_type(3)}};
    auto back = decode_type(encode(type));
    RC_ASSERT(back.has_value());
    RC_ASSERT(back->keyspace == type.keyspace);
    RC_ASSERT(back->name == type.name);
    RC_ASSERT(back->field_names == type.field_names);
    RC_ASSERT(*back->field_types[0] == *type.field_types[0]);
    RC_ASSERT(*back->field_types[1] == *type.field_types[1]);
  }));
}

TEST(Codec, FunctionsRoundTrip) {
  EXPECT_TRUE(rc::check("decode(encode(x)) encodes alike", [] {
    UserFunction function{some_text(),  some_text(), {"a", some_text()}, {some_type(2), some_type(2)},
                          some_type(2), some_flag(), some_text(),        some_text()};
    auto decoded = decode_function(encode(function));
    RC_ASSERT(decoded.has_value());
    RC_ASSERT(encode(*decoded) == encode(function));
    RC_ASSERT(decoded->body == function.body);
    RC_ASSERT(decoded->called_on_null_input == function.called_on_null_input);

    UserAggregate aggregate{some_text(),  some_text(), {some_type(2)}, some_text(),
                            some_type(2), some_text(), std::nullopt,   some_type(2)};
    if (some_flag()) aggregate.initial_condition = some_text();
    auto back = decode_aggregate(encode(aggregate));
    RC_ASSERT(back.has_value());
    RC_ASSERT(encode(*back) == encode(aggregate));
    RC_ASSERT(back->initial_condition == aggregate.initial_condition);
  }));
}

Table small_table() {
  Table table;
  table.keyspace = "k";
  table.name = "t";
  table.id = std::string(16, '\7');
  table.storage_id = 1024;
  table.columns = {
      {.name = "p", .type = types::scalar(Kind::int_), .kind = ColumnKind::partition_key, .id = 1}};
  table.finish();
  return table;
}

// Returns the error of decoding a valid record in which `from` is replaced by `to`.
std::string broken(const std::string& from, const std::string& to) {
  std::string text = encode(small_table());
  size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << text;
  text.replace(at, from.size(), to);
  auto decoded = decode_table(text);
  EXPECT_FALSE(decoded.has_value());
  return decoded ? "" : decoded.error().message();
}

TEST(Codec, RejectsInvalidRecords) {
  EXPECT_THAT(broken("\"version\":2", "\"version\":3"), HasSubstr("version 3"));
  EXPECT_THAT(broken("\"record\":\"table\"", "\"record\":\"type\""), HasSubstr("instead of a table"));
  EXPECT_THAT(broken("\"name\":\"t\",", ""), HasSubstr("no field 'name'"));
  EXPECT_THAT(broken("\"cdc\"", "\"cdcs\""), HasSubstr("no field 'cdc'"));
  EXPECT_THAT(broken("\"cdc\":", "\"new\":1,\"cdc\":"), HasSubstr("unknown field 'new'"));
  EXPECT_THAT(broken("\"cdc\":false", "\"cdc\":0"),
              HasSubstr("'cdc' of the options of a table is not true or false"));
  EXPECT_THAT(broken("\"storage_id\":1024", "\"storage_id\":-1"), HasSubstr("'storage_id'"));
  EXPECT_THAT(broken("\"type\":\"int\"", "\"type\":\"integer\""), HasSubstr("no type 'integer'"));
  EXPECT_THAT(broken("partition_key", "regular"), HasSubstr("no partition key"));
  EXPECT_THAT(broken("\"next_column_id\":2", "\"next_column_id\":1"), HasSubstr("not been assigned"));
  EXPECT_THAT(broken("07070707", "0707070x"), HasSubstr("hexadecimal"));
  EXPECT_THAT(broken("{", "["), HasSubstr("not JSON"));
}

TEST(Codec, ReadsVersionOne) {
  std::string text = encode(small_table());
  for (std::string_view part : {",\"indexes\":[]", "\"version\":2"})
    ASSERT_NE(text.find(part), std::string::npos);
  text.erase(text.find(",\"indexes\":[]"), std::string_view(",\"indexes\":[]").size());
  text.replace(text.find("\"version\":2"), std::string_view("\"version\":2").size(), "\"version\":1");
  auto decoded = decode_table(text);
  ASSERT_TRUE(decoded.has_value()) << decoded.error().message();
  EXPECT_EQ(encode(*decoded), encode(small_table()));
}

Table compact_table(Compact form) {
  Table table = small_table();
  table.compact = form;
  const bool is_static = form == Compact::static_;
  table.columns.push_back(
      {.name = "c", .type = types::scalar(Kind::text), .kind = ColumnKind::clustering, .id = 2});
  table.columns.push_back(
      {.name = "value", .type = types::scalar(is_static ? Kind::blob : Kind::empty), .id = 3});
  if (is_static)
    table.columns.push_back(
        {.name = "s", .type = types::scalar(Kind::int_), .kind = ColumnKind::static_, .id = 4});
  table.next_column_id = 5;
  table.finish();
  return table;
}

TEST(Codec, CompactTables) {
  for (const Compact form : {Compact::static_, Compact::dense}) {
    const std::string text = encode(compact_table(form));
    EXPECT_THAT(text, HasSubstr(form == Compact::dense ? R"("compact":"dense")" : R"("compact":"static")"));
    const auto decoded = decode_table(text);
    ASSERT_TRUE(decoded.has_value()) << decoded.error().message();
    EXPECT_EQ(decoded->compact, form);
    EXPECT_EQ(encode(*decoded), text);
    EXPECT_EQ(decoded->find("value"), nullptr);
    ASSERT_NE(decoded->find_even_hidden("value"), nullptr);
    EXPECT_EQ(decoded->find("c") == nullptr, form == Compact::static_);
    EXPECT_NE(decoded->find("p"), nullptr);
  }
  // Tables that are not compact have no such field, as in records of earlier programs.
  EXPECT_THAT(encode(small_table()), testing::Not(HasSubstr("compact\":\"")));
  std::string text = encode(compact_table(Compact::dense));
  const size_t at = text.find("\"dense\"");
  EXPECT_THAT(decode_table(std::string(text).replace(at, 7, "\"other\"")).error().message(),
              HasSubstr("'compact'"));
  EXPECT_THAT(decode_table(std::string(text).replace(at, 7, "\"\"")).error().message(),
              HasSubstr("'compact'"));
  text = encode(small_table());
  text.insert(text.find("\"columns\""), R"("compact":"dense",)");
  EXPECT_THAT(decode_table(text).error().message(), HasSubstr("compact table 't'"));
}

// A record as the first program with compact tables wrote it.
TEST(Codec, CompactTableSample) {
  constexpr std::string_view sample =
      R"({"version":2,"record":"table","keyspace":"k","name":"t","id":"07070707070707070707070707070707",)"
      R"("storage_id":1024,"next_column_id":5,"compact":"dense","columns":[)"
      R"({"name":"p","type":"int","kind":"partition_key","id":1,"descending":false},)"
      R"({"name":"c","type":"text","kind":"clustering","id":2,"descending":false},)"
      R"({"name":"value","type":"empty","kind":"regular","id":3,"descending":false}],)";
  const std::string text = encode(compact_table(Compact::dense));
  EXPECT_EQ(text.substr(0, sample.size()), sample);
}

TEST(Codec, RefusesEveryTruncation) {
  std::string text = encode(small_table());
  for (size_t size = 0; size < text.size(); ++size)
    EXPECT_FALSE(decode_table(std::string_view(text).substr(0, size)).has_value());
  EXPECT_FALSE(decode_keyspace("{}").has_value());
  EXPECT_FALSE(decode_type("[1]").has_value());
  EXPECT_FALSE(decode_type(std::string(5000, '[')).has_value());
}

TEST(Codec, DeeplyNestedTypes) {
  Table table = small_table();
  TypePtr type = types::scalar(Kind::int_);
  for (int i = 0; i < 200; ++i) type = types::list_of(type, true);
  table.columns.push_back({.name = "deep", .type = type, .id = 2});
  table.finish();
  auto decoded = decode_table(encode(table));
  ASSERT_TRUE(decoded.has_value()) << decoded.error().message();
  EXPECT_EQ(decoded->find("deep")->type->cql_name(), type->cql_name());
}

}  // namespace
}  // namespace sibyl::schema
