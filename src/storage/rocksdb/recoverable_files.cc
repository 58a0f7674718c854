#include "storage/rocksdb/recoverable_files.h"

#include <rocksdb/env.h>
#include <rocksdb/file_system.h>

#include <string_view>

namespace sibyl::storage::rocksdb {
namespace {

using ::rocksdb::DataVerificationInfo;
using ::rocksdb::FileOptions;
using ::rocksdb::IODebugContext;
using ::rocksdb::IOOptions;
using ::rocksdb::IOStatus;
using ::rocksdb::Slice;

constexpr std::string_view disguise = "in truth: ";

IOStatus recoverable(IOStatus status) {
  if (status.ok() || status.IsNoSpace()) return status;
  return IOStatus::NoSpace(std::string(disguise) + status.ToString());
}

class RecoverableFile final : public ::rocksdb::FSWritableFileOwnerWrapper {
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
  using FileSystemWrapper::FileSystemWrapper;
  const char* Name() const override { return "RecoverableFileSystem"; }

  IOStatus NewWritableFile(const std::string& name, const FileOptions& options,
                           std::unique_ptr<::rocksdb::FSWritableFile>* result,
                           IODebugContext* context) override {
    auto status = recoverable(FileSystemWrapper::NewWritableFile(name, options, result, context));
    if (status.ok()) *result = std::make_unique<RecoverableFile>(std::move(*result));
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
    return recoverable(FileSystemWrapper::RenameFile(from, to, options, context));
  }
};

}  // namespace

std::unique_ptr<::rocksdb::Env> make_recoverable_environment(::rocksdb::Env& base) {
  return ::rocksdb::NewCompositeEnv(std::make_shared<RecoverableFileSystem>(base.GetFileSystem()));
}

Reason reason_of(const ::rocksdb::Status& status) {
  std::string text = status.ToString();
  const size_t at = text.rfind(disguise);
  if (at == std::string::npos) return {std::move(text), status.IsNoSpace()};
  return {text.substr(at + disguise.size()), false};
}

}  // namespace sibyl::storage::rocksdb
