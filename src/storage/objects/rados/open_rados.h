// Opens an object store on Ceph RADOS, from a plugin library that is loaded on demand.
#pragma once

#include <chrono>
#include <memory>
#include <string>

#include "base/result.h"
#include "storage/objects/object_store.h"

namespace sibyl::storage::objects {

struct RadosOptions {
  std::string configuration;         // path of a ceph.conf; empty: Ceph's default places
  std::string user = "admin";        // of Ceph: client.USER
  std::string pool;                  // must exist and be replicated
  std::string object_namespace;      // namespace of the objects; empty: the pool's default
  std::chrono::seconds timeout{30};  // the time after which the outcome of an operation is unknown
  std::string plugin;                // path of the plugin; empty: beside the program, or in ../lib/sibyl
};

// Connects to the cluster. Blocks, for at most about the timeout.
base::Result<std::unique_ptr<ObjectStore>> open_rados(const RadosOptions& options);

// The function that the plugin exports. Plugin and program must be of the same build: they share C++ types.
using OpenRados = void(const RadosOptions& options, base::Result<std::unique_ptr<ObjectStore>>& store);
inline constexpr const char* open_rados_symbol = "sibyl_open_rados_1";

}  // namespace sibyl::storage::objects
