#include "storage/rocksdb/reading.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/memory.h"
#include "base/statement.h"
#include "storage/rocksdb/damage.h"
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
    const base::UnlimitedMemory unlimited;
    iterator_->Seek(slice_of(within(key)));
  }
  void seek_for_prev(BytesView key) override {
    const base::UnlimitedMemory unlimited;
    if (is_of_token_ && key >= end_) return iterator_->SeekToLast();
    iterator_->SeekForPrev(slice_of(key));
  }
  void seek_to_first() override {
    const base::UnlimitedMemory unlimited;
    iterator_->SeekToFirst();
  }
  void seek_to_last() override {
    const base::UnlimitedMemory unlimited;
    iterator_->SeekToLast();
  }
  void next() override {
    const base::UnlimitedMemory unlimited;
    iterator_->Next();
  }
  void prev() override {
    const base::UnlimitedMemory unlimited;
    iterator_->Prev();
  }
  BytesView key() const override { return view_of(iterator_->key()); }
  BytesView value() const override { return view_of(iterator_->value()); }
  base::Status status() const override {
    const auto status = iterator_->status();
    if (status.ok()) return {};
    if (damage_ == nullptr) return base::fail(error_of(status, base::ErrorCode::read_failure));
    return base::fail(damage_->read_error(database_, status, begin_));
  }

 private:
  // A key of another token would be sought with the filters of the wrong token.
  BytesView within(BytesView key) const {
    if (!is_of_token_) return key;
    return std::clamp(key, BytesView(begin_), BytesView(end_));
  }

  ::rocksdb::DB& database_;
  DamageReport* damage_;
  const bool is_of_token_;  // uses filters to skip memory tables and files without records of the token
  const Bytes begin_, end_;
  const Slice lower_, upper_;
  std::unique_ptr<::rocksdb::Iterator> iterator_;
};

}  // namespace

base::Result<bool> read_record(::rocksdb::DB& database, const ::rocksdb::ReadOptions& options, BytesView key,
                               Bytes& value, DamageReport& damage) {
  ::rocksdb::PinnableSlice found;
  const auto status = [&] {
    const base::UnlimitedMemory unlimited;
    return database.Get(options, database.DefaultColumnFamily(), slice_of(key), &found);
  }();
  if (status.IsNotFound()) return false;
  if (!status.ok()) return base::fail(damage.read_error(database, status, key));
  base::count_work(static_cast<int64_t>(found.size()));  // the pages of a large value may be new
  value.assign(found.data(), found.size());
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
    return error.with_hint("a file of the store is damaged; restore it from a backup");
  return error;
}

}  // namespace sibyl::storage::rocksdb
