// Snapshots: copies of the whole database at one moment, in DATA/snapshots/NAME.
//
//   SNAPSHOT    a line "sibyl snapshot 1 CRC", then JSON; CRC is the CRC-32C of the JSON in hexadecimal
//   records/    data files; files that never change are hard links
//
// Because of the links a snapshot is quick, and takes space only for data that the database has since dropped
// or rewritten.
//
// A snapshot contains every write that was acknowledged before it began, and contains each batch completely
// or not at all. It is not opened in place: restoring checks every file and copies it into a new data
// directory. Since a snapshot may come from elsewhere, only ordinary files directly in records/ are read and
// written, and links are not followed.
//
// Threads and processes: a lock ensures that one snapshot is taken or cleared at a time. All other functions
// may be called at any time.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "engine/system_rows.h"
#include "schema/schema.h"
#include "storage/store.h"

namespace sibyl::engine {

struct SnapshotTable {
  std::string keyspace, name;
  uint64_t bytes = 0;  // estimated
};

struct SnapshotInfo {
  std::string name;  // name of its directory
  std::string path;
  int64_t taken_millis = 0;
  std::vector<SnapshotTable> tables;
  std::vector<storage::CheckpointFile> files;
  uint64_t bytes = 0;
  // Bytes in files that the database no longer uses, which are freed when the snapshot is cleared.
  uint64_t own_bytes = 0;
};

// An empty name is replaced by one made from the time. Names consist of letters, digits, '.', '_' and '-'.
base::Result<SnapshotInfo> take_snapshot(const std::string& data, std::string name, storage::Store& store,
                                         const schema::Snapshot& schema, int64_t now_millis);
// Returns snapshots in the order in which they were taken. Names of snapshots with an unreadable SNAPSHOT
// file are added to `damaged`.
base::Result<std::vector<SnapshotInfo>> list_snapshots(const std::string& data,
                                                       std::vector<std::string>* damaged = nullptr);
base::Status clear_snapshot(const std::string& data, const std::string& name);

std::string snapshot_path(const std::string& data, const std::string& name);
// Reads only the SNAPSHOT file.
base::Result<SnapshotInfo> read_snapshot(const std::string& path);
// Reads every file. The error names the first file that is missing, has a wrong length or has changed.
base::Status verify_snapshot(const SnapshotInfo& snapshot);
// Restores into a directory that is empty or does not exist. Every file is checked while it is copied. The
// directory becomes a database only when it is complete; after an error it is as it was before.
base::Status restore_snapshot(const SnapshotInfo& snapshot, const std::string& to);

// Rows of system_views.snapshots.
std::vector<SystemRow> snapshot_rows(const std::string& data);

}  // namespace sibyl::engine
