#include "row/fragment_print.h"

#include <fmt/format.h>

namespace sibyl::row {
namespace {

std::string print(const Cell& cell) {
  static constexpr const char* kinds[] = {"live", "expiring", "tombstone", "counter"};
  std::string text =
      fmt::format("cell {} {} at {}", cell.column, kinds[static_cast<size_t>(cell.kind)], cell.timestamp);
  if (!cell.path.empty()) text += " path " + base::to_hex(cell.path);
  if (!cell.original_path.empty()) text += " original " + base::to_hex(cell.original_path);
  if (cell.kind == CellKind::expiring)
    text += fmt::format(" ttl {} expires {}", cell.time_to_live, cell.expires_seconds);
  if (cell.kind == CellKind::tombstone) return text + fmt::format(" local {}", cell.expires_seconds);
  return text + " value " + (cell.value.empty() ? "-" : base::to_hex(cell.value));
}

}  // namespace

std::string print(const Fragment& fragment) {
  std::string text;
  const auto add = [&text](const std::string& part) {
    if (!text.empty()) text += "; ";
    text += part;
  };
  if (!fragment.original_clustering.empty()) add("clustering " + base::to_hex(fragment.original_clustering));
  if (fragment.has_range_deletions) add("range deletions");
  if (fragment.marker.exists()) {
    const Marker& marker = fragment.marker;
    add(fmt::format("marker at {}", marker.timestamp));
    if (marker.time_to_live != 0)
      text += fmt::format(" ttl {} expires {}", marker.time_to_live, marker.expires_seconds);
  }
  if (fragment.deletion.exists())
    add(fmt::format("deletion at {} local {}", fragment.deletion.timestamp, fragment.deletion.local_seconds));
  for (const auto& [column, deletion] : fragment.column_deletions)
    add(fmt::format("column {} deletion at {} local {}", column, deletion.timestamp, deletion.local_seconds));
  for (const Cell& cell : fragment.cells) add(print(cell));
  return text;
}

}  // namespace sibyl::row
