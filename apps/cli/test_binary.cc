#include "cli/test_process.h"

namespace sibyl::cli {

// The only file that is compiled with the binary's path: all others share ccache's entries between checkouts.
const char* const sibyl_binary = SIBYL_BINARY;

}  // namespace sibyl::cli
