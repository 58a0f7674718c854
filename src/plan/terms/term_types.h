// How well values fit receivers of other types.
#pragma once

#include "plan/terms/term.h"

namespace sibyl::plan {

// How well a value of `type` fits a receiver of type `receiver` (bigint fits timestamp, ascii fits text,
// ...).
Fit fit_of(const types::Type& type, const types::Type& receiver);

}  // namespace sibyl::plan
