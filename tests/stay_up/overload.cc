// Sends ten times more requests than a server can serve. Checks how the server behaves, and how soon it
// recovers.
//
// Usage: overload HOST:PORT --pid PID [--seconds 60] [--factor 10] [--connections 64] [--kind
// read|scan|write]
//
// First it measures the server's capacity, with a bounded number of requests in flight. Then it sends
// requests at `factor` times that rate, whether they are answered or not. Meanwhile another client sends one
// small request after another: a read from memory, a read of a row, a write. Five seconds after the load
// stops at the latest, that client must be answered as quickly as before. Exit status: 0 passed, 1 a limit
// was missed, 2 could not run.
#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <fstream>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "client/connection.h"
#include "types/value.h"

namespace {

using namespace sibyl;
using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

struct Arguments {
  std::string host = "127.0.0.1";
  uint16_t port = 9042;
  int pid = 0;
  double seconds = 60;
  double factor = 10;
  unsigned connections = 64;
  std::string kind = "read";
  size_t memory_megabytes = 1024;
};

double since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

size_t resident_megabytes(int pid) {
  std::ifstream status(fmt::format("/proc/{}/status", pid));
  for (std::string line; std::getline(status, line);)
    if (line.starts_with("VmRSS:")) return std::stoul(line.substr(6)) >> 10;
  return 0;
}

struct Counts {
  uint64_t sent = 0, held_back = 0, answered = 0, overloaded = 0, other = 0, lost = 0;
};

// A connection that sends requests without waiting, and counts the responses.
class Line {
 public:
  explicit Line(int socket) : socket_(socket), is_free_(streams, true) {}
  ~Line() { ::close(socket_); }
  Line(const Line&) = delete;

  // Returns false if the client itself cannot send more: no stream is free, or the socket is full.
  bool add(std::string& frame, bool writes) {
    constexpr size_t max_unsent = 1u << 20;
    if (under_way_ == streams || out_.size() > max_unsent || socket_ < 0) return false;
    while (!is_free_[next_]) next_ = (next_ + 1) % streams;
    is_free_[next_] = false;
    ++under_way_;
    frame[2] = static_cast<char>(next_ >> 8);
    frame[3] = static_cast<char>(next_);
    if (writes) {
      ++frame[frame.size() - 1];
      frame[frame.size() - 2] = static_cast<char>(next_);
    }
    out_ += frame;
    return true;
  }

  void send() {
    if (out_.empty()) return;
    const ssize_t size = ::send(socket_, out_.data(), out_.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (size > 0) out_.erase(0, static_cast<size_t>(size));
  }

  // Returns false if the server has closed the connection.
  bool receive(Counts& counts) {
    char buffer[256u << 10];
    while (true) {
      const ssize_t size = ::recv(socket_, buffer, sizeof buffer, MSG_DONTWAIT);
      if (size == 0 || (size < 0 && errno != EAGAIN && errno != EINTR)) return false;
      if (size < 0) return true;
      in_.append(buffer, static_cast<size_t>(size));
      take_answers(counts);
    }
  }

  size_t under_way() const { return under_way_; }
  int socket() const { return socket_; }

 private:
  static constexpr size_t streams = 32768;

  void take_answers(Counts& counts) {
    size_t at = 0;
    while (true) {
      const auto step = protocol::next_frame(std::string_view(in_).substr(at), protocol::Direction::response,
                                             protocol::largest_body);
      if (step.kind != protocol::FrameStep::Kind::frame) break;
      at += step.size;
      const auto stream = static_cast<size_t>(step.header.stream);
      if (is_free_[stream]) {
        ++counts.other;
        continue;
      }
      is_free_[stream] = true;
      --under_way_;
      if (step.header.opcode == protocol::Opcode::result) {
        ++counts.answered;
      } else if (step.body.substr(0, 4) == std::string_view("\0\0\x10\x01", 4)) {
        ++counts.overloaded;
      } else {
        ++counts.other;
      }
    }
    in_.erase(0, at);
  }

  int socket_;
  std::string out_, in_;
  std::vector<bool> is_free_;
  size_t next_ = 0;
  size_t under_way_ = 0;
};

// Sends one small request after another, and measures how long each takes.
class Prober {
 public:
  explicit Prober(std::unique_ptr<client::Connection> connection) : connection_(std::move(connection)) {
    thread_ = std::thread([this] { run(); });
  }
  ~Prober() {
    stopping_ = true;
    thread_.join();
  }

  struct Sample {
    Clock::time_point at;
    double milliseconds;
    bool ok;
  };
  std::vector<Sample> samples(Clock::time_point from, Clock::time_point to) {
    const std::lock_guard lock(mutex_);
    std::vector<Sample> found;
    for (const Sample& sample : samples_)
      if (sample.at >= from && sample.at < to) found.push_back(sample);
    return found;
  }

