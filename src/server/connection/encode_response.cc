#include "server/connection/encode_response.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <vector>

#include "engine/options.h"
#include "server/connection/response_writer.h"
#include "server/connection/schema_change.h"

namespace sibyl::server {

using protocol::ColumnView;
using protocol::Direction;
using protocol::FrameWriter;
using protocol::Opcode;

namespace {

// Valid until the next call on this thread with the same `slot`.
std::span<const ColumnView> views(const std::vector<plan::ColumnSpec>& columns, size_t slot) {
  thread_local std::vector<ColumnView> scratch[2];
  auto& list = scratch[slot];
  list.clear();
  for (const auto& column : columns)
    list.push_back({column.keyspace, column.table, column.name, column.type.get()});
  return list;
}

uint8_t flags_of(bool warn, const engine::RequestTrace* trace) {
  return static_cast<uint8_t>((warn ? protocol::flag::warning : 0) |
                              (trace != nullptr ? protocol::flag::tracing : 0));
}

// Decides whether the response includes the column metadata, which depends on what the client already knows.
// If the columns are not those of the plan, `id` is set and the header borrows it.
void choose_metadata(const InFlightRequest& request, const execute::ResultSet& result,
                     protocol::Version version, base::Bytes& id, protocol::RowsHeader& header) {
  header.skip_metadata = request.skip_metadata;
  if (!request.is_execute) return;
  const bool is_as_prepared = result.metadata == request.plan->result;
  if (!protocol::has_result_metadata_ids(version)) {
    // Some drivers keep the columns of the first PREPARE, even if they prepare the statement again.
    header.skip_metadata &= is_as_prepared && request.plan->redefinition == nullptr;
    return;
  }
  // The columns of a conditional write differ between executions. They are always sent, and have no id.
  if (request.plan->profile.is_write()) {
    header.skip_metadata = false;
    return;
  }
  if (!is_as_prepared) id = plan::metadata_id(*result.metadata);
  const base::Bytes& actual = is_as_prepared ? request.plan->result_id : id;
  if (actual == request.execute.result_metadata_id) return;
  header.skip_metadata = false;
  header.new_metadata_id = actual;
}

}  // namespace

void append_error(base::Bytes& out, const ResponseFormat& format, int16_t stream,
                  const protocol::ErrorMessage& error, const engine::RequestTrace* trace) {
  // Like Cassandra, report a guardrail's refusal both as an error and as a warning.
  const bool warn = error.code == base::ErrorCode::invalid && error.message.starts_with("Guardrail ") &&
                    protocol::has_warnings_and_payload(format.version);
  const uint8_t flags = flags_of(warn, trace);
  FrameWriter frame(out, Direction::response, {format.version, flags, stream, Opcode::error});
  if (trace != nullptr) out.append(trace->id());
  if (warn) protocol::append_string_list(out, std::vector<std::string>{error.message});
  protocol::append_error(out, format.version, error);
  frame.finish(format.compression);
}

void append_ready(base::Bytes& out, const ResponseFormat& format, int16_t stream) {
  FrameWriter frame(out, Direction::response, {format.version, 0, stream, Opcode::ready});
  frame.finish();
}

void append_authenticate(base::Bytes& out, const ResponseFormat& format, int16_t stream,
                         std::string_view authenticator) {
  FrameWriter frame(out, Direction::response, {format.version, 0, stream, Opcode::authenticate});
  protocol::append_authenticate(out, authenticator);
  frame.finish();
}

void append_auth_success(base::Bytes& out, const ResponseFormat& format, int16_t stream) {
  FrameWriter frame(out, Direction::response, {format.version, 0, stream, Opcode::auth_success});
  protocol::append_auth_token(out, std::nullopt);
  frame.finish(format.compression);
}

void append_supported(base::Bytes& out, const ResponseFormat& format, int16_t stream) {
  protocol::StringMultimap options = {
      {"PROTOCOL_VERSIONS", {}}, {"COMPRESSION", {"snappy", "lz4"}}, {"CQL_VERSION", {engine::cql_version}}};
  for (auto v = static_cast<uint8_t>(protocol::oldest_version); protocol::is_supported(v); ++v)
    options[0].second.push_back(protocol::version_name(static_cast<protocol::Version>(v)));
  FrameWriter frame(out, Direction::response, {format.version, 0, stream, Opcode::supported});
  protocol::append_supported(out, options);
  frame.finish(format.compression);
}

void append_event(base::Bytes& out, const ResponseFormat& format, const protocol::Event& event) {
  FrameWriter frame(out, Direction::response, {format.version, 0, -1, Opcode::event});
  protocol::append_event(out, format.version, event);
  frame.finish(format.compression);
}

base::Status check_result_size(const execute::ResultSet& result, size_t limit) {
  constexpr size_t metadata_room = 4u << 20;
  const size_t size = result.rows.bytes().size();
  if (size <= std::min<size_t>(limit, protocol::largest_body - metadata_room)) return {};
  return base::invalid(fmt::format("Result of {} bytes is too large for one message; use paging", size));
}

namespace {

void append_rows(base::Bytes& out, const ResponseFormat& format, const InFlightRequest& request,
                 const execute::ResultSet& result) {
  protocol::RowsHeader header;
  header.columns = views(result.metadata->columns, 0);
  base::Bytes metadata_id;
  choose_metadata(request, result, format.version, metadata_id, header);
  if (result.paging_state) header.paging_state = *result.paging_state;
  header.row_count = static_cast<uint32_t>(result.rows.count());
  protocol::append_rows_header(out, format.version, header);
  const base::Bytes& rows = result.rows.bytes();
  if (rows.size() >= ResponseWriter::chunk_bytes) out.reserve(out.size() + rows.size());
  out.append(rows);
}

}  // namespace

void append_result(base::Bytes& out, const ResponseFormat& format, const InFlightRequest& request,
                   const execute::ResultSet& result) {
  using Kind = execute::ResultSet::Kind;
  const bool warn = !result.warnings.empty() && protocol::has_warnings_and_payload(format.version);
  const uint8_t flags = flags_of(warn, request.trace.get());
  FrameWriter frame(out, Direction::response, {format.version, flags, request.stream, Opcode::result});
  if (request.trace) out.append(request.trace->id());
  if (warn) protocol::append_string_list(out, result.warnings);
  switch (result.kind) {
    case Kind::nothing:
      protocol::append_void_result(out);
      break;
    case Kind::rows:
      append_rows(out, format, request, result);
      break;
    case Kind::set_keyspace:
      protocol::append_set_keyspace_result(out, result.keyspace);
      break;
    case Kind::schema_change:
      protocol::append_schema_change_result(out, format.version, to_protocol(*result.change));
      break;
  }
  frame.finish(format.compression);
}

void append_prepared(base::Bytes& out, const ResponseFormat& format, const InFlightRequest& request) {
  const plan::Prepared& plan = *request.plan;
  const engine::RequestTrace* trace = request.trace.get();
  const bool warn = !plan.warnings.empty() && protocol::has_warnings_and_payload(format.version);
  const uint8_t flags = flags_of(warn, trace);
  FrameWriter frame(out, Direction::response, {format.version, flags, request.stream, Opcode::result});
  if (trace != nullptr) out.append(trace->id());
  if (warn) protocol::append_string_list(out, plan.warnings);
  protocol::PreparedHeader header;
  header.id = request.prepared_id;
  header.result_metadata_id = plan.result_id;
  header.markers = views(plan.markers, 0);
  header.partition_key_markers = plan.partition_key_markers;
  if (plan.result) header.result = views(plan.result->columns, 1);
  protocol::append_prepared_result(out, format.version, header);
  frame.finish(format.compression);
}

}  // namespace sibyl::server
