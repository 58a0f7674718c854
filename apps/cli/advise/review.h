// `sibyl advise` without a subcommand: reviews files.
#pragma once

namespace CLI {
class App;
}

namespace sibyl::cli {

// See commands.h.
void add_review_options(CLI::App& advise);

}  // namespace sibyl::cli
