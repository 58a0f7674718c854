#include "engine/describe/layout_model.h"

#include <fmt/format.h>

#include <chrono>

#include "row/counter.h"
#include "row/fragment.h"
#include "types/keys/key.h"
#include "types/keys/key_decode.h"
#include "types/print.h"
#include "types/print_value.h"
#include "types/value.h"

namespace sibyl::engine {
namespace {

using base::Bytes;
using base::BytesView;
using row::Cell;
using row::CellKind;
using schema::Column;
using schema::Table;
using types::Kind;

// Prints a value inside a cell's name: text in quotes, timestamps as milliseconds.
std::string name_part(const types::Type& type, BytesView value) {
  switch (type.kind()) {
    case Kind::text:
    case Kind::ascii:
      return "\"" + std::string(value) + "\"";
    case Kind::timestamp:
      if (value.size() == 8) return std::to_string(types::decode_integer(Kind::timestamp, value));
      [[fallthrough]];
    default:
      return types::to_display(type, value);
  }
}

// Splits the bytes into clustering values. Returns false if the rest is not a complete value.
bool split_clustering(const Table& table, BytesView bytes, std::vector<std::string>& parts) {
  for (size_t i = 0; i < table.clustering_count && !bytes.empty(); ++i) {
    const Column& column = table.clustering(i);
    auto value = types::decode_key(*column.type, column.descending, bytes);
    if (!value) return false;
    parts.push_back(name_part(*column.type, *value));
  }
  return bytes.empty();
}

std::string clustering_prefix(const Table& table, BytesView clustering) {
  std::vector<std::string> parts;
  if (!split_clustering(table, clustering, parts)) return "0x" + base::to_hex(clustering) + ":";
  std::string out;
  for (const std::string& part : parts) out += part + ":";
  return out;
}

// A bound of a range deletion. It is before all rows with some prefix, or after them (row::after of the
// prefix).
struct Bound {
  std::string text;
  bool after = false;
};

Bound print_bound(const Table& table, BytesView bytes) {
  std::vector<std::string> parts;
  if (split_clustering(table, bytes, parts)) return {fmt::format("{}", fmt::join(parts, ":")), false};
  Bytes before(bytes);
  before.back() = static_cast<char>(before.back() - 1);
  for (int dropped = 0; dropped < 16; ++dropped, before.push_back('\xff')) {  // after() drops trailing 0xff
                                                                              // bytes
    parts.clear();
    if (split_clustering(table, before, parts)) return {fmt::format("{}", fmt::join(parts, ":")), true};
  }
  return {"0x" + base::to_hex(bytes), false};
}

std::string print_range(const Table& table, BytesView rest) {
  Bytes begin;
  std::optional<Bytes> end;
  if (!row::decode_range_bounds(rest, begin, end)) return "0x" + base::to_hex(rest);
  std::string from = "..", to = "..";
  if (!begin.empty()) {
    Bound bound = print_bound(table, begin);
    from = bound.text + (bound.after ? " <.." : " ..");
  }
  if (end) {
    Bound bound = print_bound(table, *end);
    to = (bound.after ? " " : "< ") + bound.text;
  } else {
    to = "";
  }
  return from + to;
}

std::string written(int64_t timestamp, int32_t time_to_live = 0, int64_t expires_seconds = 0) {
  if (time_to_live == 0) return fmt::format("@{}", timestamp);
  return fmt::format("@{} ttl {} until {}", timestamp, time_to_live, expires_seconds);
}

class PartitionReader {
 public:
  PartitionReader(const Table& table, const LayoutOptions& options, LayoutPartition& out)
      : table_(table), options_(options), out_(out) {}

  void add(const row::RecordKey& key, BytesView record_key, BytesView value) {
    ++out_.records;
    out_.key_bytes += record_key.size();
    out_.value_bytes += value.size();
    if (key.kind == row::RecordKind::row && ++out_.rows > options_.max_rows) {
      ++out_.rows_left;
      return;
    }
    if (!row::decode(value, fragment_)) {
      out_.cells.push_back({"(damaged)", "0x" + base::to_hex(value.substr(0, 16)), ""});
      return;
    }
    switch (key.kind) {
      case row::RecordKind::partition:
        add_deletion("(partition)", "(deleted)");
        add_columns("static:");
        break;
      case row::RecordKind::range_deletion:
        add_deletion(print_range(table_, key.rest), "(rows deleted)");
        break;
      case row::RecordKind::row:
        add_row(clustering_prefix(table_, key.rest));
        break;
    }
  }

 private:
  void add_deletion(std::string name, const char* what) {
    if (fragment_.deletion.exists())
      out_.cells.push_back(
          {std::move(name), what, written(fragment_.deletion.timestamp), LayoutCell::Kind::deletion});
  }

  void add_row(const std::string& prefix) {
    std::string name = prefix.empty() ? "(row)" : prefix;
    add_deletion(name, "(row deleted)");
    const row::Marker& marker = fragment_.marker;
    if (marker.exists() && (options_.markers || fragment_.cells.empty()))
      out_.cells.push_back({name, "(row marker)",
                            written(marker.timestamp, marker.time_to_live, marker.expires_seconds),
                            LayoutCell::Kind::marker});
    add_columns(prefix);
  }

