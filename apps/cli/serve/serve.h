// `sibyl serve`; and running a server until a signal stops it, which `sibyl demo` does too.
#pragma once

#include <functional>
#include <memory>

#include "cli/configuration/reader.h"
#include "server/server.h"

namespace CLI {
class App;
}

namespace sibyl::cli {

// Called once the server answers. The returned object is destroyed before the server stops.
using WhileServing = std::function<std::shared_ptr<void>(const server::Server&)>;

// Blocks until SIGTERM or SIGINT. Returns the exit status. Errors name the `command`. `announce` is called
// once the log is open. Must be called before other threads are started, because it blocks these signals.
int run_server(const char* command, const Reader::Result& read, const std::function<void()>& announce,
               const WhileServing& while_serving);

// See commands.h.
void add_serve_command(CLI::App& app);

}  // namespace sibyl::cli
