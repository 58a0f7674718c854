// Plans statements.
#pragma once

#include <string>
#include <string_view>

#include "base/bytes.h"
#include "base/result.h"
#include "execute/trace.h"
#include "plan/prepared.h"

namespace sibyl::engine {

// The id depends only on keyspace and text, because drivers compare ids.
struct PreparedStatement {
  base::Bytes id;
  plan::PreparedPtr plan;
};

// Thread-safe.
class Planner {
 public:
  virtual ~Planner() = default;

  // Keeps the statement, so that it can be found by its id.
  virtual base::Result<PreparedStatement> prepare(std::string_view text, const std::string& keyspace) = 0;
  // Returns the newest plan for an id. Plans it again if its tables changed. Returns an `unprepared` error
  // for ids that are not kept, and for statements that are invalid for the newest schema.
  virtual base::Result<plan::PreparedPtr> find_prepared(std::string_view id) = 0;
  // Parses and binds a text that is executed without being prepared. The plan is cached for repeats but is
  // not kept as a prepared statement. Records in `trace` which steps were needed.
  virtual base::Result<plan::PreparedPtr> plan_query(std::string_view text, const std::string& keyspace,
                                                     execute::Trace* trace = nullptr) = 0;
};

}  // namespace sibyl::engine
