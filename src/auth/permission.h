// Permissions, and sets of permissions as bits.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sibyl::auth {

// The order is Cassandra's. LIST PERMISSIONS sorts by it.
enum class Permission : uint8_t {
  create,
  alter,
  drop,
  select,
  modify,
  authorize,
  describe,
  execute,
  unmask,
  select_masked,
};
inline constexpr unsigned permission_count = 10;

// "SELECT_MASKED".
const char* to_string(Permission permission);
std::optional<Permission> permission_by_name(std::string_view name);

class PermissionSet {
 public:
  constexpr PermissionSet() = default;
  constexpr PermissionSet(std::initializer_list<Permission> list) {
    for (const Permission permission : list) add(permission);
  }
  static constexpr PermissionSet all() {
    PermissionSet set;
    set.bits_ = (1u << permission_count) - 1;
    return set;
  }

  constexpr void add(Permission permission) { bits_ |= bit(permission); }
  constexpr bool contains(Permission permission) const { return (bits_ & bit(permission)) != 0; }
  constexpr bool empty() const { return bits_ == 0; }
  constexpr PermissionSet operator|(PermissionSet other) const { return from_bits(bits_ | other.bits_); }
  constexpr PermissionSet operator&(PermissionSet other) const { return from_bits(bits_ & other.bits_); }
  constexpr PermissionSet operator-(PermissionSet other) const { return from_bits(bits_ & ~other.bits_); }
  constexpr bool operator==(const PermissionSet&) const = default;

  // In order.
  std::vector<Permission> list() const;
  // "SELECT, MODIFY".
  std::string text() const;

 private:
  static constexpr uint32_t bit(Permission permission) { return 1u << static_cast<unsigned>(permission); }
  static constexpr PermissionSet from_bits(uint32_t bits) {
    PermissionSet set;
    set.bits_ = bits;
    return set;
  }
  uint32_t bits_ = 0;
};

}  // namespace sibyl::auth