 private:
  void run() {
    constexpr const char* questions[] = {"SELECT key FROM system.local",
                                         "SELECT v FROM stay_up.t WHERE k = 3 AND c = 7",
                                         "UPDATE stay_up.t SET v = 'asked' WHERE k = 3 AND c = 7"};
    for (size_t next = 0; !stopping_; next = (next + 1) % std::size(questions)) {
      const auto start = Clock::now();
      const bool ok = connection_->query(questions[next]).has_value();
      const double taken = since(start) * 1000;
      {
        const std::lock_guard lock(mutex_);
        samples_.push_back({Clock::now(), taken, ok});
      }
      std::this_thread::sleep_for(milliseconds(5));
    }
  }

  std::unique_ptr<client::Connection> connection_;
  std::atomic<bool> stopping_{false};
  std::mutex mutex_;
  std::vector<Sample> samples_;
  std::thread thread_;
};

double percentile(std::vector<Prober::Sample> samples, double share) {
  if (samples.empty()) return 1e9;
  std::sort(samples.begin(), samples.end(),
            [](const auto& a, const auto& b) { return a.milliseconds < b.milliseconds; });
  return samples[std::min(samples.size() - 1,
                          static_cast<size_t>(share * static_cast<double>(samples.size())))]
      .milliseconds;
}

class Overload {
 public:
  explicit Overload(const Arguments& arguments) : arguments_(arguments), writes_(arguments.kind == "write") {}

  base::Status prepare();
  int run();

 private:
  base::Result<std::unique_ptr<client::Connection>> connect() const {
    client::Options options;
    options.host = arguments_.host;
    options.port = arguments_.port;
    return client::Connection::connect(options);
  }
  void turn(int wait_milliseconds);
  double measure_capacity();
  void overload(double rate);
  double recover(Clock::time_point stopped, double normal);
  size_t under_way() const {
    size_t sum = 0;
    for (const auto& line : lines_) sum += line->under_way();
    return sum;
  }

