#include "storage/rocksdb/reading.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "base/memory.h"
#include "base/statement.h"
#include "storage/rocksdb/damage.h"
#include "storage/rocksdb/merging.h"
#include "storage/rocksdb/recoverable_files.h"

namespace sibyl::storage::rocksdb {
namespace {

using ::rocksdb::Slice;

// True if all keys in [begin, end) are of the same table and token.
bool have_one_token(BytesView begin, BytesView end) {
  return begin.size() >= token_prefix_size && end.size() >= token_prefix_size && begin < end &&
         begin.substr(0, token_prefix_size) == end.substr(0, token_prefix_size);
}

// RocksDB does not expect exceptions, so its allocations for a statement are counted but never refused.
class RecordIterator final : public Iterator {
 public:
  RecordIterator(::rocksdb::DB& database, ::rocksdb::ReadOptions options, BytesView begin, BytesView end,
                 DamageReport* damage)
      : database_(database),
        damage_(damage),
        is_of_token_(have_one_token(begin, end)),
        begin_(begin),
        end_(end),
        lower_(begin_),
        upper_(end_) {
    if (!begin_.empty()) options.iterate_lower_bound = &lower_;
    if (!end_.empty()) options.iterate_upper_bound = &upper_;
    options.total_order_seek = !is_of_token_;
    const base::UnlimitedMemory unlimited;
    iterator_.reset(database.NewIterator(options));
  }

  ~RecordIterator() override {
    const base::UnlimitedMemory unlimited;
    iterator_.reset();
  }

  bool valid() const override { return iterator_->Valid(); }
  void seek(BytesView key) override {
    move([&] { iterator_->Seek(slice_of(within(key))); });
  }
  void seek_for_prev(BytesView key) override {
    move([&] {
      if (is_of_token_ && key >= end_) return iterator_->SeekToLast();
      iterator_->SeekForPrev(slice_of(key));
    });
  }
  void seek_to_first() override {
    move([&] { iterator_->SeekToFirst(); });
  }
  void seek_to_last() override {
    move([&] { iterator_->SeekToLast(); });
  }
  void next() override {
    move([&] { iterator_->Next(); });
  }
  void prev() override {
    move([&] { iterator_->Prev(); });
  }
  BytesView key() const override { return view_of(iterator_->key()); }
  BytesView value() const override { return view_of(iterator_->value()); }
  base::Status status() const override {
    const auto status = iterator_->status();
    if (status.ok()) return {};
    if (refused_) return base::fail(*refused_);
    if (damage_ == nullptr) return base::fail(error_of(status, base::ErrorCode::read_failure));
    return base::fail(damage_->read_error(database_, status, begin_));
  }

 private:
  template <typename Move>
  void move(const Move& move) {
    const base::UnlimitedMemory unlimited;
    move();
    if (!iterator_->Valid()) [[unlikely]]
      refused_ = take_refused_merge();
  }

  // Limits a key to the iterator's range. Otherwise a key with another token would be sought with the filters
  // of the wrong token.
  BytesView within(BytesView key) const {
    if (!is_of_token_) return key;
    return std::clamp(key, BytesView(begin_), BytesView(end_));
  }

  ::rocksdb::DB& database_;
  DamageReport* damage_;
  const bool is_of_token_;  // uses filters to skip memory tables and files without records of the token
  const Bytes begin_, end_;
  const Slice lower_, upper_;
  std::optional<base::Error> refused_;  // set if a record was too large for the statement
  std::unique_ptr<::rocksdb::Iterator> iterator_;
};

// Counts a value that was allocated under UnlimitedMemory, and that the statement will free.
void count_for_statement(size_t capacity, size_t capacity_before) {
  base::memory::thread_state.used -= static_cast<int64_t>(capacity_before);
  base::memory::reserve(capacity);
  if (capacity >= base::memory::large_block)
    base::memory::thread_state.used_in_large += static_cast<int64_t>(capacity);
  if (capacity_before >= base::memory::large_block)
    base::memory::thread_state.used_in_large -= static_cast<int64_t>(capacity_before);
}

// A value that was found. Merged values are written to `value` directly. Others are in blocks of the cache,
// and are copied.
class Found {
 public:
  explicit Found(Bytes& value) : value_(value), slice_(&value) {}
  ~Found() {
    const base::UnlimitedMemory unlimited;  // the block was not allocated by the statement
    slice_.Reset();
  }
  Found(const Found&) = delete;
  Found& operator=(const Found&) = delete;

  ::rocksdb::Status read(::rocksdb::DB& database, const ::rocksdb::ReadOptions& options, BytesView key) {
    const base::UnlimitedMemory unlimited;
    return database.Get(options, database.DefaultColumnFamily(), slice_of(key), &slice_);
  }
  size_t size() const { return slice_.size(); }
  void copy_pinned() {
    if (slice_.IsPinned()) value_.assign(slice_.data(), slice_.size());
  }

 private:
  Bytes& value_;
  ::rocksdb::PinnableSlice slice_;
};

}  // namespace

base::Result<bool> read_record(::rocksdb::DB& database, const ::rocksdb::ReadOptions& options, BytesView key,
                               Bytes& value, DamageReport& damage) {
  const size_t capacity_before = value.capacity();
  Found found(value);
  const auto status = found.read(database, options, key);
  if (status.IsNotFound()) return false;
  if (!status.ok()) {
    if (auto refused = take_refused_merge()) return base::fail(*std::move(refused));
    return base::fail(damage.read_error(database, status, key));
  }
  count_for_statement(value.capacity(), capacity_before);
  base::count_work(static_cast<int64_t>(found.size()));  // the pages of a large value may be new
  found.copy_pinned();
  return true;
}

std::unique_ptr<Iterator> make_iterator(::rocksdb::DB& database, ::rocksdb::ReadOptions options,
                                        BytesView begin, BytesView end, DamageReport* damage) {
  return std::make_unique<RecordIterator>(database, std::move(options), begin, end, damage);
}

base::Error error_of(const ::rocksdb::Status& status, base::ErrorCode code) {
  const Reason reason = reason_of(status);
  base::Error error(code, fmt::format("The store failed: {}", reason.text));
  if (reason.device_is_full) return error.with_hint("free some disk space; the store resumes by itself");
  if (status.IsCorruption())
    return error.with_hint(
        "a file of the store is damaged: restore the file, or restore a snapshot into a new directory "
        "(`sibyl "
        "snapshot restore`), or recover the intact data with `sibyl recover`");
  return error;
}

}  // namespace sibyl::storage::rocksdb
