// Counters of Cassandra: a set of shards, one for each node that ever counted.
#pragma once

#include <cstdint>
#include <map>
#include <optional>

#include "base/bytes.h"

namespace sibyl::cli::import_sstables {

class CounterShards {
 public:
  // Adds a counter cell's value. Returns false if the bytes are not one.
  bool add(base::BytesView context);
  int64_t total() const;

 private:
  enum class Kind { remote, local, global };
  struct Shard {
    Kind kind = Kind::remote;
    int64_t clock = 0, count = 0;
  };
  static Shard merge(const Shard& left, const Shard& right);
  std::map<base::Bytes, Shard> shards_;  // by node
};

}  // namespace sibyl::cli::import_sstables
