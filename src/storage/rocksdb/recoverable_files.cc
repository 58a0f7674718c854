#include "storage/rocksdb/recoverable_files.h"

#include <rocksdb/env.h>
#include <rocksdb/file_system.h>
#include <rocksdb/system_clock.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <string_view>

namespace sibyl::storage::rocksdb {
namespace {

using ::rocksdb::DataVerificationInfo;
using ::rocksdb::FileOptions;
using ::rocksdb::IODebugContext;
using ::rocksdb::IOOptions;
using ::rocksdb::IOStatus;
using ::rocksdb::Slice;

constexpr std::string_view reason_prefix = "real reason: ";

// Turns errors into one from which RocksDB recovers. A fence stays as it is, because it ends the use of the
// files.
IOStatus recoverable(IOStatus status) {
  if (status.ok() || status.IsNoSpace() || status.IsIOFenced()) return status;
  return IOStatus::NoSpace(std::string(reason_prefix) + status.ToString());
}

IOStatus status_of(int error) {
  return error == 0 ? IOStatus::OK() : IOStatus::IOError("SIBYL_MANIFEST", std::strerror(error));
}

// Returns the number in ".../MANIFEST-000012"; 0 for other files.
uint64_t manifest_number(std::string_view path) {
  constexpr std::string_view begin = "MANIFEST-";
  path.remove_prefix(path.rfind('/') + 1);
  uint64_t number = 0;
  if (path.starts_with(begin)) std::from_chars(path.data() + begin.size(), path.data() + path.size(), number);
  return number;
}

class RecoverableFile : public ::rocksdb::FSWritableFileOwnerWrapper {
 public:
  using FSWritableFileOwnerWrapper::FSWritableFileOwnerWrapper;

  IOStatus Append(const Slice& data, const IOOptions& options, IODebugContext* context) override {
    return recoverable(FSWritableFileOwnerWrapper::Append(data, options, context));
  }
  IOStatus Append(const Slice& data, const IOOptions& options, const DataVerificationInfo& verification,
                  IODebugContext* context) override {
    return recoverable(FSWritableFileOwnerWrapper::Append(data, options, verification, context));
  }
  IOStatus Close(const IOOptions& options, IODebugContext* context) override {
    return recoverable(FSWritableFileOwnerWrapper::Close(options, context));
  }
  IOStatus Flush(const IOOptions& options, IODebugContext* context) override {
    return recoverable(FSWritableFileOwnerWrapper::Flush(options, context));
  }
  IOStatus Sync(const IOOptions& options, IODebugContext* context) override {
    return recoverable(FSWritableFileOwnerWrapper::Sync(options, context));
  }
  IOStatus Fsync(const IOOptions& options, IODebugContext* context) override {
    return recoverable(FSWritableFileOwnerWrapper::Fsync(options, context));
  }
};

class RecoverableManifest final : public RecoverableFile {
 public:
  RecoverableManifest(std::unique_ptr<::rocksdb::FSWritableFile> file, uint64_t number,
                      ManifestObserver& observer)
      : RecoverableFile(std::move(file)), number_(number), observer_(observer) {
    observer_.begun(number_);
  }

  IOStatus Append(const Slice& data, const IOOptions& options, IODebugContext* context) override {
    return appended(data, RecoverableFile::Append(data, options, context));
  }
  IOStatus Append(const Slice& data, const IOOptions& options, const DataVerificationInfo& verification,
                  IODebugContext* context) override {
    return appended(data, RecoverableFile::Append(data, options, verification, context));
  }
  IOStatus Sync(const IOOptions& options, IODebugContext* context) override {
    return synced(RecoverableFile::Sync(options, context));
  }
  IOStatus Fsync(const IOOptions& options, IODebugContext* context) override {
    return synced(RecoverableFile::Fsync(options, context));
  }

 private:
  IOStatus appended(const Slice& data, IOStatus status) {
    if (status.ok()) observer_.appended(number_, {data.data(), data.size()});
    return status;
  }
  IOStatus synced(IOStatus status) {
    return status.ok() ? recoverable(status_of(observer_.synced(number_))) : status;
  }

  const uint64_t number_;
  ManifestObserver& observer_;
};

class RecoverableDirectory final : public ::rocksdb::FSDirectoryWrapper {
 public:
  using FSDirectoryWrapper::FSDirectoryWrapper;

