// Clients, statements and background work of the server, its settings, and snapshots. Endpoints of
// docs/console-api.md.
#pragma once

#include "cli/console/api.h"

namespace sibyl::cli::console {

Answer show_activity(const Call& call);
Answer list_settings(const Call& call);
Answer show_cluster(const Call& call);
Answer take_snapshot(const Call& call);
Answer verify_snapshot(const Call& call);

}  // namespace sibyl::cli::console
