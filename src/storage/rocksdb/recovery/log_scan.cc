#include "storage/rocksdb/recovery/log_scan.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>

#include "base/file.h"
#include "storage/rocksdb/log_format.h"
#include "storage/rocksdb/log_mark.h"

namespace sibyl::storage::rocksdb {
namespace {

using base::BytesView;

struct ScannedSegment {
  uint64_t number = 0;
  base::Bytes bytes;
  std::optional<SegmentHeader> header;  // nullopt if it is damaged
  std::string name() const { return fmt::format("{:012}.log", number); }
};

// Reads the segments that are needed according to the last intact header, and those after it.
base::Result<std::vector<ScannedSegment>> read_segments(const std::string& directory, LogScan& scan) {
  std::map<uint64_t, ScannedSegment> found;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(directory, error)) {
    uint64_t number = 0;
    if (!log_segment_number(entry.path().filename().string(), number)) continue;
    auto bytes = base::read_file(entry.path().string());
    if (!bytes) {
      scan.damaged.push_back(
          fmt::format("{}: {}", entry.path().filename().string(), bytes.error().message()));
      continue;
    }
    ScannedSegment segment{number, std::move(*bytes), SegmentHeader{}};
    const std::string wrong = segment.header->decode(segment.bytes);
    if (!wrong.empty() || segment.header->number != number) segment.header.reset();
    found[number] = std::move(segment);
  }
  uint64_t oldest = 0;
  for (const auto& [number, segment] : found)
    if (segment.header) oldest = segment.header->oldest;
  std::vector<ScannedSegment> segments;
  for (auto& [number, segment] : found)
    if (number >= oldest) segments.push_back(std::move(segment));
  return segments;
}

// Returns the offset of the next intact group at or after `offset`, or `end`.
uint64_t next_group(BytesView bytes, uint64_t offset, uint64_t end, uint64_t salt) {
  const Crc32cOfRuns checksums(bytes);
  for (; offset + group_header_size <= end; offset += 8) {
    const BytesView group = group_at(bytes, offset);
    if (group.empty()) continue;
    const char* header = bytes.data() + offset;
    const uint32_t crc =
        checksums.run(header_crc(salt, offset, header), offset + group_header_size, group.size());
    if (take_fixed<uint32_t>(header) == crc) return offset;
  }
  return end;
}

class Scanner {
 public:
  Scanner(LogScan& scan, const std::function<base::Status(BytesView)>& take) : scan_(scan), take_(take) {}

  // Reads groups up to `end`. If `end` is unknown, reads until no more groups are found beyond `at_least`.
  base::Status read(const ScannedSegment& segment, std::optional<uint64_t> end, uint64_t at_least) {
    const BytesView bytes = segment.bytes;
    const uint64_t salt = segment.header->salt;
    const uint64_t limit = std::min<uint64_t>(end.value_or(bytes.size()), bytes.size());
    uint64_t offset = segment_header_size;
    ++scan_.segments;
    while (offset < limit) {
      BytesView group;
      if (read_group(bytes, offset, salt, group)) {
        SIBYL_TRY(take_(group));
        ++scan_.groups;
        scan_.bytes += group.size();
        offset = aligned(offset + group_header_size + group.size());
        continue;
      }
      const uint64_t next = next_group(bytes, offset + 8, limit, salt);
      if (next >= limit && !end && offset >= at_least) break;
      const uint64_t damage_end = next < limit || end ? next : at_least;
      report(segment, offset, damage_end - offset);
      offset = next;
    }
    if (end && *end > bytes.size()) report(segment, bytes.size(), *end - bytes.size());
    if (!end && at_least > bytes.size()) report(segment, bytes.size(), at_least - bytes.size());
    return {};
  }

 private:
  void report(const ScannedSegment& segment, uint64_t offset, uint64_t size) {
    scan_.damaged.push_back(fmt::format("{}: {} bytes at byte {}", segment.name(), size, offset));
  }

  LogScan& scan_;
  const std::function<base::Status(BytesView)>& take_;
};

}  // namespace

base::Result<LogScan> scan_log(const std::string& data, const std::function<base::Status(BytesView)>& take) {
  LogScan scan;
  SIBYL_ASSIGN(const std::vector<ScannedSegment> segments, read_segments(data + "/log", scan));
  LogMark mark(data + "/SIBYL_LOG", Disk::real());
  const bool has_mark = mark.read().has_value();
  Scanner scanner(scan, take);
  for (size_t i = 0; i < segments.size(); ++i) {
    const ScannedSegment& segment = segments[i];
    if (i > 0 && segments[i - 1].number + 1 != segment.number)
      scan.damaged.push_back(fmt::format("{:012}.log is missing", segments[i - 1].number + 1));
    if (!segment.header) {  // without the header there is no salt, so no checksum can be verified
      scan.damaged.push_back(
          fmt::format("{}: its header is damaged, and none of its groups can be checked", segment.name()));
      continue;
    }
    std::optional<uint64_t> end;
    if (i + 1 < segments.size() && segments[i + 1].header) end = segments[i + 1].header->previous_end;
    SIBYL_TRY(scanner.read(segment, end, mark.synced(segment.header->salt)));
  }
  const uint64_t last = segments.empty() ? 0 : segments.back().number;
  if (has_mark && mark.segment() > last)
    scan.damaged.push_back(fmt::format("{:012}.log is missing", mark.segment()));
  return scan;
}

}  // namespace sibyl::storage::rocksdb
