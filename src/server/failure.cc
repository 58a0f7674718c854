#include "server/failure.h"

#include "plan/modify.h"
#include "server/request_metrics.h"

namespace sibyl::server {
namespace {

using base::ErrorCode;
using engine::StatementKind;

struct BatchShape {
  cql::Batch::Kind kind;
  size_t statements;
  bool is_conditional;
};

BatchShape shape_of(const Call& call) {
  using Kind = cql::Batch::Kind;
  if (!call.plan) {
    constexpr Kind kinds[] = {Kind::logged, Kind::unlogged, Kind::counter};
    return {kinds[static_cast<size_t>(call.batch.kind)], call.batch.statements.size(),
            call.is_conditional_batch};
  }
  const auto& batch = *std::get<std::shared_ptr<const plan::Batch>>(call.plan->plan);
  return {batch.kind, batch.statements.size(), batch.conditional != nullptr};
}

std::string_view write_type_of_batch(const BatchShape& shape) {
  if (shape.is_conditional) return "CAS";
  if (shape.kind == cql::Batch::Kind::counter) return "COUNTER";
  if (shape.statements < 2) return "SIMPLE";
  return shape.kind == cql::Batch::Kind::logged ? "BATCH_LOG" : "UNLOGGED_BATCH";
}

}  // namespace

std::string_view write_type_of(const Call& call) {
  switch (kind_of(call)) {
    case StatementKind::conditional:
      return "CAS";
    case StatementKind::counter:
      return "COUNTER";
    case StatementKind::batch:
      return write_type_of_batch(shape_of(call));
    default:
      return "SIMPLE";
  }
}

void describe_failure(const Call& call, std::string_view node_address, protocol::ErrorMessage& message) {
  const bool is_failure = message.code == ErrorCode::write_failure || message.code == ErrorCode::read_failure;
  const bool is_write = message.code == ErrorCode::write_failure ||
                        message.code == ErrorCode::write_timeout ||
                        message.code == ErrorCode::cas_write_unknown;
  if (!is_failure && !is_write && message.code != ErrorCode::read_timeout) return;
  message.consistency = static_cast<protocol::Consistency>(call.request.consistency);
  if (is_write) {
    message.write_type = write_type_of(call);
    // What fails of a conditional write is its proposal.
    if (message.write_type == "CAS")
      message.consistency = static_cast<protocol::Consistency>(call.request.serial_consistency);
  }
  if (!is_failure) return;
  const uint16_t reason = message.failure_reasons.empty() ? 0 : message.failure_reasons.front().second;
  message.failures = 1;
  message.failure_reasons.assign(1, {protocol::Bytes(node_address), reason});
}

}  // namespace sibyl::server
