#include "server/reactor.h"

#include <pthread.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <boost/asio/post.hpp>
#include <iterator>

#include "base/contain.h"
#include "server/connection.h"
#include "server/schema_change.h"

namespace sibyl::server {

namespace asio = boost::asio;

namespace {

thread_local Reactor* current_reactor = nullptr;

constexpr size_t kept_calls = 1024;
constexpr size_t kept_buffers = 32;
constexpr size_t largest_kept_buffer = 256u << 10;
constexpr std::chrono::milliseconds starved_interval{10};

}  // namespace

void Call::reset() {
  constexpr size_t kept_elements = 256;
  const auto clear = [](auto& vector) {
    if (vector.capacity() > kept_elements) {
      vector = {};
    } else {
      vector.clear();
    }
  };
  chunk.reset();
  base::Bytes().swap(decompressed);
  result_bytes = 0;
  is_on_reactor = must_leave = computes = false;
  is_pooled = is_producing = may_last = completed_inline = is_execute = skip_metadata = is_conditional_batch =
      false;
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
  unread.reset();
  request.paging_state.reset();
  request.trace = nullptr;
  request.interrupt = nullptr;
  deadline = never;
  who = nullptr;
  login.reset();
  trace.reset();
  result.reset();
}

size_t Shared::bytes_in_flight() const {
  size_t sum = 0;
  for (const auto& reactor : reactors) sum += reactor->bytes_in_flight();
  return sum;
}

size_t Shared::calls() const {
  size_t sum = 0;
  for (const auto& reactor : reactors) sum += reactor->calls();
  return sum;
}

size_t Shared::unsent_bytes() const {
  size_t sum = 0;
  for (const auto& reactor : reactors) sum += reactor->unsent_bytes();
  return sum;
}

Incoming Shared::incoming() const {
  Incoming sum;
  for (const auto& reactor : reactors) {
    const Incoming one = reactor->incoming();
    sum.begun += one.begun;
    sum.whole += one.whole;
  }
  return sum;
}

bool Shared::is_full() const {
  return bytes_in_flight() >= limits.total_bytes_in_flight || calls() >= limits.total_requests_in_flight;
}

void Shared::discount_connection(const std::string& address) {
  connections.fetch_sub(1);
  if (limits.connections_per_address > 0) per_address.leave(address);
  tell_gone();
}

void Shared::tell_gone() {
  if (!is_stopping.load(std::memory_order_relaxed)) return;
  {
    const std::lock_guard lock(mutex);
  }
  gone.notify_all();
}

Reactor::Reactor(Shared& shared, unsigned number)
    : shared_(shared),
      work_(asio::make_work_guard(context_)),
      timer_(context_),
      probe_(context_, shared.limits.queue_timeout),
      call_limit_(shared.limits.total_requests_in_flight) {
  free_calls_.reserve(kept_calls);
  probe_.start();
  thread_ = std::thread([this] { run(); });
  pthread_setname_np(thread_.native_handle(), ("sibyl-react-" + std::to_string(number)).c_str());
}

Reactor::~Reactor() {
  join();
}

Reactor* Reactor::current() {
  return current_reactor;
}

// What belongs to a request or a connection has been caught before it gets here.
void Reactor::run() {
  current_reactor = this;
  while (true) {
    const base::Status status = base::contain([&] { context_.run(); });
    if (status) return;
    shared_.request_log.tell_thrown(status.error());
  }
}

void Reactor::join() {
  if (!thread_.joinable()) return;
  asio::post(context_, [this] {
    timer_.cancel();
    probe_.stop();
    work_.reset();
  });
  thread_.join();
}

void Reactor::adopt(asio::ip::tcp::socket socket, std::string address) {
  asio::post(context_, [this, socket = std::move(socket), address = std::move(address)]() mutable {
    ConnectionPtr connection;
    const base::Status status = base::contain([&] {
      connection = new Connection(*this, std::move(socket), address);
      connections_.insert(connection.get());
    });
    if (!status) {
      shared_.request_log.tell_thrown(status.error());
      return shared_.discount_connection(address);
    }
    intrusive_ptr_add_ref(connection.get());
    connection->run_or_close([&] { add_stranger(*connection); });
    if (is_draining_) return connection->close();
    connection->run_or_close([&] { connection->start(); });
  });
}

void Reactor::publish(const schema::Change& change) {
  const bool is_drop = change.kind == schema::Change::Kind::dropped;
  asio::post(context_, [this, is_drop, change = to_protocol(change)] {
    const std::vector<Connection*> all(connections_.begin(), connections_.end());
    for (Connection* connection : all) connection->run_or_close([&] { connection->publish(change); });
    if (is_drop) metrics_.forget_dropped(*shared_.engine.schema());
    send_marked();
  });
}

void Reactor::add_stranger(Connection& connection) {
  connection.stranger_ = strangers_.insert(strangers_.end(), &connection);
  connection.is_stranger_ = true;
  stranger_count_.store(strangers_.size(), std::memory_order_relaxed);
}

void Reactor::remove_stranger(Connection& connection) {
  if (!std::exchange(connection.is_stranger_, false)) return;
  strangers_.erase(connection.stranger_);
  stranger_count_.store(strangers_.size(), std::memory_order_relaxed);
}

// Those whose password is being checked are closed last: they may be about to be none any more.
void Reactor::close_oldest_stranger() {
  asio::post(context_, [this] {
    if (strangers_.empty()) return;
    auto oldest = std::find_if(strangers_.begin(), strangers_.end(),
                               [](const Connection* one) { return !one->is_logging_in_; });
    Connection& connection = **(oldest == strangers_.end() ? strangers_.begin() : oldest);
    shared_.connections_refused.fetch_add(1, std::memory_order_relaxed);
    if (const auto more = shared_.refusals_told.admit(std::chrono::steady_clock::now()))
      spdlog::warn(
          "closed a connection of {}: too many are open that have not logged in ({} more not logged)",
          connection.address(), *more);
    connection.close();
  });
}

void Reactor::refuse_held() {
  asio::post(context_, [this] {
    const std::vector<Connection*> all(connections_.begin(), connections_.end());
    for (Connection* connection : all) connection->refuse_held();
    send_marked();
  });
}

void Reactor::begin_drain() {
  asio::post(context_, [this] {
    is_draining_ = true;
    const std::vector<Connection*> all(connections_.begin(), connections_.end());
    for (Connection* connection : all) connection->begin_drain();
    send_marked();
  });
}

void Reactor::abandon() {
  asio::post(context_, [this] {
    const std::vector<Connection*> all(connections_.begin(), connections_.end());
    for (Connection* connection : all) connection->close();
  });
}

void Reactor::completed(Call& call) {
  // A login has no rows.
  if (call.result && call.result->has_value()) call.result_bytes = (*call.result)->rows.bytes().size();
  if (call.result_bytes != 0) {
    result_bytes_.fetch_add(call.result_bytes, std::memory_order_relaxed);
    call.connection->add_waiting(call.result_bytes);
  }
  Call* head = completed_.load(std::memory_order_relaxed);
  do {
    call.next = head;
  } while (
      !completed_.compare_exchange_weak(head, &call, std::memory_order_release, std::memory_order_relaxed));
  // Whoever finds the list empty wakes the reactor; the others' calls are taken with it.
  if (head == nullptr) base::insist([this] { asio::post(context_, [this] { drain_completed(); }); });
}

void Reactor::drain_completed() {
  Call* newest = completed_.exchange(nullptr, std::memory_order_acquire);
  Call* oldest = nullptr;
  while (newest != nullptr) {
    Call* next = newest->next;
    newest->next = oldest;
    oldest = newest;
    newest = next;
  }
  look_at_clock();  // for all of them
  while (oldest != nullptr) {
    Call* next = oldest->next;
    Connection& connection = *oldest->connection;
    if (oldest->result_bytes != 0) {
      result_bytes_.fetch_sub(oldest->result_bytes, std::memory_order_relaxed);
      connection.remove_waiting(oldest->result_bytes);
    }
    base::insist([&] { mark_unsent(connection); });
    connection.finish(oldest);
    oldest = next;
  }
  measure(coarse_now());
  if (!starved_.empty()) retry_starved();
  send_marked();
}

void Reactor::send_marked() {
  while (!unsent_.empty()) {
    scratch_.swap(unsent_);
    for (auto& connection : scratch_) {
      connection->is_marked_unsent_ = false;
      connection->run_or_close([&] { connection->send(); });
    }
    scratch_.clear();
  }
}

void Reactor::mark_unsent(Connection& connection) {
  if (connection.is_marked_unsent_) return;
  connection.is_marked_unsent_ = true;
  unsent_.emplace_back(&connection);
}

void Reactor::mark_starved(Connection& connection) {
  if (connection.is_marked_starved_) return;
  connection.is_marked_starved_ = true;
  (is_retrying_ && connection.taken_ > 0 ? served_ : starved_).emplace_back(&connection);
  arm_timer(std::chrono::steady_clock::now() + starved_interval);
}

void Reactor::mark_yielded(Connection& connection) {
  if (yielded_.empty()) asio::post(context_, [this] { go_on_yielded(); });
  yielded_.emplace_back(&connection);
}

void Reactor::go_on_yielded() {
  constexpr std::chrono::milliseconds round{4};
  std::vector<ConnectionPtr> waiting;
  waiting.swap(yielded_);
  turn_ =
      std::clamp<std::chrono::steady_clock::duration>(round / waiting.size(), shortest_turn, longest_turn);
  for (auto& connection : waiting) {
    connection->is_yielded_ = false;
    connection->run_or_close([&] { connection->resume(); });
  }
  send_marked();
}

void Reactor::retry_starved() {
  std::vector<ConnectionPtr> waiting;
  waiting.swap(starved_);
  is_retrying_ = true;
  for (auto& connection : waiting) {
    connection->is_marked_starved_ = false;
    connection->run_or_close([&] { connection->resume(); });
  }
  std::move(served_.begin(), served_.end(), std::back_inserter(starved_));
  served_.clear();
  is_retrying_ = false;
}

void Reactor::measure(std::chrono::steady_clock::time_point now) {
  constexpr std::chrono::milliseconds interval{100};
  if (now - measured_ < interval) return;
  const double rate = static_cast<double>(finished_) / std::chrono::duration<double>(now - measured_).count();
  call_limit_ =
      calls_to_have_in_flight(rate, shared_.engine.sync_time(), shared_.limits.total_requests_in_flight);
  finished_ = 0;
  measured_ = now;
}

void Reactor::arm_timer(std::chrono::steady_clock::time_point deadline) {
  if (is_timer_armed_ && timer_.expiry() <= deadline) return;
  is_timer_armed_ = true;
  timer_.expires_at(deadline);
  timer_.async_wait([this](const boost::system::error_code& error) {
    if (error) return;
    is_timer_armed_ = false;
    tick();
  });
}

void Reactor::arm_sweep(std::chrono::steady_clock::time_point now) {
  // On a grid, or the deadlines of many connections would have it look at all of them all the time.
  const Limits& limits = shared_.limits;
  const bool has_timeout = limits.idle_timeout.count() > 0;
  const std::chrono::steady_clock::duration interval =
      has_timeout ? std::min(limits.rest_after, limits.idle_timeout) : limits.rest_after;
  arm_timer(now + interval - now.time_since_epoch() % interval);
}

void Reactor::heard(std::chrono::steady_clock::time_point now) {
  probe_.tick(now);
  measure(now);
  arm_sweep(now);
}

void Reactor::tick() {
  const auto now = std::chrono::steady_clock::now();
  const std::vector<Connection*> all(connections_.begin(), connections_.end());
  for (Connection* connection : all) connection->run_or_close([&] { connection->check_deadline(now); });
  // Nobody is to wait for requests that wait for slow clients.
  if (!starved_.empty() && shared_.is_full())
    for (const auto& reactor : shared_.reactors)
      if (reactor->held_calls() > 0) reactor->refuse_held();
  if (!starved_.empty()) retry_starved();
  send_marked();
}

void Reactor::remove(Connection& connection) {
  if (connections_.erase(&connection) == 0) return;
  remove_stranger(connection);
  shared_.discount_connection(connection.address());
  intrusive_ptr_release(&connection);
}

base::Bytes Reactor::take_buffer() {
  if (spare_buffers_.empty()) return {};
  base::Bytes buffer = std::move(spare_buffers_.back());
  spare_buffers_.pop_back();
  return buffer;
}

void Reactor::give_buffer(base::Bytes buffer) {
  if (buffer.capacity() > largest_kept_buffer || spare_buffers_.size() >= kept_buffers) return;
  buffer.clear();
  spare_buffers_.push_back(std::move(buffer));
}

Call* Reactor::take_call() {
  if (free_calls_.empty()) {
    auto* call = new Call;
    call->reactor = this;
    return call;
  }
  Call* call = free_calls_.back().release();
  free_calls_.pop_back();
  return call;
}

void Reactor::give_back(Call* call) {
  std::unique_ptr<Call> owned(call);
  owned->reset();
  if (free_calls_.size() < kept_calls) free_calls_.push_back(std::move(owned));
}

void Reactor::count_call(size_t bytes) {
  calls_.store(calls_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  bytes_in_flight_.store(bytes_in_flight_.load(std::memory_order_relaxed) + bytes, std::memory_order_relaxed);
}

void Reactor::count_unsent(size_t before, size_t now) {
  unsent_bytes_.store(unsent_bytes_.load(std::memory_order_relaxed) + now - before,
                      std::memory_order_relaxed);
}

void Reactor::count_incoming(Incoming before, Incoming now) {
  const auto count = [](std::atomic<size_t>& bytes, size_t less, size_t more) {
    bytes.store(bytes.load(std::memory_order_relaxed) + more - less, std::memory_order_relaxed);
  };
  count(begun_bytes_, before.begun, now.begun);
  count(whole_bytes_, before.whole, now.whole);
}

void Reactor::discount_call(size_t bytes) {
  ++finished_;
  bytes_in_flight_.store(bytes_in_flight_.load(std::memory_order_relaxed) - bytes, std::memory_order_relaxed);
  calls_.store(calls_.load(std::memory_order_relaxed) - 1, std::memory_order_release);
  shared_.tell_gone();
}

}  // namespace sibyl::server
