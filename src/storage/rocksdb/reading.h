// RocksDB's records, iterators and errors as the store's.
#pragma once

#include <rocksdb/db.h>

#include <memory>

#include "base/result.h"
#include "storage/store.h"

namespace sibyl::storage::rocksdb {

class DamageReport;

// Both borrow the bytes.
inline ::rocksdb::Slice slice_of(BytesView bytes) {
  return {bytes.data(), bytes.size()};
}
inline BytesView view_of(const ::rocksdb::Slice& slice) {
  return {slice.data(), slice.size()};
}

// Whether there is such a record; its merged value. `damage` is told of what cannot be read.
base::Result<bool> read_record(::rocksdb::DB& database, const ::rocksdb::ReadOptions& options, BytesView key,
                               Bytes& value, DamageReport& damage);

// Keeps the bounds that it was given; `damage`, told of what it meets, must outlive it.
std::unique_ptr<Iterator> make_iterator(::rocksdb::DB& database, ::rocksdb::ReadOptions options,
                                        BytesView begin, BytesView end, DamageReport* damage = nullptr);

// What clients are told, with what to do about it.
base::Error error_of(const ::rocksdb::Status& status, base::ErrorCode code);

}  // namespace sibyl::storage::rocksdb
