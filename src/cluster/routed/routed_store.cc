#include "cluster/routed/routed_store.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <set>
#include <utility>

#include "base/mutex.h"
#include "cluster/routed/store_service.h"
#include "storage/partition_sample.h"
#include "storage/shard_iterators.h"

namespace sibyl::cluster {
namespace {

using storage::failed_iterator;
using storage::iterate_parts;
using storage::Iterator;
using storage::ShardMap;
using storage::ShardPart;
using storage::Snapshot;

// A shard is read in parts: the size of the first part, the size of the largest, and the factor by which each
// part is larger than the one before.
constexpr uint32_t first_part_bytes = 16 << 10, max_part_bytes = 1 << 20, part_growth = 4;

base::Error timed_out(uint32_t shard) {
  base::ErrorDetails details;
  details.code = base::ErrorCode::read_timeout;
  details.message = "Operation timed out - received only 0 responses.";
  details.hint = fmt::format("the owner of shard {} does not answer; `sibyl cluster status` shows it", shard);
  return base::Error(std::move(details));
}

base::Error over_several_servers() {
  return base::Error(base::ErrorCode::invalid,
                     "A write to partitions on several servers of the cluster cannot be atomic yet")
      .with_hint("write one partition, or use BEGIN UNLOGGED BATCH");
}

// True if the last read of this thread included a shard of another server.
bool& has_read_elsewhere() {
  thread_local bool elsewhere = false;
  return elsewhere;
}

void for_each_shard(const storage::WriteSet& writes, const ShardMap& shards,
                    const std::function<void(uint32_t)>& visit) {
  for (const storage::WriteSet::Operation& operation : writes.operations()) {
    if (operation.action != storage::WriteSet::Action::erase_range)
      visit(shards.shard_of(operation.key));
    else if (operation.key < operation.value)
      std::ranges::for_each(shards.shards_of(operation.key, operation.value).shards, visit);
  }
}

}  // namespace

// --- Reading a shard, wherever it is

std::optional<base::Result<StoreAnswer>> RoutedStore::answer_of(const CallResult& called,
                                                                const StoreRequest& request) {
  if (!called.is_answered()) return std::nullopt;
  auto answer = StoreAnswer::decode(called.answer, request.kind);
  if (!answer) return answer;
  if (answer->outcome == StoreAnswer::Outcome::moved) return std::nullopt;
  if (answer->outcome == StoreAnswer::Outcome::failed)
    return base::Result<StoreAnswer>(base::fail(*answer->error));
  if (request.kind == StoreRequest::Kind::get && answer->values.size() != request.keys.size())
    return std::nullopt;
  return answer;
}

base::Result<StoreAnswer> RoutedStore::read(const StoreRequest& request) const {
  const Time deadline = std::chrono::steady_clock::now() + of_.patience;
  std::optional<ShardOwner> owner = of_.routing.owner(request.shard);
  while (true) {
    auto found = read_shard(of_.here, request);
    if (found || !storage::is_not_here(found.error())) return found;
    has_read_elsewhere() = true;
    if (owner && !owner->is_here) {
      const CallResult called = of_.peers.call(owner->member, Method::read, request.encode(), deadline);
      if (auto answer = answer_of(called, request)) return std::move(*answer);
    }
    owner = of_.routing.wait_for_owner(request.shard, owner, deadline);
    if (!owner && std::chrono::steady_clock::now() >= deadline) return base::fail(timed_out(request.shard));
  }
}

std::map<uint32_t, StoreAnswer> RoutedStore::ask_all(const std::map<uint32_t, StoreRequest>& requests) const {
  struct Calls {
    base::Mutex mutex;
    base::CondVar changed;
    size_t pending SIBYL_GUARDED_BY(mutex) = 0;
    std::map<uint32_t, CallResult> results SIBYL_GUARDED_BY(mutex);
  };
  const auto calls = std::make_shared<Calls>();
  const Time deadline = std::chrono::steady_clock::now() + of_.patience;
  for (const auto& [shard, request] : requests) {
    const std::optional<ShardOwner> owner = of_.routing.owner(shard);
    if (!owner || owner->is_here) continue;
    {
      const base::MutexLock lock(calls->mutex);
      ++calls->pending;
    }
    of_.peers.call(owner->member, Method::read, request.encode(), deadline,
                   [calls, number = shard](CallResult result) {
                     const base::MutexLock lock(calls->mutex);
                     calls->results.emplace(number, std::move(result));
                     if (--calls->pending == 0) calls->changed.notify_one();
                   });
  }
  std::map<uint32_t, StoreAnswer> answers;
  const base::MutexLock lock(calls->mutex);
  while (calls->pending > 0) calls->changed.wait(calls->mutex);
  for (const auto& [shard, result] : calls->results)
    if (auto answer = answer_of(result, requests.at(shard)); answer && *answer)
      answers.emplace(shard, std::move(**answer));
  return answers;
}

base::Result<bool> RoutedStore::get(BytesView key, Bytes& value) const {
  has_read_elsewhere() = false;
  auto found = of_.here.get(key, value);
  if (found || !storage::is_not_here(found.error())) return found;
  StoreRequest request;
  request.shard = of_.shards->shard_of(key);
  request.keys.emplace_back(key);
  SIBYL_ASSIGN(StoreAnswer answer, read(request));
  if (!answer.values[0]) return false;
  value = std::move(*answer.values[0]);
  return true;
}

base::Status RoutedStore::get_many(std::span<const Bytes> keys,
                                   std::span<std::optional<Bytes>> values) const {
  has_read_elsewhere() = false;
  const base::Status all_here = of_.here.get_many(keys, values);
  if (all_here || !storage::is_not_here(all_here.error())) return all_here;
  has_read_elsewhere() = true;
  std::map<uint32_t, StoreRequest> requests;
  std::map<uint32_t, std::vector<size_t>> places;
  for (size_t i = 0; i < keys.size(); ++i) {
    const uint32_t shard = of_.shards->shard_of(keys[i]);
    requests[shard].shard = shard;
    requests[shard].keys.push_back(keys[i]);
    places[shard].push_back(i);
  }
  std::map<uint32_t, StoreAnswer> answers = ask_all(requests);
  for (const auto& [shard, request] : requests) {
    if (!answers.contains(shard)) {
      SIBYL_ASSIGN(answers[shard], read(request));
    }
    const std::vector<size_t>& to = places[shard];
    for (size_t i = 0; i < to.size(); ++i) values[to[i]] = std::move(answers[shard].values[i]);
  }
  has_read_elsewhere() = true;
  return {};
}

// Only the owner of a shard knows which tables have partition records in it.
bool RoutedStore::may_have_partition_records(uint32_t table_id) const {
  return has_read_elsewhere() || of_.here.may_have_partition_records(table_id);
}

// --- Iterators

// The records of a shard of another server, in parts. Each part has all records from `from_` up to `to_`.
class RoutedStore::RemoteIterator final : public Iterator {
 public:
  RemoteIterator(const RoutedStore& store, uint32_t shard, BytesView begin, BytesView end)
      : store_(store), shard_(shard), begin_(begin), end_(end) {}

