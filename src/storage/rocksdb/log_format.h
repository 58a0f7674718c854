// The byte format of the commit log, shared by its writer and its readers. commit_log.h has the layout.
#pragma once

#include <fmt/format.h>

#include <charconv>
#include <cstdint>
#include <cstring>
#include <string>

#include "base/bytes.h"
#include "storage/rocksdb/crc32c.h"
#include "storage/rocksdb/recovery/coding.h"

namespace sibyl::storage::rocksdb {

inline constexpr char segment_magic[] = "SIBYLLOG";
inline constexpr uint32_t log_version = 1;
inline constexpr size_t segment_header_size = 48;
inline constexpr size_t group_header_size = 16;

inline uint64_t aligned(uint64_t offset) {
  return (offset + 7) & ~uint64_t{7};
}

template <typename Unsigned>
void put_fixed(char* at, Unsigned value) {
  for (size_t i = 0; i < sizeof(Unsigned); ++i) at[i] = static_cast<char>(value >> (8 * i));
}
// Checksum of everything that a group's checksum covers besides its bytes. The first four bytes of `header`
// are reserved for the result.
inline uint32_t header_crc(uint64_t salt, uint64_t offset, const char* header) {
  char place[16];
  put_fixed(place, salt);
  put_fixed(place + 8, offset);
  return crc32c(crc32c(0, {place, sizeof place}), {header + 4, group_header_size - 4});
}

inline uint32_t group_crc(uint64_t salt, uint64_t offset, const char* header, base::BytesView group) {
  return crc32c(header_crc(salt, offset, header), group);
}

// Returns the bytes of the group at `offset` of a segment, without verifying its checksum. Empty if no group
// fits there.
inline base::BytesView group_at(base::BytesView bytes, uint64_t offset) {
  if (offset + group_header_size > bytes.size()) return {};
  const auto size = take_fixed<uint32_t>(bytes.data() + offset + 4);
  if (size > bytes.size() - offset - group_header_size) return {};
  return bytes.substr(offset + group_header_size, size);
}

// Reads the group at `offset` of a segment's bytes. Returns false if there is none or its checksum is wrong.
inline bool read_group(base::BytesView bytes, uint64_t offset, uint64_t salt, base::BytesView& group) {
  group = group_at(bytes, offset);
  const char* header = bytes.data() + offset;
  return !group.empty() && take_fixed<uint32_t>(header) == group_crc(salt, offset, header, group);
}

struct SegmentHeader {
  uint64_t number = 0;
  uint64_t salt = 0;
  uint64_t previous_end = 0;
  uint64_t oldest = 0;

  void encode(char* out) const {
    std::memcpy(out, segment_magic, 8);
    put_fixed(out + 8, log_version);
    put_fixed(out + 16, number);
    put_fixed(out + 24, salt);
    put_fixed(out + 32, previous_end);
    put_fixed(out + 40, oldest);
    put_fixed(out + 12, crc32c(0, {out + 16, segment_header_size - 16}));
  }
  // Decodes the header. Returns an empty text, or a description of the problem.
  std::string decode(base::BytesView bytes) {
    if (bytes.size() < segment_header_size || bytes.substr(0, 8) != base::BytesView(segment_magic, 8))
      return "it has no header";
    if (const auto version = take_fixed<uint32_t>(bytes.data() + 8); version != log_version)
      return fmt::format("it has version {}, and this is version {}", version, log_version);
    if (take_fixed<uint32_t>(bytes.data() + 12) != crc32c(0, bytes.substr(16, segment_header_size - 16)))
      return "its header's checksum is wrong";
    number = take_fixed<uint64_t>(bytes.data() + 16);
    salt = take_fixed<uint64_t>(bytes.data() + 24);
    previous_end = take_fixed<uint64_t>(bytes.data() + 32);
    oldest = take_fixed<uint64_t>(bytes.data() + 40);
    return {};
  }
};

// Parses the number from the name of a segment's file. Returns false for other files.
inline bool log_segment_number(const std::string& name, uint64_t& number) {
  if (name.size() < 5 || !name.ends_with(".log")) return false;
  const char* end = name.data() + name.size() - 4;
  return std::from_chars(name.data(), end, number).ptr == end;
}

}  // namespace sibyl::storage::rocksdb
