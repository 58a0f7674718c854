// Statements of the query page. Endpoints of docs/console-api.md.
#pragma once

#include "cli/console/api.h"

namespace sibyl::cli::console {

Answer run_query(const Call& call);
Answer cancel_query(const Call& call);

}  // namespace sibyl::cli::console
