#include "base/file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace sibyl::base {

File::File(const std::string& path, int flags) : number_(::open(path.c_str(), flags | O_CLOEXEC, 0644)) {}

File::~File() {
  if (number_ >= 0) ::close(number_);
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
  if (!file || ::fsync(file.number()) != 0) return fail(file_error("sync", path, errno));
  return {};
}

}  // namespace sibyl::base
