#include "storage/rocksdb/checkpoint.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <rocksdb/file_checksum.h>
#include <rocksdb/metadata.h>
#include <rocksdb/options.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <limits>

#include "storage/rocksdb/crc32c.h"
#include "storage/rocksdb/merging.h"

namespace sibyl::storage::rocksdb {
namespace {

constexpr size_t copy_bytes = 1 << 20;

base::Status failed(const std::string& what, const std::string& path, int error) {
  base::Error text(base::ErrorCode::server,
                   fmt::format("Cannot {} {}: {}", what, path, std::strerror(error)));
  return base::fail(error == ENOSPC ? text.with_hint("free some disk space") : text);
}

class File {
 public:
  File(const std::string& path, int flags) : number_(::open(path.c_str(), flags | O_CLOEXEC, 0644)) {}
  ~File() {
    if (number_ >= 0) ::close(number_);
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  int number() const { return number_; }

 private:
  int number_;
};

base::Status sync_path(const std::string& path) {
  const File file(path, O_RDONLY);
  if (file.number() < 0 || ::fsync(file.number()) != 0) return failed("sync", path, errno);
  return {};
}

base::Status write_file(const std::string& path, const std::string& contents) {
  const File file(path, O_WRONLY | O_CREAT | O_EXCL);
  if (file.number() < 0) return failed("make", path, errno);
  for (size_t done = 0; done < contents.size();) {
    const ssize_t got = ::write(file.number(), contents.data() + done, contents.size() - done);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return failed("write", path, errno);
    done += static_cast<size_t>(got);
  }
  if (::fsync(file.number()) != 0) return failed("sync", path, errno);
  return {};
}

// The first `size` bytes.
base::Result<std::string> read_file(const std::string& path, uint64_t size) {
  std::string contents(size, '\0');
  std::ifstream file(path, std::ios::binary);
  if (!file.read(contents.data(), static_cast<std::streamsize>(size)))
    return base::fail(failed("read", path, EIO).error());
  return contents;
}

base::Result<uint32_t> checksum_of(const std::string& path) {
  const File file(path, O_RDONLY);
  if (file.number() < 0) return base::fail(failed("open", path, errno).error());
  uint32_t crc = 0;
  std::string buffer(copy_bytes, '\0');
  for (;;) {
    const ssize_t got = ::read(file.number(), buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return base::fail(failed("read", path, errno).error());
    if (got == 0) return crc;
    crc = crc32c(crc, {buffer.data(), static_cast<size_t>(got)});
  }
}

// A table file's checksum as it was when the file was written; older files have none.
base::Result<uint32_t> checksum_of(const ::rocksdb::LiveFileStorageInfo& file, const std::string& path) {
  static const std::string known =
      ::rocksdb::GetFileChecksumGenCrc32cFactory()->CreateFileChecksumGenerator({})->Name();
  if (file.file_checksum_func_name != known || file.file_checksum.size() != 4) return checksum_of(path);
  uint32_t crc = 0;
  for (const char c : file.file_checksum) crc = (crc << 8) | static_cast<uint8_t>(c);
  return crc;
}

base::Result<CheckpointFile> add_file(const ::rocksdb::LiveFileStorageInfo& file,
                                      const std::string& directory) {
  const std::string source = file.directory + "/" + file.relative_filename;
  const std::string target = directory + "/" + file.relative_filename;
  CheckpointFile added{file.relative_filename, file.size, 0};
  if (file.file_type == ::rocksdb::kTableFile && !file.trim_to_size) {
    if (::link(source.c_str(), target.c_str()) == 0) {
      SIBYL_ASSIGN(added.crc32c, checksum_of(file, target));
      return added;
    }
    if (errno != EXDEV && errno != EPERM && errno != EMLINK && errno != EOPNOTSUPP)
      return base::fail(failed("link", target, errno).error());
  }
  std::string contents = file.replacement_contents;
  if (contents.empty()) {
    SIBYL_ASSIGN(contents, read_file(source, file.size));
  }
  SIBYL_TRY(write_file(target, contents));
  added.crc32c = crc32c(0, contents);
  return added;
}

}  // namespace

base::Result<std::vector<CheckpointFile>> make_checkpoint(::rocksdb::DB& database,
                                                          const std::string& directory) {
  if (::mkdir(directory.c_str(), 0755) != 0) return base::fail(failed("make", directory, errno).error());
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
      if (file.file_type == ::rocksdb::kWalFile) continue;  // always empty: the commit log is ours
      SIBYL_ASSIGN(CheckpointFile made, add_file(file, directory));
      added.push_back(std::move(made));
    }
    return sync_path(directory);
  };
  const base::Status status = add_all();
  database.EnableFileDeletions(false).PermitUncheckedError();
  if (!status) return base::fail(status.error());
  return added;
}

}  // namespace sibyl::storage::rocksdb
