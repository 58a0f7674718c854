#include "protocol/version.h"

#include <fmt/format.h>

#include "protocol/wire.h"

namespace sibyl::protocol {

std::string version_name(Version version) {
  const int number = static_cast<int>(version);
  return fmt::format("{}/v{}", number, number);
}

base::Error unsupported_version(uint8_t version) {
  std::string supported;
  for (auto v = static_cast<uint8_t>(oldest_version); is_supported(v); ++v) {
    if (!supported.empty()) supported += ", ";
    supported += version_name(static_cast<Version>(v));
  }
  return protocol_error(fmt::format(
      "Invalid or unsupported protocol version ({}); supported versions are ({})", version, supported));
}

}  // namespace sibyl::protocol
