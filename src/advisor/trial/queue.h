// Tables that are used as queues, with tombstones of consumed rows. Internal to src/advisor/trial.
#pragma once

#include <string>
#include <vector>

#include "advisor/review/fix.h"
#include "advisor/trial/data.h"

namespace sibyl::advisor {

// Marks rows at the front of the queue as deleted: as many tombstones as its reads find there, but no more
// than can be loaded. Returns the reason if that is impossible, otherwise an empty string. `assumed`
// receives deviations from the declared statistics.
std::string make_queue(const Proposal::Queue& queue, TableData& data, std::vector<std::string>& assumed);

}  // namespace sibyl::advisor
