// A measurement as a member of JSON documents. Internal to rendering.
#pragma once

#include <boost/json/fwd.hpp>

namespace sibyl::advisor {

struct Measurement;

// An object; of none null. docs/advisor-json.md has its members.
boost::json::value measurement_json(const Measurement* measurement);

}  // namespace sibyl::advisor
