// Versions of the native protocol and their differences. All code that depends on the version uses these
// functions, so that support for another version is added in one place.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"

namespace sibyl::protocol {

enum class Version : uint8_t { v3 = 3, v4 = 4, v5 = 5 };

// The versions that the server supports.
inline constexpr Version oldest_version = Version::v3;
inline constexpr Version newest_version = Version::v5;

inline bool is_supported(uint8_t version) {
  return version >= static_cast<uint8_t>(oldest_version) && version <= static_cast<uint8_t>(newest_version);
}
// The name in SUPPORTED, such as "3/v3".
std::string version_name(Version version);
// Cassandra's error text, which drivers parse to retry with a lower version.
base::Error unsupported_version(uint8_t version);

inline bool has_unset_values(Version version) {
  return version >= Version::v4;
}
inline bool has_warnings_and_payload(Version version) {
  return version >= Version::v4;
}
inline bool has_partition_key_indexes(Version version) {
  return version >= Version::v4;
}
inline bool has_failure_errors(Version version) {
  return version >= Version::v4;
}
inline bool has_function_events(Version version) {
  return version >= Version::v4;
}
// After the response to STARTUP, frames are sent in segments (segment.h). Segments are compressed, not
// bodies.
inline bool has_segments(Version version) {
  return version >= Version::v5;
}
inline bool has_wide_query_flags(Version version) {
  return version >= Version::v5;
}
inline bool has_result_metadata_ids(Version version) {
  return version >= Version::v5;
}
inline bool has_failure_reasons(Version version) {
  return version >= Version::v5;
}
inline bool has_cas_errors(Version version) {
  return version >= Version::v5;
}

}  // namespace sibyl::protocol
