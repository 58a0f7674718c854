// Checks the options of indexes with a class (SAI, SASI), with Cassandra's rules.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "schema/index.h"

namespace sibyl::plan {

// REQUIRES: the index has the class that is checked, and is not yet in the table. `targets` is the number of
// named columns.
base::Status check_attached_index(const schema::Table& table, const schema::Index& index, size_t targets,
                                  std::vector<std::string>& warnings);
base::Status check_sasi_index(const schema::Table& table, const schema::Index& index, size_t targets,
                              std::vector<std::string>& warnings);

}  // namespace sibyl::plan
