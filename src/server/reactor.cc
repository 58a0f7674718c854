#include "server/reactor.h"

#include <pthread.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <boost/asio/post.hpp>
#include <iterator>

#include "base/contain.h"
#include "server/connection/connection.h"
#include "server/connection/schema_change.h"

namespace sibyl::server {

namespace asio = boost::asio;

namespace {

thread_local Reactor* current_reactor = nullptr;

constexpr size_t max_free_requests = 1024;
constexpr std::chrono::milliseconds starved_interval{10};

}  // namespace

void Shared::release_connection_slot(const std::string& address) {
  connections.fetch_sub(1);
  if (limits.connections_per_address > 0) per_address.leave(address);
  notify_closed();
}

void Shared::notify_closed() {
  if (!is_stopping.load(std::memory_order_relaxed)) return;
  {
    const base::MutexLock lock(shutdown_mutex);
  }
  shutdown_progress.notify_all();
}

Reactor::Reactor(Shared& shared, unsigned number)
    : shared_(shared),
      load_(shared.load.add_reactor()),
      work_(asio::make_work_guard(context_)),
      timer_(context_),
      probe_(context_, shared.limits.queue_timeout),
      completed_event_(context_, [this] { drain_completed(); }) {
  free_requests_.reserve(max_free_requests);
  probe_.start();
  completed_event_.start();
  thread_ = std::thread([this] { run(); });
  pthread_setname_np(thread_.native_handle(), ("sibyl-react-" + std::to_string(number)).c_str());
}

Reactor::~Reactor() {
  join();
}

Reactor* Reactor::current() {
  return current_reactor;
}

// Exceptions of requests and connections are caught before they get here.
void Reactor::run() {
  current_reactor = this;
  while (true) {
    const base::Status status = base::contain([&] { context_.run(); });
    if (status) return;
    shared_.request_log.log_exception(status.error());
  }
}

void Reactor::join() {
  if (!thread_.joinable()) return;
  asio::post(context_, [this] {
    timer_.cancel();
    probe_.stop();
    completed_event_.stop();
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
      shared_.request_log.log_exception(status.error());
      return shared_.release_connection_slot(address);
    }
    intrusive_ptr_add_ref(connection.get());
    connection->run_or_close([&] { add_unauthenticated(*connection); });
    if (is_draining_) return connection->close();
    connection->run_or_close([&] { connection->start(); });
  });
}

void Reactor::publish(const schema::Change& change) {
  const bool is_drop = change.kind == schema::Change::Kind::dropped;
  asio::post(context_, [this, is_drop, change = to_protocol(change)] {
    const std::vector<Connection*> all(connections_.begin(), connections_.end());
    for (Connection* connection : all) connection->run_or_close([&] { connection->publish(change); });
    if (is_drop) metrics_.forget_dropped(*shared_.engine.schema_source.schema());
    send_marked();
  });
}

void Reactor::publish(const protocol::NodeChange& change) {
  asio::post(context_, [this, change] {
    const std::vector<Connection*> all(connections_.begin(), connections_.end());
    for (Connection* connection : all) connection->run_or_close([&] { connection->publish(change); });
    send_marked();
  });
}

void Reactor::add_unauthenticated(Connection& connection) {
  connection.unauthenticated_position_ = unauthenticated_.insert(unauthenticated_.end(), &connection);
  connection.is_unauthenticated_ = true;
  unauthenticated_count_.store(unauthenticated_.size(), std::memory_order_relaxed);
}

void Reactor::remove_unauthenticated(Connection& connection) {
  if (!std::exchange(connection.is_unauthenticated_, false)) return;
  unauthenticated_.erase(connection.unauthenticated_position_);
  unauthenticated_count_.store(unauthenticated_.size(), std::memory_order_relaxed);
}

