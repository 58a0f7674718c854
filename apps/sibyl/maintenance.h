// What a server does for `sibyl flush` and `sibyl compact`.
#pragma once

#include "engine/engine.h"
#include "server/control.h"

namespace sibyl {

// The engine must outlive the control socket's serving.
void add_maintenance_control(server::Control& control, engine::Engine& engine);

}  // namespace sibyl
