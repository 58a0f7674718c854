// `sibyl snapshot`, and the server's handler for `sibyl snapshot take`.
#pragma once

#include <string>

#include "engine/engine.h"
#include "server/http/control.h"

namespace CLI {
class App;
}

namespace sibyl::cli {

// The engine must outlive `control`, or at least its stop().
void add_snapshot_control(server::Control& control, engine::Engine& engine, const std::string& data);

// See commands.h.
void add_snapshot_command(CLI::App& app);

}  // namespace sibyl::cli
