#include "advisor/trial_queue.h"

#include <fmt/format.h>

#include <algorithm>

namespace sibyl::advisor {
namespace {

constexpr double most_tombstones = 100'000;  // of all partitions: loaded in a second or two
constexpr double tombstones_assumed = 1000;  // of a partition

// Whether later rows have greater values.
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
    return fmt::format("rows are taken in the order of {}, which {} comes before", queue.column, first.name);
  if (!queue.from_least) return "the newest are taken first: nobody knows which of them are gone";
  if (!follows_arrival(data, first))
    return fmt::format("synthetic values of {} do not grow with time", queue.column);
  const TableFacts& facts = data.facts();
  if (!queue.tombstones)
    assumed.push_back(
        fmt::format("{}: {} tombstones assumed in a partition", facts.name, count_text(tombstones_assumed)));
  // What is reckoned is about the hottest partition; what was seen is of all.
  const auto partitions = static_cast<double>(data.partitions());
  const double hotter = facts.tombstones_p99 ? 1 : std::max(1.0, facts.hottest_share() * partitions);
  const double wanted = queue.tombstones.value_or(tombstones_assumed) / hotter;
  const double each = std::min(wanted, most_tombstones / partitions);
  data.delete_first(each, queue.rate ? std::optional(*queue.rate / hotter) : std::nullopt);
  if (each < wanted)
    assumed.push_back(
        fmt::format("{}: {} tombstones in a partition instead of {}: with all of them reads of its "
                    "front take longer in proportion",
                    facts.name, count_text(each), count_text(wanted)));
  return {};
}

}  // namespace sibyl::advisor
