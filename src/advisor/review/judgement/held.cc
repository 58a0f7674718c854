// Checks proposed tables by the rules for existing ones.
#include "advisor/review/judgement/held.h"

#include <fmt/format.h>

#include <algorithm>

#include "advisor/review/table.h"

namespace sibyl::advisor {
namespace {

// Declares the values of the columns that split the partitions.
TableFacts with_values(const TableFacts& base, const Shape& shape,
                       const std::vector<Proposal::Added>& added) {
  TableFacts source = base;
  for (const Proposal::Added& one : added) {
    ColumnFacts& known = source.columns[one.name];
    if (one.modulo > 0) known.distinct = one.modulo;
    if (one.width > 0) known.growth = 1 / one.width;
    known.is_period = one.width > 0;
  }
  return facts_of(source, shape);
}

}  // namespace

std::string shortcomings(const ReviewModel& model, const TableFacts& base, Shape shape,
                         const std::vector<Proposal::Added>& added) {
  for (const Proposal::Added& one : added) {
    // Only the application knows the values of copies and shards.
    if (one.modulo <= 0 && one.width <= 0) return {};
    if (!shape.has(one.name)) shape.add_to_partition({one.name, one.type, false});
    if (!one.instead_of.empty()) shape.remove_from_partition(one.instead_of);
  }
  const TableFacts facts = with_values(base, shape, added);
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
