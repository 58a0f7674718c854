// Sessions and engines in this process, for commands that work on a data directory without a server.
#pragma once

#include <memory>
#include <string>

#include "base/result.h"
#include "cli/session/session.h"
#include "engine/engine.h"

namespace sibyl::cli::shell {

// `data` is a directory, which is created if missing, or ":memory:". Fails while a server uses the directory.
base::Result<std::unique_ptr<Session>> open_session(const std::string& data);

// Like engine::Engine::open(). If a server uses the directory, the error's hint says what to do.
base::Result<std::unique_ptr<engine::Engine>> open_engine(const std::string& data);

}  // namespace sibyl::cli::shell
