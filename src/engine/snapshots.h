// Snapshots: the whole database as of one moment, kept beside it in DATA/snapshots/NAME.
//
//   SNAPSHOT    what it holds: a line "sibyl snapshot 1 CRC" (of the rest, CRC-32C in hexadecimal), then JSON
//   records/    the tables' files; those that never change are links, so a snapshot is taken at once and
//   takes
//               space only for what the database has since dropped or rewritten
//
// A snapshot holds every write that was acknowledged before it began, and of no batch a part. It is not
// opened where it is: restoring checks every file and copies it into a new data directory. A snapshot may
// come from elsewhere: only ordinary files directly in records/ are read and written, and links are not
// followed.
//
// Threads and processes: one snapshot is taken or cleared at a time, which a lock sees to; the rest may
// happen at any time.
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
  std::string name;  // its directory's
  std::string path;
  int64_t taken_millis = 0;
  std::vector<SnapshotTable> tables;
  std::vector<storage::CheckpointFile> files;
  uint64_t bytes = 0;
  uint64_t own_bytes = 0;  // of files that the database no longer has: what clearing would give back
};

// An empty name: one made of the time. Names have letters, digits, '.', '_' and '-'.
base::Result<SnapshotInfo> take_snapshot(const std::string& data, std::string name, storage::Store& store,
                                         const schema::Snapshot& schema, int64_t now_millis);
// In the order of their taking. Those whose SNAPSHOT cannot be read are named in `damaged`.
base::Result<std::vector<SnapshotInfo>> list_snapshots(const std::string& data,
                                                       std::vector<std::string>* damaged = nullptr);
base::Status clear_snapshot(const std::string& data, const std::string& name);

std::string snapshot_path(const std::string& data, const std::string& name);
// Reads SNAPSHOT alone.
base::Result<SnapshotInfo> read_snapshot(const std::string& path);
// Reads every file; an error names the first that is missing, too long or short, or changed.
base::Status verify_snapshot(const SnapshotInfo& snapshot);
// Into a directory that does not exist or is empty. Every file is checked as it is copied; the directory is a
// database only when all is there, and after a failure as it was before.
base::Status restore_snapshot(const SnapshotInfo& snapshot, const std::string& to);

// Of system_views.snapshots.
std::vector<SystemRow> snapshot_rows(const std::string& data);

}  // namespace sibyl::engine
