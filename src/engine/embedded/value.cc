#include "engine/embedded/value.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "base/clock.h"
#include "types/elements.h"
#include "types/literals/literal.h"
#include "types/number.h"
#include "types/print.h"
#include "types/uuid.h"
#include "types/validate.h"

namespace sibyl {
namespace {

// Names a value's kind in errors.
struct Name {
  const char* operator()(Null) const { return "null"; }
  const char* operator()(Unset) const { return "an unset value"; }
  const char* operator()(bool) const { return "a boolean"; }
  const char* operator()(int64_t) const { return "an integer"; }
  const char* operator()(float) const { return "a float"; }
  const char* operator()(double) const { return "a double"; }
  const char* operator()(const std::string&) const { return "text"; }
  const char* operator()(const Blob&) const { return "a blob"; }
  const char* operator()(const Uuid&) const { return "a uuid"; }
  const char* operator()(const Timestamp&) const { return "a timestamp"; }
  const char* operator()(const Date&) const { return "a date"; }
  const char* operator()(const Time&) const { return "a time"; }
  const char* operator()(const Duration&) const { return "a duration"; }
  const char* operator()(const Inet&) const { return "an inet address"; }
  const char* operator()(const Decimal&) const { return "a decimal"; }
  const char* operator()(const Varint&) const { return "a varint"; }
  const char* operator()(const Value::List&) const { return "a list"; }
  const char* operator()(const Value::Map&) const { return "a map"; }
  const char* operator()(const Value::Raw&) const { return "raw bytes"; }
};

Error make_error(std::string message) {
  Error error;
  error.code = ErrorCode::invalid;
  error.message = std::move(message);
  return error;
}

}  // namespace

std::unexpected<Error> detail::wrong_type(const Value& value, const char* wanted) {
  return std::unexpected(
      make_error(fmt::format("{} is not {}", std::visit(Name{}, value.content()), wanted)));
}

Uuid Uuid::random() {
  Uuid out;
  types::Bytes bytes = types::random_uuid();
  std::copy(bytes.begin(), bytes.end(), out.bytes.begin());
  return out;
}

Uuid Uuid::time_based() {
  Uuid out;
  types::Bytes bytes = types::next_time_uuid(base::SystemClock().now_micros());
  std::copy(bytes.begin(), bytes.end(), out.bytes.begin());
  return out;
}

std::optional<Uuid> Uuid::parse(std::string_view text) {
  types::Bytes bytes;
  if (!types::parse_uuid(text, bytes)) return std::nullopt;
  Uuid out;
  std::copy(bytes.begin(), bytes.end(), out.bytes.begin());
  return out;
}

std::string Uuid::to_string() const {
  return types::format_uuid({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
}

Timestamp Timestamp::now() {
  return {base::SystemClock().now_micros() / 1000};
}

namespace engine {
namespace {

using base::Bytes;
using base::BytesView;
using types::Kind;
using types::Type;

// Encodes content as a CQL type. Each overload accepts the types that it can encode.
class Encoder {
 public:
  explicit Encoder(const Type& type) : type_(type) {}

  Result<Bytes> operator()(bool value) const {
    return type_.kind() == Kind::boolean ? types::encode_boolean(value) : refuse(value);
  }
  Result<Bytes> operator()(int64_t value) const {
    switch (type_.kind()) {
      case Kind::tinyint:
        if (std::in_range<int8_t>(value)) return types::encode_int8(static_cast<int8_t>(value));
        break;
      case Kind::smallint:
        if (std::in_range<int16_t>(value)) return types::encode_int16(static_cast<int16_t>(value));
        break;
      case Kind::int_:
        if (std::in_range<int32_t>(value)) return types::encode_int32(static_cast<int32_t>(value));
        break;
      case Kind::bigint:
      case Kind::counter:
        return types::encode_int64(value);
      case Kind::varint:
        return types::encode_varint(value);
      default:
        return refuse(value);
    }
    return std::unexpected(make_error(fmt::format("{} does not fit into {}", value, type_.cql_name())));
  }
  Result<Bytes> operator()(float value) const { return (*this)(static_cast<double>(value)); }
  Result<Bytes> operator()(double value) const {
    if (type_.kind() == Kind::double_) return types::encode_double(value);
    if (type_.kind() == Kind::float_) return types::encode_float(static_cast<float>(value));
    return refuse(value);
  }
  Result<Bytes> operator()(const std::string& value) const {
    if (type_.kind() == Kind::text || type_.kind() == Kind::ascii) return checked(value);
    return refuse(value);
  }
  Result<Bytes> operator()(const Blob& value) const {
    return type_.kind() == Kind::blob ? value.bytes : refuse(value);
  }
  Result<Bytes> operator()(const Uuid& value) const {
    if (type_.kind() != Kind::uuid && type_.kind() != Kind::timeuuid) return refuse(value);
    return checked(Bytes(reinterpret_cast<const char*>(value.bytes.data()), value.bytes.size()));
  }
  Result<Bytes> operator()(const Timestamp& value) const {
    return type_.kind() == Kind::timestamp ? types::encode_int64(value.milliseconds) : refuse(value);
  }
  Result<Bytes> operator()(const Date& value) const {
    return type_.kind() == Kind::date ? types::encode_date(value.days) : refuse(value);
  }
  Result<Bytes> operator()(const Time& value) const {
    return type_.kind() == Kind::time ? checked(types::encode_int64(value.nanoseconds)) : refuse(value);
  }
  Result<Bytes> operator()(const Duration& value) const {
    if (type_.kind() != Kind::duration) return refuse(value);
    return checked(types::encode_duration({value.months, value.days, value.nanoseconds}));
  }
  Result<Bytes> operator()(const Inet& value) const {
    return type_.kind() == Kind::inet ? from_text(value.address) : refuse(value);
  }
  Result<Bytes> operator()(const Decimal& value) const {
    return type_.kind() == Kind::decimal ? from_text(value.text) : refuse(value);
  }
  Result<Bytes> operator()(const Varint& value) const {
    return type_.kind() == Kind::varint ? from_text(value.text) : refuse(value);
  }
  Result<Bytes> operator()(const Value::Raw& value) const { return checked(value.bytes); }
  Result<Bytes> operator()(const Value::List& list) const;
  Result<Bytes> operator()(const Value::Map& map) const;
  template <typename Other>
  Result<Bytes> operator()(const Other& value) const {
    return refuse(value);
  }

 private:
  Result<Bytes> refuse(const auto& value) const {
    return std::unexpected(
        make_error(fmt::format("{} is not a value of type {}", Name{}(value), type_.cql_name())));
  }
  Result<Bytes> checked(Bytes bytes) const {
    if (auto status = types::validate(type_, bytes); !status)
      return std::unexpected(public_error(status.error()));
    return bytes;
  }
  Result<Bytes> from_text(const std::string& text) const {
    auto bytes = types::from_string(type_, text);
    if (!bytes) return std::unexpected(public_error(bytes.error()));
    return std::move(*bytes);
  }

  const Type& type_;
};

// Collects elements, together with the bytes that they point into.
class ElementBuilder {
 public:
  explicit ElementBuilder(size_t count) { kept_.reserve(count); }

  Status add(const Type& type, const Value& value, bool may_be_null) {
    Result<EncodedValue> encoded = encode_value(type, value);
    if (!encoded) return std::unexpected(std::move(encoded.error()));
    if (encoded->state != types::ValueView::State::present) {
      if (!may_be_null) return std::unexpected(make_error("null is not allowed inside collections"));
      elements_.push_back(std::nullopt);
      return {};
    }
    kept_.push_back(std::move(encoded->bytes));
    elements_.push_back(BytesView(kept_.back()));
    return {};
  }
  void add_null() { elements_.push_back(std::nullopt); }
  types::Elements& elements() { return elements_; }

 private:
  std::vector<Bytes> kept_;
  types::Elements elements_;
};

Result<Bytes> Encoder::operator()(const Value::List& list) const {
  ElementBuilder builder(list.size());
  switch (type_.kind()) {
    case Kind::list:
    case Kind::set:
    case Kind::vector:
      if (type_.kind() == Kind::vector && list.size() != type_.dimension())
        return std::unexpected(
            make_error(fmt::format("{} elements do not match {}", list.size(), type_.cql_name())));
      for (const Value& element : list)
        if (Status status = builder.add(*type_.element(), element, false); !status)
          return std::unexpected(std::move(status.error()));
      break;
    case Kind::tuple:
    case Kind::udt:
      if (list.size() > type_.parameters().size())
        return std::unexpected(
            make_error(fmt::format("{} elements are too many for {}", list.size(), type_.cql_name())));
      for (size_t i = 0; i < list.size(); ++i)
        if (Status status = builder.add(*type_.parameters()[i], list[i], true); !status)
          return std::unexpected(std::move(status.error()));
      break;
    default:
      return refuse(list);
  }
  if (type_.kind() == Kind::set) types::normalise(type_, builder.elements());
  return types::join(type_, builder.elements());
}

Result<Bytes> Encoder::operator()(const Value::Map& map) const {
  ElementBuilder builder(map.size() * 2);
  if (type_.kind() == Kind::map) {
    for (const auto& [key, value] : map) {
      Status status = builder.add(*type_.map_key(), key, false);
      if (status) status = builder.add(*type_.map_value(), value, false);
      if (!status) return std::unexpected(std::move(status.error()));
    }
    types::normalise(type_, builder.elements());
    return types::join(type_, builder.elements());
  }
  if (type_.kind() != Kind::udt) return refuse(map);
  std::vector<const Value*> fields(type_.field_names().size());
  for (const auto& [key, value] : map) {
    const std::string* name = std::get_if<std::string>(&key.content());
    int index = name ? type_.field_index(*name) : -1;
    if (index < 0)
      return std::unexpected(make_error(
          fmt::format("type {} has no field '{}'", type_.cql_name(), name ? *name : "(not text)")));
    fields[static_cast<size_t>(index)] = &value;
  }
  for (size_t i = 0; i < fields.size(); ++i) {
    if (fields[i] == nullptr) {
      builder.add_null();
    } else if (Status status = builder.add(*type_.parameters()[i], *fields[i], true); !status) {
      return std::unexpected(std::move(status.error()));
    }
  }
  return types::join(type_, builder.elements());
}

// --- Decoding

Value element_value(const Type& type, const std::optional<BytesView>& bytes) {
  return bytes ? decode_value(type, *bytes) : Value();
}

Value decode_composite(const Type& type, BytesView bytes) {
  auto elements = types::split(type, bytes);
  if (!elements) return Value(Value::Raw{Bytes(bytes)});
  const auto& parameters = type.parameters();
  if (type.kind() == Kind::map || type.kind() == Kind::udt) {
    Value::Map map;
    if (type.kind() == Kind::map) {
      for (size_t i = 0; i + 1 < elements->size(); i += 2)
        map.emplace_back(element_value(*parameters[0], (*elements)[i]),
                         element_value(*parameters[1], (*elements)[i + 1]));
    } else {
      for (size_t i = 0; i < parameters.size(); ++i)
        map.emplace_back(Value(type.field_names()[i]),
                         i < elements->size() ? element_value(*parameters[i], (*elements)[i]) : Value());
    }
    return map;
  }
  Value::List list;
  for (size_t i = 0; i < elements->size(); ++i)
    list.push_back(
        element_value(type.kind() == Kind::tuple ? *parameters[i] : *parameters[0], (*elements)[i]));
  return list;
}

Value decode_varint_value(BytesView bytes) {
  types::BigInteger number = types::decode_varint(bytes);
  if (number >= std::numeric_limits<int64_t>::min() && number <= std::numeric_limits<int64_t>::max())
    return Value(number.convert_to<int64_t>());
  return Value(Varint{types::format_varint(bytes)});
}

// The code of the same name. Compiles only if both lists have the same codes.
ErrorCode public_code(base::ErrorCode code) {
  switch (code) {
#define SIBYL_CODE(name)                                                                                 \
  case base::ErrorCode::name:                                                                            \
    static_assert(static_cast<int32_t>(ErrorCode::name) == static_cast<int32_t>(base::ErrorCode::name)); \
    return ErrorCode::name;
    // clang-format off
    SIBYL_CODE(server) SIBYL_CODE(protocol) SIBYL_CODE(bad_credentials) SIBYL_CODE(unavailable)
    SIBYL_CODE(overloaded) SIBYL_CODE(bootstrapping) SIBYL_CODE(truncate) SIBYL_CODE(write_timeout)
    SIBYL_CODE(read_timeout) SIBYL_CODE(read_failure) SIBYL_CODE(function_failure) SIBYL_CODE(write_failure)
    SIBYL_CODE(cdc_write_failure) SIBYL_CODE(cas_write_unknown) SIBYL_CODE(syntax) SIBYL_CODE(unauthorized)
    SIBYL_CODE(invalid) SIBYL_CODE(config) SIBYL_CODE(already_exists) SIBYL_CODE(unprepared)
    // clang-format on
#undef SIBYL_CODE
  }
  return ErrorCode::server;
}

}  // namespace

Error public_error(const base::Error& error) {
  Error out;
  out.code = public_code(error.code());
  out.message = error.message();
  out.hint = error.hint();
  if (error.position()) {
    out.line = error.position()->line;
    out.column = error.position()->column;
  }
  return out;
}

Result<EncodedValue> encode_value(const Type& type, const Value& value) {
  using State = types::ValueView::State;
  if (value.is_null()) return EncodedValue{State::null, {}};
  if (std::holds_alternative<Unset>(value.content())) return EncodedValue{State::unset, {}};
  Result<Bytes> bytes = std::visit(Encoder(type), value.content());
  if (!bytes) return std::unexpected(std::move(bytes.error()));
  return EncodedValue{State::present, std::move(*bytes)};
}

Value decode_value(const Type& type, BytesView bytes) {
  switch (type.kind()) {
    case Kind::text:
    case Kind::ascii:
      return Value(bytes);
    case Kind::blob:
    case Kind::custom:
    case Kind::empty:
      return Value(Blob{Bytes(bytes)});
    default:
      if (bytes.empty()) return Value();
  }
  switch (type.kind()) {
    case Kind::boolean:
      return Value(types::decode_boolean(bytes));
    case Kind::tinyint:
    case Kind::smallint:
    case Kind::int_:
    case Kind::bigint:
    case Kind::counter:
      return Value(types::decode_integer(type.kind(), bytes));
    case Kind::timestamp:
      return Value(Timestamp{types::decode_integer(type.kind(), bytes)});
    case Kind::time:
      return Value(Time{types::decode_integer(type.kind(), bytes)});
    case Kind::date:
      return Value(Date{types::decode_date(bytes)});
    case Kind::float_:
      return Value(types::decode_float(bytes));
    case Kind::double_:
      return Value(types::decode_double(bytes));
    case Kind::decimal:
      return Value(Decimal{types::format_decimal(bytes)});
    case Kind::varint:
      return decode_varint_value(bytes);
    case Kind::inet:
      return Value(Inet{types::format_inet(bytes)});
    case Kind::duration: {
      types::Duration duration = types::decode_duration(bytes);
      return Value(Duration{duration.months, duration.days, duration.nanoseconds});
    }
    case Kind::uuid:
    case Kind::timeuuid: {
      Uuid uuid;
      std::copy_n(bytes.begin(), std::min(bytes.size(), uuid.bytes.size()), uuid.bytes.begin());
      return Value(uuid);
    }
    default:
      return decode_composite(type, bytes);
  }
}

}  // namespace engine
}  // namespace sibyl
