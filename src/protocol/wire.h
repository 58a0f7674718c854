// The notations of the protocol's specification: [short], [string], [bytes], [value] and so on.
//
// The append functions append to a byte string. WireReader reads from front to back and borrows from its
// input. After a failed read it stays failed, so a decoder may check status() once at its end.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/bytes.h"
#include "base/consistency.h"
#include "base/result.h"
#include "protocol/version.h"
#include "types/value.h"

namespace sibyl::protocol {

using base::Bytes;
using base::BytesView;
using base::Consistency;

using StringMap = std::vector<std::pair<std::string, std::string>>;
using StringMultimap = std::vector<std::pair<std::string, std::vector<std::string>>>;
using BytesMap = std::vector<std::pair<std::string, std::optional<Bytes>>>;

inline base::Error protocol_error(std::string message) {
  return base::Error(base::ErrorCode::protocol, std::move(message));
}

inline void append_byte(Bytes& out, uint8_t value) {
  out.push_back(static_cast<char>(value));
}
inline void append_short(Bytes& out, uint16_t value) {
  const char bytes[2] = {static_cast<char>(value >> 8), static_cast<char>(value)};
  out.append(bytes, sizeof bytes);
}
inline void store_int(char* at, uint32_t value) {
  if constexpr (std::endian::native == std::endian::little) value = __builtin_bswap32(value);
  std::memcpy(at, &value, sizeof value);
}
inline void append_int(Bytes& out, int32_t value) {
  char bytes[4];
  store_int(bytes, static_cast<uint32_t>(value));
  out.append(bytes, sizeof bytes);
}
inline void append_long(Bytes& out, int64_t value) {
  append_int(out, static_cast<int32_t>(value >> 32));
  append_int(out, static_cast<int32_t>(value));
}
// A [string] holds at most 65,535 bytes. Longer texts are truncated at a character boundary.
void append_string(Bytes& out, std::string_view text);
void append_long_string(Bytes& out, std::string_view text);
void append_bytes(Bytes& out, BytesView bytes);
void append_null(Bytes& out);
// REQUIRES: bytes.size() <= 65,535.
void append_short_bytes(Bytes& out, BytesView bytes);
void append_value(Bytes& out, const types::ValueView& value);
void append_consistency(Bytes& out, Consistency consistency);
void append_string_list(Bytes& out, const std::vector<std::string>& list);
void append_string_map(Bytes& out, const StringMap& map);
void append_string_multimap(Bytes& out, const StringMultimap& map);
void append_bytes_map(Bytes& out, const BytesMap& map);
// REQUIRES: address.size() is 4 or 16.
void append_inet(Bytes& out, BytesView address, int32_t port);

class WireReader {
 public:
  explicit WireReader(BytesView bytes) : rest_(bytes) {}

  // After a failure, each of these returns zero or an empty value.
  uint8_t byte();
  uint16_t short_();
  int32_t int_();
  int64_t long_();
  BytesView raw(size_t size);
  std::string_view string();       // checked to be UTF-8
  std::string_view long_string();  // checked to be UTF-8
  std::optional<BytesView> bytes();
  BytesView short_bytes();
  types::ValueView value(Version version);
  Consistency consistency();
  std::vector<std::string> string_list();
  StringMap string_map();
  StringMultimap string_multimap();
  BytesMap bytes_map();
  void inet(Bytes& address, int32_t& port);

  // Fails the reader. Only the first failure is kept.
  void fail(std::string message);

  bool ok() const { return ok_; }
  bool at_end() const { return rest_.empty(); }
  BytesView rest() const { return rest_; }
  // The error of the first failed read, or success.
  base::Status status() const;

 private:
  std::string_view checked_text(BytesView bytes);

  BytesView rest_;
  bool ok_ = true;
  std::string message_;
};

}  // namespace sibyl::protocol
