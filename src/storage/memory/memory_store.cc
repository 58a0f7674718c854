#include "storage/memory/memory_store.h"

#include <algorithm>
#include <array>
#include <limits>

#include "base/mutex.h"
#include "row/merge.h"
#include "storage/memory/tree.h"
#include "storage/purger.h"

namespace sibyl::storage::memory {
namespace {

class TreeIterator final : public Iterator {
 public:
  TreeIterator(Tree tree, BytesView begin, BytesView end)
      : tree_(std::move(tree)), cursor_(tree_), begin_(begin), end_(end) {}

  bool valid() const override {
    return cursor_.valid() && key() >= begin_ && (end_.empty() || key() < BytesView(end_));
  }
  void seek(BytesView key) override { cursor_.seek(std::max<BytesView>(key, begin_)); }
  void seek_for_prev(BytesView key) override {
    if (!end_.empty() && key >= BytesView(end_))
      cursor_.seek_before(end_);
    else
      cursor_.seek_for_prev(key);
  }
  void seek_to_first() override { cursor_.seek(begin_); }
  void seek_to_last() override {
    if (end_.empty())
      cursor_.seek_to_last();
    else
      cursor_.seek_before(end_);
  }
  void next() override { cursor_.next(); }
  void prev() override { cursor_.prev(); }
  BytesView key() const override { return cursor_.record().key; }
  BytesView value() const override { return cursor_.record().value; }
  base::Status status() const override { return {}; }

 private:
  const Tree tree_;
  Cursor cursor_;
  const Bytes begin_, end_;
};

bool read(const Tree& tree, BytesView key, Bytes& value) {
  const Record* record = tree.find(key);
  if (record == nullptr) return false;
  value = record->value;
  return true;
}

class TreeSnapshot final : public Snapshot {
 public:
  explicit TreeSnapshot(Tree tree) : tree_(std::move(tree)) {}
  base::Result<bool> get(BytesView key, Bytes& value) const override { return read(tree_, key, value); }
  std::unique_ptr<Iterator> iterate(BytesView begin, BytesView end) const override {
    return std::make_unique<TreeIterator>(tree_, begin, end);
  }

 private:
  const Tree tree_;
};

void apply(WriteSet::Operation&& operation, Tree& tree) {
  switch (operation.action) {
    case WriteSet::Action::merge:
      if (const Record* record = tree.find(operation.key)) {
        Bytes merged;
        row::merge(std::array<BytesView, 2>{record->value, operation.value}, merged);
        tree = tree.with(std::move(operation.key), std::move(merged));
        break;
      }
      [[fallthrough]];
    case WriteSet::Action::put:
      tree = tree.with(std::move(operation.key), std::move(operation.value));
      break;
    case WriteSet::Action::erase:
      tree = tree.without(operation.key);
      break;
    case WriteSet::Action::erase_range:
      tree = tree.without_range(operation.key, operation.value);
      break;
  }
}

// Every record of a tree is whole. Between taking the tree and purging it, nothing is written.
class TreeView final : public Purger::View {
 public:
  explicit TreeView(Tree tree) : tree_(std::move(tree)) {}
  bool is_whole(BytesView, BytesView) override { return true; }
  std::unique_ptr<Iterator> iterate() override { return std::make_unique<TreeIterator>(tree_, "", ""); }

 private:
  const Tree tree_;
};

class MemoryStore final : public Store {
 public:
  explicit MemoryStore(Options options) : options_(std::move(options)) {}

  using Store::commit;
  void commit(WriteSet writes, Done done) override { done(apply_all(std::move(writes))); }

  base::Result<bool> get(BytesView key, Bytes& value) const override { return read(newest(), key, value); }
  base::Status get_many(std::span<const Bytes> keys, std::span<std::optional<Bytes>> values) const override {
    const Tree tree = newest();
    for (size_t i = 0; i < keys.size(); ++i) {
      const Record* record = tree.find(keys[i]);
      values[i] = record == nullptr ? std::nullopt : std::optional(record->value);
    }
    return {};
  }
  std::unique_ptr<Iterator> iterate(BytesView begin, BytesView end) const override {
    return std::make_unique<TreeIterator>(newest(), begin, end);
  }
  std::shared_ptr<const Snapshot> snapshot() const override {
    return std::make_shared<TreeSnapshot>(newest());
  }

  std::span<const EntryRun> entry_runs() const override { return options_.entry_runs; }

