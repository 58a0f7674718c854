// Running a server until a signal stops it: for `sibyl serve` and `sibyl demo`.
#pragma once

#include <functional>
#include <memory>

#include "cli/configuration/configuration.h"
#include "server/server.h"

namespace sibyl::cli {

// Called once the server answers. The returned object is destroyed before the server stops.
using WhileServing = std::function<std::shared_ptr<void>(const server::Server&)>;

// Blocks until SIGTERM or SIGINT. Returns the exit status. `announce` is called once the log is open. Must be
// called before other threads are started, because it blocks these signals.
int run_server(const Reader::Result& read, const std::function<void()>& announce,
               const WhileServing& while_serving);

}  // namespace sibyl::cli
