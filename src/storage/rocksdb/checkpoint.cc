#include "storage/rocksdb/checkpoint.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <rocksdb/file_checksum.h>
#include <rocksdb/metadata.h>
#include <rocksdb/options.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <limits>
#include <optional>

#include "base/file.h"
#include "storage/rocksdb/crc32c.h"
#include "storage/rocksdb/reading.h"

namespace sibyl::storage::rocksdb {
namespace {

constexpr size_t copy_bytes = 1 << 20;

base::Status write_all(const base::File& file, const std::string& path, std::string_view bytes) {
  const int error = base::write_all(file.number(), bytes);
  if (error != 0) return base::fail(base::file_error("write", path, error));
  return {};
}

base::Status write_file(const std::string& path, const std::string& contents) {
  const base::File file(path, O_WRONLY | O_CREAT | O_EXCL);
  if (!file) return base::fail(base::file_error("make", path, errno));
  SIBYL_TRY(write_all(file, path, contents));
  if (::fsync(file.number()) != 0) return base::fail(base::file_error("sync", path, errno));
  return {};
}

// Copies the first `size` bytes and returns their checksum.
base::Result<uint32_t> copy_file(const std::string& source, const std::string& target, uint64_t size) {
  const base::File from(source, O_RDONLY);
  if (!from) return base::fail(base::file_error("open", source, errno));
  const base::File to(target, O_WRONLY | O_CREAT | O_EXCL);
  if (!to) return base::fail(base::file_error("make", target, errno));
  uint32_t crc = 0;
  std::string buffer(copy_bytes, '\0');
  while (size > 0) {
    const ssize_t got = ::read(from.number(), buffer.data(), std::min<uint64_t>(size, buffer.size()));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return base::fail(base::file_error("read", source, got < 0 ? errno : EIO));
    const std::string_view piece(buffer.data(), static_cast<size_t>(got));
    SIBYL_TRY(write_all(to, target, piece));
    crc = crc32c(crc, piece);
    size -= piece.size();
  }
  if (::fsync(to.number()) != 0) return base::fail(base::file_error("sync", target, errno));
  return crc;
}

base::Result<uint32_t> checksum_of(const std::string& path) {
  const base::File file(path, O_RDONLY);
  if (!file) return base::fail(base::file_error("open", path, errno));
  uint32_t crc = 0;
  std::string buffer(copy_bytes, '\0');
  for (;;) {
    const ssize_t got = ::read(file.number(), buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return base::fail(base::file_error("read", path, errno));
    if (got == 0) return crc;
    crc = crc32c(crc, {buffer.data(), static_cast<size_t>(got)});
  }
}

// The checksum that RocksDB computed when it wrote the table file. Older files have none.
std::optional<uint32_t> known_checksum(const ::rocksdb::LiveFileStorageInfo& file) {
  static const std::string known =
      ::rocksdb::GetFileChecksumGenCrc32cFactory()->CreateFileChecksumGenerator({})->Name();
  if (file.file_checksum_func_name != known || file.file_checksum.size() != 4 || file.trim_to_size)
    return std::nullopt;
  uint32_t crc = 0;
  for (const char c : file.file_checksum) crc = (crc << 8) | static_cast<uint8_t>(c);
  return crc;
}

base::Result<CheckpointFile> add_file(const ::rocksdb::LiveFileStorageInfo& file,
                                      const std::string& directory) {
  const std::string source = file.directory + "/" + file.relative_filename;
  const std::string target = directory + "/" + file.relative_filename;
  CheckpointFile added{file.relative_filename, file.size, 0};
  const std::optional<uint32_t> known = known_checksum(file);
  if (file.file_type == ::rocksdb::kTableFile && !file.trim_to_size) {
    if (::link(source.c_str(), target.c_str()) == 0) {
      if (known) {
        added.crc32c = *known;
      } else {
        SIBYL_ASSIGN(added.crc32c, checksum_of(target));
      }
      return added;
    }
    if (errno != EXDEV && errno != EPERM && errno != EMLINK && errno != EOPNOTSUPP)
      return base::fail(base::file_error("link", target, errno));
  }
  if (!file.replacement_contents.empty()) {
    SIBYL_TRY(write_file(target, file.replacement_contents));
    added.crc32c = crc32c(0, file.replacement_contents);
    return added;
  }
  SIBYL_ASSIGN(added.crc32c, copy_file(source, target, file.size));
  if (known && added.crc32c != *known)
    return base::fail(base::ErrorCode::server, fmt::format("{} is damaged: its checksum is wrong", source));
  return added;
}

}  // namespace

base::Result<std::vector<CheckpointFile>> make_checkpoint(::rocksdb::DB& database,
                                                          const std::string& directory) {
  if (::mkdir(directory.c_str(), 0755) != 0) return base::fail(base::file_error("make", directory, errno));
  ::rocksdb::LiveFilesStorageInfoOptions options;
  options.include_checksum_info = true;
  options.wal_size_for_flush = std::numeric_limits<uint64_t>::max();
  std::vector<::rocksdb::LiveFileStorageInfo> files;
  std::vector<CheckpointFile> added;
  if (const auto held = database.DisableFileDeletions(); !held.ok())
    return base::fail(error_of(held, base::ErrorCode::server));
  const auto add_all = [&]() -> base::Status {
    if (const auto status = database.GetLiveFilesStorageInfo(options, &files); !status.ok())
      return base::fail(error_of(status, base::ErrorCode::server));
    for (const auto& file : files) {
      // This file is always empty, because RocksDB's log is not used.
      if (file.file_type == ::rocksdb::kWalFile) continue;
      SIBYL_ASSIGN(CheckpointFile made, add_file(file, directory));
      added.push_back(std::move(made));
    }
    return base::sync_path(directory);
  };
  const base::Status status = add_all();
  database.EnableFileDeletions(false).PermitUncheckedError();
  if (!status) return base::fail(status.error());
  return added;
}

base::Result<std::vector<HeldFile>> hold_files(::rocksdb::DB& database) {
  ::rocksdb::LiveFilesStorageInfoOptions options;
  options.include_checksum_info = true;
  options.wal_size_for_flush = std::numeric_limits<uint64_t>::max();
  if (const auto held = database.DisableFileDeletions(); !held.ok())
    return base::fail(error_of(held, base::ErrorCode::server));
  std::vector<::rocksdb::LiveFileStorageInfo> files;
  if (const auto status = database.GetLiveFilesStorageInfo(options, &files); !status.ok()) {
    release_files(database);
    return base::fail(error_of(status, base::ErrorCode::server));
  }
  std::vector<HeldFile> held;
  for (const auto& file : files) {
    if (file.file_type == ::rocksdb::kWalFile || file.file_type == ::rocksdb::kOptionsFile) continue;
    held.push_back({file.relative_filename, file.size, file.file_type == ::rocksdb::kTableFile,
                    known_checksum(file), file.replacement_contents});
  }
  return held;
}

void release_files(::rocksdb::DB& database) {
  database.EnableFileDeletions(false).PermitUncheckedError();
}

}  // namespace sibyl::storage::rocksdb
