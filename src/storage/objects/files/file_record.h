// A file's entry in its directory.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/bytes.h"

namespace sibyl::storage::objects {

inline constexpr uint64_t block_bytes = 4 << 20;
// The maximum number of blocks in flight while a file is written. Later blocks may exist before earlier ones.
inline constexpr uint64_t max_blocks_in_flight = 4;

struct FileRecord {
  // Never used again. Consists of the directory, its epoch, and a number. Empty: the content is `inlined`.
  std::string id;
  bool is_complete = false;
  // If true, a crash of the writer keeps the blocks that it synced. If false, it discards the incomplete
  // file.
  bool is_kept_incomplete = false;
  uint64_t size = 0;    // once complete
  uint64_t blocks = 0;  // for a complete file, how many objects it may have
  int64_t modified_micros = 0;
  std::string reference;  // for a file with links, the reference of this entry in the file's first block
  base::Bytes inlined;

  bool operator==(const FileRecord&) const = default;
};

base::Bytes encode(const FileRecord& record);
// Returns nullopt if the bytes are no record, or a record of a later version.
std::optional<FileRecord> parse_file_record(base::BytesView bytes);

std::string block_name(const std::string& id, uint64_t block);

}  // namespace sibyl::storage::objects
