// Passes arbitrary bytes to every function that takes bytes or text. The first byte picks a type; the rest is
// the value.
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/check.h"
#include "types/compare.h"
#include "types/elements.h"
#include "types/identifier.h"
#include "types/keys/key.h"
#include "types/keys/key_decode.h"
#include "types/keys/murmur3.h"
#include "types/literals/literal.h"
#include "types/print_json.h"
#include "types/print_value.h"
#include "types/type_name.h"
#include "types/validate.h"

namespace {

using namespace sibyl;
using namespace sibyl::types;

const std::vector<TypePtr>& all_types() {
  static const std::vector<TypePtr> types = [] {
    std::vector<TypePtr> made;
    for (const char* name : {"ascii",  "bigint",    "blob",     "boolean", "counter", "date",     "decimal",
                             "double", "duration",  "float",    "inet",    "int",     "smallint", "text",
                             "time",   "timestamp", "timeuuid", "tinyint", "uuid",    "varint"})
      made.push_back(scalar_by_name(name));
    const TypePtr text = scalar(Kind::text);
    const TypePtr decimal = scalar(Kind::decimal);
    made.push_back(list_of(text, true));
    made.push_back(set_of(decimal, true));
    made.push_back(map_of(scalar(Kind::varint), text, true));
    made.push_back(tuple_of({decimal, text, list_of(scalar(Kind::int_), true)}));
    made.push_back(udt_of("ks", "u", {"a", "B"}, {scalar(Kind::float_), made.back()}, true));
    made.push_back(vector_of(scalar(Kind::float_), 3));
    made.push_back(vector_of(text, 3));
    made.push_back(map_of(made.back(), set_of(made[made.size() - 3], true), true));
    made.push_back(vector_of(scalar(Kind::double_), 4'000'000'000u));
    made.push_back(custom_of("com.example.Odd"));
    made.push_back(parse_class_name("LexicalUUIDType"));
    made.push_back(parse_class_name("CompositeType(Int32Type,ReversedType(UTF8Type),DecimalType)"));
    made.push_back(parse_class_name("DynamicCompositeType(a=>AsciiType,r=>ReversedType(Int32Type))"));
    return made;
  }();
  return types;
}

void check_value(const Type& type, BytesView bytes) {
  const bool valid = validate(type, bytes).has_value();
  SIBYL_CHECK(compare(type, bytes, bytes) == 0);
  const BytesView half = bytes.substr(0, bytes.size() / 2);
  const int order = compare(type, half, bytes);
  const int opposite = compare(type, bytes, half);
  SIBYL_CHECK((order < 0) == (opposite > 0) && (order == 0) == (opposite == 0));
  (void)split(type, bytes);
  (void)to_literal(type, bytes);
  (void)to_display(type, bytes);
  (void)to_json(type, bytes);
  for (const bool descending : {false, true}) {
    Bytes key;
    encode_key(type, bytes, descending, key);
    BytesView rest = key;
    const base::Result<Bytes> decoded = decode_key(type, descending, rest);
    SIBYL_CHECK(decoded.has_value() && rest.empty());
    if (valid) SIBYL_CHECK(compare(type, *decoded, bytes) == 0 && validate(type, *decoded).has_value());
    BytesView random = bytes;
    (void)decode_key(type, descending, random);
  }
}

void check_text(const Type& type, BytesView text) {
  const base::Result<Bytes> value = from_string(type, text);
  const bool scalar_type = type.parameters().empty();
  if (value && scalar_type && type.kind() != Kind::text && !value->empty())
    SIBYL_CHECK(validate(type, *value).has_value());
  if (const TypePtr parsed = parse_class_name(text)) {
    const TypePtr again = parse_class_name(parsed->class_name());
    SIBYL_CHECK(again != nullptr && again->class_name() == parsed->class_name());
  }
  (void)murmur3_token(text);
  (void)split_partition_key(text, 2);
  (void)quote_identifier(text);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  // Longer inputs reach no new code, and numbers of any length take quadratic time.
  constexpr size_t most = 4096;
  if (size == 0 || size > most) return 0;
  const Type& type = *all_types()[data[0] % all_types().size()];
  const BytesView rest(reinterpret_cast<const char*>(data) + 1, size - 1);
  check_value(type, rest);
  check_text(type, rest);
  return 0;
}
