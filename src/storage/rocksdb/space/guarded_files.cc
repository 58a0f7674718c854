#include "storage/rocksdb/space/guarded_files.h"

#include <rocksdb/file_system.h>

#include <string>
#include <utility>

namespace sibyl::storage::rocksdb {
namespace {

using ::rocksdb::DataVerificationInfo;
using ::rocksdb::FileOptions;
using ::rocksdb::IODebugContext;
using ::rocksdb::IOOptions;
using ::rocksdb::IOStatus;
using ::rocksdb::Slice;

thread_local bool is_flush_thread = false;

class GuardedFile final : public ::rocksdb::FSWritableFileOwnerWrapper {
 public:
  GuardedFile(std::unique_ptr<::rocksdb::FSWritableFile> file, const SpaceHooks& hooks)
      : FSWritableFileOwnerWrapper(std::move(file)), hooks_(hooks) {}

  // Called for tables only: RocksDB sets no priority for other files.
  void SetIOPriority(::rocksdb::Env::IOPriority priority) override {
    is_compaction_ =
        priority == ::rocksdb::Env::IO_LOW || (priority == ::rocksdb::Env::IO_USER && !is_flush_thread);
    is_flush_ = !is_compaction_;
    FSWritableFileOwnerWrapper::SetIOPriority(priority);
  }
  IOStatus Append(const Slice& data, const IOOptions& options, IODebugContext* context) override {
    if (is_refused(data.size())) return refusal();
    if (is_flush_) hooks_.make_room(data.size());
    return FSWritableFileOwnerWrapper::Append(data, options, context);
  }
  IOStatus Append(const Slice& data, const IOOptions& options, const DataVerificationInfo& verification,
                  IODebugContext* context) override {
    if (is_refused(data.size())) return refusal();
    if (is_flush_) hooks_.make_room(data.size());
    return FSWritableFileOwnerWrapper::Append(data, options, verification, context);
  }
  // Allocation only makes files contiguous. If it must be refused, it is skipped without an error.
  IOStatus Allocate(uint64_t offset, uint64_t size, const IOOptions& options,
                    IODebugContext* context) override {
    if (is_refused(size)) return IOStatus::OK();
    return FSWritableFileOwnerWrapper::Allocate(offset, size, options, context);
  }

 private:
  bool is_refused(uint64_t bytes) const { return is_compaction_ && !hooks_.may_compact(bytes); }
  static IOStatus refusal() {
    return IOStatus::NoSpace("No space left on device: a compaction waits for more space");
  }

  const SpaceHooks& hooks_;
  bool is_compaction_ = false, is_flush_ = false;
};

class GuardedReads final : public ::rocksdb::FSRandomAccessFileOwnerWrapper {
 public:
  GuardedReads(std::unique_ptr<::rocksdb::FSRandomAccessFile> file, const SpaceHooks& hooks)
      : FSRandomAccessFileOwnerWrapper(std::move(file)), hooks_(hooks) {}

  IOStatus Read(uint64_t offset, size_t bytes, const IOOptions& options, Slice* result, char* buffer,
                IODebugContext* context) const override {
    constexpr size_t min_asked = 1 << 20;
    if (bytes >= min_asked && !hooks_.may_read(bytes))
      return IOStatus::Aborted("The statement must not read so large a record now");
    return FSRandomAccessFileOwnerWrapper::Read(offset, bytes, options, result, buffer, context);
  }

 private:
  const SpaceHooks& hooks_;
};

class GuardedFileSystem final : public ::rocksdb::FileSystemWrapper {
 public:
  GuardedFileSystem(std::shared_ptr<FileSystem> base, SpaceHooks hooks)
      : FileSystemWrapper(std::move(base)), hooks_(std::move(hooks)) {}
  const char* Name() const override { return "GuardedFileSystem"; }

  IOStatus NewWritableFile(const std::string& name, const FileOptions& options,
                           std::unique_ptr<::rocksdb::FSWritableFile>* result,
                           IODebugContext* context) override {
    auto status = FileSystemWrapper::NewWritableFile(name, options, result, context);
    if (status.ok() && name.ends_with(".sst"))
      *result = std::make_unique<GuardedFile>(std::move(*result), hooks_);
    return status;
  }
  IOStatus NewRandomAccessFile(const std::string& name, const FileOptions& options,
                               std::unique_ptr<::rocksdb::FSRandomAccessFile>* result,
                               IODebugContext* context) override {
    auto status = FileSystemWrapper::NewRandomAccessFile(name, options, result, context);
    if (status.ok() && hooks_.may_read && name.ends_with(".sst"))
      *result = std::make_unique<GuardedReads>(std::move(*result), hooks_);
    return status;
  }

 private:
  const SpaceHooks hooks_;
};

}  // namespace

void mark_flush_thread() {
  is_flush_thread = true;
}

std::unique_ptr<::rocksdb::Env> make_guarded_environment(::rocksdb::Env& base, SpaceHooks hooks) {
  return ::rocksdb::NewCompositeEnv(
      std::make_shared<GuardedFileSystem>(base.GetFileSystem(), std::move(hooks)));
}

}  // namespace sibyl::storage::rocksdb
