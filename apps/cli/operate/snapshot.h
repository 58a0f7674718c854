// The server's handler for `sibyl snapshot take`.
#pragma once

#include <string>

#include "engine/engine.h"
#include "server/http/control.h"

namespace sibyl::cli {

// The engine must outlive `control`, or at least its stop().
void add_snapshot_control(server::Control& control, engine::Engine& engine, const std::string& data);

}  // namespace sibyl::cli
