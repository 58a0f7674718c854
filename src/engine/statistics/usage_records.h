// Where the counts of a server are kept while it does not run: small records by key (usage_store.h).
#pragma once

#include <map>
#include <memory>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"
#include "storage/store.h"

namespace sibyl::engine {

// All functions block. Thread-safe.
class UsageRecords {
 public:
  using Records = std::map<base::Bytes, base::Bytes>;

  virtual ~UsageRecords() = default;
  // Those of this server.
  virtual base::Result<Records> load() = 0;
  // Sets some and erases others. Records are independent, so a crash may leave some of the changes.
  virtual base::Status write(Records changed, std::vector<base::Bytes> erased) = 0;
  // Those of each other server of the cluster, as it wrote them last. Also of servers that do not run.
  virtual base::Result<std::vector<Records>> others() { return std::vector<Records>(); }
};

// In the store of one server, which must outlive it.
std::unique_ptr<UsageRecords> make_usage_records(storage::Store& store);

}  // namespace sibyl::engine
