#include "server/connection/session.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>

#include "base/ascii.h"
#include "protocol/wire.h"

namespace sibyl::server {

using protocol::BytesView;
using protocol::Header;
using protocol::Opcode;
using protocol::protocol_error;

namespace {

// The options are kept for the lifetime of the connection, even of an unauthenticated one. So their size is
// limited.
base::Status check_options(const protocol::StringMap& options) {
  constexpr size_t max_options = 32, max_bytes = 4096;
  size_t bytes = 0;
  for (const auto& [key, value] : options) bytes += key.size() + value.size();
  if (options.size() <= max_options && bytes <= max_bytes) return {};
  return base::fail(protocol_error(
      fmt::format("Too many options in STARTUP: {} of {} bytes; at most {} of {} bytes are accepted",
                  options.size(), bytes, max_options, max_bytes)));
}

base::Status check_cql_version(const std::string* version) {
  if (version == nullptr) return base::fail(protocol_error("Missing value CQL_VERSION in STARTUP message"));
  int major = 0;
  const char* const last = version->data() + version->size();
  const auto [end, error] = std::from_chars(version->data(), last, major);
  if (error != std::errc() || (end != last && *end != '.'))
    return base::fail(protocol_error("Invalid version value: " + *version));
  if (major >= 3) return {};
  return base::fail(protocol_error(fmt::format(
      "CQL version {} is not supported by the binary protocol (supported version are >= 3.0.0)", *version)));
}

}  // namespace

size_t Session::body_limit(size_t limit) const {
  constexpr size_t before_login = 64u << 10;
  return is_ready() ? limit : std::min(limit, before_login);
}

base::Status Session::admit(const Header& header) {
  if (stage_ == Stage::expecting_startup) {
    version_ = header.version;
    if (header.opcode == Opcode::startup || header.opcode == Opcode::options) return {};
    return base::fail(protocol_error(fmt::format("Unexpected message {}, expecting STARTUP or OPTIONS",
                                                 protocol::opcode_name(header.opcode))));
  }
  if (stage_ == Stage::authenticating && header.opcode != Opcode::auth_response)
    return base::fail(protocol_error(
        fmt::format("Unexpected message {}, expecting SASL_RESPONSE", protocol::opcode_name(header.opcode))));
  if (header.opcode == Opcode::startup)
    return base::fail(protocol_error("Unexpected message STARTUP, the connection is already initialized"));
  if (header.version != version_)
    return base::fail(protocol_error(
        fmt::format("Invalid message version. Got {} but previous messages on this connection had version {}",
                    protocol::version_name(header.version), protocol::version_name(version_))));
  return {};
}

base::Status Session::open_body(const Header& header, size_t limit, BytesView& body,
                                base::Bytes& decompressed) const {
  // The flag is ignored if no compression was agreed on, and in v5, where segments are compressed.
  if ((header.flags & protocol::flag::compression) != 0 && compression_ != protocol::Compression::none) {
    SIBYL_ASSIGN(decompressed, protocol::decompress(compression_, body, body_limit(limit)));
    body = decompressed;
  }
  if ((header.flags & protocol::flag::custom_payload) == 0) return {};
  protocol::Envelope ignored;
  return protocol::take_envelope(header, protocol::Direction::request, body, ignored);
}

base::Status Session::start_up(BytesView body, bool must_log_in, protocol::Startup& message) {
  SIBYL_TRY(protocol::decode_startup(body, message));
  SIBYL_TRY(check_options(message.options));
  SIBYL_TRY(check_cql_version(message.find("CQL_VERSION")));
  if (const std::string* name = message.find("COMPRESSION")) {
    auto& compression = protocol::has_segments(version_) ? segment_compression_ : compression_;
    SIBYL_ASSIGN(compression, protocol::compression_by_name(*name, version_));
  }
  const std::string* positions = message.find("ERROR_POSITIONS");
  wants_error_positions_ = positions != nullptr && *positions == "1";
  stage_ = must_log_in ? Stage::authenticating : Stage::ready;
  return {};
}

base::Status Session::register_events(BytesView body) {
  SIBYL_ASSIGN(const std::vector<std::string> names, protocol::decode_register(body));
  std::set<std::string> wanted = wanted_events_;
  for (std::string name : names) {
    name = base::ascii_upper(name);
    if (name != "SCHEMA_CHANGE" && name != "TOPOLOGY_CHANGE" && name != "STATUS_CHANGE")
      return base::fail(protocol_error(fmt::format("Invalid value '{}' for Type", name)));
    wanted.insert(std::move(name));
  }
  wanted_events_ = std::move(wanted);
  return {};
}

bool Session::wants(const protocol::Event& event) const {
  const auto* node = std::get_if<protocol::NodeChange>(&event);
  return wanted_events_.contains(node != nullptr ? node->event : "SCHEMA_CHANGE");
}

void Session::log_in(const auth::Login* login) {
  login_ = login;
  if (stage_ == Stage::authenticating) stage_ = Stage::ready;
}

}  // namespace sibyl::server
