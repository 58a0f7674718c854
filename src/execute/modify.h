// What running modifications tells the rest of this room.
#pragma once

#include "plan/prepared.h"

namespace sibyl::execute {

// Whether a modification or batch waits for locks and reads before it writes.
bool modification_may_block(const plan::Prepared& prepared);

}  // namespace sibyl::execute
