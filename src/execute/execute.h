// Runs prepared statements that read or write data.
#pragma once

#include <span>
#include <vector>

#include "execute/environment.h"
#include "execute/result_set.h"
#include "plan/prepared.h"

namespace sibyl::execute {

// Returns one page and, if there is more, a paging state that continues after it. The state stays valid
// across restarts.
base::Result<ResultSet> select(const plan::Prepared& prepared, const Request& request,
                               Environment& environment);

// Writes complete when they are durable as configured for the store.
void modify(const plan::Prepared& prepared, const Request& request, Environment& environment,
            Completion done);
void batch(const plan::Prepared& prepared, const Request& request, Environment& environment, Completion done);

// A protocol BATCH: statements with their own values, written atomically. `shape` is the batch's, or null.
struct BatchItem {
  plan::PreparedPtr statement;
  std::span<const types::ValueView> values;
};
void batch(cql::Batch::Kind kind, std::span<const BatchItem> items, const Request& request,
           Environment& environment, std::shared_ptr<plan::QueryShape> shape, Completion done);

void truncate(const plan::Prepared& prepared, Environment& environment, Completion done);

}  // namespace sibyl::execute
