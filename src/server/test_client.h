// Shared by the server's tests: a client for raw bytes and frames, and a server with a fake engine.
#pragma once

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "protocol/error_message.h"
#include "protocol/frame.h"
#include "protocol/request.h"
#include "protocol/response.h"
#include "protocol/segment.h"
#include "server/fake_engine.h"
#include "server/server.h"

namespace sibyl::server {

using protocol::Opcode;
using protocol::Version;

struct Answer {
  protocol::Header header;
  std::string body;
};

// A client that sends arbitrary bytes and reads frames.
class Client {
 public:
  // `source` is the local address, such as "127.0.0.2"; nullptr: the default.
  explicit Client(uint16_t port, int receive_buffer = 0, const char* source = nullptr) {
    socket_ = ::socket(AF_INET, SOCK_STREAM, 0);
    if (receive_buffer > 0)
      ::setsockopt(socket_, SOL_SOCKET, SO_RCVBUF, &receive_buffer, sizeof receive_buffer);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    if (source != nullptr) {
      ::inet_pton(AF_INET, source, &address.sin_addr);
      EXPECT_EQ(::bind(socket_, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
    }
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    connected_ = ::connect(socket_, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0;
  }
  ~Client() { ::close(socket_); }
  Client(const Client&) = delete;

  bool connected() const { return connected_; }

  // Sends frames, in segments once startup() has agreed on a version that uses them.
  void send_frames(std::string_view frames) {
    if (!has_segments_) return send_raw(frames);
    std::string out;
    protocol::append_segments(out, frames, compression_);
    send_raw(out);
  }
  void send_raw(std::string_view bytes) {
    while (!bytes.empty()) {
      const ssize_t sent = ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (sent <= 0) return;
      bytes.remove_prefix(static_cast<size_t>(sent));
    }
  }
  // Sends as much as possible without blocking, and returns how much that was.
  size_t send_some(std::string_view bytes) {
    const ssize_t sent = ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    return sent > 0 ? static_cast<size_t>(sent) : 0;
  }
  bool is_writable(int milliseconds) {
    pollfd entry{socket_, POLLOUT, 0};
    return ::poll(&entry, 1, milliseconds) == 1 && (entry.revents & POLLOUT) != 0;
  }
  bool has_answer(int milliseconds) {
    pollfd entry{socket_, POLLIN, 0};
    return ::poll(&entry, 1, milliseconds) == 1;
  }

  static std::string frame(Opcode opcode, int16_t stream, std::string_view body,
                           Version version = Version::v4, uint8_t flags = 0) {
    std::string out;
    protocol::FrameWriter writer(out, protocol::Direction::request, {version, flags, stream, opcode});
    out += body;
    writer.finish();
    return out;
  }
  static std::string query_frame(std::string_view text, int16_t stream, Version version = Version::v4) {
    protocol::Query query;
    query.text = text;
    std::string body;
    protocol::append_query(body, version, query);
    return frame(Opcode::query, stream, body, version);
  }
  static std::string startup_body(const protocol::StringMap& more = {}) {
    protocol::StringMap options = {{"CQL_VERSION", "3.0.0"}};
    options.insert(options.end(), more.begin(), more.end());
    std::string body;
    protocol::append_startup(body, options);
    return body;
  }

  void startup(Version version = Version::v4, const protocol::StringMap& more = {}) {
    send_raw(frame(Opcode::startup, 0, startup_body(more), version));
    EXPECT_EQ(read().header.opcode, Opcode::ready);
    version_ = version;
    has_segments_ = protocol::has_segments(version);
    for (const auto& [key, value] : more)
      if (has_segments_ && key == "COMPRESSION") compression_ = protocol::Compression::lz4;
  }
  // Sends STARTUP to a server that requires a login, and returns the response.
  Answer authenticate(Version version) {
    send_raw(frame(Opcode::startup, 0, startup_body(), version));
    Answer answer = read();
    agree(version);
    return answer;
  }
  // Called after the response to STARTUP. From then on frames are sent in segments, if the version uses them.
  void agree(Version version) {
    version_ = version;
    has_segments_ = protocol::has_segments(version);
  }
  Answer ask(Opcode opcode, std::string_view body, int16_t stream = 1) {
    send_frames(frame(opcode, stream, body, version_));
    return read();
  }
  Answer query(std::string_view text, int16_t stream = 1) {
    send_frames(query_frame(text, stream, version_));
    return read();
  }

  // The next frame; an empty error frame with stream -99 if the connection has ended.
  Answer read() {
    while (true) {
      if (has_segments_) unwrap();
      std::string& frames = has_segments_ ? frames_ : received_;
      const auto step = protocol::next_frame(frames, protocol::Direction::response, protocol::largest_body);
      if (step.kind == protocol::FrameStep::Kind::frame) {
        Answer answer{step.header, std::string(step.body)};
        frames.erase(0, step.size);
        return answer;
      }
      char buffer[65536];
      const ssize_t size = ::recv(socket_, buffer, sizeof buffer, 0);
      if (size <= 0) return {{Version::v4, 0, -99, Opcode::error}, ""};
      received_.append(buffer, static_cast<size_t>(size));
    }
  }
  // Reads at most `size` of the bytes that have arrived.
  std::string take_some(size_t size) {
    std::string taken(size, '\0');
    const ssize_t got = ::recv(socket_, taken.data(), size, 0);
    taken.resize(got > 0 ? static_cast<size_t>(got) : 0);
    return taken;
  }
  bool is_closed() { return read().header.stream == -99; }
  std::string read_raw(size_t size) {
    while (received_.size() < size) {
      char buffer[4096];
      const ssize_t got = ::recv(socket_, buffer, sizeof buffer, 0);
      if (got <= 0) break;
      received_.append(buffer, static_cast<size_t>(got));
    }
    return std::exchange(received_, "");
  }

 private:
  void unwrap() {
    while (true) {
      const auto step = protocol::next_segment(received_, compression_);
      ASSERT_NE(step.kind, protocol::SegmentStep::Kind::corrupt) << step.error->message();
      if (step.kind == protocol::SegmentStep::Kind::incomplete) return;
      std::string plain(step.plain_size, '\0');
      if (step.plain_size > 0) {
        ASSERT_TRUE(protocol::open_payload(step, plain.data()));
      }
      frames_ += step.plain_size > 0 ? std::string_view(plain) : step.payload;
      received_.erase(0, step.size);
    }
  }

  int socket_ = -1;
  bool connected_ = false;
  Version version_ = Version::v4;
  bool has_segments_ = false;
  protocol::Compression compression_ = protocol::Compression::none;
  std::string received_;
  std::string frames_;  // bytes that were received in segments and not yet parsed
};

class ServerTest : public testing::Test {
 protected:
  void start(Limits limits = {}, unsigned blocking_threads = Options{}.blocking_threads) {
    Options options;
    options.port = 0;
    options.threads = 2;
    options.blocking_threads = blocking_threads;
    options.limits = limits;
    options.limits.linger_timeout = std::chrono::milliseconds(200);
    auto started = Server::start(engine_.services(), options);
    ASSERT_TRUE(started) << started.error().message();
    server_ = std::move(*started);
  }
  void SetUp() override { start(); }
  void restart(Limits limits, unsigned blocking_threads = Options{}.blocking_threads) {
    server_.reset();
    start(limits, blocking_threads);
  }
  uint16_t port() { return server_->port(); }

  FakeEngine engine_;
  std::unique_ptr<Server> server_;
};

inline protocol::ErrorMessage error_of(const Answer& answer) {
  EXPECT_EQ(answer.header.opcode, Opcode::error);
  const auto message = protocol::decode_error(answer.body, answer.header.version);
  EXPECT_TRUE(message);
  return message ? *message : protocol::ErrorMessage{};
}

inline protocol::ResultMessage result_of(const Answer& answer) {
  EXPECT_EQ(answer.header.opcode, Opcode::result) << answer.body;
  const auto result = protocol::decode_result(answer.body, answer.header.version);
  EXPECT_TRUE(result);
  return result ? *result : protocol::ResultMessage{};
}

inline std::vector<std::string> values_of(const Answer& answer) {
  const auto rows = std::get<protocol::RowsResult>(result_of(answer));
  protocol::WireReader reader(rows.rows);
  std::vector<std::string> values;
  while (!reader.at_end()) values.emplace_back(reader.bytes().value_or("null"));
  return values;
}

}  // namespace sibyl::server
