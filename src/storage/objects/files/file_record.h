// A file's entry in its directory.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/bytes.h"

namespace sibyl::storage::objects {

inline constexpr uint64_t block_bytes = 4 << 20;
// While a file is written, at most this many blocks are in flight. Later blocks may exist without earlier ones.
inline constexpr uint64_t max_blocks_in_flight = 4;

struct FileRecord {
  // Never used again. Consists of the directory, its epoch, and a number. Empty: the content is `inlined`.
  std::string id;
  bool is_complete = false;
  // If the writer crashes, true: the blocks that it synced are kept; false: the incomplete file is discarded.
  bool is_kept_incomplete = false;
  uint64_t size = 0;    // once complete
  uint64_t blocks = 0;  // once complete: how many objects may exist
  int64_t modified_micros = 0;
  std::string reference;  // once the file has links: this entry's reference in the file's first block
  base::Bytes inlined;

  bool operator==(const FileRecord&) const = default;
};

base::Bytes encode(const FileRecord& record);
// nullopt if the bytes are no record, or of a later version.
std::optional<FileRecord> parse_file_record(base::BytesView bytes);

std::string block_name(const std::string& id, uint64_t block);

}  // namespace sibyl::storage::objects
