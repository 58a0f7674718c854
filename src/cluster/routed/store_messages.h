// The messages by which a server reads the records of a shard at its owner. Internal to RoutedStore and
// StoreService.
//
//   request   version 1, kind, shard u32, then by kind
//     get     the number of keys, each sized
//     scan    begin, end (sized; an empty end has no bound), 1 if backwards, most bytes u32
//     size    begin, end
//     sample  most records, the number of tables, each its id
//   answer    version 1, outcome
//     done    get: for each key 0, or 1 and the sized value
//             scan: 1 if nothing is left in the range, the number of records, for each its sized key and value
//             size: the number of bytes
//             sample: the number of tables, for each its id and PartitionSample
//     moved   nothing: the shard is not open here, or its records may have changed elsewhere. Nothing was read
//     failed  code u32, sized message and hint
//
// Numbers are varints unless a size is given. Messages of other versions are refused as damaged.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"
#include "storage/partition_sample.h"

namespace sibyl::cluster {

using base::Bytes;
using base::BytesView;

struct StoreRequest {
  enum class Kind : uint8_t { get = 1, scan = 2, size = 3, sample = 4 };
  Kind kind = Kind::get;
  uint32_t shard = 0;
  std::vector<Bytes> keys;        // get
  Bytes begin, end;               // scan and size
  bool is_backwards = false;      // scan
  uint32_t max_bytes = 64 << 10;  // scan: ends after the record that reaches this size
  std::vector<uint32_t> tables;   // sample
  uint64_t max_records = 0;       // sample: see Store::partition_samples()

  Bytes encode() const;
  static base::Result<StoreRequest> decode(BytesView bytes);
};

struct StoreAnswer {
  enum class Outcome : uint8_t { done = 0, moved = 1, failed = 2 };
  Outcome outcome = Outcome::done;
  StoreRequest::Kind kind = StoreRequest::Kind::get;
  std::vector<std::optional<Bytes>> values;
  std::vector<std::pair<Bytes, Bytes>> records;  // in the order of the scan
  bool is_last = false;
  uint64_t size = 0;
  std::map<uint32_t, storage::PartitionSample> samples;  // by table id
  std::optional<base::Error> error;

  static StoreAnswer moved();
  static StoreAnswer failed(base::Error error);

  Bytes encode() const;
  // `kind` is the kind of the request.
  static base::Result<StoreAnswer> decode(BytesView bytes, StoreRequest::Kind kind);
};

}  // namespace sibyl::cluster
