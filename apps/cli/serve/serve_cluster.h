// Running a server of a cluster until a signal stops it.
#pragma once

#include <signal.h>

#include <boost/json/array.hpp>

#include "cli/configuration/configuration.h"

namespace sibyl::cli {

// Blocks. Returns the exit status, or ends the process with status 4 as soon as another server may have the
// database. REQUIRES: `signals` are blocked in all threads; configuration.cluster.storage is not empty.
int serve_cluster(Configuration configuration, boost::json::array settings, const sigset_t& signals);

}  // namespace sibyl::cli
