// The schema: its tree, definitions, and everything about one table. Endpoints of docs/console-api.md.
#pragma once

#include "cli/console/api.h"

namespace sibyl::cli::console {

Answer list_schema(const Call& call);
Answer describe_object(const Call& call);
Answer show_table(const Call& call);

}  // namespace sibyl::cli::console
