// The compaction option of tables.
#pragma once

#include "plan/options/options.h"

namespace sibyl::plan {

// The options with Cassandra's defaults for those not given, or an error in Cassandra's words.
base::Result<OptionMap> read_compaction(const OptionMap& given);
base::Status check_compaction(const OptionMap& compaction);

}  // namespace sibyl::plan
