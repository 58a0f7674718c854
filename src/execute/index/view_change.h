// How a change of a row affects one view.
#pragma once

#include "base/result.h"
#include "execute/row_change.h"
#include "schema/schema.h"
#include "storage/store.h"

namespace sibyl::execute {

// Adds the operations for the view: put() for whole records, erase() for removed ones. To build from existing
// data, pass an empty `before`. REQUIRES: not a static row.
//
// A row is not in the view if its view key would exceed the maximum length of keys. In this case the function
// returns the length of that key, so that the caller can refuse or report it; otherwise 0.
base::Result<size_t> write_view_change(const schema::TablePtr& view, const RowChange& change,
                                       storage::WriteSet& writes);

}  // namespace sibyl::execute
