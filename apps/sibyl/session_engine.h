// The database in this process, for the commands that work on a data directory themselves.
#pragma once

#include <memory>
#include <string>

#include "base/result.h"
#include "engine/engine.h"

namespace sibyl::shell {

// As engine::Engine::open(). When a server uses the directory the error's hint says what to do.
base::Result<std::unique_ptr<engine::Engine>> open_engine(const std::string& data);

}  // namespace sibyl::shell
