// What the parts of explain() share. Private to this room.
#pragma once

#include <string>

#include "plan/explain.h"

namespace sibyl::plan {

struct Select;
struct Modification;

void explain_select(const cql::Select& select, const Select& plan, const Prepared& prepared,
                    Explanation& out);
void explain_modification(const cql::Insert& insert, const Modification& plan, Explanation& out);
void explain_modification(const cql::Update& update, const Modification& plan, Explanation& out);
void explain_modification(const cql::Delete& statement, const Modification& plan, Explanation& out);

// "shop.orders".
std::string qualified(const schema::Table& table);

// Sorts a WHERE clause into what names partitions, what bounds rows and what is checked row by row.
struct SortedRelations {
  std::vector<std::string> partition, clustering, filters;
  std::optional<uint64_t> partitions = 1;  // how many keys; nullopt when only the bound values say it
  std::optional<uint64_t> rows = 1;        // how many rows of each, where the whole key is named
};
SortedRelations sort_relations(const schema::Table& table, const std::vector<cql::Relation>& where,
                               bool names_partitions,
                               const std::vector<const schema::Column*>& filtered_columns);

// "k = 1 AND c > 5"; "all" when there is none.
std::string joined(const std::vector<std::string>& relations);
// "3", or "n" when it is not known.
std::string counted(const std::optional<uint64_t>& count);

}  // namespace sibyl::plan
