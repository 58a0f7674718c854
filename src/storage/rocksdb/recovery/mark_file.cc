#include "storage/rocksdb/recovery/mark_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstdio>
#include <filesystem>

#include "base/check.h"
#include "storage/rocksdb/crc32c.h"

namespace sibyl::storage::rocksdb {
namespace {

constexpr size_t generation_digits = 20, crc_digits = 8;
constexpr size_t note_at = 2 * MarkFile::line_size;

template <typename Unsigned>
bool number_in(std::string_view digits, Unsigned& number, int base = 10) {
  const char* end = digits.data() + digits.size();
  const auto [at, error] = std::from_chars(digits.data(), end, number, base);
  return !digits.empty() && error == std::errc() && at == end;
}

std::string line_of(std::string_view name, uint64_t generation, const std::string& text) {
  std::string line = fmt::format("sibyl {} {:020} {} ", name, generation, text);
  line += fmt::format("{:08x}", crc32c(0, line));
  SIBYL_CHECK(line.size() < MarkFile::line_size);
  line.resize(MarkFile::line_size - 1, ' ');
  return line + '\n';
}

bool parse_line(std::string_view name, std::string_view line, uint64_t& generation, std::string& text) {
  const std::string begin = fmt::format("sibyl {} ", name);
  const size_t text_at = begin.size() + generation_digits + 1;
  if (line.size() != MarkFile::line_size || !line.starts_with(begin)) return false;
  const size_t end = line.find_last_not_of(" \n") + 1;
  if (end < text_at + 1 + crc_digits) return false;
  const size_t crc_at = end - crc_digits;
  uint32_t crc = 0;
  if (!number_in(line.substr(begin.size(), generation_digits), generation) ||
      !number_in(line.substr(crc_at, crc_digits), crc, 16) || crc != crc32c(0, line.substr(0, crc_at)))
    return false;
  text = line.substr(text_at, crc_at - 1 - text_at);
  return true;
}

std::string note_name(const std::string& name) {
  return name + "-note";
}

}  // namespace

base::Status MarkFile::read() {
  std::error_code error;
  exists_ = std::filesystem::exists(path_, error);
  if (!exists_ && !error) return {};
  const auto bytes = base::read_file(path_);
  if (!bytes)
    return base::fail(base::ErrorCode::server,
                      fmt::format("Cannot read {}: {}", path_, bytes.error().message()));
  for (const size_t at : {size_t{0}, line_size}) {
    if (at >= bytes->size()) break;
    uint64_t generation = 0;
    std::string text;
    if (!parse_line(name_, std::string_view(*bytes).substr(at, line_size), generation, text)) continue;
    if (text_ && generation < generation_) continue;
    generation_ = generation;
    text_ = std::move(text);
  }
  uint64_t ignored = 0;
  std::string note;
  if (bytes->size() > note_at &&
      parse_line(note_name(name_), std::string_view(*bytes).substr(note_at, line_size), ignored, note))
    note_ = std::move(note);
  return {};
}

// The file is written under another name first. So after a crash there is no file, or one with a complete
// line.
int MarkFile::make_file(const std::string& lines) {
  const std::string unfinished = path_ + ".new";
  base::File file(unfinished, O_RDWR | O_CREAT | O_TRUNC);
  if (!file) return errno;
  int error = disk_->write(file.number(), lines, {}, 0);
  if (error == 0) error = disk_->sync(file.number());
  if (error == 0 && std::rename(unfinished.c_str(), path_.c_str()) != 0) error = errno;
  const base::File directory(std::filesystem::path(path_).parent_path().string(), O_RDONLY | O_DIRECTORY);
  if (error == 0 && !directory) error = errno;
  if (error == 0) error = disk_->sync_names(directory.number());
  if (error != 0) return error;
  exists_ = true;
  file_.emplace(std::move(file));
  return 0;
}

int MarkFile::open_file() {
  base::File file(path_, O_RDWR);
  if (!file) return errno;
  file_.emplace(std::move(file));
  return 0;
}

int MarkFile::write(const std::string& text) {
  const uint64_t next = generation_ + 1;
  const std::string line = line_of(name_, next, text);
  const size_t place = next % 2 * line_size;
  int error = 0;
  if (!exists_) {
    std::string lines(2 * line_size, ' ');
    lines.replace(place, line_size, line);
    error = make_file(lines);
  } else {
    if (!file_) error = open_file();
    if (error == 0) error = disk_->write(file_->number(), line, {}, place);
    if (error == 0) error = disk_->sync(file_->number());
  }
  if (error != 0) return error;
  generation_ = next;
  text_ = text;
  return 0;
}

int MarkFile::write_note(const std::string& text) {
  if (!file_)
    if (const int error = open_file(); error != 0) return error;
  const std::string line = line_of(note_name(name_), 0, text);
  const ssize_t written = ::pwrite(file_->number(), line.data(), line.size(), note_at);
  return written == static_cast<ssize_t>(line.size()) ? 0 : EIO;
}

}  // namespace sibyl::storage::rocksdb
