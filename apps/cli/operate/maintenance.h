// The server's handlers for `sibyl flush` and `sibyl compact`.
#pragma once

#include "engine/engine.h"
#include "server/http/control.h"

namespace sibyl::cli {

// The engine must outlive `control`, or at least its stop().
void add_maintenance_control(server::Control& control, engine::Engine& engine);

}  // namespace sibyl::cli
