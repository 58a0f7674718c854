// What a server does for `sibyl snapshot take`.
#pragma once

#include <string>

#include "engine/engine.h"
#include "server/control.h"

namespace sibyl {

// The engine must outlive the control socket's serving.
void add_snapshot_control(server::Control& control, engine::Engine& engine, const std::string& data);

}  // namespace sibyl
