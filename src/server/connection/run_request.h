// Runs decoded requests in the engine, on a reactor or on a pool thread.
//
// Every request gets exactly one result, whatever the engine throws. Its reactor then finishes it: at once if
// it completed inside run_on_reactor(), otherwise through Reactor::enqueue_completed().
#pragma once

#include "base/result.h"
#include "server/in_flight_request.h"
#include "server/scheduling/blocking_pool.h"

namespace sibyl::server {

// Runs a request on its reactor's thread, and interrupts it when it takes too long. Returns true if it has
// completed; the caller then finishes it. Otherwise another thread completes it.
bool run_on_reactor(InFlightRequest& request);
// Called before decode_request() on a reactor. A request that takes longer must leave the reactor, because
// other connections wait for it.
void set_reactor_deadline(InFlightRequest& request);
// After run_on_reactor(): returns true if the request was interrupted because it took too long. It has no
// result then, and must run on the pool.
bool take_interrupted(InFlightRequest& request);

// Queues the request for the pool. Returns false if the pool's queue is full. Called on the reactor's thread,
// or by the pool thread that runs the request.
bool submit(InFlightRequest& request);
base::Error queue_full_error();
// Returns the error for requests of a client that does not read its responses.
base::Error unread_results_error();

// Runs a request that may block. Called on a thread of Shared::pool.
void run_blocking(InFlightRequest& request);
// The admission policy of that pool: limits how far results are produced ahead of what the client reads.
BlockingPool::Admission results_admission();

}  // namespace sibyl::server
