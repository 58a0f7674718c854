// For tests: the JSON output of a command.
#pragma once

#include <boost/json.hpp>

#include "cli/test_process.h"

namespace sibyl::cli {

// Parses the output. If it is not JSON, fails the test and returns an empty object.
inline boost::json::value json_of(const Outcome& outcome) {
  boost::system::error_code problem;
  boost::json::value parsed = boost::json::parse(outcome.output, problem);
  EXPECT_FALSE(problem) << outcome.output << outcome.errors;
  return problem ? boost::json::value(boost::json::object{}) : parsed;
}

}  // namespace sibyl::cli
