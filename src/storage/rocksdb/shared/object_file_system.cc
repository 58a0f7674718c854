#include "storage/rocksdb/shared/object_file_system.h"

#include <rocksdb/file_system.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <mutex>
#include <optional>
#include <vector>

#include "storage/objects/files/block_writer.h"
#include "storage/rocksdb/shared/shared_storage.h"

namespace sibyl::storage::rocksdb {
namespace {

using base::Bytes;
using base::BytesView;
using objects::BlockRead;
using objects::BlockWriter;
using objects::FileRecord;
using objects::ObjectDirectory;
using objects::Reason;
using objects::Reply;
using ::rocksdb::DataVerificationInfo;
using ::rocksdb::FileOptions;
using ::rocksdb::FSReadRequest;
using ::rocksdb::IODebugContext;
using ::rocksdb::IOOptions;
using ::rocksdb::IOStatus;
using ::rocksdb::Slice;

IOStatus status_of(Reply reply, const std::string& name) {
  if (reply.is_done()) return IOStatus::OK();
  switch (reply.reason) {
    case Reason::missing:
      return IOStatus::PathNotFound(name);
    case Reason::full:
      return IOStatus::NoSpace(name, "the object store is full");
    case Reason::fenced:
      return IOStatus::IOFenced(name, objects::to_string(reply));
    default:
      return IOStatus::IOError(name, objects::to_string(reply));
  }
}

std::string name_of(const std::string& path) {
  return path.substr(path.rfind('/') + 1);
}

bool is_temporary(const std::string& name) {
  return name.ends_with(".dbtmp");
}
bool stays_in_memory(const std::string& name) {
  return is_temporary(name) || name.starts_with("OPTIONS-") || name.starts_with("LOG") ||
         name == "IDENTITY" || name == "LOCK" || name.ends_with(".log");
}
bool is_manifest(const std::string& name) {
  return name.starts_with("MANIFEST-");
}

// --- Files in memory

struct MemoryFile {
  std::mutex mutex;
  Bytes content;
};

class MemoryWriter final : public ::rocksdb::FSWritableFile {
 public:
  explicit MemoryWriter(std::shared_ptr<MemoryFile> file) : file_(std::move(file)) {}
  using FSWritableFile::Append;
  IOStatus Append(const Slice& data, const IOOptions&, IODebugContext*) override {
    const std::lock_guard lock(file_->mutex);
    file_->content.append(data.data(), data.size());
    return IOStatus::OK();
  }
  IOStatus Append(const Slice& data, const IOOptions& options, const DataVerificationInfo&,
                  IODebugContext* context) override {
    return Append(data, options, context);
  }
  IOStatus Flush(const IOOptions&, IODebugContext*) override { return IOStatus::OK(); }
  IOStatus Sync(const IOOptions&, IODebugContext*) override { return IOStatus::OK(); }
  IOStatus Close(const IOOptions&, IODebugContext*) override { return IOStatus::OK(); }
  uint64_t GetFileSize(const IOOptions&, IODebugContext*) override {
    const std::lock_guard lock(file_->mutex);
    return file_->content.size();
  }

 private:
  const std::shared_ptr<MemoryFile> file_;
};

// --- Files on objects

class ObjectWriter final : public ::rocksdb::FSWritableFile {
 public:
  ObjectWriter(ObjectDirectory& directory, std::string name, const FileRecord& record)
      : directory_(directory), name_(std::move(name)), id_(record.id), writer_(directory, record.id) {}

  using FSWritableFile::Append;
  IOStatus Append(const Slice& data, const IOOptions&, IODebugContext*) override {
    if (directory_.is_lost()) return status_of(Reply::refused(Reason::fenced), name_);
    return status_of(writer_.append({data.data(), data.size()}), name_);
  }
  IOStatus Append(const Slice& data, const IOOptions& options, const DataVerificationInfo&,
                  IODebugContext* context) override {
    return Append(data, options, context);
  }
  IOStatus Flush(const IOOptions&, IODebugContext*) override { return IOStatus::OK(); }
  IOStatus Sync(const IOOptions&, IODebugContext*) override {
    if (directory_.is_lost()) return status_of(Reply::refused(Reason::fenced), name_);
    return status_of(writer_.sync(), name_);
  }
  IOStatus Close(const IOOptions& options, IODebugContext* context) override {
    if (is_closed_) return IOStatus::OK();
    is_closed_ = true;
    if (auto status = Sync(options, context); !status.ok()) return status;
    return status_of(directory_.complete(name_, id_, writer_.size()), name_);
  }
  uint64_t GetFileSize(const IOOptions&, IODebugContext*) override { return writer_.size(); }

