// Explains a SELECT, and describes WHERE clauses. Internal to src/plan/explain.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "plan/explain/explain.h"

namespace sibyl::plan {

struct Select;

void explain_select(const cql::Select& select, const Select& plan, const Prepared& prepared,
                    Explanation& out);

// "shop.orders".
std::string qualified(const schema::Table& table);

// Divides a WHERE clause into relations that select partitions, relations that bound rows, and relations that
// are checked for each row.
struct SortedRelations {
  std::vector<std::string> partition, clustering, filters;
  std::optional<uint64_t> partitions = 1;  // number of keys; nullopt if it depends on bound values
  std::optional<uint64_t> rows = 1;        // number of rows in each partition, if the whole key is named
};
SortedRelations sort_relations(const schema::Table& table, const std::vector<cql::Relation>& where,
                               bool names_partitions,
                               const std::vector<const schema::Column*>& filtered_columns);

// "k = 1 AND c > 5", or "all" for no relations.
std::string joined(const std::vector<std::string>& relations);
// "3", or "n" if unknown.
std::string counted(const std::optional<uint64_t>& count);

}  // namespace sibyl::plan
