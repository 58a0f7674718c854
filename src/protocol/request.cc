#include "protocol/request.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <limits>

#include "base/ascii.h"

namespace sibyl::protocol {
namespace {

namespace query_flag {
constexpr uint32_t values = 0x01;
constexpr uint32_t skip_metadata = 0x02;
constexpr uint32_t page_size = 0x04;
constexpr uint32_t paging_state = 0x08;
constexpr uint32_t serial_consistency = 0x10;
constexpr uint32_t timestamp = 0x20;
constexpr uint32_t names = 0x40;
constexpr uint32_t keyspace = 0x80;
constexpr uint32_t now_seconds = 0x100;
}  // namespace query_flag

void read_values(WireReader& reader, Version version, bool named, QueryParameters& parameters) {
  const uint16_t count = reader.short_();
  for (uint16_t i = 0; i < count && reader.ok(); ++i) {
    if (named) parameters.names.push_back(reader.string());
    parameters.values.push_back(reader.value(version));
  }
}

void read_parameters(WireReader& reader, Version version, QueryParameters& parameters) {
  parameters.clear();
  parameters.consistency = reader.consistency();
  const uint32_t flags = has_wide_query_flags(version) ? static_cast<uint32_t>(reader.int_()) : reader.byte();
  const auto has = [&](uint32_t mask) { return (flags & mask) != 0; };
  if (has(query_flag::values)) read_values(reader, version, has(query_flag::names), parameters);
  parameters.skip_metadata = has(query_flag::skip_metadata);
  if (has(query_flag::page_size)) parameters.page_size = reader.int_();
  if (has(query_flag::paging_state)) parameters.paging_state = reader.bytes();
  if (has(query_flag::serial_consistency)) parameters.serial_consistency = reader.consistency();
  if (has(query_flag::timestamp)) {
    parameters.timestamp_micros = reader.long_();
    constexpr int64_t lowest = std::numeric_limits<int64_t>::min();
    if (parameters.timestamp_micros == lowest)
      reader.fail(fmt::format("Out of bound timestamp, must be in [{}, {}] (got {})", lowest + 1,
                              std::numeric_limits<int64_t>::max(), lowest));
  }
  if (!has_wide_query_flags(version)) return;
  if (has(query_flag::keyspace)) parameters.keyspace = reader.string();
  if (has(query_flag::now_seconds)) parameters.now_seconds = reader.int_();
  // This number is Cassandra's marker for "not given".
  if (parameters.now_seconds == std::numeric_limits<int32_t>::min()) parameters.now_seconds.reset();
}

uint32_t flags_of(const QueryParameters& parameters, Version version) {
  uint32_t flags = 0;
  if (!parameters.values.empty()) flags |= query_flag::values;
  if (!parameters.names.empty()) flags |= query_flag::names;
  if (parameters.skip_metadata) flags |= query_flag::skip_metadata;
  if (parameters.page_size) flags |= query_flag::page_size;
  if (parameters.paging_state) flags |= query_flag::paging_state;
  if (parameters.serial_consistency != Consistency::serial) flags |= query_flag::serial_consistency;
  if (parameters.timestamp_micros) flags |= query_flag::timestamp;
  if (has_wide_query_flags(version)) {
    if (parameters.keyspace) flags |= query_flag::keyspace;
    if (parameters.now_seconds) flags |= query_flag::now_seconds;
  }
  return flags;
}

void append_parameters(Bytes& out, Version version, const QueryParameters& parameters) {
  append_consistency(out, parameters.consistency);
  const uint32_t flags = flags_of(parameters, version);
  if (has_wide_query_flags(version)) {
    append_int(out, static_cast<int32_t>(flags));
  } else {
    append_byte(out, static_cast<uint8_t>(flags));
  }
  if ((flags & query_flag::values) != 0) {
    append_short(out, static_cast<uint16_t>(parameters.values.size()));
    for (size_t i = 0; i < parameters.values.size(); ++i) {
      if (!parameters.names.empty()) append_string(out, parameters.names[i]);
      append_value(out, parameters.values[i]);
    }
  }
  if (parameters.page_size) append_int(out, *parameters.page_size);
  if (parameters.paging_state) append_bytes(out, *parameters.paging_state);
  if ((flags & query_flag::serial_consistency) != 0) append_consistency(out, parameters.serial_consistency);
  if (parameters.timestamp_micros) append_long(out, *parameters.timestamp_micros);
  if ((flags & query_flag::keyspace) != 0) append_string(out, *parameters.keyspace);
  if ((flags & query_flag::now_seconds) != 0) append_int(out, *parameters.now_seconds);
}

}  // namespace

const std::string* Startup::find(std::string_view key) const {
  for (const auto& [name, value] : options)
    if (name == key) return &value;
  return nullptr;
}

void QueryParameters::clear() {
  consistency = Consistency::one;
  serial_consistency = Consistency::serial;
  skip_metadata = false;
  values.clear();
  names.clear();
  page_size.reset();
  paging_state.reset();
  timestamp_micros.reset();
  keyspace.reset();
  now_seconds.reset();
}

base::Status decode_startup(BytesView body, Startup& message) {
  WireReader reader(body);
  message.options = reader.string_map();
  for (auto& [key, value] : message.options) key = base::ascii_upper(key);
  return reader.status();
}

base::Status decode_query(BytesView body, Version version, Query& message) {
  WireReader reader(body);
  message.text = reader.long_string();
  read_parameters(reader, version, message.parameters);
  return reader.status();
}

base::Status decode_prepare(BytesView body, Version version, Prepare& message) {
  WireReader reader(body);
  message.text = reader.long_string();
  message.keyspace.reset();
  if (has_wide_query_flags(version) && (reader.int_() & 1) != 0) message.keyspace = reader.string();
  return reader.status();
}

base::Status decode_execute(BytesView body, Version version, Execute& message) {
  WireReader reader(body);
  message.id = reader.short_bytes();
  message.result_metadata_id = has_result_metadata_ids(version) ? reader.short_bytes() : BytesView();
  read_parameters(reader, version, message.parameters);
  return reader.status();
}

base::Status decode_batch(BytesView body, Version version, Batch& message) {
  WireReader reader(body);
  message.statements.clear();
  message.values.clear();
  const uint8_t kind = reader.byte();
  const uint16_t count = reader.short_();
  for (uint16_t i = 0; i < count && reader.ok(); ++i) {
    Batch::Statement statement;
    const uint8_t statement_kind = reader.byte();
    if (statement_kind > 1)
      reader.fail(
          fmt::format("Invalid query kind in BATCH messages. Must be 0 or 1 but got {}", statement_kind));
    statement.is_prepared = statement_kind == 1;
    statement.text_or_id = statement.is_prepared ? reader.short_bytes() : reader.long_string();
    statement.first_value = static_cast<uint32_t>(message.values.size());
    statement.value_count = reader.short_();
    for (uint32_t v = 0; v < statement.value_count && reader.ok(); ++v)
      message.values.push_back(reader.value(version));
    message.statements.push_back(statement);
  }
  read_parameters(reader, version, message.parameters);
  if (kind > static_cast<uint8_t>(Batch::Kind::counter))
    reader.fail(fmt::format("Invalid BATCH message type {}", kind));
  message.kind = static_cast<Batch::Kind>(kind);
  return reader.status();
}

base::Result<std::vector<std::string>> decode_register(BytesView body) {
  WireReader reader(body);
  auto types = reader.string_list();
  SIBYL_TRY(reader.status());
  return types;
}

base::Result<std::optional<BytesView>> decode_auth_response(BytesView body) {
  WireReader reader(body);
  const auto token = reader.bytes();
  SIBYL_TRY(reader.status());
  return token;
}

void append_startup(Bytes& out, const StringMap& options) {
  append_string_map(out, options);
}

void append_query(Bytes& out, Version version, const Query& message) {
  append_long_string(out, message.text);
  append_parameters(out, version, message.parameters);
}

void append_prepare(Bytes& out, Version version, const Prepare& message) {
  append_long_string(out, message.text);
  if (!has_wide_query_flags(version)) return;
  append_int(out, message.keyspace ? 1 : 0);
  if (message.keyspace) append_string(out, *message.keyspace);
}

void append_execute(Bytes& out, Version version, const Execute& message) {
  append_short_bytes(out, message.id);
  if (has_result_metadata_ids(version)) append_short_bytes(out, message.result_metadata_id);
  append_parameters(out, version, message.parameters);
}

void append_batch(Bytes& out, Version version, const Batch& message) {
  append_byte(out, static_cast<uint8_t>(message.kind));
  append_short(out, static_cast<uint16_t>(message.statements.size()));
  for (const auto& statement : message.statements) {
    append_byte(out, statement.is_prepared);
    if (statement.is_prepared) {
      append_short_bytes(out, statement.text_or_id);
    } else {
      append_long_string(out, statement.text_or_id);
    }
    append_short(out, static_cast<uint16_t>(statement.value_count));
    for (uint32_t v = 0; v < statement.value_count; ++v)
      append_value(out, message.values[statement.first_value + v]);
  }
  append_parameters(out, version, message.parameters);
}

void append_register(Bytes& out, const std::vector<std::string>& event_types) {
  append_string_list(out, event_types);
}

void append_auth_response(Bytes& out, std::optional<BytesView> token) {
  if (token) {
    append_bytes(out, *token);
  } else {
    append_null(out);
  }
}

}  // namespace sibyl::protocol
