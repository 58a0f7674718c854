// RocksDB's files on an object store.
//
// Tables and MANIFEST files are files of an ObjectDirectory. CURRENT is in its entry. OPTIONS, IDENTITY,
// LOCK, LOG and RocksDB's own log stay in memory: every open creates them anew, and the directory's epoch
// replaces LOCK. Temporary files stay in memory as well, until they are renamed to CURRENT.
//
// Once the directory is lost, every write fails as fenced (IOStatus::IOFenced), which RocksDB does not
// recover from.
#pragma once

#include <memory>
#include <string>

#include "storage/objects/files/object_directory.h"

namespace rocksdb {
class FileSystem;
}

namespace sibyl::storage::rocksdb {

// Knows only the path `object_path` (shared_storage.h). `directory` must outlive the result. Thread-safe.
std::shared_ptr<::rocksdb::FileSystem> make_object_file_system(objects::ObjectDirectory& directory);

}  // namespace sibyl::storage::rocksdb
