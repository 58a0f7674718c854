// C++ values of CQL types.
//
// A Value is bound to a marker of a statement, and is returned for a column of a row. C++ values convert to a
// Value implicitly. as<T>() converts back, and fails if the value has another type:
//
//   C++                                       CQL
//   bool                                      boolean
//   8 to 64 bit integers                      tinyint, smallint, int, bigint, counter, varint;
//                                             must fit the type
//   float, double                             float, double
//   std::string, std::string_view, literals   text, ascii
//   Blob, Uuid, Timestamp, Date, Time,        blob, uuid and timeuuid, timestamp, date, time,
//   Duration, Inet, Decimal, Varint           duration, inet, decimal, varint
//   std::vector<T>                            list, set, vector, tuple
//   std::set<T>                               set
//   std::map<K, V>                            map; with names as keys also a user type
//   std::tuple<T...>                          tuple, user type (its fields in order)
//   std::optional<T>                          null when empty
//   Null{}, Unset{}                           null; leave the column unchanged
//
// Threads: values are plain data.
#pragma once

#include <array>
#include <compare>
#include <concepts>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include <sibyl/error.h>

namespace sibyl {

struct Null {
  friend bool operator==(Null, Null) = default;
};
// In an INSERT or UPDATE: leaves the column unchanged.
struct Unset {
  friend bool operator==(Unset, Unset) = default;
};
struct Blob {
  std::string bytes;
  friend auto operator<=>(const Blob&, const Blob&) = default;
};
struct Uuid {
  std::array<unsigned char, 16> bytes{};
  static Uuid random();      // version 4
  static Uuid time_based();  // version 1 with the current time: a timeuuid; unique within the process
  // 8-4-4-4-12 hexadecimal digits.
  static std::optional<Uuid> parse(std::string_view text);
  std::string to_string() const;
  friend auto operator<=>(const Uuid&, const Uuid&) = default;  // compares bytes, which is not CQL's order
};
struct Timestamp {
  int64_t milliseconds = 0;  // since 1970, UTC
  static Timestamp now();
  friend auto operator<=>(const Timestamp&, const Timestamp&) = default;
};
struct Date {
  int32_t days = 0;  // since 1970-01-01
  friend auto operator<=>(const Date&, const Date&) = default;
};
struct Time {
  int64_t nanoseconds = 0;  // since midnight
  friend auto operator<=>(const Time&, const Time&) = default;
};
struct Duration {
  int32_t months = 0;
  int32_t days = 0;
  int64_t nanoseconds = 0;
  friend bool operator==(const Duration&, const Duration&) = default;
};
struct Inet {
  std::string address;  // 127.0.0.1, ::1
  friend auto operator<=>(const Inet&, const Inet&) = default;
};
// Numbers of any size as decimal digits: "-12.50", "170141183460469231731687303715884105728".
struct Decimal {
  std::string text;
  friend bool operator==(const Decimal&, const Decimal&) = default;
};
struct Varint {
  std::string text;
  friend bool operator==(const Varint&, const Varint&) = default;
};

class Value {
 public:
  using List = std::vector<Value>;
  using Map = std::vector<std::pair<Value, Value>>;
  // A value in CQL's serialisation; validated when it is bound.
  struct Raw {
    std::string bytes;
    friend bool operator==(const Raw&, const Raw&) = default;
  };
  using Content = std::variant<Null, Unset, bool, int64_t, float, double, std::string, Blob, Uuid, Timestamp,
                               Date, Time, Duration, Inet, Decimal, Varint, List, Map, Raw>;

  Value() = default;  // null
  Value(Null) {}
  Value(Unset unset) : content_(unset) {}
  Value(bool value) : content_(value) {}
  template <std::integral Integer>
    requires(!std::same_as<Integer, bool> && !std::same_as<Integer, char> &&
             (std::signed_integral<Integer> || sizeof(Integer) < sizeof(int64_t)))
  Value(Integer value) : content_(static_cast<int64_t>(value)) {}
  Value(float value) : content_(value) {}
  Value(double value) : content_(value) {}
  Value(const char* text) : content_(std::string(text)) {}
  Value(std::string_view text) : content_(std::string(text)) {}
  Value(std::string text) : content_(std::move(text)) {}
  Value(Blob value) : content_(std::move(value)) {}
  Value(Uuid value) : content_(value) {}
  Value(Timestamp value) : content_(value) {}
  Value(Date value) : content_(value) {}
  Value(Time value) : content_(value) {}
  Value(Duration value) : content_(value) {}
  Value(Inet value) : content_(std::move(value)) {}
  Value(Decimal value) : content_(std::move(value)) {}
  Value(Varint value) : content_(std::move(value)) {}
  Value(List list) : content_(std::move(list)) {}
  Value(Map map) : content_(std::move(map)) {}
  Value(Raw raw) : content_(std::move(raw)) {}
  template <typename T>
  Value(const std::vector<T>& list) : content_(List(list.begin(), list.end())) {}
  template <typename T>
  Value(const std::set<T>& set) : content_(List(set.begin(), set.end())) {}
  template <typename K, typename V>
  Value(const std::map<K, V>& map) : content_(Map(map.begin(), map.end())) {}
  template <typename... Parts>
  Value(const std::tuple<Parts...>& parts)
      : content_(std::apply([](const auto&... part) { return List{Value(part)...}; }, parts)) {}
  template <typename T>
  Value(const std::optional<T>& value) {
    if (value) *this = Value(*value);
  }

  bool is_null() const { return std::holds_alternative<Null>(content_); }
  const Content& content() const { return content_; }

  // Converts to T, which must match the type and, for integers, be large enough. Null converts only to an
  // optional, a Value, or an empty collection (CQL does not distinguish those from null).
  template <typename T>
  Result<T> as() const;

