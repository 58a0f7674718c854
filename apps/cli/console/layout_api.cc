#include "cli/console/layout_api.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "cli/console/statements.h"
#include "engine/describe/layout_model.h"
#include "types/identifier.h"
#include "types/text.h"

namespace sibyl::cli::console {
namespace {

constexpr size_t max_layout_rows = 200, max_layout_records = 100'000;
constexpr size_t max_shown_cells = 5'000, max_shown_bytes = 2'000;  // limits of one cell's name or value

std::string shortened(const std::string& text) {
  if (text.size() <= max_shown_bytes) return text;
  size_t end = max_shown_bytes;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) --end;
  return text.substr(0, end) + "…";
}

const char* to_string(engine::LayoutCell::Kind kind) {
  switch (kind) {
    case engine::LayoutCell::Kind::value:
      return "value";
    case engine::LayoutCell::Kind::deletion:
      return "deletion";
    case engine::LayoutCell::Kind::marker:
      return "marker";
  }
  return "value";
}

json::object partition_json(const engine::LayoutPartition& partition) {
  json::array cells;
  for (const engine::LayoutCell& cell : partition.cells) {
    if (cells.size() == max_shown_cells) break;
    cells.push_back({{"name", shortened(cell.name)},
                     {"value", shortened(cell.value)},
                     {"written", cell.written},
                     {"kind", to_string(cell.kind)}});
  }
  return {{"key", shortened(partition.key)},
          {"token", std::to_string(partition.token)},
          {"cells", std::move(cells)},
          {"cells_left", partition.cells.size() - std::min(partition.cells.size(), max_shown_cells)},
          {"rows", partition.rows},
          {"rows_left", partition.rows_left},
          {"records", partition.records},
          {"key_bytes", partition.key_bytes},
          {"value_bytes", partition.value_bytes},
          {"whole", partition.is_whole}};
}

// The layout shows stored values, deleted columns included, so masks would be without effect.
base::Status check_may_see(const Call& call, const std::string& keyspace, const std::string& name) {
  const schema::TablePtr table = call.engine.schema()->find_table(keyspace, name);
  if (!table) return base::invalid(fmt::format("There is no table {}.{}", keyspace, name));
  if (call.login() == nullptr) return {};
  if (table->has_masks)
    return base::fail(
        base::ErrorCode::unauthorized,
        fmt::format("{}.{} has masked columns, and its layout would show them", keyspace, name));
  StatementRequest request;
  request.text = fmt::format("EXPLAIN SELECT * FROM {}.{}", types::quote_identifier(keyspace),
                             types::quote_identifier(name));
  SIBYL_TRY(run_statement(call.engine, call.login(), request));
  return {};
}

}  // namespace

Answer show_layout(const Call& call) {
  const std::string keyspace = call.parameter("keyspace"), name = call.parameter("table");
  SIBYL_TRY(check_may_see(call, keyspace, name));
  const std::string partition = call.parameter("partition");
  engine::LayoutOptions options;
  options.max_rows = max_layout_rows;
  options.max_records = max_layout_records;
  options.max_partitions = partition.empty() ? 5 : 1;
  options.markers = call.parameter("markers") == "1";
  bool more = false;
  SIBYL_ASSIGN(
      const std::vector<engine::LayoutPartition> partitions,
      engine::read_layout(call.engine, keyspace, name,
                          partition.empty() ? std::nullopt : std::optional(partition), options, more));
  json::array out;
  for (const engine::LayoutPartition& one : partitions) out.push_back(partition_json(one));
  return json::object{{"partitions", std::move(out)}, {"more", more}};
}

}  // namespace sibyl::cli::console
