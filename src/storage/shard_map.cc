#include "storage/shard_map.h"

#include <algorithm>
#include <array>
#include <numeric>

#include "storage/store.h"

namespace sibyl::storage {
namespace {

using base::BytesView;

constexpr size_t table_size = sizeof(uint32_t), token_size = sizeof(uint64_t);
__extension__ typedef unsigned __int128 Wide;
constexpr uint64_t bias = uint64_t{1} << 63;

// The table and biased token of a key or bound. Bytes that are missing are zero.
struct Place {
  uint32_t table = 0;
  uint64_t token = 0;
};
Place place_of(BytesView key) {
  std::array<char, table_size + token_size> bytes{};
  std::copy_n(key.begin(), std::min(key.size(), bytes.size()), bytes.begin());
  const BytesView all(bytes.data(), bytes.size());
  return {base::read_big_endian<uint32_t>(all), base::read_big_endian<uint64_t>(all.substr(table_size))};
}

bool is_meta(uint32_t table) {
  return table < PurgePolicy::first_table_id;
}

}  // namespace

const std::vector<EntryRun>& ShardMap::entry_runs() const {
  static const std::vector<EntryRun> everything{EntryRun()};
  return everything;
}

TokenShards::TokenShards(uint32_t count) : count_(count) {
  if (count == 1) entry_runs_.emplace_back();
  for (uint32_t shard = 1; shard < count; ++shard) {
    const TokenSpan tokens = tokens_of(shard);
    entry_runs_.push_back({tokens.first, tokens.first, tokens.last});
  }
}

uint32_t TokenShards::shard_of_biased(uint64_t token) const {
  return (count_ == 1 ? 0 : 1) + static_cast<uint32_t>((Wide{token} * ranges()) >> 64);
}

uint32_t TokenShards::shard_of_token(int64_t token) const {
  return shard_of_biased(static_cast<uint64_t>(token) ^ bias);
}

TokenSpan TokenShards::tokens_of(uint32_t shard) const {
  if (count_ > 1 && shard == 0) return {};
  const uint32_t range = count_ == 1 ? shard : shard - 1;
  // Returns the first token t with t * ranges >= range * 2^64.
  const auto first_of = [this](uint32_t of) {
    return static_cast<uint64_t>(((Wide{of} << 64) + ranges() - 1) / ranges());
  };
  return {static_cast<int64_t>(first_of(range) ^ bias),
          static_cast<int64_t>((first_of(range + 1) - 1) ^ bias)};
}

uint32_t TokenShards::shard_of(BytesView key) const {
  if (count_ == 1) return 0;
  const Place place = place_of(key);
  return is_meta(place.table) ? 0 : shard_of_biased(place.token);
}

ShardMap::Range TokenShards::shards_of(BytesView begin, BytesView end) const {
  if (count_ == 1) return {{0}, true};
  const Place from = place_of(begin), to = place_of(end);
  Range range;
  // If the end has no token, it is before the records of its table.
  const bool ends_before_table = end.size() <= table_size;
  const bool is_one_table =
      !end.empty() && (to.table == from.table || (ends_before_table && to.table == from.table + 1));
  if (!end.empty() && (is_meta(to.table) || (ends_before_table && is_meta(to.table - 1)))) return {{0}, true};
  if (is_one_table) {
    const uint32_t last = to.table == from.table ? shard_of_biased(to.token) : count_ - 1;
    range.is_in_order = true;
    range.shards.resize(last < shard_of_biased(from.token) ? 1 : last - shard_of_biased(from.token) + 1);
    std::iota(range.shards.begin(), range.shards.end(), shard_of_biased(from.token));
    return range;
  }
  range.shards.resize(is_meta(from.table) ? count_ : count_ - 1);
  std::iota(range.shards.begin(), range.shards.end(), is_meta(from.table) ? 0 : 1);
  return range;
}

}  // namespace sibyl::storage
