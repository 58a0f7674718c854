// The server's handler for `sibyl layout`.
#pragma once

#include "engine/engine.h"
#include "server/http/control.h"

namespace sibyl::cli {

// The engine must outlive `control`, or at least its stop().
void add_layout_control(server::Control& control, engine::Engine& engine);

}  // namespace sibyl::cli
