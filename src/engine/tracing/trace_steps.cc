#include "engine/tracing/trace_steps.h"

#include <fmt/format.h>

#include "plan/restrictions/restrictions.h"
#include "plan/statements/modify.h"
#include "plan/statements/select.h"

namespace sibyl::engine {

using execute::Completion;
using execute::ResultSet;

namespace {

struct DescribeRun {
  std::string operator()(const std::shared_ptr<const plan::Select>& select) const {
    const plan::Restrictions& where = *select->where;
    const std::string& table = select->table->name;
    if (select->nearest != nullptr)
      return fmt::format("Executing a search for the nearest rows of {}", table);
    if (!where.index_uses().empty()) return fmt::format("Executing an indexed query on {}", table);
    if (where.partitions() == plan::Restrictions::Partitions::range)
      return fmt::format("Executing a scan of {}{}", table,
                         where.restricts_partition() ? ", within a range of tokens" : "");
    return fmt::format(fmt::runtime(where.has_partition_in() ? "Executing a query on several partitions of {}"
                                                             : "Executing single-partition query on {}"),
                       table);
  }
  std::string operator()(const std::shared_ptr<const plan::Modification>& write) const {
    return fmt::format("Executing a write on {}{}", write->table->name,
                       write->reads_first ? ", reading first under the partition lock" : "");
  }
  std::string operator()(const std::shared_ptr<const plan::Batch>&) const { return "Executing a batch"; }
  std::string operator()(const plan::Truncate& truncate) const {
    return fmt::format("Truncating {}", truncate.table->name);
  }
  std::string operator()(const plan::Definition&) const { return "Changing the schema"; }
  template <typename Other>
  std::string operator()(const Other&) const {
    return "Executing the statement";
  }
};

}  // namespace

std::string describe_run(const plan::Prepared& plan) {
  return std::visit(DescribeRun{}, plan.plan);
}

Completion with_steps(std::string first, const char* committed, execute::Trace& trace, Completion done) {
  trace.step(std::move(first));
  return [&trace, committed, done = std::move(done)](base::Result<ResultSet> result) mutable {
    if (!result) {
      trace.step("Failed: " + result.error().message());
    } else if (result->kind == ResultSet::Kind::rows) {
      trace.step(fmt::format("Returning {} rows of {} bytes{}", result->rows.count(),
                             result->rows.bytes().size(), result->paging_state ? "; more rows follow" : ""));
    } else if (result->kind == ResultSet::Kind::nothing) {
      trace.step(committed);
    } else {
      trace.step("Done");
    }
    done(std::move(result));
  };
}

}  // namespace sibyl::engine
