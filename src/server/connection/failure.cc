#include "server/connection/failure.h"

#include "server/monitoring/request_metrics.h"

namespace sibyl::server {
namespace {

using base::ErrorCode;
using engine::StatementKind;

struct BatchShape {
  cql::Batch::Kind kind;
  size_t statements;
  bool is_conditional;
};

BatchShape shape_of(const InFlightRequest& request) {
  using Kind = cql::Batch::Kind;
  if (!request.plan) {
    constexpr Kind kinds[] = {Kind::logged, Kind::unlogged, Kind::counter};
    return {kinds[static_cast<size_t>(request.batch.kind)], request.batch.statements.size(),
            request.is_conditional_batch};
  }
  const plan::ExecutionProfile& profile = request.plan->profile;
  return {profile.batch_kind, profile.batch_statements, profile.is_conditional};
}

std::string_view write_type_of_batch(const BatchShape& shape) {
  if (shape.is_conditional) return "CAS";
  if (shape.kind == cql::Batch::Kind::counter) return "COUNTER";
  if (shape.statements < 2) return "SIMPLE";
  return shape.kind == cql::Batch::Kind::logged ? "BATCH_LOG" : "UNLOGGED_BATCH";
}

}  // namespace

std::string_view write_type_of(const InFlightRequest& request) {
  switch (kind_of(request)) {
    case StatementKind::conditional:
      return "CAS";
    case StatementKind::counter:
      return "COUNTER";
    case StatementKind::batch:
      return write_type_of_batch(shape_of(request));
    default:
      return "SIMPLE";
  }
}

void describe_failure(const InFlightRequest& request, std::string_view node_address,
                      protocol::ErrorMessage& message) {
  const bool is_failure = message.code == ErrorCode::write_failure || message.code == ErrorCode::read_failure;
  const bool is_write = message.code == ErrorCode::write_failure ||
                        message.code == ErrorCode::write_timeout ||
                        message.code == ErrorCode::cas_write_unknown;
  if (!is_failure && !is_write && message.code != ErrorCode::read_timeout) return;
  message.consistency = request.engine_request.consistency;
  if (is_write) {
    message.write_type = write_type_of(request);
    // If a conditional write fails, its proposal has failed. The proposal has the serial consistency.
    if (message.write_type == "CAS") message.consistency = request.engine_request.serial_consistency;
  }
  if (!is_failure) return;
  const uint16_t reason = message.failure_reasons.empty() ? 0 : message.failure_reasons.front().second;
  message.failures = 1;
  message.failure_reasons.assign(1, {protocol::Bytes(node_address), reason});
}

}  // namespace sibyl::server
