#include "base/check.h"

#include <cstdio>
#include <cstdlib>

namespace sibyl::base {

void check_failed(const char* condition, const char* file, int line) noexcept {
  std::fprintf(stderr, "sibyl: internal check failed: %s at %s:%d\n", condition, file, line);
  std::abort();
}

}  // namespace sibyl::base
