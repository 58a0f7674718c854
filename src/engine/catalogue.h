// The schema as the store keeps it: records of the catalogue's table id, one per keyspace, table, view,
// type, function and aggregate, and a header.
//
// Threads: not synchronised; the engine serialises definitions. The newest schema is published by whoever
// owns this.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "schema/schema.h"
#include "storage/store.h"

namespace sibyl::engine {

// The record that says how far the index or view of this storage id is built (builder.h). It goes with the
// index or view.
base::Bytes build_progress_key(uint32_t storage_id);

class Catalogue {
 public:
  // Reads the catalogue, or begins one in an empty store. A store that holds records but no catalogue is not
  // ours and refused. The system keyspaces are part of the schema but not of the records.
  static base::Result<Catalogue> load(storage::Store& store);

  // Makes the catalogue of a store that lost records readable: a lost header and lost keyspaces are made
  // anew, and what still cannot be read is removed. Returns a text for each. REQUIRES: nothing else uses the
  // store.
  static base::Result<std::vector<std::string>> repair(storage::Store& store);

  const schema::SnapshotPtr& schema() const { return schema_; }
  const base::Bytes& host_id() const { return host_id_; }

  // Makes `next` the schema, with a version of its own: durable when it returns. Records of dropped tables go
  // in the same atomic commit, which brings along what else the definition writes. After an error nothing has
  // changed.
  base::Status change(const schema::Snapshot& next, const std::vector<uint32_t>& dropped_storage_ids,
                      storage::WriteSet also = {});

 private:
  explicit Catalogue(storage::Store& store) : store_(&store) {}
  base::Status begin();
  base::Status read_records();
  // `before`: the schema that the policy so far is for.
  void set_purge_policy(const schema::Snapshot& before);

  storage::Store* store_;
  std::shared_ptr<const storage::PurgePolicy> purge_policy_;
  base::Bytes host_id_;
  schema::SnapshotPtr schema_;
};

}  // namespace sibyl::engine
