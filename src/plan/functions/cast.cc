// CAST(x AS type).
#include "plan/functions/cast.h"

#include <fmt/format.h>

#include "plan/numbers/number.h"
#include "plan/terms/functions.h"
#include "types/print.h"
#include "types/print_value.h"
#include "types/uuid.h"

namespace sibyl::plan {

using types::Kind;
using types::TypePtr;

namespace {

base::Result<ValueView> to_number(const Function& function, std::span<const ValueView> arguments,
                                  const Bindings&, Scratch& scratch) {
  const Number number = read_number(function.arguments[0]->kind(), arguments[0].bytes);
  const bool through_long = function.returns->kind() == Kind::varint;
  SIBYL_ASSIGN(Bytes bytes,
               write_number(function.returns->kind(), through_long ? number_of(number.to_int64()) : number));
  return kept(scratch, std::move(bytes));
}

// The text of the literal, without quotes.
base::Result<ValueView> to_text(const Function& function, std::span<const ValueView> arguments,
                                const Bindings&, Scratch& scratch) {
  const BytesView bytes = arguments[0].bytes;
  switch (function.arguments[0]->kind()) {
    case Kind::ascii:
      return arguments[0];
    case Kind::timestamp:
      return kept(scratch, types::format_timestamp(types::decode_integer(Kind::timestamp, bytes)));
    case Kind::date:
      return kept(scratch, types::format_date(types::decode_date(bytes)));
    case Kind::time:
      return kept(scratch, types::format_time(types::decode_integer(Kind::time, bytes)));
    case Kind::inet:
      return kept(scratch, types::format_long_inet(bytes));
    case Kind::counter:
      return kept(scratch, fmt::format("{}", types::decode_integer(Kind::counter, bytes)));
    default:
      return kept(scratch, types::to_literal(*function.arguments[0], bytes));
  }
}

base::Result<ValueView> between_times(const Function& function, std::span<const ValueView> arguments,
                                      const Bindings&, Scratch& scratch) {
  constexpr int64_t day = 86'400'000;
  const BytesView bytes = arguments[0].bytes;
  int64_t millis = 0;
  switch (function.arguments[0]->kind()) {
    case Kind::timeuuid:
      millis = types::uuid_unix_millis(bytes);
      break;
    case Kind::date:
      millis = types::decode_date(bytes) * day;
      break;
    default:
      millis = types::decode_integer(Kind::timestamp, bytes);
  }
  if (function.returns->kind() == Kind::timestamp) return kept(scratch, types::encode_int64(millis));
  return kept(scratch,
              types::encode_date(static_cast<int32_t>(millis / day)));  // rounds toward 1970, as Java does
}

void add_cast(FunctionRegistry& registry, Kind from, Kind to, Function::Evaluate evaluate) {
  Function function;
  function.name = cast_name(*types::scalar(to));
  function.arguments = {types::scalar(from)};
  function.returns = types::scalar(to);
  function.evaluate = evaluate;
  registry.add(std::move(function));
}

constexpr Kind numeric_kinds[] = {Kind::tinyint, Kind::smallint, Kind::int_,    Kind::bigint, Kind::float_,
                                  Kind::double_, Kind::decimal,  Kind::counter, Kind::varint};

}  // namespace

void add_cast_functions(FunctionRegistry& registry) {
  for (const Kind from : numeric_kinds) {
    for (const Kind to : numeric_kinds)
      if (from != to && to != Kind::counter) add_cast(registry, from, to, to_number);
    add_cast(registry, from, Kind::ascii, to_text);
    add_cast(registry, from, Kind::text, to_text);
  }
  add_cast(registry, Kind::ascii, Kind::text, to_text);
  for (const Kind from :
       {Kind::inet, Kind::boolean, Kind::timeuuid, Kind::timestamp, Kind::date, Kind::time, Kind::uuid})
    for (const Kind to : {Kind::ascii, Kind::text}) add_cast(registry, from, to, to_text);
  add_cast(registry, Kind::timeuuid, Kind::date, between_times);
  add_cast(registry, Kind::timeuuid, Kind::timestamp, between_times);
  add_cast(registry, Kind::timestamp, Kind::date, between_times);
  add_cast(registry, Kind::date, Kind::timestamp, between_times);
}

}  // namespace sibyl::plan
