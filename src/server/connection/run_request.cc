#include "server/connection/run_request.h"

#include <array>
#include <chrono>
#include <utility>

#include "base/contain.h"
#include "base/statement.h"
#include "server/connection/connection.h"
#include "server/connection/decode_request.h"
#include "server/connection/overloaded.h"
#include "server/reactor.h"
#include "server/scheduling/pressure.h"

namespace sibyl::server {

namespace {

void complete(InFlightRequest* request, base::Result<execute::ResultSet>&& result) {
  request->result.emplace(std::move(result));
  Reactor* here = Reactor::current();
  if (here != nullptr && here->starting == request) {
    request->completed_inline = true;
  } else {
    request->reactor->enqueue_completed(*request);
  }
}

// The request that this thread has passed to the engine.
struct StartingRequest {
  const InFlightRequest* request;
  bool was_dropped = false;  // the completion was destroyed without being called
};
thread_local StartingRequest* starting_request = nullptr;

// Created at startup, because there may be no memory when it is needed.
const base::Error dropped =
    base::Error(base::ErrorCode::server, "The request was abandoned because of an internal error")
        .with_hint("a write may or may not have been applied; see the server's log for the error");

// Completes the request even if an exception in the engine destroys the completion uncalled. On the thread
// that started the request, execute_now() then completes it with the exception. On any other thread the
// destructor completes it.
class RequestCompletion {
 public:
  explicit RequestCompletion(InFlightRequest& request) : request_(&request) {}
  RequestCompletion(RequestCompletion&& other) noexcept : request_(std::exchange(other.request_, nullptr)) {}
  RequestCompletion& operator=(RequestCompletion&&) = delete;
  ~RequestCompletion() {
    if (request_ == nullptr) return;
    if (starting_request != nullptr && starting_request->request == request_) {
      starting_request->was_dropped = true;
    } else {
      complete(request_, base::fail(dropped));
    }
  }
  void operator()(base::Result<execute::ResultSet>&& result) {
    complete(std::exchange(request_, nullptr), std::move(result));
  }

