#include "storage/rocksdb/log_mark.h"

#include <fcntl.h>
#include <fmt/format.h>

#include <cerrno>
#include <charconv>
#include <filesystem>
#include <string_view>

#include "storage/rocksdb/crc32c.h"

namespace sibyl::storage::rocksdb {
namespace {

constexpr size_t line_size = 512;
constexpr std::string_view line_begin = "sibyl log ";
constexpr size_t generation_digits = 20, segment_digits = 12, crc_digits = 8;
constexpr size_t crc_at = line_begin.size() + generation_digits + 1 + segment_digits + 1;

std::string line_of(uint64_t generation, uint64_t segment) {
  std::string line = fmt::format("{}{:020} {:012} ", line_begin, generation, segment);
  line += fmt::format("{:08x}", crc32c(0, line));
  line.resize(line_size - 1, ' ');
  return line + '\n';
}

template <typename Unsigned>
bool number_in(std::string_view digits, Unsigned& number, int base = 10) {
  const char* end = digits.data() + digits.size();
  const auto [at, error] = std::from_chars(digits.data(), end, number, base);
  return error == std::errc() && at == end;
}

bool parse_line(std::string_view line, uint64_t& generation, uint64_t& segment) {
  uint32_t crc = 0;
  return line.size() == line_size && line.starts_with(line_begin) &&
         number_in(line.substr(line_begin.size(), generation_digits), generation) &&
         number_in(line.substr(line_begin.size() + generation_digits + 1, segment_digits), segment) &&
         number_in(line.substr(crc_at, crc_digits), crc, 16) && crc == crc32c(0, line.substr(0, crc_at));
}

}  // namespace

base::Status LogMark::read() {
  std::error_code ignored;
  if (path_.empty() || !std::filesystem::exists(path_, ignored)) return {};
  const auto bytes = base::read_file(path_);
  if (!bytes)
    return base::fail(base::ErrorCode::server,
                      fmt::format("Cannot read {}: {}", path_, bytes.error().message()));
  for (size_t at = 0; at < bytes->size(); at += line_size) {
    uint64_t generation = 0, segment = 0;
    if (!parse_line(std::string_view(*bytes).substr(at, line_size), generation, segment)) continue;
    if (generation < generation_) continue;
    generation_ = generation;
    segment_ = segment;
  }
  return {};
}

// The name is on the device before anything rests on it.
int LogMark::open_file() {
  base::File file(path_, O_RDWR | O_CREAT);
  if (!file) return errno;
  const base::File directory(std::filesystem::path(path_).parent_path().string(), O_RDONLY | O_DIRECTORY);
  if (!directory) return errno;
  if (const int error = disk_->sync_names(directory.number()); error != 0) return error;
  file_.emplace(std::move(file));
  return 0;
}

int LogMark::set(uint64_t segment) {
  if (!path_.empty()) {
    if (!file_)
      if (const int error = open_file(); error != 0) return error;
    const uint64_t next = generation_ + 1;
    int error = disk_->write(file_->number(), line_of(next, segment), {}, next % 2 * line_size);
    if (error == 0) error = disk_->sync(file_->number());
    if (error != 0) return error;
    generation_ = next;
  }
  segment_ = segment;
  return 0;
}

}  // namespace sibyl::storage::rocksdb
