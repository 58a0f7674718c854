#include "plan/lua/values.h"

#include <fmt/format.h>

#include <lua.hpp>

#include "plan/numbers/number.h"
#include "types/elements.h"
#include "types/literals/literal.h"
#include "types/literals/literal_number.h"
#include "types/number.h"
#include "types/print.h"
#include "types/validate.h"

namespace sibyl::plan {

using base::Bytes;
using base::BytesView;
using types::Kind;
using types::Type;

// --- To Lua

namespace {

void push_text(lua_State* lua, std::string_view text) {
  lua_pushlstring(lua, text.data(), text.size());
}

void push_varint(lua_State* lua, BytesView bytes) {
  const types::BigInteger value = types::decode_varint(bytes);
  if (value >= INT64_MIN && value <= INT64_MAX)
    lua_pushinteger(lua, static_cast<lua_Integer>(value));
  else
    push_text(lua, types::format_varint(bytes));
}

void push_duration(lua_State* lua, BytesView bytes) {
  const types::Duration duration = types::decode_duration(bytes);
  lua_createtable(lua, 0, 3);
  lua_pushinteger(lua, duration.months);
  lua_setfield(lua, -2, "months");
  lua_pushinteger(lua, duration.days);
  lua_setfield(lua, -2, "days");
  lua_pushinteger(lua, duration.nanoseconds);
  lua_setfield(lua, -2, "nanoseconds");
}

void push_element(lua_State* lua, const Type& type, const std::optional<BytesView>& element) {
  if (element)
    push_lua_value(lua, type, *element);
  else
    lua_pushnil(lua);
}

void push_table(lua_State* lua, const Type& type, BytesView bytes) {
  const auto elements = types::split(type, bytes);
  const size_t count = elements ? elements->size() : 0;
  luaL_checkstack(lua, 8, nullptr);
  const bool is_keyed = type.kind() == Kind::map || type.kind() == Kind::udt;
  lua_createtable(lua, is_keyed ? 0 : static_cast<int>(count),
                  is_keyed ? static_cast<int>(type.kind() == Kind::map ? count / 2 : count) : 0);
  for (size_t i = 0; i < count; ++i) {
    switch (type.kind()) {
      case Kind::map:
        if (i % 2 == 0 || !(*elements)[i - 1]) break;
        push_lua_value(lua, *type.map_key(), *(*elements)[i - 1]);
        push_element(lua, *type.map_value(), (*elements)[i]);
        lua_settable(lua, -3);
        break;
      case Kind::udt:
        push_text(lua, type.field_names()[i]);
        push_element(lua, *type.parameters()[i], (*elements)[i]);
        lua_rawset(lua, -3);
        break;
      default: {
        const Type& element = type.kind() == Kind::tuple ? *type.parameters()[i] : *type.element();
        push_element(lua, element, (*elements)[i]);
        lua_rawseti(lua, -2, static_cast<lua_Integer>(i) + 1);
      }
    }
  }
}

}  // namespace

void push_lua_value(lua_State* lua, const Type& type, BytesView bytes) {
  const Kind kind = type.kind();
  const bool is_text =
      kind == Kind::text || kind == Kind::ascii || kind == Kind::blob || kind == Kind::custom;
  if (is_text) return push_text(lua, bytes);
  const bool has_parts =
      type.is_collection() || kind == Kind::tuple || kind == Kind::udt || kind == Kind::vector;
  if (has_parts) return push_table(lua, type, bytes);
  if (bytes.empty()) return lua_pushnil(lua);
  switch (kind) {
    case Kind::boolean:
      return lua_pushboolean(lua, types::decode_boolean(bytes));
    case Kind::float_:
      return lua_pushnumber(lua, types::decode_float(bytes));
    case Kind::double_:
      return lua_pushnumber(lua, types::decode_double(bytes));
    case Kind::date:
      return lua_pushinteger(lua, types::decode_date(bytes));
    case Kind::varint:
      return push_varint(lua, bytes);
    case Kind::decimal:
      return push_text(lua, types::format_decimal(bytes));
    case Kind::uuid:
    case Kind::timeuuid:
      return push_text(lua, types::format_uuid(bytes));
    case Kind::inet:
      return push_text(lua, types::format_inet(bytes));
    case Kind::duration:
      return push_duration(lua, bytes);
    default:
      return lua_pushinteger(lua, types::decode_integer(kind, bytes));
  }
}

// --- From Lua. Nothing here raises Lua errors: access is raw, and only strings are read as text.

namespace {

std::string what_is(lua_State* lua) {
  const int type = lua_type(lua, -1);
  if (type != LUA_TNUMBER) return fmt::format("a {}", lua_typename(lua, type));
  if (lua_isinteger(lua, -1)) return fmt::format("the number {}", lua_tointeger(lua, -1));
  return fmt::format("the number {}", lua_tonumber(lua, -1));
}

std::unexpected<base::Error> refused(lua_State* lua, const Type& type, std::string_view expected) {
  return base::invalid(
      fmt::format("a value of type {} must be {} in Lua, not {}", type.cql_name(), expected, what_is(lua)));
}

std::optional<std::string_view> text_at_top(lua_State* lua) {
  if (lua_type(lua, -1) != LUA_TSTRING) return std::nullopt;
  size_t size = 0;
  const char* text = lua_tolstring(lua, -1, &size);
  return std::string_view(text, size);
}

// Accepts floats without a fraction.
std::optional<int64_t> integer_at_top(lua_State* lua) {
  if (lua_type(lua, -1) != LUA_TNUMBER) return std::nullopt;
  int is_integer = 0;
  const lua_Integer value = lua_tointegerx(lua, -1, &is_integer);
  return is_integer != 0 ? std::optional<int64_t>(value) : std::nullopt;
}

// Reads a string with a CQL spelling of the type, as in a quoted literal.
base::Result<Bytes> read_spelling(lua_State* lua, const Type& type, std::string_view expected) {
  const auto text = text_at_top(lua);
  if (!text) return refused(lua, type, expected);
  return types::from_string(type, *text);
}

base::Result<Bytes> read_integer(lua_State* lua, const Type& type) {
  const auto value = integer_at_top(lua);
  if (!value) return refused(lua, type, "an integer");
  const auto in_range = [&](int64_t least, int64_t most) { return *value >= least && *value <= most; };
  const auto out_of_range = [&] {
    return base::invalid(fmt::format("{} is out of range for type {}", *value, type.cql_name()));
  };
  switch (type.kind()) {
    case Kind::tinyint:
      if (!in_range(INT8_MIN, INT8_MAX)) return out_of_range();
      return types::encode_int8(static_cast<int8_t>(*value));
    case Kind::smallint:
      if (!in_range(INT16_MIN, INT16_MAX)) return out_of_range();
      return types::encode_int16(static_cast<int16_t>(*value));
    case Kind::int_:
      if (!in_range(INT32_MIN, INT32_MAX)) return out_of_range();
      return types::encode_int32(static_cast<int32_t>(*value));
    case Kind::date:
      if (!in_range(INT32_MIN, INT32_MAX)) return out_of_range();
      return types::encode_date(static_cast<int32_t>(*value));
    case Kind::time:
      if (!in_range(0, int64_t{86'400} * 1'000'000'000 - 1)) return out_of_range();
      return types::encode_int64(*value);
    default:
      return types::encode_int64(*value);
  }
}

// Reads a number of any length: an integer, a float, or the exact text of a number.
base::Result<Bytes> read_big_number(lua_State* lua, const Type& type) {
  if (const auto text = text_at_top(lua))
    return type.kind() == Kind::varint ? types::parse_varint(*text) : types::parse_decimal(*text);
  if (const auto value = integer_at_top(lua)) {
    return type.kind() == Kind::varint ? types::encode_varint(types::BigInteger(*value))
                                       : types::encode_decimal(types::BigInteger(*value), 0);
  }
  const bool is_decimal = type.kind() == Kind::decimal;
  if (lua_type(lua, -1) != LUA_TNUMBER || !is_decimal)
    return refused(lua, type, is_decimal ? "a number, or its text" : "an integer, or its text");
  return types::parse_decimal(types::format_double(lua_tonumber(lua, -1)));
}

// Reads one of a duration's three numbers; zero if it is absent.
base::Result<int64_t> read_duration_part(lua_State* lua, const char* name, bool is_narrow) {
  int64_t part = 0;
  // Iterates to find the key, because creating a string for a lookup could fail.
  for (lua_pushnil(lua); lua_next(lua, -2) != 0; lua_pop(lua, 1)) {
    if (lua_type(lua, -2) != LUA_TSTRING || std::string_view(lua_tolstring(lua, -2, nullptr)) != name)
      continue;
    const auto value = integer_at_top(lua);
    lua_pop(lua, 2);
    if (!value || (is_narrow && (*value < INT32_MIN || *value > INT32_MAX)))
      return base::invalid(fmt::format("the {} of a duration must be an integer in range", name));
    return *value;
  }
  return part;
}

base::Result<Bytes> read_duration(lua_State* lua, const Type& type) {
  if (lua_type(lua, -1) == LUA_TSTRING) return read_spelling(lua, type, "text");
  if (lua_type(lua, -1) != LUA_TTABLE)
    return refused(lua, type, "a table of months, days and nanoseconds, or text");
  SIBYL_ASSIGN(const int64_t months, read_duration_part(lua, "months", true));
  SIBYL_ASSIGN(const int64_t days, read_duration_part(lua, "days", true));
  SIBYL_ASSIGN(const int64_t nanoseconds, read_duration_part(lua, "nanoseconds", false));
  const bool some_negative = months < 0 || days < 0 || nanoseconds < 0;
  const bool some_positive = months > 0 || days > 0 || nanoseconds > 0;
  if (some_negative && some_positive)
    return base::invalid("the months, days and nanoseconds of a duration must have the same sign");
  return types::encode_duration({static_cast<int32_t>(months), static_cast<int32_t>(days), nanoseconds});
}

using Parts = std::vector<std::optional<Bytes>>;

Bytes join_parts(const Type& type, const Parts& parts) {
  types::Elements elements;
  elements.reserve(parts.size());
  for (const auto& part : parts) elements.push_back(part ? std::optional<BytesView>(*part) : std::nullopt);
  if (type.kind() == Kind::set || type.kind() == Kind::map) types::normalise(type, elements);
  return types::join(type, elements);
}

// Reads a list, set or vector: t[1] to t[#t], and nothing else.
base::Result<Bytes> read_sequence(lua_State* lua, const Type& type, size_t& budget) {
  const auto count = static_cast<lua_Integer>(lua_rawlen(lua, -1));
  lua_Integer entries = 0;
  for (lua_pushnil(lua); lua_next(lua, -2) != 0; lua_pop(lua, 1)) ++entries;
  if (entries != count)
    return base::invalid(fmt::format(
        "a value of type {} must be a table with the keys 1 to n in Lua, without holes or other keys",
        type.cql_name()));
  if (type.kind() == Kind::vector && count != static_cast<lua_Integer>(type.dimension()))
    return base::invalid(
        fmt::format("a value of type {} has {} elements, not {}", type.cql_name(), type.dimension(), count));
  Parts parts;
  for (lua_Integer i = 1; i <= count; ++i) {
    lua_rawgeti(lua, -1, i);
    SIBYL_ASSIGN(auto part, read_lua_value(lua, *type.element(), budget));
    lua_pop(lua, 1);
    parts.push_back(std::move(part));
  }
  return join_parts(type, parts);
}

base::Result<Bytes> read_map(lua_State* lua, const Type& type, size_t& budget) {
  Parts parts;
  for (lua_pushnil(lua); lua_next(lua, -2) != 0; lua_pop(lua, 1)) {
    SIBYL_ASSIGN(auto value, read_lua_value(lua, *type.map_value(), budget));
    lua_pushvalue(lua, -2);
    SIBYL_ASSIGN(auto key, read_lua_value(lua, *type.map_key(), budget));
    lua_pop(lua, 1);
    parts.push_back(std::move(key));
    parts.push_back(std::move(value));
  }
  return join_parts(type, parts);
}

// Reads a tuple by position, or a user type by field name. Absent parts are null.
base::Result<Bytes> read_fields(lua_State* lua, const Type& type, size_t& budget) {
  const size_t count = type.parameters().size();
  Parts parts(count);
  for (lua_pushnil(lua); lua_next(lua, -2) != 0; lua_pop(lua, 1)) {
    std::optional<size_t> at;
    if (type.kind() == Kind::udt && lua_type(lua, -2) == LUA_TSTRING) {
      size_t size = 0;
      const char* name = lua_tolstring(lua, -2, &size);
      if (const int field = type.field_index({name, size}); field >= 0) at = static_cast<size_t>(field);
    } else if (type.kind() == Kind::tuple && lua_isinteger(lua, -2)) {
      const lua_Integer position = lua_tointeger(lua, -2);
      if (position >= 1 && static_cast<uint64_t>(position) <= count) at = static_cast<size_t>(position - 1);
    }
    if (!at)
      return base::invalid(
          fmt::format("the table for a value of type {} has a key that is not a {}", type.cql_name(),
                      type.kind() == Kind::udt ? "field of the type" : "position in the tuple"));
    SIBYL_ASSIGN(parts[*at], read_lua_value(lua, *type.parameters()[*at], budget));
  }
  return join_parts(type, parts);
}

base::Result<Bytes> read_table(lua_State* lua, const Type& type, size_t& budget) {
  if (lua_type(lua, -1) != LUA_TTABLE) return refused(lua, type, "a table");
  if (lua_checkstack(lua, 8) == 0) return base::invalid("the value is nested too deeply");
  switch (type.kind()) {
    case Kind::map:
      return read_map(lua, type, budget);
    case Kind::tuple:
    case Kind::udt:
      return read_fields(lua, type, budget);
    default:
      return read_sequence(lua, type, budget);
  }
}

base::Result<Bytes> read_present(lua_State* lua, const Type& type, size_t& budget) {
  const bool is_text = lua_type(lua, -1) == LUA_TSTRING;
  switch (type.kind()) {
    case Kind::boolean:
      if (lua_type(lua, -1) != LUA_TBOOLEAN) return refused(lua, type, "a boolean");
      return types::encode_boolean(lua_toboolean(lua, -1) != 0);
    case Kind::float_:
    case Kind::double_: {
      if (lua_type(lua, -1) != LUA_TNUMBER) return refused(lua, type, "a number");
      const double value = lua_tonumber(lua, -1);
      return type.kind() == Kind::double_ ? types::encode_double(value)
                                          : types::encode_float(static_cast<float>(value));
    }
    case Kind::text:
    case Kind::ascii:
    case Kind::blob:
    case Kind::custom:
      if (!is_text) return refused(lua, type, "a string");
      return Bytes(*text_at_top(lua));
    case Kind::varint:
    case Kind::decimal:
      return read_big_number(lua, type);
    case Kind::uuid:
    case Kind::timeuuid:
    case Kind::inet:
      return read_spelling(lua, type, "a string");
    case Kind::duration:
      return read_duration(lua, type);
    case Kind::timestamp:
    case Kind::date:
    case Kind::time:
      return is_text ? read_spelling(lua, type, "text") : read_integer(lua, type);
    case Kind::list:
    case Kind::set:
    case Kind::map:
    case Kind::tuple:
    case Kind::udt:
    case Kind::vector:
      return read_table(lua, type, budget);
    default:
      return read_integer(lua, type);
  }
}

}  // namespace

base::Result<std::optional<Bytes>> read_lua_value(lua_State* lua, const Type& type, size_t& budget) {
  if (lua_isnil(lua, -1)) return std::nullopt;
  constexpr size_t least = 64;  // the least cost of a value, however small it is
  const size_t size = least + (lua_type(lua, -1) == LUA_TSTRING ? lua_rawlen(lua, -1) : 0);
  if (size > budget) return base::invalid("the result is too large");
  budget -= size;
  SIBYL_ASSIGN(Bytes bytes, read_present(lua, type, budget));
  SIBYL_TRY(types::validate(type, bytes));
  return bytes;
}

}  // namespace sibyl::plan
