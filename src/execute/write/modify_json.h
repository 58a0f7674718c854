// INSERT JSON. Internal to src/execute/write.
#pragma once

#include <vector>

#include "plan/statements/modify.h"

namespace sibyl::execute {

// Reads the values of all columns of the table. They are stored in `scratch`.
base::Status read_json(const plan::Modification& statement, const plan::Bindings& bindings,
                       plan::Scratch& scratch, std::vector<types::ValueView>& values);

}  // namespace sibyl::execute
