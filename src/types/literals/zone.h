// Time zones by the names used in timestamps.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace sibyl::types {

enum class ZoneFailure : uint8_t {
  unknown,
  ambiguous,  // an abbreviation with several meanings, such as BST
};

struct ZoneOffset {
  std::optional<int64_t> seconds;  // east of UTC
  ZoneFailure failure = ZoneFailure::unknown;
};

// Returns the offset of a zone at a local time (milliseconds since 1970 as if it were UTC). `name` is a region
// (Europe/Paris), an abbreviation (CET, PST) or an English name (Pacific Standard Time). The name of standard
// or daylight time stands for the zone with its rules, as in Java: PST in July is seven hours behind UTC. If a
// local time occurs twice, the earlier instant is used. If it is skipped, the offset before the change is used.
// Thread-safe.
ZoneOffset zone_offset(std::string_view name, int64_t local_millis);

}  // namespace sibyl::types
