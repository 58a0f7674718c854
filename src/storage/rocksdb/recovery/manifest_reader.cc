#include "storage/rocksdb/recovery/manifest_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>

#include "storage/rocksdb/crc32c.h"
#include "storage/rocksdb/recovery/coding.h"

namespace sibyl::storage::rocksdb {
namespace {

using base::BytesView;

constexpr size_t block_size = 32 << 10;
constexpr size_t header_size = 7;  // crc u32, size u16, type u8
enum RecordType : uint8_t { zero = 0, full = 1, first = 2, middle = 3, last = 4 };

// RocksDB's tags for the fields of an edit.
enum Tag : uint32_t {
  comparator = 1,
  log_number = 2,
  next_file_number = 3,
  last_sequence = 4,
  compact_cursor = 5,
  deleted_file = 6,
  previous_log_number = 9,
  min_log_number = 10,
  new_file = 103,
  column_family = 200,
  max_column_family = 203,
  ignorable = 1 << 13,  // a tag with this bit is followed by sized bytes
};
constexpr uint32_t last_custom_field = 1;

}  // namespace

void ManifestReader::add(BytesView bytes) {
  if (!is_whole_) return;
  pending_.append(bytes);
  take_records();
}

void ManifestReader::take_records() {
  BytesView rest = pending_;
  while (is_whole_ && take_record(rest)) {
  }
  pending_at_ += pending_.size() - rest.size();
  pending_ = base::Bytes(rest);
}

// Returns false if more bytes are needed.
bool ManifestReader::take_record(BytesView& rest) {
  const uint64_t at = pending_at_ + (pending_.size() - rest.size());
  const size_t left = block_size - at % block_size;
  if (left < header_size) {
    if (rest.size() < left) return false;
    rest.remove_prefix(left);
    return true;
  }
  if (rest.size() < header_size) return false;
  const auto crc = take_fixed<uint32_t>(rest.data());
  const auto size = take_fixed<uint16_t>(rest.data() + 4);
  const auto type = static_cast<uint8_t>(rest[6]);
  // This space was preallocated, and nothing was written from here on.
  if (type == zero && size == 0 && crc == 0) {
    is_whole_ = std::all_of(rest.begin(), rest.end(), [](char c) { return c == 0; });
    return false;
  }
  if (header_size + size > left || type < full || type > last) {
    is_whole_ = false;
    return false;
  }
  if (rest.size() < header_size + size) return false;
  const BytesView payload = rest.substr(header_size, size);
  if (unmasked_crc(crc) != crc32c(0, rest.substr(6, size + 1u))) {
    is_whole_ = false;
    return false;
  }
  if (type == full || type == first) edit_.clear();
  edit_.append(payload);
  rest.remove_prefix(header_size + size);
  if (type == full || type == last) {
    is_whole_ = take_edit(edit_);
    edit_.clear();
    if (is_whole_) end_ = at + header_size + size;
  }
  return is_whole_;
}

bool ManifestReader::take_edit(BytesView edit) {
  while (!edit.empty()) {
    uint64_t tag = 0, number = 0, level = 0;
    BytesView ignored;
    if (!take_varint(edit, tag)) return false;
    bool taken = true;
    switch (tag) {
      case comparator:
        taken = take_sized(edit, ignored);
        break;
      case log_number:
      case next_file_number:
      case previous_log_number:
      case min_log_number:
      case max_column_family:
        taken = take_varint(edit, number);
        break;
      case Tag::last_sequence:
        taken = take_varint(edit, last_sequence_);
        break;
      case compact_cursor:
        taken = take_varint(edit, level) && take_sized(edit, ignored);
        break;
      case deleted_file:
        taken = take_varint(edit, level) && take_varint(edit, number);
        if (taken) files_.erase(number);
        break;
      case new_file:
        taken = take_new_file(edit);
        break;
      default:
        taken = (tag & ignorable) != 0 && take_sized(edit, ignored);
    }
    if (!taken) return false;
  }
  return true;
}

bool ManifestReader::take_new_file(BytesView& edit) {
  ManifestFile file;
  uint64_t level = 0, smallest_sequence = 0, largest_sequence = 0, field = 0;
  BytesView smallest, largest, ignored;
  if (!take_varint(edit, level) || !take_varint(edit, file.number) || !take_varint(edit, file.size) ||
      !take_sized(edit, smallest) || !take_sized(edit, largest) || !take_varint(edit, smallest_sequence) ||
      !take_varint(edit, largest_sequence))
    return false;
  if (smallest.size() < key_trailer_size || largest.size() < key_trailer_size) return false;
  file.level = static_cast<int>(level);
  file.first_key = smallest.substr(0, smallest.size() - key_trailer_size);
  file.last_key = largest.substr(0, largest.size() - key_trailer_size);
  do {
    if (!take_varint(edit, field)) return false;
    if (field != last_custom_field && !take_sized(edit, ignored)) return false;
  } while (field != last_custom_field);
  files_[file.number] = std::move(file);
  return true;
}

uint32_t ManifestReader::files_crc() const {
  std::map<uint64_t, uint64_t> sizes;
  for (const auto& [number, file] : files_) sizes[number] = file.size;
  return rocksdb::files_crc(sizes);
}

uint32_t files_crc(const std::map<uint64_t, uint64_t>& sizes) {
  uint32_t crc = 0;
  for (const auto& [number, size] : sizes) crc = crc32c(crc, fmt::format("{} {}\n", number, size));
  return crc;
}

std::string table_file_name(uint64_t number) {
  return fmt::format("{:06}.sst", number);
}

uint64_t table_file_number(const std::string& name) {
  uint64_t number = 0;
  if (!name.ends_with(".sst")) return 0;
  const char* end = name.data() + name.size() - 4;
  const auto [at, error] = std::from_chars(name.data(), end, number);
  return error == std::errc() && at == end ? number : 0;
}

}  // namespace sibyl::storage::rocksdb
