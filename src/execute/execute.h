// Running prepared statements that touch data.
#pragma once

#include <span>
#include <vector>

#include "execute/environment.h"
#include "execute/result_set.h"
#include "plan/prepared.h"

namespace sibyl::execute {

// Reads. Returns one page and, when there is more, the paging state that continues after it (usable after a
// restart).
base::Result<ResultSet> select(const plan::Prepared& prepared, const Request& request,
                               Environment& environment);

// Writes complete when they are durable as the store is configured.
void modify(const plan::Prepared& prepared, const Request& request, Environment& environment,
            Completion done);
void batch(const plan::Prepared& prepared, const Request& request, Environment& environment, Completion done);

// A protocol BATCH: statements with values of their own, one atomic write. `usage`: the batch's own, or none.
struct BatchItem {
  plan::PreparedPtr statement;
  std::span<const types::ValueView> values;
};
void batch(cql::Batch::Kind kind, std::span<const BatchItem> items, const Request& request,
           Environment& environment, std::shared_ptr<void> usage, Completion done);

void truncate(const plan::Prepared& prepared, Environment& environment, Completion done);

// Whether running it may block for long (scans, many partitions, reads before writes): such go to a pool.
bool may_block(const plan::Prepared& prepared);

}  // namespace sibyl::execute
