// Whether indexes and views are what their tables say: everything is computed again and compared, record by
// record.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "schema/schema.h"
#include "storage/store.h"

namespace sibyl::execute {

// What is wrong, in words, one line for each record that is missing, left over or different; at most `most`.
// Those that are not built yet are left out. What has expired by `now` is not compared: compaction may have
// purged it here and not there. REQUIRES: nobody writes meanwhile.
base::Result<std::vector<std::string>> check_upkeep(const schema::Snapshot& schema,
                                                    const storage::Store& store, int64_t now_seconds,
                                                    size_t most = 20);

}  // namespace sibyl::execute
