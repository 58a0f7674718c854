#include "base/source_path.h"

namespace sibyl::base {

// Only this file is compiled with the path of the checkout. ccache shares the entries of all others between
// checkouts.
std::string source_path(std::string_view path) {
  return std::string(SIBYL_SOURCE_DIR) + "/" + std::string(path);
}

}  // namespace sibyl::base