  bool valid() const override { return at_ < records_.size(); }
  BytesView key() const override { return records_[at_].first; }
  BytesView value() const override { return records_[at_].second; }
  base::Status status() const override { return status_; }

  void seek(BytesView key) override {
    const Bytes from(std::max(key, BytesView(begin_)));
    if (!end_.empty() && from >= end_) return invalidate();
    if (!has(from)) return read_forwards(from);
    at_ =
        static_cast<size_t>(std::ranges::lower_bound(records_, from, {}, &Record::first) - records_.begin());
    if (!valid() && !reaches_end_) read_forwards(Bytes(to_));
  }
  void seek_for_prev(BytesView key) override {
    if (key < begin_) return invalidate();
    Bytes to = Bytes(key) + '\0';
    if (!end_.empty() && to > end_) to = end_;
    if (!has(key)) return read_backwards(std::move(to));
    at_ = static_cast<size_t>(std::ranges::upper_bound(records_, key, {}, &Record::first) - records_.begin());
    prev();
  }
  void seek_to_first() override { seek(begin_); }
  void seek_to_last() override {
    if (!is_read_ || !reaches_end_) return read_backwards(end_);
    at_ = records_.size();
    prev();
  }
  void next() override {
    if (++at_ == records_.size() && !reaches_end_) read_forwards(Bytes(to_));
  }
  void prev() override {
    if (at_ > 0) {
      --at_;
    } else if (reaches_begin_) {
      invalidate();
    } else {
      read_backwards(Bytes(from_));
    }
  }