  void add_columns(const std::string& prefix) {
    for (const row::ColumnDeletion& deletion : fragment_.column_deletions)
      out_.cells.push_back({prefix + column_name(deletion.column) + ":*", "(elements deleted)",
                            written(deletion.deletion.timestamp), LayoutCell::Kind::deletion});
    for (const Cell& cell : fragment_.cells) {
      bool expires = cell.kind == CellKind::expiring;
      out_.cells.push_back(
          {prefix + column_name(cell.column) + path_of(cell), value_of(cell),
           written(cell.timestamp, expires ? cell.time_to_live : 0, expires ? cell.expires_seconds : 0),
           cell.kind == CellKind::tombstone ? LayoutCell::Kind::deletion : LayoutCell::Kind::value});
    }
  }

  std::string column_name(uint32_t id) const {
    if (const Column* column = table_.find_by_id(id)) return "\"" + column->name + "\"";
    return fmt::format("(dropped column {})", id);
  }

  // Returns the element of a collection, or the field of a user type.
  std::string path_of(const Cell& cell) const {
    if (cell.path.empty()) return "";
    const Column* column = table_.find_by_id(cell.column);
    if (column == nullptr || !column->type->is_multi_cell()) return ":0x" + base::to_hex(cell.path);
    const types::Type& type = *column->type;
    if (type.kind() == Kind::list) return ":" + types::format_uuid(cell.path);
    if (type.kind() == Kind::udt) {
      size_t field =
          cell.path.size() == 2 ? base::read_big_endian<uint16_t>(cell.path) : type.field_names().size();
      return ":" + (field < type.field_names().size() ? "\"" + type.field_names()[field] + "\"" : "?");
    }
    BytesView path = cell.path;
    auto element = types::decode_key(*type.element(), false, path);
    return ":" + (element ? name_part(*type.element(), *element) : "0x" + base::to_hex(cell.path));
  }

  std::string value_of(const Cell& cell) const {
    if (cell.kind == CellKind::tombstone) return "(deleted)";
    if (cell.kind == CellKind::counter) {
      row::CounterValue counter;
      if (row::decode_counter(cell.value, counter)) return std::to_string(counter.value);
    }
    types::TypePtr type = value_type(cell);
    if (type == nullptr) return "0x" + base::to_hex(cell.value);
    return types::to_display(*type, cell.value);
  }

  types::TypePtr value_type(const Cell& cell) const {
    const Column* column = table_.find_by_id(cell.column);
    if (column == nullptr) return nullptr;
    if (!column->type->is_multi_cell()) return column->type;
    switch (column->type->kind()) {
      case Kind::list:
        return column->type->element();
      case Kind::map:
        return column->type->map_value();
      case Kind::udt: {
        size_t field = cell.path.size() == 2 ? base::read_big_endian<uint16_t>(cell.path) : SIZE_MAX;
        return field < column->type->parameters().size() ? column->type->parameters()[field] : nullptr;
      }
      default:
        return types::scalar(Kind::text);  // a set's cells have no value
    }
  }

  const Table& table_;
  const LayoutOptions& options_;
  LayoutPartition& out_;
  row::Fragment fragment_;
};

std::string print_partition_key(const Table& table, BytesView prefix) {
  Bytes serialised;
  if (!row::decode_partition_key(prefix, serialised)) return "0x" + base::to_hex(prefix);
  auto components = types::split_partition_key(serialised, table.partition_key_count);
  if (!components) return "0x" + base::to_hex(serialised);
  std::string out;
  for (size_t i = 0; i < components->size(); ++i)
    out += (i ? ":" : "") + types::to_display(*table.partition_key(i).type, (*components)[i]);
  return out;
}

}  // namespace

base::Result<std::vector<LayoutPartition>> read_layout(const storage::Store& store, const Table& table,
                                                       BytesView begin, BytesView end,
                                                       const LayoutOptions& options, bool& more) {
  std::vector<LayoutPartition> partitions;
  std::optional<PartitionReader> reader;
  Bytes prefix;
  more = false;
  size_t read = 0;
  auto records = store.iterate(begin, end);
  for (records->seek_to_first(); records->valid(); records->next()) {
    row::RecordKey key;
    if (read++ == options.max_records) {
      if (!partitions.empty()) partitions.back().is_whole = false;
      break;
    }
    if (!row::parse_record_key(records->key(), key)) continue;
    if (!reader || BytesView(prefix) != key.prefix(records->key())) {
      if ((more = partitions.size() == options.max_partitions)) break;
      prefix = key.prefix(records->key());
      // Readers point into `partitions`, so it must not be reallocated.
      if (partitions.empty()) partitions.reserve(options.max_partitions);
      LayoutPartition& partition = partitions.emplace_back();
      partition.key = print_partition_key(table, prefix);
      partition.token = key.token;
      reader.emplace(table, options, partition);
    }
    reader->add(key, records->key(), records->value());
  }
  SIBYL_TRY(records->status());
  return partitions;
}

}  // namespace sibyl::engine
