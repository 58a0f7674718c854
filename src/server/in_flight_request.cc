#include "server/in_flight_request.h"

#include "server/connection/connection.h"

namespace sibyl::server {

InFlightRequest::InFlightRequest() = default;
InFlightRequest::~InFlightRequest() = default;

void InFlightRequest::reset() {
  constexpr size_t max_kept_elements = 256;
  const auto clear = [](auto& vector) {
    if (vector.capacity() > max_kept_elements) {
      vector = {};
    } else {
      vector.clear();
    }
  };
  chunk.reset();
  base::Bytes().swap(decompressed);
  result_bytes = 0;
  is_on_reactor = must_leave_reactor = is_compute_heavy = false;
  is_pooled = is_producing = may_run_long = completed_inline = is_execute = skip_metadata =
      is_conditional_batch = false;
  clear(query.parameters.values);
  clear(query.parameters.names);
  clear(execute.parameters.values);
  clear(execute.parameters.names);
  clear(batch.statements);
  clear(batch.values);
  batch_tables.clear();
  clear(ordered_values);
  clear(items);
  plan.reset();
  undecoded.reset();
  engine_request.paging_state.reset();
  engine_request.trace = nullptr;
  engine_request.interrupt = nullptr;
  deadline = never;
  user = nullptr;
  login.reset();
  trace.reset();
  result.reset();
}

}  // namespace sibyl::server