 private:
  using Record = std::pair<Bytes, Bytes>;

  bool has(BytesView key) const { return is_read_ && key >= from_ && (reaches_end_ || key < to_); }
  void invalidate() { at_ = records_.size(); }
  bool read(Bytes begin, Bytes end, bool backwards) {
    StoreRequest request;
    request.kind = StoreRequest::Kind::scan;
    request.shard = shard_;
    request.begin = std::move(begin);
    request.end = std::move(end);
    request.is_backwards = backwards;
    request.max_bytes = part_bytes_;
    part_bytes_ = std::min(part_bytes_ * part_growth, max_part_bytes);
    auto answer = store_.read(request);
    is_read_ = answer.has_value();
    records_.clear();
    at_ = 0;
    if (!answer) {
      status_ = base::fail(answer.error());
      return false;
    }
    status_ = {};
    records_ = std::move(answer->records);
    from_ = std::move(request.begin);
    to_ = std::move(request.end);
    (backwards ? reaches_begin_ : reaches_end_) = answer->is_last;
    return true;
  }
  void read_forwards(Bytes from) {
    reaches_begin_ = from == begin_;
    if (!read(std::move(from), end_, false) || reaches_end_) return;
    to_ = records_.back().first + '\0';
  }
  void read_backwards(Bytes to) {
    reaches_end_ = to == end_;
    if (!read(begin_, std::move(to), true)) return;
    std::ranges::reverse(records_);
    if (!reaches_begin_) from_ = records_.front().first;
    at_ = records_.empty() ? 0 : records_.size() - 1;
  }

  const RoutedStore& store_;
  const uint32_t shard_;
  const Bytes begin_, end_;
  uint32_t part_bytes_ = first_part_bytes;
  base::Status status_;
  bool is_read_ = false, reaches_begin_ = false, reaches_end_ = false;
  Bytes from_, to_;
  std::vector<Record> records_;
  size_t at_ = 0;
};

// A shard, here or at another server. Each read sees its newest state.
class RoutedStore::ShardView final : public Snapshot {
 public:
  ShardView(const RoutedStore& store, uint32_t shard) : store_(store), shard_(shard) {}
  base::Result<bool> get(BytesView key, Bytes& value) const override { return store_.get(key, value); }
  std::unique_ptr<Iterator> iterate(BytesView begin, BytesView end) const override {
    return store_.iterate_shard(shard_, begin, end);
  }

 private:
  const RoutedStore& store_;
  const uint32_t shard_;
};

std::unique_ptr<Iterator> RoutedStore::iterate_shard(uint32_t shard, BytesView begin, BytesView end) const {
  if (const auto snapshot = of_.here.shard_snapshot(shard))
    return storage::owning_iterator(snapshot->iterate(begin, end), snapshot);
  has_read_elsewhere() = true;
  return std::make_unique<RemoteIterator>(*this, shard, begin, end);
}

std::unique_ptr<Iterator> RoutedStore::iterate_shards(const ShardMap::Range& range, BytesView begin,
                                                      BytesView end) const {
  if (range.shards.size() == 1) return iterate_shard(range.shards[0], begin, end);
  has_read_elsewhere() = true;
  std::vector<ShardPart> parts;
  for (const uint32_t shard : range.shards)
    parts.push_back({shard, std::make_shared<ShardView>(*this, shard), nullptr});
  return iterate_parts(std::move(parts), range.is_in_order, *of_.shards, begin, end);
}

std::unique_ptr<Iterator> RoutedStore::iterate(BytesView begin, BytesView end) const {
  has_read_elsewhere() = false;
  auto here = of_.here.iterate(begin, end);
  if (const base::Status status = here->status(); status || !storage::is_not_here(status.error()))
    return here;
  return iterate_shards(of_.shards->shards_of(begin, end), begin, end);
}

// Reads shards that are open here as of the moment of the snapshot.
class RoutedStore::RoutedSnapshot final : public Snapshot {
 public:
  RoutedSnapshot(const RoutedStore& store, std::shared_ptr<const Snapshot> here)
      : store_(store), here_(std::move(here)) {}

