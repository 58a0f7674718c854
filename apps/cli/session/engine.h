// Opens the database in this process, for commands that work on a data directory directly.
#pragma once

#include <memory>
#include <string>

#include "base/result.h"
#include "engine/engine.h"

namespace sibyl::cli::shell {

// Like engine::Engine::open(). If a server uses the directory, the error's hint says what to do.
base::Result<std::unique_ptr<engine::Engine>> open_engine(const std::string& data);

}  // namespace sibyl::cli::shell
