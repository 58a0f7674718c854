// Converts RocksDB's records, iterators and errors to those of the store interface.
#pragma once

#include <rocksdb/db.h>

#include <memory>

#include "base/result.h"
#include "storage/store.h"

namespace sibyl::storage::rocksdb {

class DamageReport;

// The key of the log's position (write_log.h), which readers do not see, and the smallest key that a record
// may have.
inline constexpr BytesView position_key("", 0);
inline constexpr BytesView first_record_key("\0", 1);

// Table id and token, with which record keys begin (row/record_key.h). Filters contain the prefixes of a
// memory table or file, so that a slice of one partition skips the others.
inline constexpr size_t token_prefix_size = 12;

// The results borrow the bytes.
inline ::rocksdb::Slice slice_of(BytesView bytes) {
  return {bytes.data(), bytes.size()};
}
inline BytesView view_of(const ::rocksdb::Slice& slice) {
  return {slice.data(), slice.size()};
}

// Reads the merged value of a record. Returns false if there is none. Damage is reported to `damage`.
base::Result<bool> read_record(::rocksdb::DB& database, const ::rocksdb::ReadOptions& options, BytesView key,
                               Bytes& value, DamageReport& damage);

// The iterator keeps copies of its bounds, and overwrites options.total_order_seek. `damage` receives reports
// of damage and must outlive the iterator.
std::unique_ptr<Iterator> make_iterator(::rocksdb::DB& database, ::rocksdb::ReadOptions options,
                                        BytesView begin, BytesView end, DamageReport* damage = nullptr);

// Converts a status to the error for clients, with a hint.
base::Error error_of(const ::rocksdb::Status& status, base::ErrorCode code);

}  // namespace sibyl::storage::rocksdb
