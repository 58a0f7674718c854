#include "cli/bench/load.h"

#include <fmt/format.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <deque>
#include <thread>

#include "base/mutex.h"
#include "protocol/error_message.h"
#include "protocol/frame.h"
#include "protocol/request.h"
#include "protocol/wire.h"

namespace sibyl::cli::bench {
namespace {

using Clock = std::chrono::steady_clock;
using protocol::Opcode;

constexpr size_t receive_bytes = 256u << 10;
constexpr size_t noise_bytes = 1u << 20;
constexpr std::chrono::seconds drain_patience{10};
constexpr int32_t driver_page_size = 5000;

// State shared by all threads.
struct Run {
  const Load& load;
  std::string noise;  // random bytes from which row bytes are taken
  std::atomic<uint64_t> next_operation{0};
  std::atomic<uint64_t> answered{0};
  std::atomic<uint64_t> errors{0};
  Clock::time_point start, end;
};

// An EXECUTE frame of one operation, with placeholders for its numbers.
struct Template {
  std::string frame;
  struct Slot {
    Operation::Value value;
    size_t at;
  };
  std::vector<Slot> slots;
  bool reads = false;
};

Template make_template(const Operation& operation, const client::Prepared& prepared, const Load& load) {
  Template result;
  result.reads = operation.reads;
  const std::string eight(8, '\0'), four(4, '\0'), row(load.row_bytes, '\0');
  protocol::Execute message;
  message.id = prepared.id;
  message.parameters.skip_metadata = true;
  if (operation.reads) message.parameters.page_size = driver_page_size;
  for (const auto value : operation.values) {
    const std::string& bytes = value == Operation::Value::bytes      ? row
                               : value == Operation::Value::position ? four
                                                                     : eight;
    message.parameters.values.push_back(types::ValueView::of(bytes));
  }
  protocol::FrameWriter frame(result.frame, protocol::Direction::request,
                              {load.server.version, 0, 0, Opcode::execute});
  protocol::append_execute(result.frame, load.server.version, message);
  frame.finish();
  // The values are at the end of the message, before the page size.
  size_t at = result.frame.size() - (message.parameters.page_size ? sizeof(driver_page_size) : 0);
  for (size_t i = operation.values.size(); i-- > 0;) {
    at -= message.parameters.values[i].bytes.size();
    result.slots.push_back({operation.values[i], at});
    at -= 4;
  }
  return result;
}

// Numbers by xorshift, which is much cheaper than the server's work on any request.
struct Random {
  uint64_t state;
  uint64_t next() {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state;
  }
  uint64_t below(uint64_t limit) {
    return static_cast<uint64_t>((static_cast<__uint128_t>(next()) * limit) >> 64);
  }
};

void store_long(char* at, uint64_t value) {
  protocol::store_int(at, static_cast<uint32_t>(value >> 32));
  protocol::store_int(at + 4, static_cast<uint32_t>(value));
}

class Worker;

class Channel {
 public:
  Channel(Worker& worker, int socket, std::vector<Template> templates, unsigned window);
  ~Channel() { ::close(socket_); }
  Channel(const Channel&) = delete;

  int socket() const { return socket_; }
  unsigned in_flight() const { return in_flight_; }
  base::Status begin();
  base::Status readable();
  base::Status send();

 private:
  bool start(int16_t stream);
  void watch(bool writable);
  base::Status take(const protocol::FrameStep& step);

  Worker& worker_;
  int socket_;
  std::vector<Template> templates_;
  unsigned window_;
  unsigned in_flight_ = 0;
  struct Pending {
    Clock::time_point started;
    bool reads = false;
  };
  std::vector<Pending> pending_;
  std::string out_;
  size_t sent_ = 0;
  bool watches_writable_ = false;
  std::string in_;
  size_t held_ = 0;
};

class Worker {
 public:
  Worker(Run& run, uint64_t seed) : run_(run), random_{seed * 0x9e3779b97f4a7c15ull + 1} {}
  ~Worker() {
    channels_.clear();
    if (epoll_ >= 0) ::close(epoll_);
  }
  Worker(const Worker&) = delete;

