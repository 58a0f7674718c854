#include "engine/catalogue/server_logs.h"

#include "storage/rocksdb/shared/server_log.h"

namespace sibyl::engine {

base::Result<storage::LogSummary> summarise_server_log(storage::objects::ObjectStore& store,
                                                       const std::string& log) {
  return storage::rocksdb::summarise_log(store, log);
}

}  // namespace sibyl::engine
