// Encodes results and errors as response frames.
#include <fmt/format.h>

#include <algorithm>

#include "protocol/error_message.h"
#include "protocol/response.h"
#include "server/connection/connection.h"
#include "server/connection/failure.h"
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
    // Several drivers keep the columns of the first PREPARE, even when they prepare again.
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

void Connection::answer_thrown(int16_t stream, const base::Error& thrown, OutputMark before) {
  reactor_.shared().request_log.log_exception(thrown);
  if (stage_ == Stage::closed) return;
  // If the earlier output has been moved to full_ since, all of the remaining buffer belongs to this request.
  (has_segments_ ? frames_ : out_).resize(full_.size() == before.chunks ? before.size : 0);
  run_or_close([&] { answer_error(stream, thrown); });
}

void Connection::close_after(const base::Error& thrown) {
  reactor_.shared().request_log.log_exception(thrown);
  close();
}

void Connection::answer_error(int16_t stream, const base::Error& error, const engine::RequestTrace* trace) {
  answer_error(stream, protocol::to_message(error), trace);
}

void Connection::answer_failure(const InFlightRequest& request, const base::Error& error) {
  protocol::ErrorMessage message = protocol::to_message(error);
  describe_failure(request, reactor_.shared().node_address, message);
  answer_error(request.stream, message, request.trace.get());
}

void Connection::answer_error(int16_t stream, const protocol::ErrorMessage& error,
                              const engine::RequestTrace* trace) {
  reactor_.metrics().count_error(error.code);
  base::Bytes& out = output();
  // Like Cassandra, report a guardrail's refusal both as an error and as a warning.
  const bool warn = error.code == base::ErrorCode::invalid && error.message.starts_with("Guardrail ") &&
                    protocol::has_warnings_and_payload(version_);
  const uint8_t flags = flags_of(warn, trace);
  FrameWriter frame(out, Direction::response, {version_, flags, stream, Opcode::error});
  if (trace != nullptr) out.append(trace->id());
  if (warn) protocol::append_string_list(out, std::vector<std::string>{error.message});
  protocol::append_error(out, version_, error);
  frame.finish(compression_);
}

void Connection::answer_empty(int16_t stream, Opcode opcode) {
  base::Bytes& out = output();
  FrameWriter frame(out, Direction::response, {version_, 0, stream, opcode});
  frame.finish();
}

void Connection::answer_result(const InFlightRequest& request, const execute::ResultSet& result) {
  using Kind = execute::ResultSet::Kind;
  constexpr size_t metadata_room = 4u << 20;
  if (result.rows.bytes().size() >
      std::min<size_t>(reactor_.shared().limits.result_bytes, protocol::largest_body - metadata_room)) {
    answer_error(request.stream,
                 base::Error(base::ErrorCode::invalid,
                             fmt::format("Result of {} bytes is too large for one message; use paging",
                                         result.rows.bytes().size())));
    return;
  }
  const bool warn = !result.warnings.empty() && protocol::has_warnings_and_payload(version_);
  const uint8_t flags = flags_of(warn, request.trace.get());
  base::Bytes& out = output();
  FrameWriter frame(out, Direction::response, {version_, flags, request.stream, Opcode::result});
  if (request.trace) out.append(request.trace->id());
  if (warn) protocol::append_string_list(out, result.warnings);
  switch (result.kind) {
    case Kind::nothing:
      protocol::append_void_result(out);
      break;
    case Kind::rows: {
      protocol::RowsHeader header;
      header.columns = views(result.metadata->columns, 0);
      base::Bytes metadata_id;
      choose_metadata(request, result, version_, metadata_id, header);
      if (result.paging_state) header.paging_state = *result.paging_state;
      header.row_count = static_cast<uint32_t>(result.rows.count());
      protocol::append_rows_header(out, version_, header);
      if (result.rows.bytes().size() >= chunk_bytes) out.reserve(out.size() + result.rows.bytes().size());
      out.append(result.rows.bytes());
      break;
    }
    case Kind::set_keyspace:
      keyspace_ = result.keyspace;
      reactor_.shared().clients.update(client_, [&](engine::Client& client) { client.keyspace = keyspace_; });
      protocol::append_set_keyspace_result(out, result.keyspace);
      break;
    case Kind::schema_change:
      protocol::append_schema_change_result(out, version_, to_protocol(result.change));
      break;
  }
  frame.finish(compression_);
}

void Connection::answer_prepared(const InFlightRequest& request) {
  const plan::Prepared& plan = *request.plan;
  const engine::RequestTrace* trace = request.trace.get();
  const bool warn = !plan.warnings.empty() && protocol::has_warnings_and_payload(version_);
  const uint8_t flags = flags_of(warn, trace);
  base::Bytes& out = output();
  FrameWriter frame(out, Direction::response, {version_, flags, request.stream, Opcode::result});
  if (trace != nullptr) out.append(trace->id());
  if (warn) protocol::append_string_list(out, plan.warnings);
  protocol::PreparedHeader header;
  header.id = request.prepared_id;
  header.result_metadata_id = plan.result_id;
  header.markers = views(plan.markers, 0);
  header.partition_key_markers = plan.partition_key_markers;
  if (plan.result) header.result = views(plan.result->columns, 1);
  protocol::append_prepared_result(out, version_, header);
  frame.finish(compression_);
}

}  // namespace sibyl::server
