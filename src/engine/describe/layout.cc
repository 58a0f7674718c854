#include "engine/describe/layout.h"

#include <fmt/format.h>

#include <algorithm>

#include "cql/parser.h"
#include "engine/describe/layout_model.h"
#include "plan/evaluation/keys.h"
#include "plan/terms/term.h"
#include "types/identifier.h"
#include "types/literals/literal.h"
#include "types/text.h"

namespace sibyl::engine {
namespace {

using base::Bytes;
using base::BytesView;
using schema::Table;

constexpr size_t widest_cell = 48;

// --- Drawing

// Pads or truncates to exactly `width` characters. Control characters would break the drawing, so they are
// replaced.
std::string fit(std::string text, size_t width) {
  for (char& c : text)
    if (static_cast<unsigned char>(c) < 0x20) c = ' ';
  if (types::count_characters(text) > width) {
    size_t shown = 0, end = 0;
    for (; end < text.size() && shown + 3 < width; ++shown) end = types::next_character(text, end + 1);
    text = text.substr(0, end) + "...";
  }
  return text + std::string(width - std::min(width, types::count_characters(text)), ' ');
}

class Drawing {
 public:
  Drawing(const std::vector<LayoutPartition>& partitions, const LayoutOptions& options) {
    key_width_ = std::string_view("row key").size();
    cell_width_ = std::string_view("columns").size();
    size_t max_cells = 1;
    for (const LayoutPartition& partition : partitions) {
      key_width_ = std::max(key_width_, types::count_characters(partition.key));
      max_cells = std::max(max_cells, partition.cells.size());
      for (const LayoutCell& cell : partition.cells)
        for (const std::string* line : {&cell.name, &cell.value, &cell.written})
          cell_width_ = std::max(cell_width_, types::count_characters(*line));
    }
    key_width_ = std::min(key_width_, widest_cell);
    cell_width_ = std::min(cell_width_, widest_cell);
    size_t room = options.width > key_width_ + 4 ? options.width - key_width_ - 4 : 0;
    columns_ = std::clamp<size_t>(room / (cell_width_ + 3), 1, max_cells);
  }

  std::string draw(const std::vector<LayoutPartition>& partitions) {
    rule();
    size_t inside = columns_ * (cell_width_ + 3) - 3;
    out_ += "| " + fit("row key", key_width_) + " | " + fit("columns", inside) + " |\n";
    rule();
    for (const LayoutPartition& partition : partitions) draw(partition);
    return std::move(out_);
  }

 private:
  void rule() {
    out_ += "+" + std::string(key_width_ + 2, '-');
    for (size_t i = 0; i < columns_; ++i) out_ += "+" + std::string(cell_width_ + 2, '-');
    out_ += "+\n";
  }

  void line(const std::string& key, const LayoutPartition& partition, size_t first,
            std::string LayoutCell::* text) {
    out_ += "| " + fit(key, key_width_) + " |";
    for (size_t i = first; i < first + columns_; ++i)
      out_ += " " + fit(i < partition.cells.size() ? partition.cells[i].*text : "", cell_width_) + " |";
    out_ += "\n";
  }

  void draw(const LayoutPartition& partition) {
    size_t first = 0;
    do {
      line("", partition, first, &LayoutCell::name);
      line(first == 0 ? partition.key : "", partition, first, &LayoutCell::value);
      line("", partition, first, &LayoutCell::written);
      rule();
      first += columns_;
    } while (first < partition.cells.size());
  }