 private:
  InFlightRequest* request_;
};

void give_to_engine(InFlightRequest& request) {
  const engine::Services& engine = request.reactor->shared().engine;
  RequestCompletion done(request);
  if (request.plan) {
    if (const base::Bytes* relay = request.connection->handler().relay())
      return engine.executor.execute_relayed(*relay, request.user, request.plan, request.engine_request,
                                             std::move(done));
    engine.executor.execute_as(request.user, request.plan, request.engine_request, std::move(done));
  } else {
    static constexpr std::array kinds = {cql::Batch::Kind::logged, cql::Batch::Kind::unlogged,
                                         cql::Batch::Kind::counter};
    engine.executor.execute_batch_as(request.user, kinds[static_cast<size_t>(request.batch.kind)],
                                     std::move(request.items), request.engine_request, std::move(done));
  }
}

// Completes the request exactly once, whatever the engine throws. The request may be finished and reused when
// this returns.
void execute_now(InFlightRequest& request) {
  Shared& shared = request.reactor->shared();
  StartingRequest here{&request};
  StartingRequest* const outer = std::exchange(starting_request, &here);
  const base::Status status = base::contain([&] { give_to_engine(request); });
  starting_request = outer;
  if (here.was_dropped) {
    complete(&request, base::fail(status ? dropped : status.error()));
  } else if (!status) {
    shared.request_log.log_exception(status.error());
  }
}

// Reads of system tables do not count as long: they are small, and drivers read them when they connect.
bool may_run_long(const InFlightRequest& request) {
  if (request.is_compute_heavy) return true;
  return request.plan && request.plan->profile.may_run_long;
}

// Timeouts as in Cassandra: each page of a read has read_timeout or range_timeout. An aggregate reads many
// pages and has no timeout as a whole. Other statements have read_timeout for planning and for evaluating
// their values.
std::chrono::steady_clock::time_point deadline_of(const InFlightRequest& request) {
  using Deadline = plan::ExecutionProfile::Deadline;
  const Limits& limits = request.reactor->shared().limits;
  const Deadline deadline = request.plan ? request.plan->profile.deadline : Deadline::read;
  if (deadline == Deadline::none) return InFlightRequest::never;
  return request.started + (deadline == Deadline::range ? limits.range_timeout : limits.read_timeout);
}

}  // namespace

BlockingPool::Admission results_admission() {
  return {
      [](InFlightRequest& request) { return request.connection->backlog().try_start(request); },
      [](const InFlightRequest& request, ptrdiff_t change) { request.reactor->load().count_held(change); }};
}

void run_blocking(InFlightRequest& request) {
  const Shared& shared = request.reactor->shared();
  const ResultBacklog& backlog = request.connection->backlog();
  if (backlog.is_closed() || (backlog.throws_on_overload() && backlog.is_full()))
    return complete(&request, base::fail(unread_results_error()));
  if (coarse_now() - request.queued > shared.limits.queue_timeout)
    return complete(&request, base::fail(overloaded("Query timed out before it could start")));
  request.started = std::chrono::steady_clock::now();
  if (const UndecodedMessage* message = request.undecoded.get()) {
    request.deadline = deadline_of(request);
    const base::Status status = base::contain(
        [&] { return decode_request(request, message->body, message->version, message->keyspace); });
    if (!status) return complete(&request, base::fail(status.error()));
    request.undecoded.reset();
    if (request.opcode == protocol::Opcode::prepare) return complete(&request, execute::ResultSet());
    // A statement that turns out to be compute-heavy is queued again with the compute-heavy ones.
    if (!request.is_compute_heavy && request.plan && request.plan->profile.is_compute_heavy) {
      if (!submit(request)) complete(&request, base::fail(queue_full_error()));
      return;
    }
  }
  request.deadline = deadline_of(request);
  request.engine_request.interrupt = &request;
  execute_now(request);
}

base::Status InFlightRequest::check() const {
  if (connection->backlog().is_closed())
    return base::fail(overloaded("Request cancelled: the client has disconnected"));
  if (deadline == never) return {};
  const std::chrono::nanoseconds upcoming(is_on_reactor ? base::statement::upcoming_nanos() : 0);
  const auto now = coarse_now();
  if (now + upcoming <= deadline) return {};
  if (is_on_reactor && upcoming <= ReactorTime::half &&
      reactor_time.may_continue(ThreadUsage::of_this_thread())) {
    deadline = now + ReactorTime::half;
    return {};
  }
  must_leave_reactor = is_on_reactor;
  if (plan && !plan->profile.is_read())
    return base::fail(
        base::Error(base::ErrorCode::write_timeout, "Operation timed out - received only 0 responses.")
            .with_hint("evaluating the values to write took longer than read_request_timeout"));
  return base::fail(
      base::Error(base::ErrorCode::read_timeout, "Operation timed out - received only 0 responses.")
          .with_hint("reading one page took longer than range_request_timeout (read_request_timeout, if the "
                     "statement names its partitions); read fewer rows: by key, or with smaller pages"));
}

void set_reactor_deadline(InFlightRequest& request) {
  request.is_on_reactor = true;
  request.reactor_time.start();
  request.deadline = coarse_now() + ReactorTime::half;
}

// A read that looks short may take long: many rows may be deleted, or the device or a function may be slow.
// So the statement is interrupted at its deadline. Writes are interrupted only before they are committed. A
// batch is never interrupted: its items have been moved, so it cannot start again.
bool run_on_reactor(InFlightRequest& request) {
  Reactor& reactor = *request.reactor;
  request.is_on_reactor = request.plan != nullptr;
  if (request.is_on_reactor) request.engine_request.interrupt = &request;
  reactor.starting = &request;
  execute_now(request);
  reactor.starting = nullptr;
  return request.completed_inline;
}

bool take_interrupted(InFlightRequest& request) {
  if (!std::exchange(request.must_leave_reactor, false) || request.result->has_value()) return false;
  request.completed_inline = false;
  request.is_compute_heavy = !may_run_long(request);
  remember_slow_plan(*request.plan);
  request.result.reset();
  return true;
}

bool submit(InFlightRequest& request) {
  request.is_on_reactor = false;
  request.queued = coarse_now();
  if (request.plan)
    request.is_compute_heavy = request.is_compute_heavy || request.plan->profile.is_compute_heavy;
  request.may_run_long = may_run_long(request);
  return request.connection->backlog().submit(request);
}

base::Error queue_full_error() {
  return overloaded("Request refused: the queue of blocking requests is full");
}

base::Error unread_results_error() {
  return overloaded("Request refused: the client does not read its responses");
}

}  // namespace sibyl::server
