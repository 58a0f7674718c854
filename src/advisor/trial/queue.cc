#include "advisor/trial/queue.h"

#include <fmt/format.h>

#include <algorithm>

namespace sibyl::advisor {
namespace {

// The limit for all partitions together. This number can be loaded within a second or two.
constexpr double max_tombstones = 100'000;
constexpr double tombstones_assumed = 1000;  // per partition

// Returns true if later rows have larger values.
bool follows_arrival(const TableData& data, const schema::Column& column) {
  switch (column.type->kind()) {
    case types::Kind::int_:
    case types::Kind::bigint:
    case types::Kind::varint:
    case types::Kind::double_:
    case types::Kind::timestamp:
    case types::Kind::timeuuid:
      return data.table().clustering_count == 1 || !data.facts().column(column).distinct;
    default:
      return false;
  }
}

}  // namespace

std::string make_queue(const Proposal::Queue& queue, TableData& data, std::vector<std::string>& assumed) {
  const schema::Column& first = data.table().clustering(0);
  if (first.name != queue.column)
    return fmt::format("rows are taken in the order of {}, but {} precedes it in the key", queue.column,
                       first.name);
  if (!queue.from_least) return "the newest are taken first, so the deleted rows are unknown";
  if (!follows_arrival(data, first))
    return fmt::format("synthetic values of {} do not grow with time", queue.column);
  const TableFacts& facts = data.facts();
  if (!queue.tombstones)
    assumed.push_back(
        fmt::format("{}: assumed {} tombstones per partition", facts.name, count_text(tombstones_assumed)));
  // Estimates are for the hottest partition; measurements are for all partitions.
  const auto partitions = static_cast<double>(data.partitions());
  const double hotter = facts.tombstones_p99 ? 1 : std::max(1.0, facts.hottest_share() * partitions);
  const double wanted = queue.tombstones.value_or(tombstones_assumed) / hotter;
  const double each = std::min(wanted, max_tombstones / partitions);
  data.mark_first_deleted(each, queue.rate ? std::optional(*queue.rate / hotter) : std::nullopt);
  if (each < wanted)
    assumed.push_back(
        fmt::format("{}: {} tombstones per partition instead of {}; with all of them, reads of its front "
                    "would take proportionally longer",
                    facts.name, count_text(each), count_text(wanted)));
  return {};
}

}  // namespace sibyl::advisor
