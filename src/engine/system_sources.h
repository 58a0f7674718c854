// The settings that are shown.
#pragma once

#include <map>
#include <string>

#include "engine/engine.h"
#include "engine/system_tables.h"

namespace sibyl::engine {

// system_views.settings: what the engine knows itself, under what the options say.
std::map<std::string, std::string> shown_settings(const Options& options, const Node& node);

}  // namespace sibyl::engine
