#include "storage/rocksdb/directory.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <string_view>

#include "storage/rocksdb/recovery/manifest_guard.h"

namespace sibyl::storage::rocksdb {
namespace {

constexpr std::string_view format_name = "SIBYL_FORMAT";
constexpr std::string_view unfinished_format_name = "SIBYL_FORMAT.new";
constexpr std::string_view format_line = "sibyl store format ";

base::Error refusal(const std::string& path, std::string_view why) {
  return {base::ErrorCode::config, fmt::format("Cannot open the store in {}: {}", path, why)};
}

base::Error refusal(const std::string& path, const char* what, int error) {
  const base::Error refused = refusal(path, fmt::format("{}: {}", what, std::strerror(error)));
  if (error == EACCES || error == EPERM)
    return refused.with_hint(
        "the server's user must own the directory: `ls -ld` shows its owner, `chown` changes it");
  if (error == EROFS) return refused.with_hint("the file system is mounted read-only");
  if (error == ENOSPC) return refused.with_hint("free some space on the file system");
  if (error == EEXIST || error == ENOTDIR)
    return refused.with_hint("a file has this name; choose another directory (--data)");
  if (error == ENOENT)
    return refused.with_hint("directories cannot be made there; choose another one (--data)");
  return refused;
}

base::Status sync_directory(const std::string& path) {
  if (const base::Status synced = base::sync_path(path); !synced)
    return base::fail(refusal(path, synced.error().message()));
  return {};
}

// Returns true if a new store may be created here. An interrupted creation or a new file system may have left
// some files.
base::Result<bool> is_empty(const std::string& path) {
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(path, error)) {
    const std::string name = entry.path().filename().string();
    if (name != unfinished_format_name && name != "lost+found") return false;
  }
  if (error) return base::fail(refusal(path, "read", error.value()));
  return true;
}

// Returns true if the directory holds files that only a store has.
bool has_store_files(const std::string& path) {
  std::error_code error;
  return std::ranges::any_of(
      std::array{"SIBYL_MANIFEST", "SIBYL_LOG", "records/CURRENT"},
      [&](const char* name) { return std::filesystem::exists(path + "/" + name, error); });
}

base::Error no_store(const std::string& path) {
  if (!has_store_files(path))
    return refusal(path, "the directory holds other files and no Sibyl store")
        .with_hint("use a new or an empty directory");
  return refusal(path, fmt::format("it holds a store, but {} is missing", format_name))
      .with_hint(fmt::format("no file was changed; restore {}/{} from a backup of the directory, or recover "
                             "the data with `sibyl "
                             "recover --data {} --to NEW_DIRECTORY`. If only this file was removed, and this "
                             "version of Sibyl wrote "
                             "the store, create it with the line \"{}{}\"",
                             path, format_name, path, format_line, store_format));
}

base::Status write_format(const std::string& path) {
  const std::string unfinished = fmt::format("{}/{}", path, unfinished_format_name);
  const std::string text = fmt::format("{}{}\n", format_line, store_format);
  const base::File file(unfinished, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW);
  if (!file) return base::fail(refusal(path, "write", errno));
  int error = base::write_all(file.number(), text);
  if (error == 0 && ::fsync(file.number()) != 0) error = errno;
  if (error == 0 && ::rename(unfinished.c_str(), fmt::format("{}/{}", path, format_name).c_str()) != 0)
    error = errno;
  if (error != 0) return base::fail(refusal(path, "write", error));
  return sync_directory(path);
}

base::Status check_format(const std::string& path, int file) {
  char buffer[64];
  const ssize_t got = ::pread(file, buffer, sizeof buffer, 0);
  if (got < 0) return base::fail(refusal(path, "read", errno));
  std::string_view text(buffer, static_cast<size_t>(got));
  uint32_t version = 0;
  const bool known =
      text.starts_with(format_line) &&
      std::from_chars(text.data() + format_line.size(), text.data() + text.size(), version).ec == std::errc();
  if (!known)
    return base::fail(
        refusal(path, fmt::format("its {} is not a store's", format_name))
            .with_hint(fmt::format("the file is damaged or of another program: a store that this "
                                   "program wrote has the line \"{}{}\" in it",
                                   format_line, store_format)));
  if (version != store_format)
    return base::fail(
        refusal(path, fmt::format("it has store format {}, and this program reads and writes format {}",
                                  version, store_format))
            .with_hint(version > store_format ? "use the newer program that wrote it"
                                              : "export its tables with the program that wrote it"));
  return {};
}

// Creates the directory and its parents. Each new entry is on the device before it is used.
base::Status make_directory(const std::string& path) {
  std::error_code error;
  const auto absolute = std::filesystem::absolute(path, error);
  if (!error && std::filesystem::is_directory(absolute, error)) return {};
  const auto parent = absolute.parent_path();
  if (!parent.empty() && parent != absolute) SIBYL_TRY(make_directory(parent.string()));
  if (!std::filesystem::create_directory(absolute, error) && error)
    return base::fail(refusal(path, "make the directory", error.value()));
  return sync_directory(parent.string());
}

}  // namespace

base::Result<Directory> Directory::open(const std::string& path) {
  SIBYL_TRY(make_directory(path));
  const std::string format_path = fmt::format("{}/{}", path, format_name);
  if (::access(format_path.c_str(), F_OK) != 0 && errno == ENOENT) {
    SIBYL_ASSIGN(const bool empty, is_empty(path));
    if (!empty) return base::fail(no_store(path));
    SIBYL_TRY(write_format(path));
  }
  base::File file(format_path, O_RDWR);
  if (!file) return base::fail(refusal(path, "open", errno));
  if (::flock(file.number(), LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK) return base::fail(refusal(path, "lock", errno));
    return base::fail(refusal(path, "another process has it open")
                          .with_hint("stop the other server on this directory, or use another directory"));
  }
  SIBYL_TRY(check_format(path, file.number()));
  Directory directory(path, std::move(file));
  for (const std::string& inner : {directory.records_path(), directory.log_path()})
    SIBYL_TRY(make_directory(inner));
  SIBYL_TRY(directory.check_records());
  return directory;
}

// RocksDB would create a new database if its files are missing. But if there is a log, there have been files.
base::Status Directory::check_records() const {
  std::error_code error;
  if (std::filesystem::exists(records_path() + "/CURRENT", error)) return {};
  const bool has_log =
      std::filesystem::exists(log_mark_path(), error) || !std::filesystem::is_empty(log_path(), error);
  if (error) return base::fail(refusal(path_, "read", error.value()));
  if (!has_log) return {};
  return base::fail(
      refusal(path_, "its records are missing, although it has a log")
          .with_hint(fmt::format("restore or mount {}, or use a new directory", records_path())));
}

uint64_t Directory::log_bytes() const {
  uint64_t bytes = 0;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(log_path(), error))
    if (entry.path().extension() == ".log") bytes += entry.file_size(error);
  return bytes;
}

base::Status mark_as_store(const std::string& path) {
  if (current_manifest(path + "/records")) SIBYL_TRY(ManifestGuard(path).record_current());
  SIBYL_TRY(sync_directory(path));
  return write_format(path);
}

}  // namespace sibyl::storage::rocksdb