  IOStatus Fsync(const IOOptions& options, IODebugContext* context) override {
    return recoverable(FSDirectoryWrapper::Fsync(options, context));
  }
  IOStatus FsyncWithDirOptions(const IOOptions& options, IODebugContext* context,
                               const ::rocksdb::DirFsyncOptions& directory_options) override {
    return recoverable(FSDirectoryWrapper::FsyncWithDirOptions(options, context, directory_options));
  }
};

class RecoverableFileSystem final : public ::rocksdb::FileSystemWrapper {
 public:
  RecoverableFileSystem(const std::shared_ptr<::rocksdb::FileSystem>& base, ManifestObserver& manifests)
      : FileSystemWrapper(base), manifests_(manifests) {}
  const char* Name() const override { return "RecoverableFileSystem"; }

  IOStatus NewWritableFile(const std::string& name, const FileOptions& options,
                           std::unique_ptr<::rocksdb::FSWritableFile>* result,
                           IODebugContext* context) override {
    auto status = recoverable(FileSystemWrapper::NewWritableFile(name, options, result, context));
    if (!status.ok()) return status;
    if (const uint64_t manifest = manifest_number(name); manifest != 0)
      *result = std::make_unique<RecoverableManifest>(std::move(*result), manifest, manifests_);
    else
      *result = std::make_unique<RecoverableFile>(std::move(*result));
    return status;
  }
  IOStatus NewDirectory(const std::string& name, const IOOptions& options,
                        std::unique_ptr<::rocksdb::FSDirectory>* result, IODebugContext* context) override {
    auto status = recoverable(FileSystemWrapper::NewDirectory(name, options, result, context));
    if (status.ok()) *result = std::make_unique<RecoverableDirectory>(std::move(*result));
    return status;
  }
  IOStatus RenameFile(const std::string& from, const std::string& to, const IOOptions& options,
                      IODebugContext* context) override {
    if (!to.ends_with("/CURRENT"))
      return recoverable(FileSystemWrapper::RenameFile(from, to, options, context));
    std::string text;
    auto status = ::rocksdb::ReadFileToString(this, from, &text);
    const uint64_t manifest = manifest_number(text);
    if (status.ok()) status = status_of(manifests_.switching(manifest));
    if (status.ok()) status = FileSystemWrapper::RenameFile(from, to, options, context);
    if (status.ok()) status = status_of(manifests_.switched(manifest));
    return recoverable(status);
  }

 private:
  ManifestObserver& manifests_;
};

// RocksDB terminates the process if the clock shows a time before 1970, to which a system clock may jump.
class ClockFrom1970 final : public ::rocksdb::SystemClockWrapper {
 public:
  using SystemClockWrapper::SystemClockWrapper;
  const char* Name() const override { return "ClockFrom1970"; }
  ::rocksdb::Status GetCurrentTime(int64_t* seconds) override {
    ::rocksdb::Status status = SystemClockWrapper::GetCurrentTime(seconds);
    *seconds = std::max<int64_t>(*seconds, 0);
    return status;
  }
};

class Environment final : public ::rocksdb::EnvWrapper {
 public:
  Environment(::rocksdb::Env& base, ManifestObserver& manifests)
      : EnvWrapper(::rocksdb::NewCompositeEnv(
            std::make_shared<RecoverableFileSystem>(base.GetFileSystem(), manifests))) {
    system_clock_ = std::make_shared<ClockFrom1970>(base.GetSystemClock());
  }
  ::rocksdb::Status GetCurrentTime(int64_t* seconds) override {
    return system_clock_->GetCurrentTime(seconds);
  }
};

}  // namespace

std::unique_ptr<::rocksdb::Env> make_recoverable_environment(::rocksdb::Env& base,
                                                             ManifestObserver& manifests) {
  return std::make_unique<Environment>(base, manifests);
}

Reason reason_of(const ::rocksdb::Status& status) {
  std::string text = status.ToString();
  const size_t at = text.rfind(reason_prefix);
  if (at == std::string::npos) return {std::move(text), status.IsNoSpace()};
  return {text.substr(at + reason_prefix.size()), false};
}

}  // namespace sibyl::storage::rocksdb