  base::Status connect(unsigned channels, unsigned window);
  base::Status drive();

  LoadResult result;

 private:
  friend class Channel;
  bool may_start();
  size_t pick();
  void fill(std::string& frame, size_t at, const Template& operation);
  bool is_done() const;

  Run& run_;
  Random random_;
  int epoll_ = -1;
  Clock::time_point now_;
  uint64_t sequence_ = 0;  // number of the operation that is being prepared
  std::vector<std::unique_ptr<Channel>> channels_;
};

base::Status Worker::connect(unsigned channels, unsigned window) {
  epoll_ = ::epoll_create1(EPOLL_CLOEXEC);
  for (unsigned i = 0; i < channels; ++i) {
    SIBYL_ASSIGN(auto connection, client::Connection::connect(run_.load.server));
    std::vector<Template> templates;
    for (const auto& operation : run_.load.operations) {
      SIBYL_ASSIGN(const auto prepared, connection->prepare(operation.text));
      templates.push_back(make_template(operation, prepared, run_.load));
    }
    channels_.push_back(
        std::make_unique<Channel>(*this, connection->release_socket(), std::move(templates), window));
    epoll_event event{};
    event.events = EPOLLIN;
    event.data.ptr = channels_.back().get();
    ::epoll_ctl(epoll_, EPOLL_CTL_ADD, channels_.back()->socket(), &event);
  }
  return {};
}

bool Worker::may_start() {
  if (run_.load.duration.count() > 0 && now_ >= run_.end) return false;
  if (run_.load.operation_count == 0) {
    sequence_ = 0;
    return true;
  }
  sequence_ = run_.next_operation.fetch_add(1, std::memory_order_relaxed);
  return sequence_ < run_.load.operation_count;
}

size_t Worker::pick() {
  const auto& weights = run_.load.weights;
  if (weights.size() < 2) return 0;
  double at = static_cast<double>(random_.next() >> 11) * 0x1.0p-53;
  for (size_t i = 0; i + 1 < weights.size(); ++i) {
    if (at < weights[i]) return i;
    at -= weights[i];
  }
  return weights.size() - 1;
}

void Worker::fill(std::string& frame, size_t at, const Template& operation) {
  const Load& load = run_.load;
  const uint64_t key = load.sequential ? sequence_ : random_.below(load.keys);
  for (const auto& slot : operation.slots) {
    char* to = frame.data() + at + slot.at;
    switch (slot.value) {
      case Operation::Value::key:
        store_long(to, key);
        break;
      case Operation::Value::partition:
        store_long(to, key / load.rows_per_partition);
        break;
      case Operation::Value::position: {
        const uint64_t last = load.rows_per_partition - std::min(load.slice_rows, load.rows_per_partition);
        protocol::store_int(to, static_cast<uint32_t>(load.sequential ? key % load.rows_per_partition
                                                                      : random_.below(last + 1)));
        break;
      }
      case Operation::Value::bytes:
        std::memcpy(to, run_.noise.data() + random_.below(noise_bytes), load.row_bytes);
        break;
    }
  }
}

bool Worker::is_done() const {
  for (const auto& channel : channels_)
    if (channel->in_flight() > 0) return false;
  return true;
}

base::Status Worker::drive() {
  now_ = Clock::now();
  for (auto& channel : channels_) SIBYL_TRY(channel->begin());
  while (!is_done()) {
    epoll_event events[64];
    const int count = ::epoll_wait(epoll_, events, 64, 1000);
    now_ = Clock::now();
    if (run_.load.duration.count() > 0 && now_ > run_.end + drain_patience)
      return base::fail(base::ErrorCode::server, "the server did not answer all requests");
    for (int i = 0; i < count; ++i) {
      auto* channel = static_cast<Channel*>(events[i].data.ptr);
      if ((events[i].events & (EPOLLIN | EPOLLHUP | EPOLLERR)) != 0) SIBYL_TRY(channel->readable());
      SIBYL_TRY(channel->send());
    }
  }
  return {};
}

Channel::Channel(Worker& worker, int socket, std::vector<Template> templates, unsigned window)
    : worker_(worker), socket_(socket), templates_(std::move(templates)), window_(window), pending_(window) {
  in_.resize(receive_bytes);
}

base::Status Channel::begin() {
  for (unsigned stream = 0; stream < window_; ++stream)
    if (!start(static_cast<int16_t>(stream))) break;
  return send();
}

bool Channel::start(int16_t stream) {
  if (!worker_.may_start()) return false;
  const Template& operation = templates_[worker_.pick()];
  const size_t at = out_.size();
  out_ += operation.frame;
  out_[at + 2] = static_cast<char>(stream >> 8);
  out_[at + 3] = static_cast<char>(stream);
  worker_.fill(out_, at, operation);
  pending_[static_cast<size_t>(stream)] = {worker_.now_, operation.reads};
  ++in_flight_;
  return true;
}

base::Status Channel::send() {
  while (sent_ < out_.size()) {
    const ssize_t size = ::send(socket_, out_.data() + sent_, out_.size() - sent_, MSG_NOSIGNAL);
    if (size >= 0) {
      sent_ += static_cast<size_t>(size);
    } else if (errno == EAGAIN) {
      watch(true);
      return {};
    } else if (errno != EINTR) {
      return base::fail(base::ErrorCode::server, fmt::format("sending: {}", std::strerror(errno)));
    }
  }
  out_.clear();
  sent_ = 0;
  watch(false);
  return {};
}

void Channel::watch(bool writable) {
  if (writable == watches_writable_) return;
  watches_writable_ = writable;
  epoll_event event{};
  event.events = EPOLLIN;
  if (writable) event.events |= EPOLLOUT;
  event.data.ptr = this;
  ::epoll_ctl(worker_.epoll_, EPOLL_CTL_MOD, socket_, &event);
}

base::Status Channel::readable() {
  const ssize_t size = ::recv(socket_, in_.data() + held_, in_.size() - held_, 0);
  if (size == 0) return base::fail(base::ErrorCode::server, "the server closed a connection");
  if (size < 0) {
    if (errno == EAGAIN || errno == EINTR) return {};
    return base::fail(base::ErrorCode::server, fmt::format("receiving: {}", std::strerror(errno)));
  }
  held_ += static_cast<size_t>(size);
  size_t consumed = 0;
  while (true) {
    const auto step = protocol::next_frame(std::string_view(in_).substr(consumed, held_ - consumed),
                                           protocol::Direction::response, protocol::largest_body);
    if (step.kind == protocol::FrameStep::Kind::incomplete) {
      if (step.size > in_.size()) in_.resize(step.size + receive_bytes);
      break;
    }
    if (step.kind != protocol::FrameStep::Kind::frame) return base::fail(*step.error);
    SIBYL_TRY(take(step));
    consumed += step.size;
  }
  std::memmove(in_.data(), in_.data() + consumed, held_ - consumed);
  held_ -= consumed;
  return {};
}

// Returns the number of rows in a RESULT without metadata; 0 for other messages.
uint64_t rows_in(std::string_view body) {
  protocol::WireReader reader(body);
  constexpr int32_t rows_kind = 2, has_more_pages = 2;
  if (reader.int_() != rows_kind) return 0;
  const int32_t flags = reader.int_();
  reader.int_();
  if ((flags & has_more_pages) != 0) reader.bytes();
  return static_cast<uint64_t>(std::max(reader.int_(), 0));
}

base::Status Channel::take(const protocol::FrameStep& step) {
  const auto stream = static_cast<size_t>(step.header.stream);
  if (step.header.opcode == Opcode::event) return {};
  if (step.header.stream < 0 || stream >= pending_.size())
    return base::fail(base::ErrorCode::server, "received a response to no request");
  --in_flight_;
  LoadResult& result = worker_.result;
  if (step.header.opcode == Opcode::error) {
    const auto message = protocol::decode_error(step.body, step.header.version);
    ++result.errors;
    if (message && result.error_texts.size() < 10) ++result.error_texts[message->message];
    worker_.run_.errors.fetch_add(1, std::memory_order_relaxed);
  } else {
    ++result.operations;
    const Pending& pending = pending_[stream];
    result.latencies.add(static_cast<uint64_t>((worker_.now_ - pending.started).count()));
    if (pending.reads) {
      const uint64_t rows = rows_in(step.body);
      result.rows += rows;
      if (rows == 0) ++result.empty_reads;
    }
    worker_.run_.answered.fetch_add(1, std::memory_order_relaxed);
  }
  start(step.header.stream);
  return {};
}

std::string make_noise(size_t size, uint64_t seed) {
  Random random{seed * 2 + 1};
  std::string noise;
  while (noise.size() < size) {
    char bytes[8];
    store_long(bytes, random.next());
    noise.append(bytes, sizeof bytes);
  }
  return noise;
}

void report_until(const Run& run, const Progress& progress, base::Mutex& mutex, base::CondVar& finished,
                  const bool& is_finished) {
  const base::MutexLock lock(mutex);
  auto next = std::chrono::steady_clock::now() + std::chrono::seconds(1);
  while (!is_finished) {
    if (finished.wait_until(mutex, next)) continue;
    next += std::chrono::seconds(1);
    progress(std::chrono::duration<double>(Clock::now() - run.start).count(), run.answered.load(),
             run.errors.load());
  }
}

}  // namespace

base::Result<LoadResult> run_load(const Load& load, const Progress& progress) {
  Run run{load, make_noise(noise_bytes + load.row_bytes, load.seed), {}, {}, {}, {}, {}};
  const unsigned threads = std::clamp(load.threads, 1u, std::max(load.connections, 1u));
  const unsigned connections = std::max({load.connections, threads, 1u});
  const unsigned window = std::max(load.in_flight / connections, 1u);
  std::vector<std::unique_ptr<Worker>> workers;
  for (unsigned i = 0; i < threads; ++i) {
    workers.push_back(std::make_unique<Worker>(run, load.seed + i));
    SIBYL_TRY(workers.back()->connect(connections / threads + (i < connections % threads ? 1 : 0), window));
  }
  run.start = Clock::now();
  run.end = run.start + load.duration;
  std::vector<base::Status> statuses(threads);
  base::Mutex mutex;
  base::CondVar finished;
  bool is_finished = false;
  std::thread reporter([&] { report_until(run, progress, mutex, finished, is_finished); });
  std::vector<std::thread> running;
  for (unsigned i = 0; i < threads; ++i) running.emplace_back([&, i] { statuses[i] = workers[i]->drive(); });
  for (auto& thread : running) thread.join();
  const auto stopped = Clock::now();
  {
    const base::MutexLock lock(mutex);
    is_finished = true;
  }
  finished.notify_all();
  reporter.join();
  LoadResult total;
  for (unsigned i = 0; i < threads; ++i) {
    if (!statuses[i]) return base::fail(statuses[i].error());
    const LoadResult& part = workers[i]->result;
    total.operations += part.operations;
    total.errors += part.errors;
    total.rows += part.rows;
    total.empty_reads += part.empty_reads;
    for (const auto& [text, count] : part.error_texts) total.error_texts[text] += count;
    total.latencies.merge(part.latencies);
  }
  total.seconds = std::chrono::duration<double>(stopped - run.start).count();
  return total;
}

}  // namespace sibyl::cli::bench
