#include "storage/rocksdb/retrying_files.h"

#include <rocksdb/env.h>
#include <rocksdb/file_system.h>

namespace sibyl::storage::rocksdb {
namespace {

using ::rocksdb::DataVerificationInfo;
using ::rocksdb::FileOptions;
using ::rocksdb::IODebugContext;
using ::rocksdb::IOOptions;
using ::rocksdb::IOStatus;
using ::rocksdb::Slice;

IOStatus retryable(IOStatus status) {
  if (!status.ok()) status.SetRetryable(true);
  return status;
}

class RetryingFile final : public ::rocksdb::FSWritableFileOwnerWrapper {
 public:
  using FSWritableFileOwnerWrapper::FSWritableFileOwnerWrapper;

  IOStatus Append(const Slice& data, const IOOptions& options, IODebugContext* context) override {
    return retryable(FSWritableFileOwnerWrapper::Append(data, options, context));
  }
  IOStatus Append(const Slice& data, const IOOptions& options, const DataVerificationInfo& verification,
                  IODebugContext* context) override {
    return retryable(FSWritableFileOwnerWrapper::Append(data, options, verification, context));
  }
  IOStatus Close(const IOOptions& options, IODebugContext* context) override {
    return retryable(FSWritableFileOwnerWrapper::Close(options, context));
  }
  IOStatus Flush(const IOOptions& options, IODebugContext* context) override {
    return retryable(FSWritableFileOwnerWrapper::Flush(options, context));
  }
  IOStatus Sync(const IOOptions& options, IODebugContext* context) override {
    return retryable(FSWritableFileOwnerWrapper::Sync(options, context));
  }
  IOStatus Fsync(const IOOptions& options, IODebugContext* context) override {
    return retryable(FSWritableFileOwnerWrapper::Fsync(options, context));
  }
};

class RetryingDirectory final : public ::rocksdb::FSDirectoryWrapper {
 public:
  using FSDirectoryWrapper::FSDirectoryWrapper;

  IOStatus Fsync(const IOOptions& options, IODebugContext* context) override {
    return retryable(FSDirectoryWrapper::Fsync(options, context));
  }
  IOStatus FsyncWithDirOptions(const IOOptions& options, IODebugContext* context,
                               const ::rocksdb::DirFsyncOptions& directory_options) override {
    return retryable(FSDirectoryWrapper::FsyncWithDirOptions(options, context, directory_options));
  }
};

class RetryingFileSystem final : public ::rocksdb::FileSystemWrapper {
 public:
  using FileSystemWrapper::FileSystemWrapper;
  const char* Name() const override { return "RetryingFileSystem"; }

  IOStatus NewWritableFile(const std::string& name, const FileOptions& options,
                           std::unique_ptr<::rocksdb::FSWritableFile>* result,
                           IODebugContext* context) override {
    auto status = retryable(FileSystemWrapper::NewWritableFile(name, options, result, context));
    if (status.ok()) *result = std::make_unique<RetryingFile>(std::move(*result));
    return status;
  }
  IOStatus NewDirectory(const std::string& name, const IOOptions& options,
                        std::unique_ptr<::rocksdb::FSDirectory>* result, IODebugContext* context) override {
    auto status = retryable(FileSystemWrapper::NewDirectory(name, options, result, context));
    if (status.ok()) *result = std::make_unique<RetryingDirectory>(std::move(*result));
    return status;
  }
  IOStatus RenameFile(const std::string& from, const std::string& to, const IOOptions& options,
                      IODebugContext* context) override {
    return retryable(FileSystemWrapper::RenameFile(from, to, options, context));
  }
};

}  // namespace

std::unique_ptr<::rocksdb::Env> make_retrying_environment(::rocksdb::Env& base) {
  return ::rocksdb::NewCompositeEnv(std::make_shared<RetryingFileSystem>(base.GetFileSystem()));
}

}  // namespace sibyl::storage::rocksdb
