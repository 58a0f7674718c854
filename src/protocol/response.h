// Responses: the messages that servers send. For ERROR see error_message.h.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/result.h"
#include "protocol/version.h"
#include "protocol/wire.h"
#include "types/type.h"

namespace sibyl::protocol {

// A column of a result, or a bind marker, for encoding. Borrows everything.
struct ColumnView {
  std::string_view keyspace, table, name;
  const types::Type* type = nullptr;
};

// A decoded column or bind marker.
struct Column {
  std::string keyspace, table, name;
  types::TypePtr type;
};

struct SchemaChange {
  enum class Kind : uint8_t { created, updated, dropped };
  enum class Target : uint8_t { keyspace, table, type, function, aggregate };
  Kind kind = Kind::created;
  Target target = Target::keyspace;
  std::string keyspace;
  std::string name;                         // empty for a keyspace
  std::vector<std::string> argument_types;  // functions and aggregates
};

// TOPOLOGY_CHANGE (NEW_NODE, REMOVED_NODE) or STATUS_CHANGE (UP, DOWN).
struct NodeChange {
  std::string event, change;
  Bytes address;  // 4 or 16 bytes
  int32_t port = 0;
};

using Event = std::variant<SchemaChange, NodeChange>;

// --- RESULT

void append_void_result(Bytes& out);
void append_set_keyspace_result(Bytes& out, std::string_view keyspace);
void append_schema_change_result(Bytes& out, Version version, const SchemaChange& change);

struct RowsHeader {
  std::span<const ColumnView> columns;
  bool skip_metadata = false;
  std::optional<BytesView> paging_state;  // set if there are more rows
  // From v5: set if the client's id is outdated; excludes skip_metadata.
  std::optional<BytesView> new_metadata_id;
  uint32_t row_count = 0;
};
// Appends the part before the rows. The caller then appends the rows: for each row and column an [int] length
// (-1: null) and the bytes.
void append_rows_header(Bytes& out, Version version, const RowsHeader& header);

struct PreparedHeader {
  BytesView id;
  BytesView result_metadata_id;  // v5
  std::span<const ColumnView> markers;
  std::span<const uint16_t> partition_key_markers;
  std::span<const ColumnView> result;  // empty if the statement returns no rows
};
void append_prepared_result(Bytes& out, Version version, const PreparedHeader& header);

struct RowsResult {
  uint32_t column_count = 0;
  std::vector<Column> columns;  // empty if metadata was skipped
  std::optional<Bytes> paging_state;
  std::optional<Bytes> new_metadata_id;
  uint32_t row_count = 0;
  Bytes rows;  // checked: these bytes have row_count times column_count values
};
struct PreparedResult {
  Bytes id;
  Bytes result_metadata_id;
  std::vector<Column> markers;
  std::vector<uint16_t> partition_key_markers;
  std::vector<Column> result;
};
struct VoidResult {};
struct SetKeyspaceResult {
  std::string keyspace;
};
using ResultMessage = std::variant<VoidResult, RowsResult, SetKeyspaceResult, PreparedResult, SchemaChange>;
base::Result<ResultMessage> decode_result(BytesView body, Version version);

// --- Other responses

void append_supported(Bytes& out, const StringMultimap& options);
base::Result<StringMultimap> decode_supported(BytesView body);

void append_authenticate(Bytes& out, std::string_view authenticator);
base::Result<std::string> decode_authenticate(BytesView body);
// The token of AUTH_CHALLENGE and AUTH_SUCCESS, which may be null.
void append_auth_token(Bytes& out, std::optional<BytesView> token);
base::Result<std::optional<BytesView>> decode_auth_token(BytesView body);

void append_event(Bytes& out, Version version, const Event& event);
base::Result<Event> decode_event(BytesView body, Version version);

}  // namespace sibyl::protocol
