// now(), conversions between time types, floor().
#include "plan/functions/time.h"

#include <fmt/format.h>

#include "plan/terms/functions.h"
#include "types/calendar.h"
#include "types/print.h"
#include "types/uuid.h"

namespace sibyl::plan {

using base::invalid;
using types::Kind;
using types::TypePtr;

namespace {

constexpr int64_t nanos_per_day = 86'400'000'000'000;

// Converts any time type to milliseconds since 1970.
int64_t millis_of(const types::Type& type, BytesView bytes) {
  switch (type.kind()) {
    case Kind::timeuuid:
      return types::uuid_unix_millis(bytes);
    case Kind::date:
      return int64_t{types::decode_date(bytes)} * types::millis_per_day;
    default:
      return types::decode_integer(type.kind(), bytes);
  }
}

Bytes from_millis(const types::Type& type, int64_t millis) {
  if (type.kind() == Kind::date)
    return types::encode_date(static_cast<int32_t>(millis / types::millis_per_day));
  return types::encode_int64(millis);
}

base::Result<ValueView> now(const Function& function, std::span<const ValueView>, const Bindings& bindings,
                            Scratch& scratch) {
  switch (function.returns->kind()) {
    case Kind::timeuuid:
      return kept(scratch, types::next_time_uuid(bindings.now_micros));
    case Kind::time: {
      const int64_t day = types::floor_divide(bindings.now_micros * 1000, nanos_per_day);
      return kept(scratch, types::encode_int64(bindings.now_micros * 1000 - day * nanos_per_day));
    }
    default:
      return kept(scratch, from_millis(*function.returns, types::floor_divide(bindings.now_micros, 1000)));
  }
}

base::Result<ValueView> convert(const Function& function, std::span<const ValueView> arguments,
                                const Bindings&, Scratch& scratch) {
  return kept(scratch, from_millis(*function.returns, millis_of(*function.arguments[0], arguments[0].bytes)));
}

base::Result<ValueView> extreme_uuid(const Function& function, std::span<const ValueView> arguments,
                                     const Bindings&, Scratch& scratch) {
  const int64_t millis = types::decode_integer(Kind::timestamp, arguments[0].bytes);
  const bool smallest = function.name.starts_with("min");
  return kept(scratch, smallest ? types::min_time_uuid(millis) : types::max_time_uuid(millis));
}

base::Result<ValueView> random_uuid(const Function&, std::span<const ValueView>, const Bindings&,
                                    Scratch& scratch) {
  return kept(scratch, types::random_uuid());
}

// --- floor

// The latest start + n * duration that is not after `time`. REQUIRES: start <= time, and a positive duration.
int64_t floor_by_calendar(int64_t time, const types::Duration& duration, int64_t start) {
  const int64_t more = duration.days * types::millis_per_day + duration.nanoseconds / 1'000'000;
  // A value out of range counts as later than any time.
  const auto is_past = [&](int64_t n) {
    int64_t months = 0, millis = 0;
    if (__builtin_mul_overflow(n, int64_t{duration.months}, &months)) return true;
    if (__builtin_mul_overflow(n, more, &millis)) return true;
    const auto at = types::add_time(start, months, millis);
    return !at || *at > time;
  };
  int64_t low = 0, high = 1;
  while (!is_past(high)) {
    low = high;
    high *= 2;
  }
  while (high - low > 1) {
    const int64_t middle = low + (high - low) / 2;
    (is_past(middle) ? high : low) = middle;
  }
  return types::add_time(start, low * duration.months, low * more).value_or(start);
}

base::Result<ValueView> floor_time(const Function& function, std::span<const ValueView> arguments,
                                   const Bindings&, Scratch& scratch) {
  const types::Duration duration = types::decode_duration(arguments[1].bytes);
  if (duration.months < 0 || duration.days < 0 || duration.nanoseconds < 0)
    return invalid("Negative durations are not supported by the floor function");
  if (function.arguments[0]->kind() == Kind::time) {
    if (duration.months != 0 || duration.days != 0 || duration.nanoseconds > nanos_per_day)
      return invalid("For time values, the floor can only be computed for durations smaller that a day");
    const int64_t time = types::decode_integer(Kind::time, arguments[0].bytes);
    if (duration.nanoseconds == 0) return arguments[0];
    return kept(scratch, types::encode_int64(time / duration.nanoseconds * duration.nanoseconds));
  }
  if (function.returns->kind() == Kind::date && duration.nanoseconds != 0)
    return invalid(fmt::format(
        "The floor on date values cannot be computed for the {} duration as precision is below 1 day",
        types::format_duration(duration)));
  if (duration.nanoseconds % 1'000'000 != 0)
    return invalid(
        fmt::format("The floor cannot be computed for the {} duration as precision is below 1 millisecond",
                    types::format_duration(duration)));
  const int64_t time = millis_of(*function.arguments[0], arguments[0].bytes);
  const int64_t start = arguments.size() == 3 ? millis_of(*function.arguments[2], arguments[2].bytes) : 0;
  if (start > time) return invalid("The floor function starting time is greater than the provided time");
  const int64_t step = duration.days * types::millis_per_day + duration.nanoseconds / 1'000'000;
  int64_t result = time;
  if (duration.months != 0)
    result = floor_by_calendar(time, duration, start);
  else if (step != 0)
    result = time - static_cast<int64_t>((static_cast<uint64_t>(time) - static_cast<uint64_t>(start)) %
                                         static_cast<uint64_t>(step));
  return kept(scratch, from_millis(*function.returns, result));
}

Function scalar(std::string name, TypePtr returns, std::vector<TypePtr> arguments,
                Function::Evaluate evaluate) {
  Function function;
  function.name = std::move(name);
  function.returns = std::move(returns);
  function.arguments = std::move(arguments);
  function.evaluate = evaluate;
  function.is_monotonic = evaluate == convert || evaluate == floor_time;
  return function;
}

void add_now(FunctionRegistry& registry, const char* name, Kind kind, Function::Evaluate evaluate) {
  Function function = scalar(name, types::scalar(kind), {}, evaluate);
  function.is_pure = false;
  registry.add(std::move(function));
}

void add_floor(FunctionRegistry& registry) {
  const TypePtr& duration = types::scalar(Kind::duration);
  const TypePtr& timestamp = types::scalar(Kind::timestamp);
  const TypePtr& date = types::scalar(Kind::date);
  for (const Kind kind : {Kind::timestamp, Kind::timeuuid}) {
    registry.add(scalar("floor", timestamp, {types::scalar(kind), duration}, floor_time));
    registry.add(scalar("floor", timestamp, {types::scalar(kind), duration, timestamp}, floor_time));
  }
  registry.add(scalar("floor", date, {date, duration}, floor_time));
  registry.add(scalar("floor", date, {date, duration, date}, floor_time));
  registry.add(scalar("floor", types::scalar(Kind::time), {types::scalar(Kind::time), duration}, floor_time));
}

}  // namespace

void add_time_functions(FunctionRegistry& registry) {
  for (const char* name : {"now", "current_timeuuid", "currenttimeuuid"})
    add_now(registry, name, Kind::timeuuid, now);
  for (const char* name : {"current_timestamp", "currenttimestamp"})
    add_now(registry, name, Kind::timestamp, now);
  for (const char* name : {"current_date", "currentdate"}) add_now(registry, name, Kind::date, now);
  for (const char* name : {"current_time", "currenttime"}) add_now(registry, name, Kind::time, now);
  add_now(registry, "uuid", Kind::uuid, random_uuid);

  const TypePtr& timestamp = types::scalar(Kind::timestamp);
  for (const char* name : {"min_timeuuid", "mintimeuuid", "max_timeuuid", "maxtimeuuid"})
    registry.add(scalar(name, types::scalar(Kind::timeuuid), {timestamp}, extreme_uuid));

  const auto conversions = [&](std::initializer_list<const char*> names, Kind to,
                               std::initializer_list<Kind> from) {
    for (const char* name : names)
      for (const Kind kind : from)
        registry.add(scalar(name, types::scalar(to), {types::scalar(kind)}, convert));
  };
  conversions({"to_date", "todate"}, Kind::date, {Kind::timeuuid, Kind::timestamp});
  conversions({"to_timestamp", "totimestamp"}, Kind::timestamp, {Kind::timeuuid, Kind::date});
  // This function was removed in Cassandra 5.0, but older code still uses it.
  conversions({"dateof"}, Kind::timestamp, {Kind::timeuuid});
  conversions({"unixtimestampof"}, Kind::bigint, {Kind::timeuuid});
  conversions({"to_unix_timestamp", "tounixtimestamp"}, Kind::bigint,
              {Kind::timeuuid, Kind::timestamp, Kind::date});
  add_floor(registry);
}

}  // namespace sibyl::plan
