#include "execute/upkeep.h"

namespace sibyl::execute {

base::Status write_index_change(const schema::Index&, const RowChange&, storage::WriteSet&) {
  return {};
}

}  // namespace sibyl::execute
