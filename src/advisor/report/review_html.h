// A review as one HTML page.
#pragma once

#include <string>

#include "advisor/review/review.h"

namespace sibyl::advisor {

// Verdicts, charts, diagrams and details, without scripts or external files.
std::string render_html(const Review& review);

}  // namespace sibyl::advisor
