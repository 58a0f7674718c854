#include "plan/statements/attributes.h"

#include <fmt/format.h>

#include <limits>

#include "types/value.h"

namespace sibyl::plan {

base::Result<Attributes> bind_attributes(const cql::Attributes& attributes, Binder& binder,
                                         const std::string& keyspace, const std::string& table) {
  Attributes bound;
  if (attributes.timestamp) {
    const ColumnSpec receiver{keyspace, table, "[timestamp]", types::scalar(types::Kind::bigint)};
    SIBYL_ASSIGN(bound.timestamp, binder.term(*attributes.timestamp, receiver));
  }
  if (attributes.time_to_live) {
    const ColumnSpec receiver{keyspace, table, "[ttl]", types::scalar(types::Kind::int_)};
    SIBYL_ASSIGN(bound.time_to_live, binder.term(*attributes.time_to_live, receiver));
  }
  return bound;
}

base::Result<std::optional<int64_t>> timestamp_of(const TermPtr& term, const Bindings& bindings,
                                                  Scratch& scratch) {
  constexpr int64_t least = std::numeric_limits<int64_t>::min() + 1;
  if (!term) return std::nullopt;
  SIBYL_ASSIGN(const ValueView value, term->evaluate(bindings, scratch));
  if (value.is_unset()) return std::nullopt;
  if (value.is_null()) return base::invalid("Invalid null value of timestamp");
  if (value.bytes.size() != 8) return base::invalid("Invalid timestamp value: " + base::to_hex(value.bytes));
  const int64_t timestamp = types::decode_integer(types::Kind::bigint, value.bytes);
  if (timestamp < least) {
    return base::invalid(fmt::format("Out of bound timestamp, must be in [{}, {}]", least,
                                     std::numeric_limits<int64_t>::max()));
  }
  return timestamp;
}

base::Result<int32_t> time_to_live_of(const TermPtr& term, const schema::Table& table,
                                      const Bindings& bindings, Scratch& scratch) {
  if (!term) return table.options.default_time_to_live;
  SIBYL_ASSIGN(const ValueView value, term->evaluate(bindings, scratch));
  if (value.is_unset()) return table.options.default_time_to_live;
  if (value.is_null() || value.bytes.empty()) return 0;
  if (value.bytes.size() != 4) return base::invalid("Invalid timestamp value: " + base::to_hex(value.bytes));
  const auto seconds = static_cast<int32_t>(types::decode_integer(types::Kind::int_, value.bytes));
  if (seconds < 0)
    return base::invalid(fmt::format("A TTL must be greater or equal to 0, but was {}", seconds));
  if (seconds > max_time_to_live) {
    return base::invalid(
        fmt::format("ttl is too large. requested ({}) maximum ({})", seconds, max_time_to_live));
  }
  return seconds;
}

}  // namespace sibyl::plan
