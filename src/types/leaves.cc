#include "types/leaves.h"

namespace sibyl::types {

uint64_t count_leaves(const Type& type, uint64_t enough) {
  if (type.parameters().empty()) return 1;
  if (type.kind() == Kind::vector) {
    const uint64_t element = count_leaves(*type.element(), enough);
    return element > enough / type.dimension() ? enough + 1 : element * type.dimension();
  }
  uint64_t leaves = 0;
  for (const TypePtr& parameter : type.parameters()) {
    leaves += count_leaves(*parameter, enough - leaves);
    if (leaves > enough) return leaves;
  }
  return leaves;
}

}  // namespace sibyl::types
