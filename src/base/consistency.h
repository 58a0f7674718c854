// Names of CQL's consistency levels.
#pragma once

#include <array>
#include <cstddef>

namespace sibyl::base {

// Indexed by the native protocol's numbers.
inline constexpr std::array consistency_names = {"ANY",    "ONE",          "TWO",          "THREE",
                                                 "QUORUM", "ALL",          "LOCAL_QUORUM", "EACH_QUORUM",
                                                 "SERIAL", "LOCAL_SERIAL", "LOCAL_ONE"};

// Accepts any enumeration with those numbers.
template <typename Level>
constexpr const char* consistency_name(Level level) {
  return consistency_names[static_cast<size_t>(level)];
}

}  // namespace sibyl::base
