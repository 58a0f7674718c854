// Tables that are used as queues, with the tombstones of what has been taken. Internal to trials.
#pragma once

#include <string>
#include <vector>

#include "advisor/review_fix.h"
#include "advisor/trial_data.h"

namespace sibyl::advisor {

// Lets the table have lost as many rows as reads of its front meet, within what can be loaded. Why that
// cannot be is returned; empty: it is done. `assumed`: told what is not as declared.
std::string make_queue(const Proposal::Queue& queue, TableData& data, std::vector<std::string>& assumed);

}  // namespace sibyl::advisor