 private:
  ObjectDirectory& directory_;
  const std::string name_, id_;
  BlockWriter writer_;
  bool is_closed_ = false;
};

class ObjectReader final : public ::rocksdb::FSRandomAccessFile {
 public:
  ObjectReader(ObjectDirectory& directory, std::string name, FileRecord record)
      : directory_(directory), name_(std::move(name)), record_(std::move(record)) {}

  IOStatus Read(uint64_t offset, size_t size, const IOOptions&, Slice* result, char* scratch,
                IODebugContext*) const override {
    BlockRead read(directory_.store(), record_, offset, size);
    return finish(read, result, scratch);
  }
  IOStatus MultiRead(FSReadRequest* requests, size_t count, const IOOptions&, IODebugContext*) override {
    std::vector<std::unique_ptr<BlockRead>> reads;
    for (size_t i = 0; i < count; ++i)
      reads.push_back(
          std::make_unique<BlockRead>(directory_.store(), record_, requests[i].offset, requests[i].len));
    for (size_t i = 0; i < count; ++i)
      requests[i].status = finish(*reads[i], &requests[i].result, requests[i].scratch);
    return IOStatus::OK();
  }

 private:
  IOStatus finish(BlockRead& read, Slice* result, char* scratch) const {
    Bytes data;
    const Reply reply = read.finish(directory_.patience(), data);
    std::memcpy(scratch, data.data(), data.size());
    *result = Slice(scratch, data.size());
    return status_of(reply, name_);
  }

  ObjectDirectory& directory_;
  const std::string name_;
  const FileRecord record_;
};

// Reads ahead, because RocksDB reads a MANIFEST in small parts.
class SequentialReader final : public ::rocksdb::FSSequentialFile {
 public:
  SequentialReader(ObjectDirectory& directory, std::string name, FileRecord record)
      : directory_(directory), name_(std::move(name)), record_(std::move(record)) {}

  IOStatus Read(size_t size, const IOOptions&, Slice* result, char* scratch, IODebugContext*) override {
    size_t done = 0;
    while (done < size) {
      if (position_ - begin_ >= buffer_.size()) {
        BlockRead read(directory_.store(), record_, position_, std::max(size - done, read_ahead));
        if (const Reply reply = read.finish(directory_.patience(), buffer_); !reply.is_done())
          return status_of(reply, name_);
        begin_ = position_;
        if (buffer_.empty()) break;
      }
      const BytesView part = BytesView(buffer_).substr(position_ - begin_, size - done);
      std::memcpy(scratch + done, part.data(), part.size());
      done += part.size();
      position_ += part.size();
    }
    *result = Slice(scratch, done);
    return IOStatus::OK();
  }
  IOStatus Skip(uint64_t size) override {
    position_ += size;
    buffer_.clear();
    begin_ = position_;
    return IOStatus::OK();
  }

 private:
  static constexpr size_t read_ahead = 1 << 20;
  ObjectDirectory& directory_;
  const std::string name_;
  const FileRecord record_;
  uint64_t position_ = 0;
  uint64_t begin_ = 0;  // of the buffer
  Bytes buffer_;
};

// All changes of the directory are durable when the functions return.
class DurableDirectory final : public ::rocksdb::FSDirectory {
 public:
  IOStatus Fsync(const IOOptions&, IODebugContext*) override { return IOStatus::OK(); }
};

class NoLock final : public ::rocksdb::FileLock {};

class ObjectFileSystem final : public ::rocksdb::FileSystem {
 public:
  explicit ObjectFileSystem(ObjectDirectory& directory) : directory_(directory) {}
  const char* Name() const override { return "ObjectFileSystem"; }

