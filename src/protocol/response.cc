#include "protocol/response.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "protocol/type_option.h"

namespace sibyl::protocol {
namespace {

enum class ResultKind : int32_t { void_ = 1, rows = 2, set_keyspace = 3, prepared = 4, schema_change = 5 };

namespace metadata_flag {
constexpr int32_t global_tables_spec = 0x01;
constexpr int32_t has_more_pages = 0x02;
constexpr int32_t no_metadata = 0x04;
constexpr int32_t metadata_changed = 0x08;
}  // namespace metadata_flag

void append_kind(Bytes& out, ResultKind kind) {
  append_int(out, static_cast<int32_t>(kind));
}

bool all_of_one_table(std::span<const ColumnView> columns) {
  if (columns.empty()) return false;
  return std::all_of(columns.begin() + 1, columns.end(), [&](const ColumnView& column) {
    return column.keyspace == columns[0].keyspace && column.table == columns[0].table;
  });
}

void append_columns(Bytes& out, Version version, std::span<const ColumnView> columns, bool global) {
  if (global) {
    append_string(out, columns[0].keyspace);
    append_string(out, columns[0].table);
  }
  for (const auto& column : columns) {
    if (!global) {
      append_string(out, column.keyspace);
      append_string(out, column.table);
    }
    append_string(out, column.name);
    append_type(out, version, *column.type);
  }
}

void append_metadata(Bytes& out, Version version, const RowsHeader& header) {
  const bool global = !header.skip_metadata && all_of_one_table(header.columns);
  int32_t flags = 0;
  if (global) flags |= metadata_flag::global_tables_spec;
  if (header.paging_state) flags |= metadata_flag::has_more_pages;
  if (header.skip_metadata) flags |= metadata_flag::no_metadata;
  if (header.new_metadata_id) flags |= metadata_flag::metadata_changed;
  append_int(out, flags);
  append_int(out, static_cast<int32_t>(header.columns.size()));
  if (header.paging_state) append_bytes(out, *header.paging_state);
  if (header.new_metadata_id) append_short_bytes(out, *header.new_metadata_id);
  if (!header.skip_metadata) append_columns(out, version, header.columns, global);
}

std::vector<Column> read_columns(WireReader& reader, Version version, int32_t count, bool global) {
  std::vector<Column> columns;
  std::string keyspace, table;
  if (global) {
    keyspace = std::string(reader.string());
    table = std::string(reader.string());
  }
  for (int32_t i = 0; i < count && reader.ok(); ++i) {
    Column column;
    column.keyspace = global ? keyspace : std::string(reader.string());
    column.table = global ? table : std::string(reader.string());
    column.name = std::string(reader.string());
    column.type = read_type(reader, version);
    columns.push_back(std::move(column));
  }
  return columns;
}

struct Metadata {
  uint32_t column_count = 0;
  std::vector<Column> columns;
  std::optional<Bytes> paging_state;
  std::optional<Bytes> new_metadata_id;
};

int32_t read_column_count(WireReader& reader) {
  const int32_t count = reader.int_();
  if (count < 0) reader.fail(fmt::format("Invalid column count {}", count));
  return reader.ok() ? count : 0;
}

Metadata read_metadata(WireReader& reader, Version version) {
  Metadata metadata;
  const int32_t flags = reader.int_();
  const int32_t count = read_column_count(reader);
  metadata.column_count = static_cast<uint32_t>(count);
  if ((flags & metadata_flag::has_more_pages) != 0) {
    const auto state = reader.bytes();
    metadata.paging_state = state ? Bytes(*state) : Bytes();
  }
  if ((flags & metadata_flag::metadata_changed) != 0) metadata.new_metadata_id = Bytes(reader.short_bytes());
  if ((flags & metadata_flag::no_metadata) == 0)
    metadata.columns = read_columns(reader, version, count, (flags & metadata_flag::global_tables_spec) != 0);
  return metadata;
}

RowsResult read_rows(WireReader& reader, Version version) {
  RowsResult result;
  Metadata metadata = read_metadata(reader, version);
  result.column_count = metadata.column_count;
  result.columns = std::move(metadata.columns);
  result.paging_state = std::move(metadata.paging_state);
  result.new_metadata_id = std::move(metadata.new_metadata_id);
  const int32_t count = reader.int_();
  // Rows without columns take no bytes, so their number would have no limit.
  if (count < 0 || (count > 0 && result.column_count == 0))
    reader.fail(fmt::format("Invalid row count {}", count));
  const BytesView rows = reader.rest();
  for (int32_t row = 0; row < count && reader.ok(); ++row)
    for (uint32_t column = 0; column < result.column_count && reader.ok(); ++column) reader.bytes();
  if (!reader.ok()) return result;
  result.row_count = static_cast<uint32_t>(count);
  result.rows = Bytes(rows.substr(0, rows.size() - reader.rest().size()));
  return result;
}

PreparedResult read_prepared(WireReader& reader, Version version) {
  PreparedResult result;
  result.id = Bytes(reader.short_bytes());
  if (has_result_metadata_ids(version)) result.result_metadata_id = Bytes(reader.short_bytes());
  const int32_t flags = reader.int_();
  const int32_t count = read_column_count(reader);
  if (has_partition_key_indexes(version)) {
    const int32_t keys = reader.int_();
    for (int32_t i = 0; i < keys && reader.ok(); ++i) result.partition_key_markers.push_back(reader.short_());
  }
  result.markers = read_columns(reader, version, count, (flags & metadata_flag::global_tables_spec) != 0);
  result.result = read_metadata(reader, version).columns;
  return result;
}

constexpr std::string_view change_names[] = {"CREATED", "UPDATED", "DROPPED"};
constexpr std::string_view target_names[] = {"KEYSPACE", "TABLE", "TYPE", "FUNCTION", "AGGREGATE"};

bool has_arguments(SchemaChange::Target target) {
  return target == SchemaChange::Target::function || target == SchemaChange::Target::aggregate;
}

void append_change(Bytes& out, Version version, const SchemaChange& change) {
  // v3 has no events for functions. Their keyspace is reported as updated instead.
  const bool as_keyspace = has_arguments(change.target) && !has_function_events(version);
  const auto kind = as_keyspace ? SchemaChange::Kind::updated : change.kind;
  const auto target = as_keyspace ? SchemaChange::Target::keyspace : change.target;
  append_string(out, change_names[static_cast<size_t>(kind)]);
  append_string(out, target_names[static_cast<size_t>(target)]);
  append_string(out, change.keyspace);
  if (target != SchemaChange::Target::keyspace) append_string(out, change.name);
  if (has_arguments(target)) append_string_list(out, change.argument_types);
}

template <typename Enum, size_t size>
Enum read_name(WireReader& reader, const std::string_view (&names)[size], std::string_view what) {
  const std::string_view name = reader.string();
  const auto found = std::find(std::begin(names), std::end(names), name);
  if (found == std::end(names)) {
    reader.fail(fmt::format("Invalid value '{}' for {}", name, what));
    return Enum{};
  }
  return static_cast<Enum>(found - std::begin(names));
}

SchemaChange read_change(WireReader& reader) {
  SchemaChange change;
  change.kind = read_name<SchemaChange::Kind>(reader, change_names, "Change");
  change.target = read_name<SchemaChange::Target>(reader, target_names, "Target");
  change.keyspace = std::string(reader.string());
  if (change.target != SchemaChange::Target::keyspace) change.name = std::string(reader.string());
  if (has_arguments(change.target)) change.argument_types = reader.string_list();
  return change;
}

}  // namespace

void append_void_result(Bytes& out) {
  append_kind(out, ResultKind::void_);
}

void append_set_keyspace_result(Bytes& out, std::string_view keyspace) {
  append_kind(out, ResultKind::set_keyspace);
  append_string(out, keyspace);
}

void append_schema_change_result(Bytes& out, Version version, const SchemaChange& change) {
  append_kind(out, ResultKind::schema_change);
  append_change(out, version, change);
}

void append_rows_header(Bytes& out, Version version, const RowsHeader& header) {
  append_kind(out, ResultKind::rows);
  append_metadata(out, version, header);
  append_int(out, static_cast<int32_t>(header.row_count));
}

void append_prepared_result(Bytes& out, Version version, const PreparedHeader& header) {
  append_kind(out, ResultKind::prepared);
  append_short_bytes(out, header.id);
  if (has_result_metadata_ids(version)) append_short_bytes(out, header.result_metadata_id);
  const bool global = all_of_one_table(header.markers);
  append_int(out, global ? metadata_flag::global_tables_spec : 0);
  append_int(out, static_cast<int32_t>(header.markers.size()));
  if (has_partition_key_indexes(version)) {
    // If the markers belong to several tables, the indexes of the key markers would not name a single
    // partition.
    const auto keys = global ? header.partition_key_markers : std::span<const uint16_t>();
    append_int(out, static_cast<int32_t>(keys.size()));
    for (const uint16_t marker : keys) append_short(out, marker);
  }
  append_columns(out, version, header.markers, global);
  // A statement without rows has the flag NO_METADATA and no columns.
  RowsHeader result;
  result.columns = header.result;
  result.skip_metadata = header.result.empty();
  append_metadata(out, version, result);
}

base::Result<ResultMessage> decode_result(BytesView body, Version version) {
  WireReader reader(body);
  const int32_t kind = reader.int_();
  if (!reader.ok()) return base::fail(reader.status().error());
  ResultMessage result;
  switch (static_cast<ResultKind>(kind)) {
    case ResultKind::void_:
      break;
    case ResultKind::rows:
      result = read_rows(reader, version);
      break;
    case ResultKind::set_keyspace:
      result = SetKeyspaceResult{std::string(reader.string())};
      break;
    case ResultKind::prepared:
      result = read_prepared(reader, version);
      break;
    case ResultKind::schema_change:
      result = read_change(reader);
      break;
    default:
      reader.fail(fmt::format("Unknown kind id {} in RESULT message", kind));
  }
  SIBYL_TRY(reader.status());
  return result;
}

void append_supported(Bytes& out, const StringMultimap& options) {
  append_string_multimap(out, options);
}

base::Result<StringMultimap> decode_supported(BytesView body) {
  WireReader reader(body);
  auto options = reader.string_multimap();
  SIBYL_TRY(reader.status());
  return options;
}

void append_authenticate(Bytes& out, std::string_view authenticator) {
  append_string(out, authenticator);
}

base::Result<std::string> decode_authenticate(BytesView body) {
  WireReader reader(body);
  std::string authenticator(reader.string());
  SIBYL_TRY(reader.status());
  return authenticator;
}

void append_auth_token(Bytes& out, std::optional<BytesView> token) {
  if (token) {
    append_bytes(out, *token);
  } else {
    append_null(out);
  }
}

base::Result<std::optional<BytesView>> decode_auth_token(BytesView body) {
  WireReader reader(body);
  const auto token = reader.bytes();
  SIBYL_TRY(reader.status());
  return token;
}

void append_event(Bytes& out, Version version, const Event& event) {
  if (const auto* change = std::get_if<SchemaChange>(&event)) {
    append_string(out, "SCHEMA_CHANGE");
    append_change(out, version, *change);
    return;
  }
  const auto& node = std::get<NodeChange>(event);
  append_string(out, node.event);
  append_string(out, node.change);
  append_inet(out, node.address, node.port);
}

base::Result<Event> decode_event(BytesView body, Version) {
  WireReader reader(body);
  const std::string_view name = reader.string();
  Event event;
  if (name == "SCHEMA_CHANGE") {
    event = read_change(reader);
  } else if (name == "TOPOLOGY_CHANGE" || name == "STATUS_CHANGE") {
    NodeChange node;
    node.event = std::string(name);
    node.change = std::string(reader.string());
    reader.inet(node.address, node.port);
    event = std::move(node);
  } else {
    reader.fail(fmt::format("Invalid value '{}' for Type", name));
  }
  SIBYL_TRY(reader.status());
  return event;
}

}  // namespace sibyl::protocol
