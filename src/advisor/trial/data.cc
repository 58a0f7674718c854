#include "advisor/trial/data.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "advisor/trial/fit.h"

namespace sibyl::advisor {
namespace {

constexpr double rows_assumed = 10'000, rows_of_partition_assumed = 20;
constexpr double default_row_interval_ms = 60'000;  // milliseconds

double unit_of(uint64_t number) {
  return static_cast<double>(number >> 11) * 0x1p-53;
}

}  // namespace

TableData::TableData(TableFacts facts, uint64_t seed, const std::vector<ColumnLiteral>& literals,
                     std::vector<std::string>& assumed)
    : facts_(std::move(facts)), seed_(mix(seed, facts_.table->storage_id)) {
  take_literals(literals, assumed);
  count(assumed);
  size_partitions(assumed);
  for (const schema::Column& column : facts_.table->columns) {
    const ColumnFacts& known = facts_.column(column);
    ranks_.emplace_back(static_cast<uint64_t>(std::max(1.0, known.distinct.value_or(1))), known.skew);
  }
}

// If a statement contains a literal and the number of distinct values is unknown, assume that there are few.
void TableData::take_literals(const std::vector<ColumnLiteral>& literals, std::vector<std::string>& assumed) {
  for (const ColumnLiteral& literal : literals) {
    std::vector<base::Bytes>& known = literals_[literal.column];
    if (std::find(known.begin(), known.end(), literal.value) == known.end()) known.push_back(literal.value);
  }
  constexpr double others = 10;  // values assumed per literal
  for (const auto& [name, values] : literals_) {
    const schema::Column& column = *facts_.table->find(name);
    ColumnFacts& known = facts_.columns.at(name);
    const bool alone = (column.is_partition_key() && facts_.table->partition_key_count == 1) ||
                       (column.is_clustering() && facts_.table->clustering_count == 1);
    if (known.distinct || alone || column.is_static()) continue;
    known.distinct = others * static_cast<double>(values.size());
    known.distinct_origin = Origin::estimated;
    assumed.push_back(fmt::format("{}.{}: assumed {} values, including those that statements contain",
                                  facts_.name, name, count_text(*known.distinct)));
  }
}

void TableData::count(std::vector<std::string>& assumed) {
  const bool single = facts_.table->clustering_count == 0;
  double rows = facts_.rows.value_or(0), partitions = facts_.partitions.value_or(0);
  if (rows <= 0 && facts_.origin == Origin::measured) {
    rows = 1;
    assumed.push_back(fmt::format("{}: the table is empty; one row is loaded", facts_.name));
  } else if (rows <= 0) {
    rows = partitions > 0 && !single ? partitions * rows_of_partition_assumed : rows_assumed;
    assumed.push_back(fmt::format("{}: assumed {:.0f} rows", facts_.name, rows));
  }
  if (single) partitions = rows;
  if (partitions <= 0) {
    partitions = std::max(1.0, rows / rows_of_partition_assumed);
    assumed.push_back(fmt::format("{}: assumed {:.0f} partitions", facts_.name, partitions));
  }
  row_interval_ms_ =
      facts_.growth && *facts_.growth > 0 ? partitions / *facts_.growth * 1000 : default_row_interval_ms;
  rows_ = static_cast<uint64_t>(std::max(1.0, rows));
  partitions_ = static_cast<uint64_t>(std::clamp(partitions, 1.0, static_cast<double>(rows_)));
}

void TableData::size_partitions(std::vector<std::string>& assumed) {
  const bool single = facts_.table->clustering_count == 0;
  const double mean = static_cast<double>(rows_) / static_cast<double>(partitions_);
  sizes_.assign(partitions_, 1);
  if (single && facts_.partition_bytes) {
    const Sizes& known = *facts_.partition_bytes;
    const double bytes = std::max(1.0, facts_.row_bytes);
    for (const double size : fit_sizes(partitions_, {known.p50, known.max, std::nullopt, known.p99}, bytes))
      weights_.push_back(static_cast<float>(size / bytes));
  } else if (!single && facts_.p50 && facts_.max) {
    const std::vector<double> sizes =
        fit_sizes(partitions_, {*facts_.p50, *facts_.max, facts_.p90, facts_.p99}, mean);
    for (uint64_t i = 0; i < partitions_; ++i)
      sizes_[i] = static_cast<uint32_t>(std::clamp(std::round(sizes[i]), 1.0, 4e9));
    if (sizes[0] < 0.99 * *facts_.max)
      assumed.push_back(
          fmt::format("{}: the largest partition has {} rows instead of {}, because fewer rows are loaded",
                      facts_.name, count_text(sizes[0]), count_text(*facts_.max)));
  } else {
    const Ranks uneven(partitions_, facts_.skew);
    for (uint64_t i = partitions_; i < rows_; ++i) ++sizes_[uneven.at(unit_of(mix(seed_, i)))];
  }
  rest_.push_back(0);
  for (const uint32_t size : sizes_) rest_.push_back(rest_.back() + size - 1);
  rows_ = partitions_ + rest_.back();
  facts_.rows = static_cast<double>(rows_);
  facts_.partitions = static_cast<double>(partitions_);
}

TableData::Row TableData::row(uint64_t number) const {
  if (number < partitions_) return {number, number, deleted(number)};
  const uint64_t rest = number - partitions_;
  const auto after = std::upper_bound(rest_.begin(), rest_.end(), rest);
  const auto partition = static_cast<uint64_t>(after - rest_.begin() - 1);
  return {number, partition, deleted(partition) + rest - rest_[partition] + 1};
}

TableData::Row TableData::row_at(uint64_t partition, uint64_t place) const {
  const uint64_t after = deleted(partition) + place;
  if (place == 0) return {partition, partition, after};
  if (place >= sizes_[partition]) return {rows_ + place, partition, after};
  return {partitions_ + rest_[partition] + place - 1, partition, after};
}

TableData::Row TableData::new_row(uint64_t count) const {
  const Row beside = row(mix(rows(), count) % rows());
  const uint64_t number = rows() + count;
  if (facts_.table->clustering_count == 0) return {number, number, 0};
  return {number, beside.partition, deleted(beside.partition) + sizes_[beside.partition] + count};
}

bool TableLink::has(std::string_view column) const {
  return std::any_of(columns.begin(), columns.end(), [&](const auto& one) { return one.first == column; });
}

// The number of the row or partition that a row leads to. Distinct values of key columns lead to distinct
// targets, so that no two rows merge. Other columns spread uniformly over all targets, unless they have a
// known number of distinct values.
uint64_t TableData::link_number(const TableLink& link, const Row& row) const {
  const schema::Column& column = *facts_.table->find(link.columns[0].first);
  const bool alone = link.columns.size() == 1;
  if (column.is_static()) return row.partition;
  if (column.is_primary_key() && !alone) return column.is_partition_key() ? row.partition : row.place;
  const bool counted = column.is_primary_key() || facts_.column(column).distinct;
  return alone && counted ? number_of(column, row) : row.number;
}

TableData::Row TableData::linked(const TableLink& link, const Row& row) const {
  const schema::Column& column = *facts_.table->find(link.columns[0].first);
  const uint64_t count = link.to_rows ? link.to->rows() : link.to->partitions();
  uint64_t number = link_number(link, row);
  if (!column.is_primary_key()) number %= count;
  if (number >= count) return {link.to->rows() + number, number, 0};
  if (column.is_clustering()) number = (number + mix(seed_, row.partition)) % count;
  return link.to_rows ? link.to->row(number) : link.to->row_at(number, 0);
}

void TableData::mark_first_deleted(double each, std::optional<double> rate) {
  const double mean = static_cast<double>(rows_) / static_cast<double>(partitions_);
  deleted_.clear();
  for (const uint32_t size : sizes_)
    deleted_.push_back(static_cast<uint32_t>(std::round(each * static_cast<double>(size) / mean)));
  if (rate && *rate > 0) row_interval_ms_ = 1000 / *rate;
}

double TableData::mean_tombstones_met() const {
  double sum = 0;
  for (uint64_t i = 0; i < deleted_.size(); ++i) sum += static_cast<double>(sizes_[i]) * deleted_[i];
  return sum / static_cast<double>(rows_);
}

// The number for one key column. The column with the most values makes the key unique. The other columns have
// as many values as declared.
uint64_t TableData::key_number(size_t position, size_t first, size_t count, uint64_t whole) const {
  const auto values = [&](size_t column) {
    const auto& distinct = facts_.column(facts_.table->columns[column]).distinct;
    return distinct && count > 1 ? *distinct : std::numeric_limits<double>::infinity();
  };
  size_t main = first;
  for (size_t column = first; column < first + count; ++column) {
    if (values(column) >= values(main)) main = column;
  }
  // The part of the number that the other columns do not encode.
  uint64_t rest = whole;
  for (size_t column = first; column < first + count; ++column) {
    if (column == main) continue;
    const auto different = static_cast<uint64_t>(std::max(1.0, std::min(values(column), 1e9)));
    if (column == position) return std::isinf(values(column)) ? whole : rest % different;
    if (!std::isinf(values(main)) && !std::isinf(values(column))) rest /= different;
  }
  return rest;
}

// The number of values of a non-key column: they are numbered from 0.
uint64_t TableData::values_of(const schema::Column& column) const {
  const auto position = static_cast<size_t>(&column - facts_.table->columns.data());
  if (column.is_static()) return 1'000'000;
  return facts_.column(column).distinct ? ranks_[position].count() : std::max<uint64_t>(1'000'000, rows());
}

uint64_t TableData::number_of(const schema::Column& column, const Row& row) const {
  const auto position = static_cast<size_t>(&column - facts_.table->columns.data());
  if (column.is_partition_key())
    return key_number(position, 0, facts_.table->partition_key_count, row.partition);
  if (column.is_clustering())
    return key_number(position, facts_.table->partition_key_count, facts_.table->clustering_count, row.place);
  const uint64_t own = mix(seed_, position);
  if (column.is_static()) return mix(own, row.partition) % values_of(column);
  if (facts_.column(column).distinct) return ranks_[position].at(unit_of(mix(own, row.number)));
  return mix(own, row.number) % values_of(column);
}

base::Bytes TableData::cell(const schema::Column& column, const Row& row, const types::Type& type) const {
  for (const TableLink& link : links_) {
    for (const auto& [here, there] : link.columns) {
      if (here != column.name) continue;
      const schema::Column& other = *link.to->table().find(there);
      return link.to->cell(other, linked(link, row), &type == column.type.get() ? *other.type : type);
    }
  }
  const ColumnFacts& known = facts_.column(column);
  const uint64_t number = number_of(column, row);
  if (column.is_clustering() && is_time(column) && !known.distinct)
    return synthetic_moment(type, moment(row), number);
  const auto named = literals_.find(column.name);
  if (named != literals_.end() && &type == column.type.get() && number < named->second.size())
    return named->second[number];
  double size = known.size.value_or(0);
  // Columns with a known number of distinct values are excluded: equal numbers must give equal values.
  if (!weights_.empty() && !column.is_partition_key() && !known.distinct)
    size *= weights_[row.number % weights_.size()];
  return synthetic_value(type, number, size, known.elements.value_or(0));
}

base::Bytes TableData::quantile(const schema::Column& column, double share) const {
  const ColumnFacts& known = facts_.column(column);
  const auto number = static_cast<uint64_t>(share * static_cast<double>(values_of(column)));
  return synthetic_value(*column.type, number, known.size.value_or(0), known.elements.value_or(0));
}

}  // namespace sibyl::advisor