  friend bool operator==(const Value&, const Value&) = default;

 private:
  Content content_;
};

// --- Implementation of as<T>().

namespace detail {

std::unexpected<Error> wrong_type(const Value& value, const char* wanted);

template <typename T>
struct As;

template <typename T>
struct AsAlternative {
  static Result<T> convert(const Value& value) {
    if (const T* found = std::get_if<T>(&value.content())) return *found;
    return wrong_type(value, As<T>::name);
  }
};

template <>
struct As<Value> {
  static Result<Value> convert(const Value& value) { return value; }
};
template <>
struct As<bool> : AsAlternative<bool> {
  static constexpr const char* name = "a boolean";
};
template <std::integral Integer>
struct As<Integer> {
  static Result<Integer> convert(const Value& value) {
    const int64_t* found = std::get_if<int64_t>(&value.content());
    if (found != nullptr && std::in_range<Integer>(*found)) return static_cast<Integer>(*found);
    return wrong_type(value, found ? "in the range of the requested type" : "an integer");
  }
};
template <>
struct As<float> : AsAlternative<float> {
  static constexpr const char* name = "a float";
};
template <>
struct As<double> {
  static Result<double> convert(const Value& value) {
    if (const float* narrow = std::get_if<float>(&value.content())) return static_cast<double>(*narrow);
    if (const double* found = std::get_if<double>(&value.content())) return *found;
    return wrong_type(value, "a double");
  }
};
template <>
struct As<std::string> : AsAlternative<std::string> {
  static constexpr const char* name = "text";
};
template <>
struct As<Blob> : AsAlternative<Blob> {
  static constexpr const char* name = "a blob";
};
template <>
struct As<Uuid> : AsAlternative<Uuid> {
  static constexpr const char* name = "a uuid";
};
template <>
struct As<Timestamp> : AsAlternative<Timestamp> {
  static constexpr const char* name = "a timestamp";
};
template <>
struct As<Date> : AsAlternative<Date> {
  static constexpr const char* name = "a date";
};
template <>
struct As<Time> : AsAlternative<Time> {
  static constexpr const char* name = "a time";
};
template <>
struct As<Duration> : AsAlternative<Duration> {
  static constexpr const char* name = "a duration";
};
template <>
struct As<Inet> : AsAlternative<Inet> {
  static constexpr const char* name = "an inet address";
};
template <>
struct As<Decimal> : AsAlternative<Decimal> {
  static constexpr const char* name = "a decimal";
};
template <>
struct As<Varint> {
  static Result<Varint> convert(const Value& value) {
    if (const Varint* found = std::get_if<Varint>(&value.content())) return *found;
    if (const int64_t* small = std::get_if<int64_t>(&value.content())) return Varint{std::to_string(*small)};
    return wrong_type(value, "a varint");
  }
};
template <typename T>
struct As<std::optional<T>> {
  static Result<std::optional<T>> convert(const Value& value) {
    if (value.is_null()) return std::optional<T>();
    Result<T> inner = value.as<T>();
    if (!inner) return std::unexpected(std::move(inner.error()));
    return std::optional<T>(std::move(*inner));
  }
};
template <typename T>
struct As<std::vector<T>> {
  static Result<std::vector<T>> convert(const Value& value) {
    std::vector<T> out;
    if (value.is_null()) return out;
    const Value::List* list = std::get_if<Value::List>(&value.content());
    if (list == nullptr) return wrong_type(value, "a list");
    for (const Value& element : *list) {
      Result<T> converted = element.as<T>();
      if (!converted) return std::unexpected(std::move(converted.error()));
      out.push_back(std::move(*converted));
    }
    return out;
  }
};
template <typename T>
struct As<std::set<T>> {
  static Result<std::set<T>> convert(const Value& value) {
    Result<std::vector<T>> list = value.as<std::vector<T>>();
    if (!list) return std::unexpected(std::move(list.error()));
    return std::set<T>(list->begin(), list->end());
  }
};
template <typename K, typename V>
struct As<std::map<K, V>> {
  static Result<std::map<K, V>> convert(const Value& value) {
    std::map<K, V> out;
    if (value.is_null()) return out;
    const Value::Map* map = std::get_if<Value::Map>(&value.content());
    if (map == nullptr) return wrong_type(value, "a map");
    for (const auto& [key, element] : *map) {
      Result<K> converted_key = key.template as<K>();
      if (!converted_key) return std::unexpected(std::move(converted_key.error()));
      Result<V> converted = element.template as<V>();
      if (!converted) return std::unexpected(std::move(converted.error()));
      out.emplace(std::move(*converted_key), std::move(*converted));
    }
    return out;
  }
};
template <typename... Parts>
struct As<std::tuple<Parts...>> {
  static Result<std::tuple<Parts...>> convert(const Value& value) {
    const Value::List* list = std::get_if<Value::List>(&value.content());
    if (list == nullptr || list->size() != sizeof...(Parts))
      return wrong_type(value, "a tuple of the requested size");
    return convert(*list, std::index_sequence_for<Parts...>());
  }

 private:
  template <size_t... I>
  static Result<std::tuple<Parts...>> convert(const Value::List& list, std::index_sequence<I...>) {
    std::tuple<Result<Parts>...> parts(list[I].template as<Parts>()...);
    std::optional<Error> failed;
    ((!std::get<I>(parts) && !failed ? void(failed = std::get<I>(parts).error()) : void()), ...);
    if (failed) return std::unexpected(std::move(*failed));
    return std::tuple<Parts...>(std::move(*std::get<I>(parts))...);
  }
};

}  // namespace detail

template <typename T>
Result<T> Value::as() const {
  return detail::As<T>::convert(*this);
}

}  // namespace sibyl
