// The options caching, compression and speculative_retry of tables.
#pragma once

#include <string>

#include "plan/options/options.h"

namespace sibyl::plan {

// The options with Cassandra's defaults for those not given, or an error in Cassandra's words.
base::Result<OptionMap> read_caching(const OptionMap& given);
base::Result<OptionMap> read_compression(const OptionMap& given);
base::Result<std::string> read_speculative_retry(const std::string& given);

}  // namespace sibyl::plan
