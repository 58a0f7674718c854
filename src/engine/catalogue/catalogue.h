// The durable schema. It consists of records under the catalogue's table id: a header, and one record per
// keyspace, table, view, type, function and aggregate.
//
// Threads: not thread-safe; the engine serialises definitions. The owner of the catalogue publishes the
// newest schema.
//
// In a cluster, each server has a Catalogue. The server that holds the records (storage::Store::hold) changes
// them, and the others read them again with refresh(). A change does not erase the records of dropped tables,
// because servers that do not know the change yet still read them. The policy keeps them until settle().
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "schema/schema.h"
#include "storage/store.h"

namespace sibyl::engine {

// The key of the record with the build progress of the index or view with this storage id (builder.h). The
// record is deleted together with the index or view.
base::Bytes build_progress_key(uint32_t storage_id);

// The minimum time, in seconds, for which clusters keep deletions, because an interrupted batch may be
// applied again (intents.h).
inline constexpr int64_t min_gc_grace_seconds = 3600;

class Catalogue {
 public:
  // Reads the catalogue, or creates one in an empty store. Fails if the store holds records but no catalogue:
  // it is then not a Sibyl store. The system keyspaces are part of the schema but are not stored as records.
  enum class Use : uint8_t { alone, in_cluster };
  static base::Result<Catalogue> load(storage::Store& store, Use use = Use::alone);

  // Makes the catalogue readable in a store that lost records. Recreates a lost header and lost keyspaces,
  // and removes records that still cannot be read. Returns one text per repair. REQUIRES: nothing else uses
  // the store.
  static base::Result<std::vector<std::string>> repair(storage::Store& store);

  const schema::SnapshotPtr& schema() const { return schema_; }
  const base::Bytes& host_id() const { return host_id_; }

  // Makes `next` the schema and assigns it a new version. The change is durable when this returns. Records of
  // dropped tables and the writes in `also` are part of the same atomic commit. After an error nothing has
  // changed.
  base::Status change(const schema::Snapshot& next, const std::vector<uint32_t>& dropped_storage_ids,
                      storage::WriteSet also = {});

  // Reads the records again if another server has changed them. Returns true if so. Unchanged definitions are
  // shared with the former schema.
  base::Result<bool> refresh();
  // Declares that every server uses this version of the schema or a newer one. Records of tables that were
  // dropped up to this version may then be removed.
  void settle(const base::Bytes& version);

 private:
  Catalogue(storage::Store& store, Use use) : store_(&store), use_(use) {}
  base::Status begin();
  base::Status read_records();
  base::Result<bool> read_newer();
  // `before`: the schema for which the current policy was made.
  void set_purge_policy(const schema::Snapshot& before);

  storage::Store* store_;
  Use use_;
  // The policies of dropped tables that other servers may still read, with the versions that dropped them.
  struct Retired {
    base::Bytes version;
    uint32_t storage_id = 0;
    storage::PurgePolicy::Table policy;
  };
  std::vector<Retired> retired_;
  std::shared_ptr<const storage::PurgePolicy> purge_policy_;
  base::Bytes host_id_;
  schema::SnapshotPtr schema_;
};

}  // namespace sibyl::engine
