// Writes that keep suggested tables right. Internal to trials.
#pragma once

#include <vector>

#include "advisor/trial_suggest.h"

namespace sibyl::advisor {

// What a write to a table means for one beside it: the new row; of a change the old key, looked up first; of
// a row that is stored with others every copy. Adds what it takes to the prediction, too.
void add_upkeep(const Source& source, const Suggestion& suggestion, Operation& operation,
                std::vector<Action>& actions, Trial& trial);

}  // namespace sibyl::advisor
