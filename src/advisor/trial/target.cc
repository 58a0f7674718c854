#include "advisor/trial/target.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "advisor/trial/chain.h"
#include "cql/printer.h"

namespace sibyl::advisor {

std::optional<base::Bytes> SplitColumn::of(const TableData& data, const TableData::Row& row) const {
  if (name.empty()) return std::nullopt;
  if (modulo > 0)
    return synthetic_value(*types::scalar(types::Kind::int_),
                           mix(row.number) % static_cast<uint64_t>(modulo));
  return bucket(number(row.partition, data.moment(row)));
}

int64_t SplitColumn::number(uint64_t partition, double milliseconds) const {
  constexpr double golden = 0.6180339887498949;  // its multiples are spread evenly modulo 1
  const double turned = static_cast<double>(partition % 1'000'000) * golden;
  const double phase = (turned - std::floor(turned)) * width * 1000;
  return (synthetic_epoch() + static_cast<int64_t>(milliseconds + phase)) /
         static_cast<int64_t>(width * 1000);
}

std::optional<base::Bytes> SplitColumn::bucket(int64_t number) const {
  base::Bytes out;
  base::append_big_endian(out, static_cast<uint64_t>(number * static_cast<int64_t>(width * 1000)));
  return out;
}

bool RequestShape::has_ranges() const {
  return std::any_of(bounds.begin(), bounds.end(), [](Bound bound) { return bound != Bound::none; });
}

Cells Binding::cells(const std::vector<Marker>& markers, const TableData::Row& row, Random& random) const {
  using Bound = RequestShape::Bound;
  Cells out;
  const bool ranges = shape.bounds.size() == markers.size() && shape.has_ranges();
  const Range about = ranges ? range(row, random) : Range();
  for (size_t i = 0; i < markers.size(); ++i) {
    const Bound kind = ranges ? shape.bounds[i] : Bound::none;
    auto value = kind != Bound::none ? bound(markers[i], about, kind == Bound::upper) : std::nullopt;
    out.push_back(value ? std::move(value) : cell(markers[i], row, random));
  }
  return out;
}

Binding::Range Binding::range(const TableData::Row& row, Random& random) const {
  using Bound = RequestShape::Bound;
  const auto has = [&](Bound kind) {
    return std::find(shape.bounds.begin(), shape.bounds.end(), kind) != shape.bounds.end();
  };
  if (between) return {between->first, between->second, 0, 1};
  const uint64_t all = row.partition < data->partitions() ? data->size(row.partition) : 1;
  const double share = std::clamp(shape.range_share, 0.0, 1.0);
  const double wanted = std::round(shape.range_rows.value_or(share * static_cast<double>(all)));
  const auto rows = static_cast<uint64_t>(std::clamp(wanted, 1.0, static_cast<double>(all)));
  // A range with only one bound extends to the end of the data.
  const double free = !has(Bound::lower) ? 0 : !has(Bound::upper) ? 1 : random.unit();
  const auto first = static_cast<uint64_t>(free * static_cast<double>(all - rows));
  Range out;
  if (row.partition < data->partitions()) {
    out.lower = data->row_at(row.partition, first);
    out.upper = data->row_at(row.partition, first + rows);
  }
  out.from = free * (1 - share);
  out.to = out.from + share;
  return out;
}

std::optional<base::Bytes> Binding::bound(const Marker& marker, const Range& range, bool upper) const {
  const schema::Column* column = data->table().find(marker.name);
  if (column == nullptr || column->is_partition_key()) return std::nullopt;
  const bool same = column->type->kind() == marker.type->kind();
  if (!same && !(column->is_clustering() && marker.type->parameters().empty())) return std::nullopt;
  if (column->is_clustering())
    return data->cell(*column, upper ? range.upper : range.lower, same ? *column->type : *marker.type);
  return data->quantile(*column, upper ? range.to : range.from);
}

std::optional<base::Bytes> Binding::cell(const Marker& marker, const TableData::Row& row,
                                         Random& random) const {
  for (const auto& [name, value] : added)
    if (marker.name == name) return value;
  const schema::Column* column = data->table().find(marker.name);
  if (column != nullptr && column->type->kind() == marker.type->kind()) return data->cell(*column, row);
  if (column != nullptr && marker.type->parameters().empty()) return data->cell(*column, row, *marker.type);
  if (marker.name == "[limit]" || marker.name == "[per_partition_limit]")
    return synthetic_value(*marker.type, static_cast<uint64_t>(shape.limit));
  if (marker.name == "[ttl]") return synthetic_value(*marker.type, 86'400);
  if (marker.name == "partition key token") return synthetic_value(*marker.type, random.next() >> 1);
  if (marker.name.starts_with("in(") && marker.type->kind() == types::Kind::list)
    return list_for(marker, random);
  return synthetic_value(*marker.type, random.below(1'000'000));
}

std::optional<base::Bytes> Binding::list_for(const Marker& marker, Random& random) const {
  const schema::Column* column = data->table().find(marker.name.substr(3, marker.name.size() - 4));
  const auto count = static_cast<uint32_t>(std::max(1.0, std::round(shape.listed)));
  base::Bytes out;
  base::append_big_endian(out, count);
  for (uint32_t i = 0; i < count; ++i) {
    const base::Bytes value = column != nullptr ? data->cell(*column, data->row(random.below(data->rows())))
                                                : synthetic_value(*marker.type->element(), i);
    base::append_big_endian(out, static_cast<uint32_t>(value.size()));
    out += value;
  }
  return out;
}

std::string TrialTable::load_text() const {
  const schema::Table& table = data->table();
  std::vector<std::string> names, sets, keys;
  for (const std::string& column : columns) {
    const std::string printed = cql::print_name(column);
    names.push_back(printed);
    const schema::Column* known = table.find(column);
    const bool counts = known != nullptr && known->type->is_counter();
    (counts ? sets : keys)
        .push_back(counts ? fmt::format("{} = {} + ?", printed, printed) : printed + " = ?");
  }
  if (!sets.empty())
    return fmt::format("UPDATE {} SET {} WHERE {}", cql::print_name(name), fmt::join(sets, ", "),
                       fmt::join(keys, " AND "));
  return fmt::format("INSERT INTO {} ({}) VALUES ({})", cql::print_name(name), fmt::join(names, ", "),
                     fmt::join(std::vector<std::string>(names.size(), "?"), ", "));
}

const SplitColumn* TrialTable::by_time() const {
  for (const SplitColumn& split : splits)
    if (split.width > 0) return &split;
  return nullptr;
}

AddedCells TrialTable::added_cells(const TableData::Row& row) const {
  AddedCells out;
  for (const SplitColumn& split : splits) out.emplace_back(split.name, split.of(*data, row));
  for (const auto& [name, type] : types) {
    if (data->table().find(name) == nullptr) out.emplace_back(name, synthetic_value(*type, row.number));
  }
  return out;
}

std::vector<Cells> TrialTable::rows_for(const TableData::Row& row) const {
  if (chain == nullptr) return {row_cells({row})};
  std::vector<Cells> out;
  chain->each(row, [&](const Chain::JoinedRows& together) { out.push_back(row_cells(together)); });
  return out;
}

Cells TrialTable::row_cells(const std::vector<TableData::Row>& together) const {
  const TableData::Row& row = together[0];
  const AddedCells added = added_cells(row);
  Cells out;
  for (const std::string& column : columns) {
    if (const auto found = looked_up.find(column); found != looked_up.end()) {
      const auto& [read, name] = found->second;
      const TableData& other = *chain->reads[read].data;
      const bool there = together[read].number != Chain::missing_row.number;
      out.push_back(there ? std::optional(other.cell(*other.table().find(name), together[read]))
                          : std::nullopt);
      continue;
    }
    const schema::Column* known = data->table().find(column);
    const auto type = types.find(column);
    const auto own =
        std::find_if(added.begin(), added.end(), [&](const auto& one) { return one.first == column; });
    if (known != nullptr)
      out.emplace_back(data->cell(*known, row, type != types.end() ? *type->second : *known->type));
    else
      out.push_back(own != added.end() ? own->second : std::nullopt);
  }
  return out;
}

// The columns that identify a row of the data, preceded by the columns that a fix adds.
std::vector<std::string> TrialTable::key() const {
  std::vector<std::string> out;
  for (const SplitColumn& split : splits) out.push_back(split.name);
  for (const schema::Column& column : data->table().columns)
    if (column.is_primary_key()) out.push_back(column.name);
  return out;
}

std::string TrialTable::delete_text() const {
  std::vector<std::string> relations;
  for (const std::string& column : key()) relations.push_back(cql::print_name(column) + " = ?");
  return fmt::format("DELETE FROM {} WHERE {}", cql::print_name(name), fmt::join(relations, " AND "));
}

Cells TrialTable::key_cells(const TableData::Row& row) const {
  TrialTable keys = *this;
  keys.columns = key();
  return keys.row_cells({row});
}

TrialTable trial_table(const DataPtr& data) {
  TrialTable table;
  table.name = data->table().name;
  table.keyspace = data->table().keyspace;
  table.data = data;
  std::vector<std::string> others;
  for (const schema::Column& column : data->table().columns)
    (column.type->is_counter() ? table.columns : others).push_back(column.name);
  // Counters come first, like the markers of an UPDATE.
  table.columns.insert(table.columns.end(), others.begin(), others.end());
  return table;
}

}  // namespace sibyl::advisor
