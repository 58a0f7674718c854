// `sibyl flush` and `sibyl compact`, and the server's handlers for them.
#pragma once

#include "engine/engine.h"
#include "server/http/control.h"

namespace CLI {
class App;
}

namespace sibyl::cli {

// The engine must outlive `control`, or at least its stop().
void add_maintenance_control(server::Control& control, engine::Engine& engine);

// See commands.h.
void add_maintenance_commands(CLI::App& app);

}  // namespace sibyl::cli
