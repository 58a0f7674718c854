// The statistics of the servers of a cluster, on its storage:
//
//   object "statistics"         an entry for each server that has ever kept some
//   object "statistics/SERVER"  attribute "run": the run of the server that may write; "write": the last write. Entries: records, by key in
//                               hexadecimal
//
// A server is known by the part of its name that outlives the machine's boot.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "engine/statistics/usage_records.h"
#include "storage/objects/object_store.h"

namespace sibyl::cli {

// `run` is unique for ever. The store must outlive the result. Without load(), nothing can be written.
std::shared_ptr<engine::UsageRecords> make_cluster_statistics(storage::objects::ObjectStore& objects,
                                                              std::string server, uint64_t run);

}  // namespace sibyl::cli
