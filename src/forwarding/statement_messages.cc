#include "forwarding/statement_messages.h"

#include <utility>

#include "protocol/type_option.h"

namespace sibyl::forwarding {

using base::Bytes;
using base::BytesView;
using base::Reader;
using execute::ResultSet;
using types::ValueView;

namespace {

constexpr uint8_t message_version = 1;
constexpr auto type_version = protocol::Version::v5;

// --- Parts of both

void append_byte(Bytes& out, uint8_t byte) {
  out.push_back(static_cast<char>(byte));
}

bool read_byte(Reader& reader, uint8_t& byte, uint8_t max) {
  return reader.big_endian(byte) && byte <= max;
}

bool read_text(Reader& reader, std::string& text) {
  BytesView bytes;
  if (!reader.sized(bytes)) return false;
  text = bytes;
  return true;
}

// Reads a count of items that take at least one byte each.
bool read_count(Reader& reader, uint64_t& count) {
  return reader.varint(count) && count <= reader.rest().size();
}

template <typename Value, typename Append>
void append_optional(Bytes& out, const std::optional<Value>& value, Append append) {
  append_byte(out, value ? 1 : 0);
  if (value) append(*value);
}

template <typename Value, typename Read>
bool read_optional(Reader& reader, std::optional<Value>& value, Read read) {
  uint8_t exists = 0;
  if (!read_byte(reader, exists, 1)) return false;
  return exists == 0 || read(value.emplace());
}

void append_texts(Bytes& out, const std::vector<std::string>& texts) {
  base::append_varint(out, texts.size());
  for (const std::string& text : texts) base::append_sized(out, text);
}

bool read_texts(Reader& reader, std::vector<std::string>& texts) {
  uint64_t count = 0;
  if (!read_count(reader, count)) return false;
  texts.resize(count);
  for (std::string& text : texts)
    if (!read_text(reader, text)) return false;
  return true;
}

// --- Requests

void append_parameters(Bytes& out, const execute::Request& request) {
  base::append_signed_varint(out, request.page_size);
  append_optional(out, request.paging_state, [&](const Bytes& state) { base::append_sized(out, state); });
  append_optional(out, request.timestamp_micros,
                  [&](int64_t micros) { base::append_signed_varint(out, micros); });
  append_optional(out, request.now_seconds, [&](int32_t now) { base::append_signed_varint(out, now); });
  base::append_big_endian(out, static_cast<uint16_t>(request.consistency));
  base::append_big_endian(out, static_cast<uint16_t>(request.serial_consistency));
}

bool read_int32(Reader& reader, int32_t& value) {
  int64_t wide = 0;
  if (!reader.signed_varint(wide) || wide < INT32_MIN || wide > INT32_MAX) return false;
  value = static_cast<int32_t>(wide);
  return true;
}

bool read_consistency(Reader& reader, execute::Consistency& value) {
  uint16_t number = 0;
  if (!reader.big_endian(number) || number > static_cast<uint16_t>(execute::Consistency::local_one))
    return false;
  value = static_cast<execute::Consistency>(number);
  return true;
}

bool read_parameters(Reader& reader, execute::Request& request) {
  return read_int32(reader, request.page_size) &&
         read_optional(reader, request.paging_state,
                       [&](Bytes& state) { return read_text(reader, state); }) &&
         read_optional(reader, request.timestamp_micros,
                       [&](int64_t& micros) { return reader.signed_varint(micros); }) &&
         read_optional(reader, request.now_seconds, [&](int32_t& now) { return read_int32(reader, now); }) &&
         read_consistency(reader, request.consistency) &&
         read_consistency(reader, request.serial_consistency);
}

void append_statement(Bytes& out, const StatementText& statement) {
  base::append_sized(out, statement.keyspace);
  base::append_sized(out, statement.text);
  base::append_sized(out, statement.id);
  base::append_varint(out, statement.values.size());
  for (const ValueView& value : statement.values) {
    append_byte(out, static_cast<uint8_t>(value.state));
    if (value.is_present()) base::append_sized(out, value.bytes);
  }
}

bool read_statement(Reader& reader, StatementText& statement) {
  uint64_t count = 0;
  if (!read_text(reader, statement.keyspace) || !read_text(reader, statement.text) ||
      !read_text(reader, statement.id) || !read_count(reader, count))
    return false;
  statement.values.resize(count);
  for (ValueView& value : statement.values) {
    uint8_t state = 0;
    if (!read_byte(reader, state, static_cast<uint8_t>(ValueView::State::present))) return false;
    value.state = static_cast<ValueView::State>(state);
    if (value.is_present() && !reader.sized(value.bytes)) return false;
  }
  return true;
}

bool read_shards(Reader& reader, std::vector<StatementRequest::Shard>& shards) {
  uint64_t count = 0;
  if (!read_count(reader, count)) return false;
  shards.resize(count);
  for (auto& [shard, epoch] : shards) {
    uint64_t number = 0;
    if (!reader.varint(number) || number > UINT32_MAX || !reader.varint(epoch)) return false;
    shard = static_cast<uint32_t>(number);
  }
  return true;
}

bool read_batch_kind(Reader& reader, std::optional<cql::Batch::Kind>& batch) {
  return read_optional(reader, batch, [&](cql::Batch::Kind& kind) {
    uint8_t number = 0;
    if (!read_byte(reader, number, static_cast<uint8_t>(cql::Batch::Kind::counter))) return false;
    kind = static_cast<cql::Batch::Kind>(number);
    return true;
  });
}

}  // namespace

Bytes StatementRequest::encode() const {
  Bytes out;
  size_t size = 256;
  for (const StatementText& statement : statements) {
    size += statement.text.size();
    for (const ValueView& value : statement.values) size += value.bytes.size() + 4;
  }
  out.reserve(size);
  append_byte(out, message_version);
  base::append_varint(out, shards.size());
  for (const auto& [shard, epoch] : shards) {
    base::append_varint(out, shard);
    base::append_varint(out, epoch);
  }
  base::append_sized(out, schema_version);
  append_optional(out, role, [&](const std::string& name) { base::append_sized(out, name); });
  append_parameters(out, parameters);
  append_optional(out, batch, [&](cql::Batch::Kind kind) { append_byte(out, static_cast<uint8_t>(kind)); });
  base::append_varint(out, statements.size());
  for (const StatementText& statement : statements) append_statement(out, statement);
  return out;
}

std::optional<StatementRequest> StatementRequest::decode(BytesView bytes) {
  Reader reader(bytes);
  StatementRequest request;
  uint8_t version = 0;
  uint64_t count = 0;
  if (!read_byte(reader, version, message_version) || version != message_version ||
      !read_shards(reader, request.shards) || !read_text(reader, request.schema_version) ||
      !read_optional(reader, request.role, [&](std::string& role) { return read_text(reader, role); }) ||
      !read_parameters(reader, request.parameters) || !read_batch_kind(reader, request.batch) ||
      !read_count(reader, count) || (!request.batch && count != 1))
    return std::nullopt;
  request.statements.resize(count);
  for (StatementText& statement : request.statements)
    if (!read_statement(reader, statement)) return std::nullopt;
  if (!reader.at_end()) return std::nullopt;
  return request;
}

// --- Answers

namespace {

enum class Columns : uint8_t { none, known, sent };

void append_columns(Bytes& out, const plan::ResultMetadataPtr& columns,
                    const plan::ResultMetadataPtr& known) {
  if (!columns || columns == known)
    return append_byte(out, static_cast<uint8_t>(columns ? Columns::known : Columns::none));
  append_byte(out, static_cast<uint8_t>(Columns::sent));
  base::append_varint(out, columns->columns.size());
  for (const plan::ColumnSpec& column : columns->columns) {
    for (const std::string* text : {&column.keyspace, &column.table, &column.name})
      base::append_sized(out, *text);
    Bytes type;
    protocol::append_type(type, type_version, *column.type);
    base::append_sized(out, type);
  }
}

bool read_columns(Reader& reader, plan::ResultMetadataPtr& columns, const plan::ResultMetadataPtr& known) {
  uint8_t kind = 0;
  if (!read_byte(reader, kind, static_cast<uint8_t>(Columns::sent))) return false;
  if (kind == static_cast<uint8_t>(Columns::none)) return true;
  if (kind == static_cast<uint8_t>(Columns::known)) {
    columns = known;
    return known != nullptr;
  }
  uint64_t count = 0;
  if (!read_count(reader, count)) return false;
  auto read = std::make_shared<plan::ResultMetadata>();
  for (uint64_t i = 0; i < count; ++i) {
    plan::ColumnSpec& column = read->columns.emplace_back();
    BytesView type;
    if (!read_text(reader, column.keyspace) || !read_text(reader, column.table) ||
        !read_text(reader, column.name) || !reader.sized(type))
      return false;
    protocol::WireReader wire(type);
    column.type = protocol::read_type(wire, type_version);
    if (!column.type || !wire.ok()) return false;
  }
  columns = std::move(read);
  return true;
}

void append_change(Bytes& out, const schema::Change& change) {
  append_byte(out, static_cast<uint8_t>(change.kind));
  append_byte(out, static_cast<uint8_t>(change.target));
  base::append_sized(out, change.keyspace);
  base::append_sized(out, change.name);
  append_texts(out, change.argument_types);
}

bool read_change(Reader& reader, schema::Change& change) {
  uint8_t kind = 0, target = 0;
  if (!read_byte(reader, kind, static_cast<uint8_t>(schema::Change::Kind::dropped)) ||
      !read_byte(reader, target, static_cast<uint8_t>(schema::Change::Target::aggregate)) ||
      !read_text(reader, change.keyspace) || !read_text(reader, change.name) ||
      !read_texts(reader, change.argument_types))
    return false;
  change.kind = static_cast<schema::Change::Kind>(kind);
  change.target = static_cast<schema::Change::Target>(target);
  return true;
}

void append_result(Bytes& out, const ResultSet& result, const plan::ResultMetadataPtr& known) {
  append_byte(out, static_cast<uint8_t>(result.kind));
  append_texts(out, result.warnings);
  for (const uint64_t count :
       {result.partitions_read, result.rows_read, result.tombstones_read, result.partitions_written})
    base::append_varint(out, count);
  if (result.kind == ResultSet::Kind::set_keyspace) base::append_sized(out, result.keyspace);
  if (result.kind == ResultSet::Kind::schema_change) append_change(out, *result.change);
  if (result.kind != ResultSet::Kind::rows) return;
  append_columns(out, result.metadata, known);
  append_optional(out, result.paging_state, [&](const Bytes& state) { base::append_sized(out, state); });
  base::append_varint(out, result.rows.count());
  base::append_sized(out, result.rows.bytes());
}

// Checks that the bytes are `count` rows of as many values as there are columns.
bool read_rows(Reader& reader, ResultSet& result) {
  uint64_t count = 0;
  BytesView bytes;
  if (!reader.varint(count) || !reader.sized(bytes) || !result.metadata) return false;
  const size_t columns = result.metadata->columns.size();
  if (columns == 0 ? count != 0 || !bytes.empty() : count > bytes.size() / (4 * columns)) return false;
  Reader rows(bytes);
  for (uint64_t row = 0; row < count; ++row) {
    const BytesView rest = rows.rest();
    for (size_t column = 0; column < columns; ++column) {
      uint32_t size = 0;
      BytesView value;
      if (!rows.big_endian(size) || (size != UINT32_MAX && !rows.take(size, value))) return false;
    }
    result.rows.add_encoded_row(rest.substr(0, rest.size() - rows.rest().size()));
  }
  return rows.at_end();
}

bool read_result(Reader& reader, ResultSet& result, const plan::ResultMetadataPtr& known) {
  uint8_t kind = 0;
  if (!read_byte(reader, kind, static_cast<uint8_t>(ResultSet::Kind::schema_change)) ||
      !read_texts(reader, result.warnings) || !reader.varint(result.partitions_read) ||
      !reader.varint(result.rows_read) || !reader.varint(result.tombstones_read) ||
      !reader.varint(result.partitions_written))
    return false;
  result.kind = static_cast<ResultSet::Kind>(kind);
  if (result.kind == ResultSet::Kind::set_keyspace) return read_text(reader, result.keyspace);
  if (result.kind == ResultSet::Kind::schema_change) return read_change(reader, result.change.emplace());
  if (result.kind != ResultSet::Kind::rows) return true;
  return read_columns(reader, result.metadata, known) &&
         read_optional(reader, result.paging_state, [&](Bytes& state) { return read_text(reader, state); }) &&
         read_rows(reader, result);
}

void append_error(Bytes& out, const base::ErrorDetails& error) {
  base::append_varint(out, static_cast<uint64_t>(error.code));
  for (const std::string* text :
       {&error.message, &error.hint, &error.keyspace, &error.table, &error.statement_id, &error.function})
    base::append_sized(out, *text);
  append_texts(out, error.argument_types);
  append_optional(out, error.position, [&](const base::Position& at) {
    for (const uint32_t number : {at.line, at.column, at.offset}) base::append_varint(out, number);
  });
  base::append_big_endian(out, error.consistency);
  for (const int32_t number : {error.required, error.received, error.failures})
    base::append_signed_varint(out, number);
  base::append_big_endian(out, error.failure_reason);
  append_byte(out, error.data_present ? 1 : 0);
}

bool is_known_error(uint64_t code) {
  using enum base::ErrorCode;
  for (const auto known : {server,
                           protocol,
                           bad_credentials,
                           unavailable,
                           overloaded,
                           bootstrapping,
                           truncate,
                           write_timeout,
                           read_timeout,
                           read_failure,
                           function_failure,
                           write_failure,
                           cdc_write_failure,
                           cas_write_unknown,
                           syntax,
                           unauthorized,
                           invalid,
                           config,
                           already_exists,
                           unprepared})
    if (code == static_cast<uint64_t>(known)) return true;
  return false;
}

bool read_position(Reader& reader, base::Position& position) {
  for (uint32_t* number : {&position.line, &position.column, &position.offset}) {
    uint64_t wide = 0;
    if (!reader.varint(wide) || wide > UINT32_MAX) return false;
    *number = static_cast<uint32_t>(wide);
  }
  return true;
}

bool read_error(Reader& reader, base::ErrorDetails& error) {
  uint64_t code = 0;
  uint8_t data_present = 0;
  if (!reader.varint(code) || !is_known_error(code)) return false;
  error.code = static_cast<base::ErrorCode>(code);
  for (std::string* text :
       {&error.message, &error.hint, &error.keyspace, &error.table, &error.statement_id, &error.function})
    if (!read_text(reader, *text)) return false;
  if (!read_texts(reader, error.argument_types) ||
      !read_optional(reader, error.position,
                     [&](base::Position& position) { return read_position(reader, position); }) ||
      !reader.big_endian(error.consistency))
    return false;
  for (int32_t* number : {&error.required, &error.received, &error.failures})
    if (!read_int32(reader, *number)) return false;
  if (!reader.big_endian(error.failure_reason) || !read_byte(reader, data_present, 1)) return false;
  error.data_present = data_present == 1;
  return true;
}

}  // namespace

Bytes StatementAnswer::encode(const plan::ResultMetadataPtr& known) const {
  Bytes out;
  out.reserve(64 + result.rows.bytes().size());
  append_byte(out, message_version);
  append_byte(out, static_cast<uint8_t>(outcome));
  if (outcome == Outcome::done) append_result(out, result, known);
  if (outcome == Outcome::failed) append_error(out, error->details());
  if (outcome == Outcome::other_schema) base::append_sized(out, schema_version);
  return out;
}

std::optional<StatementAnswer> StatementAnswer::decode(BytesView bytes,
                                                       const plan::ResultMetadataPtr& known) {
  Reader reader(bytes);
  StatementAnswer answer;
  uint8_t version = 0, outcome = 0;
  if (!read_byte(reader, version, message_version) || version != message_version ||
      !read_byte(reader, outcome, static_cast<uint8_t>(Outcome::result_unknown)))
    return std::nullopt;
  answer.outcome = static_cast<Outcome>(outcome);
  if (answer.outcome == Outcome::done && !read_result(reader, answer.result, known)) return std::nullopt;
  if (answer.outcome == Outcome::other_schema && !read_text(reader, answer.schema_version))
    return std::nullopt;
  if (answer.outcome == Outcome::failed) {
    base::ErrorDetails error;
    if (!read_error(reader, error)) return std::nullopt;
    answer.error.emplace(std::move(error));
  }
  if (!reader.at_end()) return std::nullopt;
  return answer;
}

}  // namespace sibyl::forwarding
