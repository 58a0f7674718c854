// Properties of every type and value.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cstdlib>

#include "types/compare.h"
#include "types/elements.h"
#include "types/keys/key.h"
#include "types/keys/key_decode.h"
#include "types/literals/literal.h"
#include "types/print_json.h"
#include "types/print_value.h"
#include "types/test_values.h"
#include "types/type_name.h"
#include "types/validate.h"

namespace sibyl::types {
namespace {

using namespace testing;

// RapidCheck's default of 100 cases tests too few nested types. RC_PARAMS can ask for more.
[[maybe_unused]] const int more_cases = setenv("RC_PARAMS", "max_success=1000", 0);

int sign(int order) {
  return (order > 0) - (order < 0);
}

Bytes key_of(const Type& type, BytesView value, bool descending = false) {
  Bytes key;
  encode_key(type, value, descending, key);
  return key;
}

// Returns a value in which one byte may be corrupted.
Bytes arbitrary_bytes(const Type& type) {
  Bytes bytes = arbitrary_value(type);
  if (!bytes.empty() && one_in(2)) bytes[below(bytes.size())] = any_integer<char>();
  if (one_in(4)) bytes.resize(below(bytes.size() + 1));
  if (one_in(8)) bytes += any_integer<char>();
  return bytes;
}

RC_GTEST_PROP(Property, TypesRoundTripThroughClassNames, ()) {
  const TypePtr type = arbitrary_type(3);
  const TypePtr again = parse_class_name(type->class_name());
  RC_ASSERT(again != nullptr);
  RC_ASSERT(again->class_name() == type->class_name());
  // Class names inside a frozen type do not tell whether the elements of a vector are frozen.
  if (type->references(Kind::vector)) return;
  RC_ASSERT(again->cql_name() == type->cql_name());
  // A class name does not tell either whether the fields of a frozen user type were declared as frozen.
  if (!type->references(Kind::udt)) RC_ASSERT(*again == *type);
}

RC_GTEST_PROP(Property, EncodedValuesAreValid, ()) {
  const TypePtr type = arbitrary_type(3);
  const Bytes value = arbitrary_value(*type);
  const base::Status status = validate(*type, value);
  if (!status) RC_FAIL(type->cql_name() + " " + base::to_hex(value) + ": " + status.error().message());
}

RC_GTEST_PROP(Property, ElementsSplitAndJoin, ()) {
  const TypePtr type = arbitrary_type(3);
  RC_PRE(!type->parameters().empty());
  const Bytes value = arbitrary_value(*type, false);
  RC_PRE(!value.empty());
  const base::Result<Elements> elements = split(*type, value);
  RC_ASSERT(elements.has_value());
  const Bytes joined = join(*type, *elements);
  if (type->kind() == Kind::tuple || type->kind() == Kind::udt)
    RC_ASSERT(joined.substr(0, value.size()) == value);  // missing components are now nulls
  else
    RC_ASSERT(joined == value);
}

RC_GTEST_PROP(Property, OrderIsTotalOnAnyBytes, ()) {
  const TypePtr type = arbitrary_type(3);
  const Bytes a = arbitrary_bytes(*type);
  const Bytes b = arbitrary_bytes(*type);
  const Bytes c = arbitrary_bytes(*type);
  RC_ASSERT(compare(*type, a, a) == 0);
  RC_ASSERT(sign(compare(*type, a, b)) == -sign(compare(*type, b, a)));
  if (compare(*type, a, b) <= 0 && compare(*type, b, c) <= 0) RC_ASSERT(compare(*type, a, c) <= 0);
  if (compare(*type, a, b) == 0) RC_ASSERT(sign(compare(*type, a, c)) == sign(compare(*type, b, c)));
}

RC_GTEST_PROP(Property, KeysSortAsValues, ()) {
  const TypePtr type = arbitrary_type(3);
  const Bytes a = arbitrary_value(*type);
  const Bytes b = arbitrary_value(*type);
  const int order = sign(compare(*type, a, b));
  RC_LOG() << type->cql_name() << " " << base::to_hex(a) << " " << base::to_hex(b);
  RC_ASSERT(sign(key_of(*type, a).compare(key_of(*type, b))) == order);
  RC_ASSERT(sign(key_of(*type, a, true).compare(key_of(*type, b, true))) == -order);
}

RC_GTEST_PROP(Property, NoKeyIsAPrefixOfAnother, ()) {
  const TypePtr type = arbitrary_type(3);
  const Bytes a = key_of(*type, arbitrary_value(*type));
  const Bytes b = key_of(*type, arbitrary_value(*type));
  RC_ASSERT(a == b || (!a.starts_with(b) && !b.starts_with(a)));
}

RC_GTEST_PROP(Property, KeysDecode, ()) {
  const TypePtr type = arbitrary_type(3);
  const Bytes value = arbitrary_value(*type);
  const bool descending = one_in(2);
  const Bytes key = key_of(*type, value, descending);
  const Bytes followed = key + "rest";
  BytesView rest = followed;
  const base::Result<Bytes> decoded = decode_key(*type, descending, rest);
  RC_LOG() << type->cql_name() << " " << base::to_hex(value) << " " << base::to_hex(key);
  RC_ASSERT(decoded.has_value());
  RC_ASSERT(rest == "rest");
  RC_ASSERT(compare(*type, *decoded, value) == 0);
  RC_ASSERT(validate(*type, *decoded).has_value());
  RC_ASSERT(key_of(*type, *decoded, descending) == key);
  if (!key_is_lossy(*type)) RC_ASSERT(*decoded == value);
}

RC_GTEST_PROP(Property, CompositeKeysSortByComponent, ()) {
  const TypePtr first = arbitrary_type(1);
  const TypePtr second = arbitrary_type(1);
  const bool first_descending = one_in(2);
  const bool second_descending = one_in(2);
  const Bytes a1 = arbitrary_value(*first);
  const Bytes a2 = arbitrary_value(*second);
  const Bytes b1 = one_in(2) ? a1 : arbitrary_value(*first);
  const Bytes b2 = arbitrary_value(*second);
  const int first_order = sign(compare(*first, a1, b1)) * (first_descending ? -1 : 1);
  const int second_order = sign(compare(*second, a2, b2)) * (second_descending ? -1 : 1);
  const Bytes a = key_of(*first, a1, first_descending) + key_of(*second, a2, second_descending);
  const Bytes b = key_of(*first, b1, first_descending) + key_of(*second, b2, second_descending);
  RC_ASSERT(sign(a.compare(b)) == (first_order != 0 ? first_order : second_order));
}

RC_GTEST_PROP(Property, RawKeysSortAsBytesAndDecode, ()) {
  const Bytes a = arbitrary_value(*scalar(Kind::blob));
  const Bytes b = arbitrary_value(*scalar(Kind::blob));
  Bytes a_key;
  Bytes b_key;
  encode_raw_key(a, a_key);
  encode_raw_key(b, b_key);
  RC_ASSERT(sign(a_key.compare(b_key)) == sign(a.compare(b)));
  const Bytes both = a_key + b_key;
  BytesView rest = both;
  RC_ASSERT(decode_raw_key(rest).value() == a);
  RC_ASSERT(decode_raw_key(rest).value() == b);
  RC_ASSERT(rest.empty());
}

RC_GTEST_PROP(Property, NothingCrashesOnAnyBytes, ()) {
  const TypePtr type = arbitrary_type(3);
  const Bytes bytes =
      one_in(2) ? arbitrary_bytes(*type) : *rc::gen::container<std::string>(rc::gen::arbitrary<char>());
  const bool valid = validate(*type, bytes).has_value();
  if (!type->parameters().empty() && valid && !bytes.empty()) RC_ASSERT(split(*type, bytes).has_value());
  RC_ASSERT(compare(*type, bytes, bytes) == 0);
  to_literal(*type, bytes);
  to_display(*type, bytes);
  to_json(*type, bytes);
  // Bytes that are not a value of the type do not change in a round trip through a key.
  const Bytes key = key_of(*type, bytes);
  BytesView rest = key;
  RC_ASSERT(decode_key(*type, false, rest).has_value());
  BytesView random = bytes;
  (void)decode_key(*type, one_in(2), random);
  (void)from_string(*type, bytes);
}

RC_GTEST_PROP(Property, NormaliseSortsAndDropsDuplicates, ()) {
  const TypePtr type = map_of(scalar(any_of(scalar_kinds())), scalar(Kind::int_), true);
  std::vector<Bytes> owned;
  for (size_t i = 0, count = below(8); i < count; ++i) {
    owned.push_back(arbitrary_value(*type->map_key()));
    owned.push_back(encode_int32(static_cast<int32_t>(i)));
  }
  Elements elements(owned.begin(), owned.end());
  normalise(*type, elements);
  for (size_t i = 2; i < elements.size(); i += 2)
    RC_ASSERT(compare(*type->map_key(), *elements[i - 2], *elements[i]) < 0);
  for (size_t i = 0; i < owned.size(); i += 2) {
    bool last = true;
    for (size_t later = i + 2; later < owned.size(); later += 2)
      last = last && compare(*type->map_key(), owned[i], owned[later]) != 0;
    bool kept = false;
    for (size_t k = 0; k < elements.size(); k += 2)
      kept = kept ||
             (compare(*type->map_key(), owned[i], *elements[k]) == 0 && *elements[k + 1] == owned[i + 1]);
    RC_ASSERT(kept == last);
  }
}

}  // namespace
}  // namespace sibyl::types
