#include "plan/terms/existing_column.h"

#include <fmt/format.h>

#include "types/identifier.h"

namespace sibyl::plan {

base::Result<const schema::Column*> existing_column(const schema::Table& table, const std::string& name) {
  if (const schema::Column* column = table.find(name); column != nullptr) return column;
  return base::invalid(fmt::format("Undefined column name {} in table {}.{}", types::quote_identifier(name),
                                   types::quote_identifier(table.keyspace),
                                   types::quote_identifier(table.name)));
}

}  // namespace sibyl::plan
