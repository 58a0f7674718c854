// Versions of the native protocol, and what differs between them. Everything that depends on a version asks
// here, so that another version is one place to change.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"

namespace sibyl::protocol {

enum class Version : uint8_t { v3 = 3, v4 = 4, v5 = 5 };

// What a server of ours speaks.
inline constexpr Version oldest_version = Version::v3;
inline constexpr Version newest_version = Version::v5;

inline bool is_supported(uint8_t version) {
  return version >= static_cast<uint8_t>(oldest_version) && version <= static_cast<uint8_t>(newest_version);
}
// As SUPPORTED lists them: "3/v3".
std::string version_name(Version version);
// Cassandra's refusal, which drivers read to try a lower version.
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
// Once STARTUP is answered, frames travel in segments (segment.h), which are compressed instead of bodies.
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
