// Writes that keep suggested tables current. Internal to src/advisor/trial.
#pragma once

#include <vector>

#include "advisor/trial/suggest.h"

namespace sibyl::advisor {

// Adds the actions that a write needs to keep an additional table current, and adds their work to the
// prediction. An insert writes the new row. An update first looks up the old key. If a row is stored together
// with others, every copy is written.
void add_maintenance(const Source& source, const Suggestion& suggestion, Operation& operation,
                     std::vector<Action>& actions, Trial& trial);

}  // namespace sibyl::advisor
