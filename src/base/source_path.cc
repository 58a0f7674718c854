#include "base/source_path.h"

namespace sibyl::base {

// The only file that is compiled with the folder's name: all others share ccache's entries between checkouts.
std::string source_path(std::string_view path) {
  return std::string(SIBYL_SOURCE_DIR) + "/" + std::string(path);
}

}  // namespace sibyl::base