// Connections whose password is being checked are closed last, because they may be about to log in.
void Reactor::close_oldest_unauthenticated() {
  asio::post(context_, [this] {
    if (unauthenticated_.empty()) return;
    auto oldest = std::find_if(unauthenticated_.begin(), unauthenticated_.end(), [](Connection* one) {
      return !one->handler().authentication().is_in_progress();
    });
    Connection& connection = **(oldest == unauthenticated_.end() ? unauthenticated_.begin() : oldest);
    shared_.connections_refused.fetch_add(1, std::memory_order_relaxed);
    if (const auto more = shared_.refusal_log_limit.admit(std::chrono::steady_clock::now()))
      spdlog::warn("closed a connection from {}: too many connections have not logged in{}",
                   connection.address(), base::suppressed_note(*more));
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

void Reactor::enqueue_completed(InFlightRequest& request) {
  // A login has no rows.
  if (request.result && request.result->has_value())
    request.result_bytes = (*request.result)->rows.bytes().size();
  if (request.result_bytes != 0) request.connection->backlog().add_waiting(request.result_bytes);
  InFlightRequest* head = completed_.load(std::memory_order_relaxed);
  do {
    request.next = head;
  } while (!completed_.compare_exchange_weak(head, &request, std::memory_order_release,
                                             std::memory_order_relaxed));
  // The thread that finds the list empty wakes the reactor, which then takes the whole list.
  if (head == nullptr) completed_event_.notify();
}

void Reactor::drain_completed() {
  InFlightRequest* newest = completed_.exchange(nullptr, std::memory_order_acquire);
  InFlightRequest* oldest = nullptr;
  while (newest != nullptr) {
    InFlightRequest* next = newest->next;
    newest->next = oldest;
    oldest = newest;
    newest = next;
  }
  update_now();
  while (oldest != nullptr) {
    InFlightRequest* next = oldest->next;
    Connection& connection = *oldest->connection;
    if (oldest->result_bytes != 0) connection.backlog().remove_waiting(oldest->result_bytes);
    base::retry_until_success([&] { mark_unsent(connection); });
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
  (is_retrying_ && connection.flow_.taken() > 0 ? served_ : starved_).emplace_back(&connection);
  arm_timer(std::chrono::steady_clock::now() + starved_interval);
}

void Reactor::mark_yielded(Connection& connection) {
  if (yielded_.empty()) asio::post(context_, [this] { resume_after_yield(); });
  yielded_.emplace_back(&connection);
}

void Reactor::resume_after_yield() {
  constexpr std::chrono::milliseconds round{4};
  std::vector<ConnectionPtr> waiting;
  waiting.swap(yielded_);
  turn_ = std::clamp<std::chrono::steady_clock::duration>(round / waiting.size(), min_turn, max_turn);
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
  load_.set_max_requests(max_requests_in_flight(rate, shared_.engine.executor.sync_time(),
                                                shared_.limits.total_requests_in_flight));
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
  // Deadlines are aligned to a grid, so that the deadlines of many connections do not cause a sweep every few
  // moments.
  const Limits& limits = shared_.limits;
  const bool has_timeout = limits.idle_timeout.count() > 0;
  const std::chrono::steady_clock::duration interval =
      has_timeout ? std::min(limits.rest_after, limits.idle_timeout) : limits.rest_after;
  arm_timer(now + interval - now.time_since_epoch() % interval);
}

void Reactor::on_bytes_received(std::chrono::steady_clock::time_point now) {
  probe_.tick(now);
  measure(now);
  arm_sweep(now);
}

void Reactor::tick() {
  const auto now = std::chrono::steady_clock::now();
  const std::vector<Connection*> all(connections_.begin(), connections_.end());
  for (Connection* connection : all) connection->run_or_close([&] { connection->check_deadline(now); });
  // Held requests of slow clients must not make other clients wait, so they are refused.
  if (!starved_.empty() && shared_.load.is_full())
    for (const auto& reactor : shared_.reactors)
      if (reactor->load().held_requests() > 0) reactor->refuse_held();
  if (!starved_.empty()) retry_starved();
  send_marked();
}

void Reactor::remove(Connection& connection) {
  if (connections_.erase(&connection) == 0) return;
  remove_unauthenticated(connection);
  shared_.release_connection_slot(connection.peer_address());
  intrusive_ptr_release(&connection);
}

InFlightRequest* Reactor::take_request() {
  if (free_requests_.empty()) {
    auto* request = new InFlightRequest;
    request->reactor = this;
    return request;
  }
  InFlightRequest* request = free_requests_.back().release();
  free_requests_.pop_back();
  return request;
}

void Reactor::recycle(InFlightRequest* request) {
  std::unique_ptr<InFlightRequest> owned(request);
  owned->reset();
  if (free_requests_.size() < max_free_requests) free_requests_.push_back(std::move(owned));
}

void Reactor::count_finished(size_t bytes) {
  ++finished_;
  load_.remove_request(bytes);
  shared_.notify_closed();
}

}  // namespace sibyl::server