  base::Result<bool> get(BytesView key, Bytes& value) const override {
    has_read_elsewhere() = false;
    auto found = here_->get(key, value);
    if (found || !storage::is_not_here(found.error())) return found;
    return store_.get(key, value);
  }
  std::unique_ptr<Iterator> iterate(BytesView begin, BytesView end) const override {
    has_read_elsewhere() = false;
    auto here = here_->iterate(begin, end);
    if (const base::Status status = here->status(); status || !storage::is_not_here(status.error()))
      return here;
    return store_.iterate_shards(store_.of_.shards->shards_of(begin, end), begin, end);
  }

 private:
  const RoutedStore& store_;
  const std::shared_ptr<const Snapshot> here_;
};

std::shared_ptr<const Snapshot> RoutedStore::snapshot() const {
  return std::make_shared<RoutedSnapshot>(*this, of_.here.snapshot());
}

// --- Writing

void RoutedStore::commit(storage::WriteSet writes, Done done) {
  std::set<uint32_t> shards;
  for_each_shard(writes, *of_.shards, [&](uint32_t shard) { shards.insert(shard); });
  const bool is_over_shards = shards.size() > 1;
  of_.here.commit(std::move(writes), [is_over_shards, done = std::move(done)](base::Status status) mutable {
    if (!status && is_over_shards && storage::is_not_here(status.error()))
      status = base::fail(over_several_servers());
    done(std::move(status));
  });
}

// --- Sizes

uint64_t RoutedStore::approximate_size(BytesView begin, BytesView end) const {
  uint64_t size = 0;
  std::map<uint32_t, StoreRequest> requests;
  for (const uint32_t shard : of_.shards->shards_of(begin, end).shards) {
    if (of_.here.open_epoch(shard)) {
      size += of_.here.shard_size(shard, begin, end);
      continue;
    }
    StoreRequest& request = requests[shard];
    request.kind = StoreRequest::Kind::size;
    request.shard = shard;
    request.begin = begin;
    request.end = end;
  }
  if (requests.empty()) return size;
  for (const auto& [shard, answer] : ask_all(requests)) size += answer.size;
  return size;
}

// Each partition is in one shard, so the samples of the shards add up.
std::map<uint32_t, storage::PartitionSample> RoutedStore::partition_samples(std::span<const uint32_t> tables,
                                                                            size_t max_records) const {
  std::map<uint32_t, storage::PartitionSample> samples;
  for (const uint32_t table : tables)
    samples.try_emplace(table, storage::PartitionSample(storage::PartitionSample::listed_in_all));
  std::map<uint32_t, StoreRequest> requests;
  for (uint32_t shard = 0; shard < of_.shards->count(); ++shard) {
    StoreRequest& request = requests[shard];
    request.kind = StoreRequest::Kind::sample;
    request.shard = shard;
    request.tables.assign(tables.begin(), tables.end());
    request.max_records = max_records;
  }
  std::map<uint32_t, StoreAnswer> answers = ask_all(requests);
  for (const auto& [shard, request] : requests) {
    auto known = answers.find(shard);
    auto found = known == answers.end() ? read(request) : base::Result<StoreAnswer>(std::move(known->second));
    if (!found)
      spdlog::warn("statistics of tables lack shard {}: {}", shard, found.error().text());
    else
      for (const auto& [table, sample] : found->samples)
        if (const auto of = samples.find(table); of != samples.end()) of->second.merge(sample);
  }
  return samples;
}

}  // namespace sibyl::cluster
