// What a command printed as JSON, for tests.
#pragma once

#include <boost/json.hpp>

#include "sibyl/test_process.h"

namespace sibyl {

// An empty object, and a failure of the test, when it is none.
inline boost::json::value json_of(const Outcome& outcome) {
  boost::system::error_code problem;
  boost::json::value parsed = boost::json::parse(outcome.output, problem);
  EXPECT_FALSE(problem) << outcome.output << outcome.errors;
  return problem ? boost::json::value(boost::json::object{}) : parsed;
}

}  // namespace sibyl
