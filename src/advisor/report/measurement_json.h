// Converts a measurement to JSON. Internal to src/advisor/report.
#pragma once

#include <boost/json/fwd.hpp>

namespace sibyl::advisor {

struct Measurement;

// Returns an object, or null without a measurement. docs/advisor-json.md describes the members.
boost::json::value measurement_json(const Measurement* measurement);

}  // namespace sibyl::advisor