  IOStatus NewSequentialFile(const std::string& path, const FileOptions&,
                             std::unique_ptr<::rocksdb::FSSequentialFile>* result, IODebugContext*) override {
    return open<SequentialReader>(path, result);
  }
  IOStatus NewRandomAccessFile(const std::string& path, const FileOptions&,
                               std::unique_ptr<::rocksdb::FSRandomAccessFile>* result,
                               IODebugContext*) override {
    return open<ObjectReader>(path, result);
  }
  IOStatus NewWritableFile(const std::string& path, const FileOptions&,
                           std::unique_ptr<::rocksdb::FSWritableFile>* result, IODebugContext*) override;
  IOStatus NewDirectory(const std::string&, const IOOptions&, std::unique_ptr<::rocksdb::FSDirectory>* result,
                        IODebugContext*) override {
    *result = std::make_unique<DurableDirectory>();
    return IOStatus::OK();
  }
  IOStatus FileExists(const std::string& path, const IOOptions&, IODebugContext*) override {
    if (path == object_path) return IOStatus::OK();
    const std::string name = name_of(path);
    return in_memory(name) != nullptr || directory_.find(name) ? IOStatus::OK() : IOStatus::NotFound(path);
  }
  IOStatus GetChildren(const std::string& path, const IOOptions&, std::vector<std::string>* result,
                       IODebugContext*) override;
  IOStatus DeleteFile(const std::string& path, const IOOptions&, IODebugContext*) override;
  IOStatus CreateDir(const std::string& path, const IOOptions& options, IODebugContext* context) override {
    return CreateDirIfMissing(path, options, context);
  }
  IOStatus CreateDirIfMissing(const std::string& path, const IOOptions&, IODebugContext*) override {
    return path == object_path ? IOStatus::OK() : IOStatus::NotSupported(path);
  }
  IOStatus DeleteDir(const std::string& path, const IOOptions&, IODebugContext*) override {
    return IOStatus::NotSupported(path);
  }
  IOStatus GetFileSize(const std::string& path, const IOOptions&, uint64_t* size, IODebugContext*) override;
  IOStatus GetFileModificationTime(const std::string& path, const IOOptions&, uint64_t* seconds,
                                   IODebugContext*) override;
  IOStatus RenameFile(const std::string& from, const std::string& to, const IOOptions&,
                      IODebugContext*) override;
  IOStatus LinkFile(const std::string& from, const std::string& to, const IOOptions&,
                    IODebugContext*) override {
    return status_of(directory_.link(name_of(from), directory_, name_of(to)), from);
  }
  IOStatus LockFile(const std::string&, const IOOptions&, ::rocksdb::FileLock** lock,
                    IODebugContext*) override {
    *lock = new NoLock();
    return IOStatus::OK();
  }
  IOStatus UnlockFile(::rocksdb::FileLock* lock, const IOOptions&, IODebugContext*) override {
    delete lock;
    return IOStatus::OK();
  }
  IOStatus GetTestDirectory(const IOOptions&, std::string*, IODebugContext*) override {
    return IOStatus::NotSupported();
  }
  IOStatus NewLogger(const std::string&, const IOOptions&, std::shared_ptr<::rocksdb::Logger>*,
                     IODebugContext*) override {
    return IOStatus::NotSupported();
  }
  IOStatus GetAbsolutePath(const std::string& path, const IOOptions&, std::string* result,
                           IODebugContext*) override {
    *result = path;
    return IOStatus::OK();
  }
  IOStatus IsDirectory(const std::string& path, const IOOptions&, bool* result, IODebugContext*) override {
    *result = path == object_path;
    return IOStatus::OK();
  }

