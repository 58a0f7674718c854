#include "execute/upkeep.h"
#include "execute/vector_indexes.h"

namespace sibyl::execute {

base::Status write_index_change(const schema::Index& index, const RowChange& change,
                                storage::WriteSet& writes) {
  const schema::Column& column = *change.table.find_by_id(index.column_id);
  if (column.type->kind() == types::Kind::vector) return write_vector_change(index, change, writes);
  return {};
}

}  // namespace sibyl::execute
