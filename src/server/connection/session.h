// The protocol state of one connection: the options that were negotiated, and the messages that the client
// may send now. Knows neither sockets nor the engine. Used only on the reactor's thread.
//
//   expecting_startup ─ STARTUP ─▶ [authenticating ─ AUTH_RESPONSE ─▶] ready
#pragma once

#include <cstddef>
#include <cstdint>
#include <set>
#include <string>

#include "auth/login.h"
#include "base/bytes.h"
#include "base/result.h"
#include "protocol/compression.h"
#include "protocol/frame.h"
#include "protocol/request.h"
#include "protocol/response.h"
#include "protocol/version.h"

namespace sibyl::server {

class Session {
 public:
  enum class Stage : uint8_t { expecting_startup, authenticating, ready };

  bool is_ready() const { return stage_ == Stage::ready; }
  // The maximum length of a message body. It is small until the client has logged in. `limit` is that of the
  // server.
  size_t body_limit(size_t limit) const;

  // Returns an error if a message with this header must not be handled now. Until STARTUP each message
  // chooses the version of its response.
  base::Status admit(const protocol::Header& header);
  // Removes the optional fields that precede the message. A compressed body is decompressed into
  // `decompressed`, and `body` then points into it. `limit` bounds the decompressed size.
  base::Status open_body(const protocol::Header& header, size_t limit, protocol::BytesView& body,
                         base::Bytes& decompressed) const;

  // Handles the body of STARTUP. After a failure the stage is unchanged.
  base::Status start_up(protocol::BytesView body, bool must_log_in, protocol::Startup& message);
  // Handles the body of REGISTER.
  base::Status register_events(protocol::BytesView body);
  // The client has logged in. `login` lives as long as the engine.
  void log_in(const auth::Login* login);

  protocol::Version version() const { return version_; }
  protocol::Compression compression() const { return compression_; }                  // of bodies
  protocol::Compression segment_compression() const { return segment_compression_; }  // of segments
  // True if the client has registered for events of this kind.
  bool wants(const protocol::Event& event) const;
  // The texts of errors should end with positions in the statement. Only `sibyl shell` asks for that.
  bool wants_error_positions() const { return wants_error_positions_; }
  // nullptr before the login, and on servers without logins.
  const auth::Login* login() const { return login_; }
  const std::string& keyspace() const { return keyspace_; }
  void set_keyspace(const std::string& keyspace) { keyspace_ = keyspace; }

 private:
  Stage stage_ = Stage::expecting_startup;
  std::set<std::string> wanted_events_;  // SCHEMA_CHANGE, TOPOLOGY_CHANGE, STATUS_CHANGE
  bool wants_error_positions_ = false;
  protocol::Version version_ = protocol::newest_version;
  protocol::Compression compression_ = protocol::Compression::none;
  protocol::Compression segment_compression_ = protocol::Compression::none;
  std::string keyspace_;
  const auth::Login* login_ = nullptr;
};

}  // namespace sibyl::server