  base::Status flush() override { return {}; }
  base::Status compact(BytesView begin, BytesView end) override;
  void set_purge_policy(std::shared_ptr<const PurgePolicy> policy) override {
    const base::MutexLock lock(writing_);
    policy_ = std::move(policy);
  }

  uint64_t approximate_size(BytesView begin, BytesView end) const override;
  StoreStatistics statistics() const override;

 private:
  // Commits sweep the store slowly, so that expired data is removed without a call of compact().
  static constexpr uint64_t commits_per_sweep = 256;
  static constexpr size_t records_per_sweep = 1024;

  base::Status apply_all(WriteSet writes);
  Bytes purge(BytesView begin, BytesView end, size_t limit) SIBYL_REQUIRES(writing_);
  Tree newest() const {
    const base::MutexLock lock(publishing_);
    return tree_;
  }
  void publish(Tree tree) {
    const base::MutexLock lock(publishing_);
    std::swap(tree_, tree);  // frees the old tree after the lock is released
  }

  const Options options_;
  base::SystemClock system_clock_;
  base::Mutex writing_;  // held while the next tree is built; acquired before publishing_
  std::shared_ptr<const PurgePolicy> policy_ SIBYL_GUARDED_BY(writing_);
  uint64_t attempts_ SIBYL_GUARDED_BY(writing_) = 0;
  Bytes sweep_from_ SIBYL_GUARDED_BY(writing_);
  mutable base::Mutex publishing_;
  Tree tree_ SIBYL_GUARDED_BY(publishing_);
  uint64_t commits_ SIBYL_GUARDED_BY(publishing_) = 0;
};

base::Status MemoryStore::apply_all(WriteSet writes) {
  const base::MutexLock lock(writing_);
  ++attempts_;
  if (options_.fail_commit && options_.fail_commit(attempts_))
    return base::fail(base::ErrorCode::write_failure, "The store failed to write: injected failure");
  Tree tree = newest();
  for (WriteSet::Operation& operation : std::move(writes).take()) apply(std::move(operation), tree);
  publish(std::move(tree));
  if (policy_ && attempts_ % commits_per_sweep == 0) sweep_from_ = purge(sweep_from_, {}, records_per_sweep);
  const base::MutexLock counting(publishing_);
  ++commits_;
  return {};
}

base::Status MemoryStore::compact(BytesView begin, BytesView end) {
  const base::MutexLock lock(writing_);
  purge(begin, end, std::numeric_limits<size_t>::max());
  return {};
}

// Visits up to `limit` records and returns the key to continue from; empty at the end.
Bytes MemoryStore::purge(BytesView begin, BytesView end, size_t limit) {
  base::Clock& clock = options_.clock != nullptr ? *options_.clock : system_clock_;
  Tree tree = newest();
  Purger purger(policy_, clock.now_seconds(), std::make_unique<TreeView>(tree));
  TreeIterator records(tree, begin, end);
  Bytes changed;
  for (records.seek_to_first(); records.valid() && limit > 0; records.next(), --limit) {
    switch (purger.visit_whole(records.key(), records.value(), changed)) {
      case Purger::Verdict::keep:
        break;
      case Purger::Verdict::change:
        tree = tree.with(Bytes(records.key()), std::move(changed));
        break;
      case Purger::Verdict::remove:
        tree = tree.without(records.key());
        break;
    }
  }
  publish(std::move(tree));
  return records.valid() ? Bytes(records.key()) : Bytes();
}

uint64_t MemoryStore::approximate_size(BytesView begin, BytesView end) const {
  const Tree tree = newest();
  const uint64_t below_end = end.empty() ? tree.bytes() : tree.bytes_below(end);
  return below_end - std::min(below_end, tree.bytes_below(begin));
}

StoreStatistics MemoryStore::statistics() const {
  StoreStatistics statistics;
  const base::MutexLock lock(publishing_);
  statistics.bytes_in_memory = tree_.bytes();
  statistics.commits = commits_;
  statistics.commit_groups = commits_;
  return statistics;
}

}  // namespace

std::function<bool(uint64_t)> seeded_failures(uint64_t seed, uint64_t one_in) {
  return [seed, one_in](uint64_t number) {
    uint64_t mixed = seed + number * 0x9e3779b97f4a7c15ULL;
    mixed = (mixed ^ (mixed >> 30)) * 0xbf58476d1ce4e5b9ULL;
    mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111ebULL;
    return one_in != 0 && (mixed ^ (mixed >> 31)) % one_in == 0;
  };
}

std::unique_ptr<Store> make_store(Options options) {
  return std::make_unique<MemoryStore>(std::move(options));
}

}  // namespace sibyl::storage::memory
