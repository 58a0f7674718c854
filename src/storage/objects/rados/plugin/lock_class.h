// Messages of Ceph's object class "lock". librados' C API has only blocking calls for it. They do not work
// when the cluster is full and do not return a lock's description.  Integers are little-endian. A string is
// its length, u32, and its bytes. A structure begins with its version, u8, the oldest version that can read
// it, u8, and the length of the rest, u32.
#pragma once

#include <chrono>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>

#include "base/bytes.h"

namespace sibyl::storage::objects::rados {

// Identifies a locker: the number of "client.NUMBER", and a text of its own.
struct Locker {
  uint64_t number = 0;
  std::string owner;
  std::string description;
};

class LockMessage {
 public:
  template <typename Integer>
  LockMessage& integer(Integer value) {
    bytes_.append(reinterpret_cast<const char*>(&value), sizeof value);
    return *this;
  }
  LockMessage& text(const std::string& value) {
    integer(static_cast<uint32_t>(value.size()));
    bytes_ += value;
    return *this;
  }
  base::Bytes as_structure() const {
    LockMessage whole;
    whole.integer(uint8_t{1}).integer(uint8_t{1}).text(bytes_);
    return whole.bytes_;
  }

 private:
  base::Bytes bytes_;
};

inline base::Bytes lock_request(const std::string& name, const std::string& owner,
                                const std::string& description, std::chrono::milliseconds duration,
                                bool only_renew) {
  constexpr uint8_t exclusive = 1, may_renew = 1, must_renew = 2;
  constexpr int64_t per_second = 1000, nanos = 1'000'000;
  return LockMessage()
      .text(name)
      .integer(exclusive)
      .text(owner)
      .text("")  // tag
      .text(description)
      .integer(static_cast<uint32_t>(duration.count() / per_second))
      .integer(static_cast<uint32_t>(duration.count() % per_second * nanos))
      .integer(only_renew ? must_renew : may_renew)
      .as_structure();
}

inline base::Bytes unlock_request(const std::string& name, const std::string& owner) {
  return LockMessage().text(name).text(owner).as_structure();
}

inline base::Bytes break_request(const std::string& name, uint64_t number, const std::string& owner) {
  constexpr uint8_t client = 8;  // the number for clients among the kinds of entities
  return LockMessage().text(name).integer(client).integer(number).text(owner).as_structure();
}

inline base::Bytes info_request(const std::string& name) {
  return LockMessage().text(name).as_structure();
}

// Reads a message. Every function returns false or nullopt if the message has ended or is malformed.
class LockReader {
 public:
  explicit LockReader(base::BytesView bytes) : bytes_(bytes) {}

  template <typename Integer>
  bool integer(Integer& value) {
    if (bytes_.size() < sizeof value) return false;
    std::memcpy(&value, bytes_.data(), sizeof value);
    bytes_.remove_prefix(sizeof value);
    return true;
  }
  bool text(std::string& value) {
    uint32_t size = 0;
    if (!integer(size) || bytes_.size() < size) return false;
    value = bytes_.substr(0, size);
    bytes_.remove_prefix(size);
    return true;
  }
  bool structure(std::string& inside) {
    uint8_t version = 0, compatible = 0;
    return integer(version) && integer(compatible) && compatible == 1 && text(inside);
  }
  // Skips an address. In the encoding that all supported versions of Ceph use, its length comes first.
  bool skip_address() {
    uint8_t marker = 0;
    std::string inside;
    return integer(marker) && marker == 1 && structure(inside);
  }

 private:
  base::BytesView bytes_;
};

struct LockInfo {
  std::optional<Locker> holder;
};
// Returns nullopt if the message is malformed.
inline std::optional<LockInfo> parse_info(base::BytesView reply) {
  std::string whole;
  uint32_t count = 0;
  if (!LockReader(reply).structure(whole)) return std::nullopt;
  LockReader reader(whole);
  if (!reader.integer(count)) return std::nullopt;
  if (count == 0) return LockInfo{};
  std::string identity, information;
  if (!reader.structure(identity) || !reader.structure(information)) return std::nullopt;
  Locker locker;
  LockReader who(identity), what(information);
  uint8_t kind = 0;
  uint32_t seconds = 0, nanos = 0;
  if (!who.integer(kind) || !who.integer(locker.number) || !who.text(locker.owner)) return std::nullopt;
  if (!what.integer(seconds) || !what.integer(nanos) || !what.skip_address() ||
      !what.text(locker.description))
    return std::nullopt;
  return LockInfo{std::move(locker)};
}

}  // namespace sibyl::storage::objects::rados