  const Arguments arguments_;
  const bool writes_;
  std::vector<std::unique_ptr<Line>> lines_;
  std::unique_ptr<Prober> prober_;
  std::string frame_;
  Counts counts_;
  size_t peak_megabytes_ = 0;
  Clock::time_point looked_;
};

base::Status Overload::prepare() {
  SIBYL_ASSIGN(auto connection, connect());
  const char* definitions[] = {
      "CREATE KEYSPACE IF NOT EXISTS stay_up WITH replication = {'class': 'SimpleStrategy', "
      "'replication_factor': 1}",
      "CREATE TABLE IF NOT EXISTS stay_up.t (k int, c int, v text, PRIMARY KEY (k, c))"};
  for (const char* text : definitions) SIBYL_TRY(connection->query(text));
  SIBYL_ASSIGN(auto insert, connection->prepare("INSERT INTO stay_up.t (k, c, v) VALUES (?, ?, ?)"));
  const std::string value(100, 'v');
  for (int32_t i = 0; i < 2000; ++i) {
    const std::string key = types::encode_int32(i / 200), position = types::encode_int32(i % 200);
    const types::ValueView values[] = {types::ValueView::of(key), types::ValueView::of(position),
                                       types::ValueView::of(value)};
    SIBYL_TRY(connection->execute(insert, values));
  }
  const std::map<std::string, std::string> statements = {
      {"read", "SELECT * FROM stay_up.t WHERE k = 1"},
      {"scan", "SELECT count(*) FROM stay_up.t WHERE v = 'none' ALLOW FILTERING"},
      {"write", "UPDATE stay_up.t SET v = 'written' WHERE k = 5 AND c = ?"}};
  const std::string position = types::encode_int32(0);
  for (unsigned i = 0; i < arguments_.connections; ++i) {
    SIBYL_ASSIGN(auto opened, connect());
    SIBYL_ASSIGN(const auto prepared, opened->prepare(statements.at(arguments_.kind)));
    protocol::Execute message;
    message.id = prepared.id;
    message.parameters.consistency = protocol::Consistency::one;
    // The last bytes of the frame are a number that differs for every request.
    if (arguments_.kind == "write") message.parameters.values = {types::ValueView::of(position)};
    frame_.clear();
    protocol::FrameWriter writer(frame_, protocol::Direction::request,
                                 {protocol::Version::v4, 0, 0, protocol::Opcode::execute});
    protocol::append_execute(frame_, protocol::Version::v4, message);
    writer.finish();
    lines_.push_back(std::make_unique<Line>(opened->release_socket()));
  }
  SIBYL_ASSIGN(auto probing, connect());
  prober_ = std::make_unique<Prober>(std::move(probing));
  return {};
}

// Sends, receives, and checks the server's memory from time to time.
void Overload::turn(int wait_milliseconds) {
  std::vector<pollfd> entries;
  for (const auto& line : lines_) entries.push_back({line->socket(), POLLIN, 0});
  for (const auto& line : lines_) line->send();
  ::poll(entries.data(), entries.size(), wait_milliseconds);
  for (size_t i = 0; i < entries.size(); ++i)
    if (entries[i].revents != 0 && !lines_[i]->receive(counts_)) ++counts_.lost;
  if (Clock::now() - looked_ > milliseconds(100)) {
    looked_ = Clock::now();
    peak_megabytes_ = std::max(peak_megabytes_, resident_megabytes(arguments_.pid));
  }
}

double Overload::measure_capacity() {
  constexpr size_t window = 64;
  const auto start = Clock::now();
  const uint64_t before = counts_.answered;
  size_t next = 0;
  while (since(start) < 2) {
    while (under_way() < window) counts_.sent += lines_[next++ % lines_.size()]->add(frame_, writes_);
    turn(1);
  }
  const double capacity = static_cast<double>(counts_.answered - before) / since(start);
  while (under_way() > 0) turn(1);
  return capacity;
}

void Overload::overload(double rate) {
  const auto start = Clock::now();
  size_t next = 0;
  double issued = 0;
  while (since(start) < arguments_.seconds) {
    for (const double due = rate * since(start); issued < due; ++issued) {
      if (lines_[next++ % lines_.size()]->add(frame_, writes_)) {
        ++counts_.sent;
      } else {
        ++counts_.held_back;
      }
    }
    turn(1);
  }
}

// Returns the seconds until small requests are answered as quickly as before. Responses that are still in
// flight are received meanwhile.
double Overload::recover(Clock::time_point stopped, double normal) {
  constexpr double longest = 20;
  const double bound = std::max(3 * normal, 50.0);
  while (since(stopped) < longest) {
    const auto from = Clock::now();
    while (Clock::now() - from < milliseconds(500)) turn(1);
    const auto samples = prober_->samples(from, Clock::now());
    const bool all_ok = std::all_of(samples.begin(), samples.end(), [](const auto& s) { return s.ok; });
    if (samples.size() >= 5 && all_ok && percentile(samples, 0.9) <= bound)
      return std::chrono::duration<double>(from - stopped).count();
  }
  return longest;
}

int Overload::run() {
  constexpr double max_seconds = 5;
  const auto start = Clock::now();
  while (since(start) < 1) turn(1);
  const double normal = percentile(prober_->samples(start, Clock::now()), 0.9);
  const double capacity = measure_capacity();
  const size_t before = resident_megabytes(arguments_.pid);
  counts_ = {};
  const auto began = Clock::now();
  overload(capacity * arguments_.factor);
  const auto stopped = Clock::now();
  const auto during = prober_->samples(began, stopped);
  const double recovery = recover(stopped, normal);
  fmt::print("{}: {:.0f} requests/s can be served; {:.0f}/s were tried for {:.0f} s over {} connections\n",
             arguments_.kind, capacity, capacity * arguments_.factor, arguments_.seconds, lines_.size());
  fmt::print("sent {}, held back {}, answered {}, OVERLOADED {}, other errors {}, connections lost {}\n",
             counts_.sent, counts_.held_back, counts_.answered, counts_.overloaded, counts_.other,
             counts_.lost);
  fmt::print("memory {} MiB before, {} at most\n", before, peak_megabytes_);
  fmt::print(
      "another client's answers: {:.1f} ms before, {:.1f} ms during (90 %; at most {:.1f}), as before "
      "{:.1f} s after\n",
      normal, percentile(during, 0.9), percentile(during, 1), recovery);
  int status = 0;
  const auto require = [&](bool holds, const char* what) {
    if (holds) return;
    fmt::print("MISSED: {}\n", what);
    status = 1;
  };
  require(recovery <= max_seconds, "as quick as before within 5 s");
  require(counts_.other == 0 && counts_.lost == 0, "no error but OVERLOADED");
  require(counts_.answered > 0, "requests are answered meanwhile");
  require(counts_.overloaded > 0, "some requests are OVERLOADED");
  require(peak_megabytes_ <= arguments_.memory_megabytes, "bounded memory");
  return status;
}

}  // namespace

int main(int count, char** words) {
  Arguments arguments;
  std::string address;
  CLI::App app("Sends ten times more requests than a server can serve");
  app.add_option("address", address, "HOST:PORT")->required();
  app.add_option("--pid", arguments.pid, "The server's process")->required();
  app.add_option("--seconds", arguments.seconds, "Duration of the overload")->capture_default_str();
  app.add_option("--factor", arguments.factor, "Requests, as a multiple of the capacity")
      ->capture_default_str();
  app.add_option("--connections", arguments.connections, "Connections")->capture_default_str();
  app.add_option("--kind", arguments.kind, "read: a partition of 200 rows; scan: all rows; write: one row")
      ->check(CLI::IsMember({"read", "scan", "write"}))
      ->capture_default_str();
  app.add_option("--memory", arguments.memory_megabytes, "MiB that the server may use")
      ->capture_default_str();
  CLI11_PARSE(app, count, words);
  const size_t colon = address.rfind(':');
  arguments.host = address.substr(0, colon);
  arguments.port = static_cast<uint16_t>(std::stoul(address.substr(colon + 1)));
  Overload overload(arguments);
  if (const auto prepared = overload.prepare(); !prepared) {
    fmt::print(stderr, "{}\n", prepared.error().message());
    return 2;
  }
  return overload.run();
}
