#include "cli/copy/kept.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

namespace sibyl::cli::copy {
namespace {

base::Error in_the_way(const std::string& path, const char* what) {
  return base::Error(base::ErrorCode::invalid, fmt::format("{} is {} and was not used", path, what))
      .with_hint("remove it, or name another file or directory");
}

// Returns why the file cannot be used, or nullptr if it can.
const char* why_foreign(const struct stat& status, mode_t kind) {
  if (S_ISLNK(status.st_mode)) return "a link";
  if ((status.st_mode & S_IFMT) != kind) return kind == S_IFREG ? "not a regular file" : "not a directory";
  if (status.st_uid != ::geteuid()) return "owned by another user";
  if (kind == S_IFREG && status.st_nlink > 1) return "a file with several hard links";
  return nullptr;
}

base::Status check(const std::string& path, mode_t kind) {
  struct stat status{};
  if (::lstat(path.c_str(), &status) != 0) {
    if (errno == ENOENT) return {};
    return base::fail(base::file_error("open", path, errno));
  }
  const char* const foreign = why_foreign(status, kind);
  return foreign == nullptr ? base::Status() : base::fail(in_the_way(path, foreign));
}

}  // namespace

base::Status check_own_file(const std::string& path) {
  return check(path, S_IFREG);
}

base::Result<base::File> open_own_file(const std::string& path, int flags) {
  base::File file(path, flags | O_NOFOLLOW | O_NONBLOCK);
  if (!file) {
    const int error = errno;
    if (error == ELOOP) return base::fail(in_the_way(path, "a link"));
    return base::fail(base::file_error("open", path, error));
  }
  struct stat status{};
  if (::fstat(file.number(), &status) != 0) return base::fail(base::file_error("open", path, errno));
  if (const char* const foreign = why_foreign(status, S_IFREG)) return base::fail(in_the_way(path, foreign));
  return file;
}

base::Result<std::string> read_own_file(const std::string& path) {
  std::string text;
  if (struct stat status{}; ::lstat(path.c_str(), &status) != 0 && errno == ENOENT) return text;
  SIBYL_ASSIGN(const base::File file, open_own_file(path, O_RDONLY));
  std::string buffer(1 << 16, '\0');
  while (true) {
    const ssize_t got = ::read(file.number(), buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return base::fail(base::file_error("read", path, errno));
    if (got == 0) return text;
    text.append(buffer.data(), static_cast<size_t>(got));
  }
}

base::Result<base::File> replace_own_file(const std::string& path) {
  SIBYL_TRY(remove_own_file(path));
  return open_own_file(path, O_WRONLY | O_CREAT | O_EXCL);
}

base::Status remove_own_file(const std::string& path) {
  SIBYL_TRY(check_own_file(path));
  if (::unlink(path.c_str()) != 0 && errno != ENOENT)
    return base::fail(base::file_error("remove", path, errno));
  return {};
}

base::Status make_own_directory(const std::string& path) {
  if (::mkdir(path.c_str(), 0755) == 0) return {};
  if (errno != EEXIST) return base::fail(base::file_error("make", path, errno));
  return check(path, S_IFDIR);
}

}  // namespace sibyl::cli::copy
