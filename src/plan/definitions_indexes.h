// Indexes of classes of their own (SAI, SASI): their options, checked as Cassandra checks them.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "schema/index.h"

namespace sibyl::plan {

// REQUIRES: the index's class is the one checked; `targets` is how many columns were named. The index is not
// among the table's yet.
base::Status check_attached_index(const schema::Table& table, const schema::Index& index, size_t targets,
                                  std::vector<std::string>& warnings);
base::Status check_sasi_index(const schema::Table& table, const schema::Index& index, size_t targets,
                              std::vector<std::string>& warnings);

// The names of the indexes on a column, joined by commas: it may not go or change its name while they exist.
std::string dependent_indexes(const schema::Table& table, const schema::Column& column);

}  // namespace sibyl::plan