 private:
  // Returns a copy of the content as a record, which readers treat like a small file.
  std::optional<FileRecord> find(const std::string& name) const {
    const std::shared_ptr<MemoryFile> file = in_memory(name);
    if (file == nullptr) return directory_.find(name);
    const std::lock_guard lock(file->mutex);
    FileRecord record{.is_complete = true, .size = file->content.size()};
    record.inlined = file->content;
    return record;
  }
  std::shared_ptr<MemoryFile> in_memory(const std::string& name) const {
    const std::lock_guard lock(mutex_);
    const auto found = memory_.find(name);
    return found == memory_.end() ? nullptr : found->second;
  }
  template <typename Reader, typename File>
  IOStatus open(const std::string& path, std::unique_ptr<File>* result) {
    const std::string name = name_of(path);
    std::optional<FileRecord> record = find(name);
    if (!record) return IOStatus::PathNotFound(path);
    if (!record->is_complete) return IOStatus::IOError(path, "the file is not complete");
    *result = std::make_unique<Reader>(directory_, name, std::move(*record));
    return IOStatus::OK();
  }

  ObjectDirectory& directory_;
  mutable std::mutex mutex_;
  std::map<std::string, std::shared_ptr<MemoryFile>> memory_;  // guarded by mutex_
};

IOStatus ObjectFileSystem::NewWritableFile(const std::string& path, const FileOptions&,
                                           std::unique_ptr<::rocksdb::FSWritableFile>* result,
                                           IODebugContext*) {
  const std::string name = name_of(path);
  if (stays_in_memory(name)) {
    auto file = std::make_shared<MemoryFile>();
    const std::lock_guard lock(mutex_);
    memory_[name] = file;
    *result = std::make_unique<MemoryWriter>(std::move(file));
    return IOStatus::OK();
  }
  FileRecord record;
  if (const Reply reply = directory_.create(name, is_manifest(name), record); !reply.is_done())
    return status_of(reply, path);
  *result = std::make_unique<ObjectWriter>(directory_, name, record);
  return IOStatus::OK();
}

IOStatus ObjectFileSystem::GetChildren(const std::string& path, const IOOptions&,
                                       std::vector<std::string>* result, IODebugContext*) {
  if (path != object_path && path != std::string(object_path) + "/") return IOStatus::PathNotFound(path);
  *result = directory_.names();
  const std::lock_guard lock(mutex_);
  for (const auto& [name, file] : memory_) result->push_back(name);
  return IOStatus::OK();
}

IOStatus ObjectFileSystem::DeleteFile(const std::string& path, const IOOptions&, IODebugContext*) {
  const std::string name = name_of(path);
  {
    const std::lock_guard lock(mutex_);
    if (memory_.erase(name) > 0) return IOStatus::OK();
  }
  return status_of(directory_.remove(name), path);
}

IOStatus ObjectFileSystem::GetFileSize(const std::string& path, const IOOptions&, uint64_t* size,
                                       IODebugContext*) {
  const std::optional<FileRecord> record = find(name_of(path));
  if (!record) return IOStatus::PathNotFound(path);
  *size = record->size;
  return IOStatus::OK();
}

IOStatus ObjectFileSystem::GetFileModificationTime(const std::string& path, const IOOptions&,
                                                   uint64_t* seconds, IODebugContext*) {
  constexpr int64_t micros_per_second = 1'000'000;
  const std::optional<FileRecord> record = directory_.find(name_of(path));
  if (!record) return IOStatus::PathNotFound(path);
  *seconds = static_cast<uint64_t>(record->modified_micros / micros_per_second);
  return IOStatus::OK();
}

IOStatus ObjectFileSystem::RenameFile(const std::string& from, const std::string& to, const IOOptions&,
                                      IODebugContext*) {
  const std::string source = name_of(from), target = name_of(to);
  const std::shared_ptr<MemoryFile> file = in_memory(source);
  if (file == nullptr) return status_of(directory_.rename(source, target), from);
  if (!stays_in_memory(target)) {
    Bytes content;
    {
      const std::lock_guard lock(file->mutex);
      content = file->content;
    }
    if (const Reply reply = directory_.create_inline(target, std::move(content)); !reply.is_done())
      return status_of(reply, to);
  }
  const std::lock_guard lock(mutex_);
  memory_.erase(source);
  if (stays_in_memory(target)) memory_[target] = file;
  return IOStatus::OK();
}

}  // namespace

std::shared_ptr<::rocksdb::FileSystem> make_object_file_system(ObjectDirectory& directory) {
  return std::make_shared<ObjectFileSystem>(directory);
}

}  // namespace sibyl::storage::rocksdb
