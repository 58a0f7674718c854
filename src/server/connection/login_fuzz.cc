// Fuzzes the authentication exchange over a real socket. The first byte of the input chooses the protocol
// version. The rest are frames, each an opcode, a length and a body. The server must not crash or hang, and
// must answer a client that has not logged in only with errors, AUTHENTICATE and SUPPORTED.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <spdlog/spdlog.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "auth/password.h"
#include "base/check.h"
#include "protocol/frame.h"
#include "protocol/request.h"
#include "protocol/segment.h"
#include "server/fake_engine.h"
#include "server/server.h"

namespace {

using namespace sibyl;
using protocol::Opcode;
using protocol::Version;

struct Exchange {
  Exchange() {
    // The log must not show warnings: every refused login would be logged.
    spdlog::set_level(spdlog::level::err);
    engine.auth.authenticator = auth::Authenticator::password;
    server::Options options;
    options.port = 0;
    options.threads = 1;
    options.limits.slow_failed_logins = false;
    options.limits.linger_timeout = std::chrono::milliseconds(10);
    auto started = server::Server::start(engine.services(), options);
    SIBYL_CHECK(started.has_value());
    running = std::move(*started);
  }
  server::FakeEngine engine;
  std::unique_ptr<server::Server> running;
};

// Sends frames and reads responses, in segments once agree() has been called.
class Client {
 public:
  explicit Client(uint16_t port) : socket_(::socket(AF_INET, SOCK_STREAM, 0)) {
    const timeval timeout{20, 0};
    ::setsockopt(socket_, SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof timeout);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    SIBYL_CHECK(::connect(socket_, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0);
    // Closes with a reset, so that many runs do not exhaust the ports.
    const linger at_once{1, 0};
    ::setsockopt(socket_, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
  }
  ~Client() { ::close(socket_); }

  void agree(Version version) { has_segments_ = protocol::has_segments(version); }

  void send(const protocol::Header& header, std::string_view body) {
    std::string out, segments;
    protocol::FrameWriter writer(out, protocol::Direction::request, header);
    out += body;
    writer.finish();
    if (has_segments_) {
      protocol::append_segments(segments, out, protocol::Compression::none);
      out.swap(segments);
    }
    for (std::string_view rest = out; !rest.empty();) {
      const ssize_t sent = ::send(socket_, rest.data(), rest.size(), MSG_NOSIGNAL);
      if (sent <= 0) return;
      rest.remove_prefix(static_cast<size_t>(sent));
    }
  }
  // Returns false if the connection has ended, or the bytes are not in the agreed format.
  bool read(protocol::Header& header) {
    while (true) {
      if (has_segments_ && !unwrap()) return false;
      std::string& frames = has_segments_ ? frames_ : received_;
      const auto step = protocol::next_frame(frames, protocol::Direction::response, protocol::largest_body);
      if (step.kind == protocol::FrameStep::Kind::frame) {
        header = step.header;
        frames.erase(0, step.size);
        return true;
      }
      if (step.kind != protocol::FrameStep::Kind::incomplete) return false;
      std::array<char, 4096> buffer;
      const ssize_t size = ::recv(socket_, buffer.data(), buffer.size(), 0);
      SIBYL_CHECK(size >= 0 || errno == ECONNRESET);  // another error means that no response came in time
      if (size <= 0) return false;
      received_.append(buffer.data(), static_cast<size_t>(size));
    }
  }

 private:
  bool unwrap() {
    while (true) {
      const auto step = protocol::next_segment(received_, protocol::Compression::none);
      if (step.kind == protocol::SegmentStep::Kind::corrupt) return false;
      if (step.kind == protocol::SegmentStep::Kind::incomplete) return true;
      frames_ += step.payload;
      received_.erase(0, step.size);
    }
  }
  const int socket_;
  bool has_segments_ = false;
  std::string received_, frames_;
};

bool may_come_before_login(Opcode opcode) {
  return opcode == Opcode::error || opcode == Opcode::authenticate || opcode == Opcode::supported ||
         opcode == Opcode::auth_success;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static Exchange exchange;
  std::string_view input(reinterpret_cast<const char*>(data), size);
  if (input.empty() || size > 4096) return 0;
  const auto version = static_cast<Version>(3 + static_cast<uint8_t>(input[0]) % 3);
  input.remove_prefix(1);
  Client client(exchange.running->port());
  constexpr std::array opcodes = {Opcode::startup, Opcode::options,   Opcode::query,         Opcode::prepare,
                                  Opcode::execute, Opcode::register_, Opcode::auth_response, Opcode::batch};
  bool has_logged_in = false;
  int16_t stream = 0;
  while (input.size() >= 2) {
    const Opcode opcode = opcodes[static_cast<uint8_t>(input[0]) % opcodes.size()];
    const size_t length = std::min<size_t>(static_cast<uint8_t>(input[1]), input.size() - 2);
    const std::string_view body = input.substr(2, length);
    input.remove_prefix(2 + length);
    client.send({version, 0, ++stream, opcode}, body);
    protocol::Header answer{};
    if (!client.read(answer)) return 0;
    SIBYL_CHECK(has_logged_in || may_come_before_login(answer.opcode));
    if (answer.opcode == Opcode::authenticate) client.agree(version);
    if (answer.opcode == Opcode::auth_success) {
      // FakeEngine accepts a role whose password is its name.
      SIBYL_CHECK(opcode == Opcode::auth_response);
      const auto token = protocol::decode_auth_response(body);
      SIBYL_CHECK(token.has_value() && token->has_value());
      const auto plain = auth::decode_plain(**token);
      SIBYL_CHECK(plain.has_value() && plain->role == plain->password);
      has_logged_in = true;
    }
  }
  return 0;
}
