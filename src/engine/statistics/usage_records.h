// The saved counts of a server, which survive a restart: small records by key (usage_store.h).
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
  // Returns the records of this server.
  virtual base::Result<Records> load() = 0;
  // Stores some records and erases others. Records are independent: a crash may leave only some of the
  // changes.
  virtual base::Status write(Records changed, std::vector<base::Bytes> erased) = 0;
  // Returns the records of each other server of the cluster, running or not, as it wrote them last.
  virtual base::Result<std::vector<Records>> others() { return std::vector<Records>(); }
};

// Records in the store of one server. The store must outlive the result.
std::unique_ptr<UsageRecords> make_usage_records(storage::Store& store);

}  // namespace sibyl::engine