  size_t key_width_, cell_width_, columns_;
  std::string out_;
};

std::string statistics(const LayoutPartition& partition) {
  std::string out =
      fmt::format("{}: token {}, {} rows in {} records, {} bytes ({} of keys, {} of values)", partition.key,
                  partition.token, partition.rows, partition.records,
                  partition.key_bytes + partition.value_bytes, partition.key_bytes, partition.value_bytes);
  if (partition.rows_left != 0) out += fmt::format("; {} more rows are not shown", partition.rows_left);
  return out + "\n";
}

// --- Finding the partition

base::Result<std::vector<Bytes>> literals(const schema::Snapshot& schema, const Table& table,
                                          const std::string& text) {
  std::string names;
  for (size_t i = 0; i < table.partition_key_count; ++i)
    names += (i ? ", " : "") + types::quote_identifier(table.partition_key(i).name);
  // Inserts nothing. The statement is parsed only to get the literals.
  SIBYL_ASSIGN(auto statement,
               cql::parse_statement(fmt::format("INSERT INTO t ({}) VALUES ({})", names, text)));
  const auto* insert = std::get_if<cql::Insert>(&statement->node);
  if (insert == nullptr || insert->values.size() != table.partition_key_count)
    return base::invalid(
        fmt::format("The partition key of {}.{} has {} components ({}); give one value for each, "
                    "separated by commas",
                    table.keyspace, table.name, table.partition_key_count, names));
  plan::Binder binder(schema, table.keyspace, statement->bind_markers);
  plan::Scratch scratch;
  std::vector<Bytes> values;
  for (size_t i = 0; i < table.partition_key_count; ++i) {
    SIBYL_ASSIGN(plan::TermPtr term,
                 binder.term(*insert->values[i], plan::spec_of(table, table.partition_key(i))));
    SIBYL_ASSIGN(types::ValueView value, term->evaluate({}, scratch));
    if (!value.is_present()) return base::invalid("A partition key cannot be null");
    values.emplace_back(value.bytes);
  }
  return values;
}

base::Result<Bytes> find_partition(const schema::Snapshot& schema, const Table& table,
                                   const std::string& text) {
  auto values = literals(schema, table, text);
  if (!values && table.partition_key_count == 1) {
    // The key may be a word without quotes: the system shell removes the quotes of 'Alex'.
    auto plain = types::from_string(*table.partition_key(0).type, text);
    if (plain) values = std::vector<Bytes>{std::move(*plain)};
  }
  if (!values) return base::fail(std::move(values.error()));
  std::vector<types::ValueView> components;
  for (const Bytes& value : *values) components.push_back(types::ValueView::of(value));
  SIBYL_ASSIGN(Bytes key, plan::partition_key_of(table, components));
  return row::partition_prefix(table.storage_id, key);
}

std::string heading(const Table& table) {
  std::string partition, clustering;
  for (size_t i = 0; i < table.partition_key_count; ++i)
    partition += (i ? ", " : "") + types::quote_identifier(table.partition_key(i).name);
  for (size_t i = 0; i < table.clustering_count; ++i)
    clustering += fmt::format("{}{}{}", i ? ", " : "", types::quote_identifier(table.clustering(i).name),
                              table.clustering(i).descending ? " DESC" : "");
  return fmt::format("{}.{}: partitions by ({}){}\n", types::quote_identifier(table.keyspace),
                     types::quote_identifier(table.name), partition,
                     clustering.empty() ? "" : ", cells sorted by (" + clustering + ")");
}

}  // namespace

base::Result<std::vector<LayoutPartition>> read_layout(Engine& engine, const std::string& keyspace,
                                                       const std::string& name,
                                                       const std::optional<std::string>& partition,
                                                       const LayoutOptions& options, bool& more) {
  schema::SnapshotPtr schema = engine.schema();
  if (!schema->find_keyspace(keyspace))
    return base::invalid(fmt::format("Keyspace '{}' does not exist", keyspace));
  schema::TablePtr table = schema->find_table(keyspace, name);
  if (!table) return base::invalid(fmt::format("Table '{}' not found in keyspace '{}'", name, keyspace));
  if (table->is_virtual)
    return base::invalid(fmt::format("{}.{} is a virtual table and has no stored records", keyspace, name));

  Bytes begin = row::table_begin(table->storage_id), end = row::table_end(table->storage_id);
  if (partition) {
    SIBYL_ASSIGN(begin, find_partition(*schema, *table, *partition));
    end = *row::after(begin);
  }
  return read_layout(engine.store(), *table, begin, end, options, more);
}

base::Result<std::string> render_layout(Engine& engine, const std::string& keyspace, const std::string& name,
                                        const std::optional<std::string>& partition,
                                        const LayoutOptions& options) {
  bool more = false;
  SIBYL_ASSIGN(const std::vector<LayoutPartition> partitions,
               read_layout(engine, keyspace, name, partition, options, more));
  const schema::TablePtr table = engine.schema()->find_table(keyspace, name);
  if (!table) return base::invalid(fmt::format("Table '{}' not found in keyspace '{}'", name, keyspace));
  std::string out = heading(*table);
  if (partitions.empty()) return out + (partition ? "The partition is empty.\n" : "The table is empty.\n");
  out += Drawing(partitions, options).draw(partitions);
  for (const LayoutPartition& shown : partitions) out += statistics(shown);
  if (more) out += "There are more partitions; name a partition to see it.\n";
  return out;
}

}  // namespace sibyl::engine
