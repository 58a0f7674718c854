// CQL's consistency levels and their names.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace sibyl::base {

// The numbers are those of the native protocol.
enum class Consistency : uint16_t {
  any = 0,
  one = 1,
  two = 2,
  three = 3,
  quorum = 4,
  all = 5,
  local_quorum = 6,
  each_quorum = 7,
  serial = 8,
  local_serial = 9,
  local_one = 10,
};

constexpr bool is_serial(Consistency consistency) {
  return consistency == Consistency::serial || consistency == Consistency::local_serial;
}

// The index is the protocol's number.
inline constexpr std::array consistency_names = {"ANY",    "ONE",          "TWO",          "THREE",
                                                 "QUORUM", "ALL",          "LOCAL_QUORUM", "EACH_QUORUM",
                                                 "SERIAL", "LOCAL_SERIAL", "LOCAL_ONE"};

constexpr const char* consistency_name(Consistency level) {
  return consistency_names[static_cast<size_t>(level)];
}

// The level with this name, in upper case. Returns nullopt if there is none.
constexpr std::optional<Consistency> consistency_named(std::string_view name) {
  for (size_t i = 0; i < consistency_names.size(); ++i)
    if (name == consistency_names[i]) return static_cast<Consistency>(i);
  return std::nullopt;
}

}  // namespace sibyl::base
