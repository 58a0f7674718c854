// The command `sibyl demo`.
#pragma once

namespace CLI {
class App;
}

namespace sibyl::cli {

void add_demo_command(CLI::App& app);

}  // namespace sibyl::cli
