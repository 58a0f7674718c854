// `sibyl status`.
#pragma once

namespace CLI {
class App;
}

namespace sibyl::cli {

// See commands.h.
void add_status_command(CLI::App& app);

}  // namespace sibyl::cli
