#include "cli/test_process.h"

namespace sibyl::cli {

// Only this file is compiled with the path of the checkout. ccache shares the entries of all others between
// checkouts.
const char* const sibyl_binary = SIBYL_BINARY;

}  // namespace sibyl::cli
