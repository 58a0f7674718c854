// The replication option of keyspaces.
#pragma once

#include <string>
#include <vector>

#include "plan/options/options.h"

namespace sibyl::plan {

// A keyspace's replication from WITH replication = {...}, with the full class name. `previous` is empty for a
// new keyspace. `datacenter` is this server's: NetworkTopologyStrategy must not name another. Adds a warning
// if there are more replicas than nodes.
base::Result<OptionMap> read_replication(const std::string& keyspace, const OptionMap& given,
                                         const OptionMap& previous, const std::string& datacenter,
                                         std::vector<std::string>& warnings);

}  // namespace sibyl::plan
