#include "base/file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

namespace sibyl::base {
namespace {

std::unexpected<Error> errno_failure(int error) {
  return fail(ErrorCode::invalid, std::strerror(error));
}

}  // namespace

File::File(const std::string& path, int flags) : number_(::open(path.c_str(), flags | O_CLOEXEC, 0644)) {}

File::~File() {
  if (number_ >= 0) ::close(number_);
}

File open_entry(const File& directory, const std::string& name, int flags) {
  return File(::openat(directory.number(), name.c_str(), flags | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0644));
}

bool is_plain_name(std::string_view name) {
  return !name.empty() && name != "." && name != ".." &&
         name.find_first_of(std::string_view("/\0", 2)) == std::string_view::npos;
}

bool is_regular(const File& file) {
  struct stat status{};
  return ::fstat(file.number(), &status) == 0 && S_ISREG(status.st_mode);
}

Result<int> open_to_read(const std::string& path) {
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return errno_failure(errno);
  struct stat status{};
  const int error = ::fstat(file, &status) != 0 ? errno : S_ISDIR(status.st_mode) ? EISDIR : 0;
  if (error == 0) return file;
  ::close(file);
  return errno_failure(error);
}

Result<std::string> read_file(const std::string& path) {
  SIBYL_ASSIGN(const int number, open_to_read(path));
  const File file(number);
  std::string text;
  std::array<char, 1 << 16> buffer;
  while (true) {
    const ssize_t count = ::read(file.number(), buffer.data(), buffer.size());
    if (count == 0) return text;
    if (count > 0) text.append(buffer.data(), static_cast<size_t>(count));
    if (count < 0 && errno != EINTR) return errno_failure(errno);
  }
}

int write_all(int file, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t got = ::write(file, bytes.data(), bytes.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return got < 0 ? errno : EIO;
    bytes.remove_prefix(static_cast<size_t>(got));
  }
  return 0;
}

Error file_error(std::string_view what, const std::string& path, int error) {
  Error text(ErrorCode::server, fmt::format("Cannot {} {}: {}", what, path, std::strerror(error)));
  return error == ENOSPC ? text.with_hint("free some disk space") : text;
}

Status sync_path(const std::string& path) {
  const File file(path, O_RDONLY);
  if (!file) return fail(file_error("sync", path, errno));
  // EINVAL: the file system cannot sync directories.
  if (::fsync(file.number()) != 0 && errno != EINVAL) return fail(file_error("sync", path, errno));
  return {};
}

}  // namespace sibyl::base
