#include "engine/system_tables/index_rows.h"

#include <fmt/format.h>

#include "schema/index.h"
#include "types/value.h"

namespace sibyl::engine {

using types::Kind;

namespace {

std::string analyzer(const schema::Index& index, const schema::Column& column) {
  const bool is_given = index.options.contains("case_sensitive") || index.options.contains("normalize") ||
                        index.options.contains("ascii");
  if (!is_given) return "NoOpAnalyzer";
  const schema::TextAnalysis analysis = schema::analysis_of(index, column);
  return fmt::format("NonTokenizingAnalyzer{{caseSensitive={}, normalized={}, ascii={}}}",
                     analysis.letters == schema::TextAnalysis::Case::keep, analysis.normalise,
                     analysis.ascii);
}

// Returns true if Cassandra indexes the values as strings: types without range queries.
bool is_string(const schema::Column& column, const schema::Index& index) {
  if (index.target == schema::Index::Target::entries) return true;
  switch (schema::indexed_type(column, index.target)->kind()) {
    case Kind::text:
    case Kind::ascii:
    case Kind::boolean:
    case Kind::list:
    case Kind::set:
    case Kind::map:
    case Kind::tuple:
    case Kind::udt:
    case Kind::vector:
      return true;
    default:
      return false;
  }
}

}  // namespace

std::vector<SystemRow> attached_index_rows(const schema::Snapshot& schema, const Builder& builder) {
  std::vector<SystemRow> rows;
  for (const auto& [name, keyspace] : schema.keyspaces)
    for (const auto& [table_name, table] : keyspace->tables)
      for (const schema::Index& index : table->indexes) {
        if (schema::class_of(index) != schema::IndexClass::attached) continue;
        const schema::Column& column = *table->find_by_id(index.column_id);
        const bool is_given_up = builder.failure(index.storage_id).has_value();
        rows.push_back({{"keyspace_name", name},
                        {"index_name", index.name},
                        {"analyzer", analyzer(index, column)},
                        {"column_name", column.name},
                        {"is_building", types::encode_boolean(!index.is_built && !is_given_up)},
                        {"is_queryable", types::encode_boolean(!is_given_up)},
                        {"is_string", types::encode_boolean(is_string(column, index))},
                        {"table_name", table_name}});
      }
  return rows;
}

}  // namespace sibyl::engine
