// The shards of the partitions that statements name.
#pragma once

#include <cstdint>
#include <functional>
#include <set>
#include <span>

#include "execute/write/batch.h"
#include "plan/prepared.h"
#include "types/value.h"

namespace sibyl::forwarding {

using ShardOfToken = std::function<uint32_t(int64_t token)>;
inline constexpr uint32_t meta_shard = 0;

struct Target {
  enum class Kind : uint8_t {
    here,    // this server can run it: it needs no shard, or has an error that any server can report
    shards,  // runs at the owner of all of `shards`
    many,    // reads partitions of any shards
    define,  // changes the schema or roles
  };
  Kind kind = Kind::here;
  std::set<uint32_t> shards;
  // The statement computes its partitions with functions such as uuid(), so they may differ when it runs.
  bool is_random = false;

  static Target here() { return {}; }
  static Target many() { return {Kind::many, {}}; }
  static Target define() { return {Kind::define, {}}; }
};

Target target_of(const plan::Prepared& plan, std::span<const types::ValueView> values, int64_t now_micros,
                 const ShardOfToken& shard_of);
// The target of one statement of a batch, whatever errors the batch has.
Target target_of(const execute::BatchItem& item, int64_t now_micros, const ShardOfToken& shard_of);

}  // namespace sibyl::forwarding
