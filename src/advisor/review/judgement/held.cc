// Checks proposed tables by the rules for existing ones.
#include "advisor/review/judgement/held.h"

#include <fmt/format.h>

#include <algorithm>

#include "advisor/review/table.h"

namespace sibyl::advisor {
namespace {

// Adds the column to the partition key and declares its values. The table may already have a column of that name,
// which the new one replaces or not.
void add_column(const Proposal::Added& added, Shape& shape, TableFacts& source) {
  const std::string name = shape.free_name(added.name);
  shape.add_to_partition({name, added.type, false});
  if (!added.instead_of.empty()) shape.remove_from_partition(added.instead_of);
  ColumnFacts known;
  if (added.modulo > 0) known.distinct = added.modulo;
  if (added.width > 0) known.growth = 1 / added.width;
  known.is_period = added.width > 0;
  source.columns[name] = known;
}

}  // namespace

std::string shortcomings(const ReviewModel& model, const TableFacts& base, Shape shape,
                         const std::vector<Proposal::Added>& added) {
  TableFacts source = base;
  for (const Proposal::Added& one : added) {
    // Only the application knows the values of copies and shards.
    if (one.modulo <= 0 && one.width <= 0) return {};
    add_column(one, shape, source);
  }
  const TableFacts facts = facts_of(source, shape);
  Review review;
  review_load_and_size(model, facts, review);
  std::string out;
  for (const Finding& finding : review.findings) {
    if (finding.severity == Severity::note) continue;
    out += fmt::format("{}{} would itself get {}: {}", out.empty() ? "" : " ", shape.name,
                       to_string(finding.verdict), finding.message);
  }
  return out;
}

}  // namespace sibyl::advisor
