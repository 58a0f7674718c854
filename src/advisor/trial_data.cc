#include "advisor/trial_data.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace sibyl::advisor {
namespace {

constexpr double rows_assumed = 10'000, rows_of_partition_assumed = 20;
constexpr double apart_assumed = 60'000;  // milliseconds

double unit_of(uint64_t number) {
  return static_cast<double>(number >> 11) * 0x1p-53;
}

}  // namespace

TableData::TableData(TableFacts facts, uint64_t seed, std::vector<std::string>& assumed)
    : facts_(std::move(facts)), seed_(mix(seed, facts_.table->storage_id)) {
  const bool single = facts_.table->clustering_count == 0;
  double rows = facts_.rows.value_or(0), partitions = facts_.partitions.value_or(0);
  if (rows <= 0) {
    rows = partitions > 0 && !single ? partitions * rows_of_partition_assumed : rows_assumed;
    assumed.push_back(fmt::format("{}: {:.0f} rows assumed", facts_.name, rows));
  }
  if (single) partitions = rows;
  if (partitions <= 0) {
    partitions = std::max(1.0, rows / rows_of_partition_assumed);
    assumed.push_back(fmt::format("{}: {:.0f} partitions assumed", facts_.name, partitions));
  }
  partitions_ = static_cast<uint64_t>(std::max(1.0, std::min(partitions, rows)));
  facts_.rows = rows;
  facts_.partitions = static_cast<double>(partitions_);
  apart_ = facts_.growth && *facts_.growth > 0 ? partitions / *facts_.growth * 1000 : apart_assumed;
  const Ranks uneven(partitions_, facts_.skew);
  sizes_.resize(partitions_);
  for (uint64_t i = 0; i < static_cast<uint64_t>(std::max(1.0, rows)); ++i) {
    const uint64_t partition = i < partitions_ ? i : uneven.at(unit_of(mix(seed_, i)));
    partition_of_.push_back(static_cast<uint32_t>(partition));
    place_of_.push_back(sizes_[partition]++);
  }
  for (const schema::Column& column : facts_.table->columns) {
    const ColumnFacts& known = facts_.column(column);
    ranks_.emplace_back(static_cast<uint64_t>(std::max(1.0, known.distinct.value_or(1))), known.skew);
  }
}

TableData::Row TableData::new_row(uint64_t count, Random& random) const {
  const Row beside = row(random.below(rows()));
  const uint64_t number = rows() + count;
  if (facts_.table->clustering_count == 0) return {number, number, 0};
  return {number, beside.partition, sizes_[beside.partition] + count};
}

TableData::Row TableData::newest(uint64_t partition) const {
  return {partition, partition, sizes_[partition] - 1};
}

// Of several key columns the one with most values tells rows apart; the others have as many as declared.
uint64_t TableData::key_number(size_t position, size_t first, size_t count, uint64_t whole) const {
  const auto values_of = [&](size_t column) {
    const auto& distinct = facts_.column(facts_.table->columns[column]).distinct;
    return distinct && count > 1 ? *distinct : std::numeric_limits<double>::infinity();
  };
  size_t main = first;
  for (size_t column = first; column < first + count; ++column) {
    if (values_of(column) >= values_of(main)) main = column;
  }
  // What the others do not tell apart.
  uint64_t rest = whole;
  for (size_t column = first; column < first + count; ++column) {
    if (column == main) continue;
    const auto values = static_cast<uint64_t>(std::max(1.0, std::min(values_of(column), 1e9)));
    if (column == position) return std::isinf(values_of(column)) ? whole : rest % values;
    if (!std::isinf(values_of(main)) && !std::isinf(values_of(column))) rest /= values;
  }
  return rest;
}

uint64_t TableData::number_of(const schema::Column& column, const Row& row) const {
  const auto position = static_cast<size_t>(&column - facts_.table->columns.data());
  if (column.is_partition_key())
    return key_number(position, 0, facts_.table->partition_key_count, row.partition);
  if (column.is_clustering())
    return key_number(position, facts_.table->partition_key_count, facts_.table->clustering_count, row.place);
  const uint64_t own = mix(seed_, position);
  if (column.is_static()) return mix(own, row.partition) % 1'000'000;
  if (facts_.column(column).distinct) return ranks_[position].at(unit_of(mix(own, row.number)));
  return mix(own, row.number) % std::max<uint64_t>(1'000'000, rows());
}

base::Bytes TableData::cell(const schema::Column& column, const Row& row) const {
  const ColumnFacts& known = facts_.column(column);
  const uint64_t number = number_of(column, row);
  if (column.is_clustering() && is_time(column) && !known.distinct)
    return synthetic_moment(*column.type, moment(row), number);
  return synthetic_value(*column.type, number, known.size.value_or(0), known.elements.value_or(0));
}

}  // namespace sibyl::advisor
