// Reports sizes that cannot be estimated, with the numbers that are missing.
#include "advisor/review/judgement/unknown.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace sibyl::advisor {
namespace {

// The partition key columns whose number of values is not declared.
std::vector<std::string> unknown_columns(const TableFacts& table) {
  std::vector<std::string> out;
  for (size_t i = 0; i < table.table->partition_key_count; ++i) {
    const schema::Column& column = table.table->partition_key(i);
    const ColumnFacts& known = table.column(column);
    if (!(known.is_period ? known.growth : known.distinct)) out.push_back(column.name);
  }
  return out;
}

// True if rows of one key keep arriving, in the order of time.
bool never_ends(const TableFacts& table) {
  return table.growth && !table.retention && !table.has_period() && time_column(table) != nullptr;
}

void fix_unknown(const TableFacts& table, const std::vector<std::string>& columns, Finding& finding) {
  std::vector<std::string> lines;
  for (const std::string& name : columns) {
    const bool period = table.columns.at(name).is_period;
    lines.push_back(fmt::format("-- @column {}.{} {}", table.table->name, name,
                                period ? "growth=1/d (or the length of its period)" : "distinct=N"));
  }
  if (lines.empty()) lines.push_back(fmt::format("-- @table {} partitions=N", table.table->name));
  finding.fix = fmt::format("Declare what is missing: {}.", fmt::join(lines, "; "));
  if (never_ends(table))
    finding.fix += fmt::format(
        " Each partition grows as long as its key gets rows. Unless that ends by itself, add a period of {} "
        "to "
        "the partition key, or a time to live.",
        time_column(table)->name);
  finding.cost = "None yet.";
}

}  // namespace

void review_unknown(const ReviewModel& model, const TableFacts& table, Review& review) {
  if (table.table->clustering_count == 0 || table.origin == Origin::measured || table.row_bytes <= 0) return;
  const double ahead = model.horizon_of(table), target = model.target.partition_bytes;
  if ((!table.rows && !table.growth) || table.rows_per_partition_after(ahead)) return;
  // The clustering columns have too few values for a large partition.
  if (table.capacity_of_partition() * table.row_bytes <= target) return;
  const double bytes = table.rows_after(ahead) * table.row_bytes;
  if (bytes <= target) return;
  const std::vector<std::string> columns = unknown_columns(table);
  const double least = std::ceil(bytes / target);
  constexpr double many = 100'000;
  Finding finding = begin_finding(
      table, Verdict::unknown_size, least > many ? Severity::warning : Severity::note,
      fmt::format(
          "The sizes of partitions are unknown. They meet the target of {} only if there are at least {} "
          "of them, evenly filled.",
          size_text(target), count_text(least)));
  finding.evidence.push_back(
      {fmt::format("{} after {}", size_text(bytes), duration_text(ahead)), Origin::estimated});
  if (table.growth) finding.evidence.push_back(growth_evidence(table));
  if (!columns.empty())
    finding.evidence.push_back(
        {fmt::format("not declared: the number of values of {}", listed(columns)), Origin::declared});
  if (!table.rows)
    finding.evidence.push_back({"rows= is not declared: the table starts empty", Origin::estimated});
  fix_unknown(table, columns, finding);
  review.findings.push_back(std::move(finding));
}

std::string missing_values(const ReviewModel& model, const TableFacts& base, const Shape& shape) {
  const TableFacts facts = facts_of(base, shape);
  if (facts.table->clustering_count == 0 || facts.partitions) return {};
  const double ahead = model.horizon_of(facts), bytes = facts.rows_after(ahead) * facts.row_bytes;
  const bool sized = facts.rows || facts.growth;
  if (sized && bytes <= model.target.partition_bytes) return {};
  std::vector<std::string> names;
  for (size_t i = 0; i < facts.table->partition_key_count; ++i) {
    const schema::Column& column = facts.table->partition_key(i);
    const types::Kind kind = column.type->kind();
    // Columns that identify something have many values.
    const bool identifies = kind == types::Kind::uuid || kind == types::Kind::timeuuid ||
                            column.name == "id" || column.name.ends_with("_id");
    if (identifies && !sized) return {};
    const ColumnFacts& known = facts.column(column);
    if (!known.distinct && !(known.is_period && known.growth)) names.push_back(column.name);
  }
  if (names.empty()) return {};
  return fmt::format(
      "The number of values of {} is not declared: {}. With few values, add a period of time or a hash "
      "prefix to its partition key.",
      listed(names),
      sized ? fmt::format("with fewer than {}, partitions of {} exceed the target of {}",
                          count_text(std::ceil(bytes / model.target.partition_bytes)), shape.name,
                          size_text(model.target.partition_bytes))
            : fmt::format("all rows with one value share a partition of {}", shape.name));
}

}  // namespace sibyl::advisor
