#include "storage/rocksdb/shared/shared_store.h"

#include <rocksdb/file_system.h>

#include <utility>

#include "storage/objects/files/object_directory.h"
#include "storage/rocksdb/shared/object_file_system.h"
#include "storage/rocksdb/shared/object_log.h"
#include "storage/rocksdb/shared/shared_storage.h"

namespace sibyl::storage::rocksdb {
namespace {

// Gives the directory up when the store has closed.
class OwnedStorage final : public SharedStorage {
 public:
  OwnedStorage(std::unique_ptr<objects::ObjectStore> objects,
               std::unique_ptr<objects::ObjectDirectory> directory, const SharedStoreOptions& options)
      : objects_(std::move(objects)), directory_(std::move(directory)) {
    files = make_object_file_system(*directory_);
    open_log = [this, segment_bytes = options.store.log_segment_bytes, on_replayed = options.on_replayed](
                   const WriteLog::Replay& replay,
                   BytesView position) -> base::Result<std::unique_ptr<WriteLog>> {
      ObjectLog::Options log;
      log.directory = directory_.get();
      log.segment_bytes = segment_bytes;
      SIBYL_ASSIGN(std::unique_ptr<ObjectLog> opened, ObjectLog::open(log, replay, position));
      if (on_replayed) on_replayed(opened->recovered().groups);
      return opened;
    };
  }
  ~OwnedStorage() override {
    files.reset();
    if (!directory_->is_lost()) (void)directory_->release();
  }

 private:
  const std::unique_ptr<objects::ObjectStore> objects_;
  const std::unique_ptr<objects::ObjectDirectory> directory_;
};

}  // namespace

base::Result<std::unique_ptr<Store>> open_shared_store(std::unique_ptr<objects::ObjectStore> objects,
                                                       const SharedStoreOptions& options) {
  objects::ObjectDirectory::Options directory;
  directory.store = objects.get();
  directory.name = options.name;
  directory.patience = options.patience;
  if (options.on_lost)
    directory.on_lost = [on_lost = options.on_lost](objects::Reply why) { on_lost(objects::to_string(why)); };
  SIBYL_ASSIGN(std::unique_ptr<objects::ObjectDirectory> opened,
               objects::ObjectDirectory::open(std::move(directory)));
  (void)opened->collect();  // if this fails, leftovers of an earlier owner remain, which are harmless
  Options store = options.store;
  store.durability = Durability::synced;
  store.environment = nullptr;
  store.shared = std::make_shared<OwnedStorage>(std::move(objects), std::move(opened), options);
  return open_store({}, store);
}

}  // namespace sibyl::storage::rocksdb
