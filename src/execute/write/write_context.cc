#include "execute/write/write_context.h"

namespace sibyl::execute {

Workspace& workspace() {
  constexpr size_t kept_cells = 4096;
  thread_local Workspace space;
  space.scratch.clear();
  space.targets.clear();
  space.guardrails = nullptr;
  space.warnings.clear();
  if (space.fragment.cells.capacity() > kept_cells) space.fragment = {};
  return space;
}

}  // namespace sibyl::execute
