// `sibyl layout`, and the server's handler for it.
#pragma once

#include "engine/engine.h"
#include "server/http/control.h"

namespace CLI {
class App;
}

namespace sibyl::cli {

// See commands.h.
void add_layout_command(CLI::App& app);

// The engine must outlive `control`, or at least its stop().
void add_layout_control(server::Control& control, engine::Engine& engine);

}  // namespace sibyl::cli
