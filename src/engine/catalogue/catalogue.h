// The durable schema. It consists of records under the catalogue's table id: a header, and one record per
// keyspace, table, view, type, function and aggregate.
//
// Threads: not thread-safe; the engine serialises definitions. The owner of the catalogue publishes the
// newest schema.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "schema/schema.h"
#include "storage/store.h"

namespace sibyl::engine {

// Key of the record that says how far the index or view of this storage id is built (builder.h). The record
// is deleted together with the index or view.
base::Bytes build_progress_key(uint32_t storage_id);

class Catalogue {
 public:
  // Reads the catalogue, or creates one in an empty store. Fails if the store holds records but no catalogue:
  // it is then not a Sibyl store. The system keyspaces are part of the schema but are not stored as records.
  static base::Result<Catalogue> load(storage::Store& store);

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

 private:
  explicit Catalogue(storage::Store& store) : store_(&store) {}
  base::Status begin();
  base::Status read_records();
  // `before`: the schema for which the current policy was made.
  void set_purge_policy(const schema::Snapshot& before);

  storage::Store* store_;
  std::shared_ptr<const storage::PurgePolicy> purge_policy_;
  base::Bytes host_id_;
  schema::SnapshotPtr schema_;
};

}  // namespace sibyl::engine
