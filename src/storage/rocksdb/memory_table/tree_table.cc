#include "storage/rocksdb/memory_table/tree_table.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <new>
#include <string_view>
#include <utility>

#include "storage/rocksdb/memory_table/entry_tree.h"

namespace sibyl::storage::rocksdb {
namespace {

using ::rocksdb::Slice;

// Memory for iterators. RocksDB wants to have some of them in an arena and calls only their destructors. But
// the arena is not part of RocksDB's interface. So an iterator that is destroyed gives its memory to the
// thread that destroys it.
class IteratorMemory {
 public:
  ~IteratorMemory() {
    is_destroyed_ = true;
    while (size_ > 0) ::operator delete(free_[--size_]);
  }
  static void* take(size_t bytes) {
    IteratorMemory& memory = of_thread_;
    return is_destroyed_ || memory.size_ == 0 ? ::operator new(bytes) : memory.free_[--memory.size_];
  }
  static void give_back(void* block) noexcept {
    IteratorMemory& memory = of_thread_;
    if (is_destroyed_) return;  // the thread is ending
    // Frees another block, because this one is in use until its destructor returns.
    if (memory.size_ == memory.free_.size()) ::operator delete(memory.free_[--memory.size_]);
    memory.free_[memory.size_++] = block;
  }

 private:
  static thread_local IteratorMemory of_thread_;
  static thread_local bool is_destroyed_;
  std::array<void*, 64> free_{};
  size_t size_ = 0;
};
thread_local IteratorMemory IteratorMemory::of_thread_;
thread_local bool IteratorMemory::is_destroyed_ = false;

std::string_view view_of_key(const Slice& internal_key) {
  return {internal_key.data(), internal_key.size()};
}

class TreeIterator final : public ::rocksdb::MemTableRep::Iterator {
 public:
  explicit TreeIterator(const EntryTree& tree) : cursor_(tree) {}
  ~TreeIterator() override {
    if (is_pooled_) IteratorMemory::give_back(this);
  }
  static TreeIterator* make(const EntryTree& tree) {
    auto* const iterator = new (IteratorMemory::take(sizeof(TreeIterator))) TreeIterator(tree);
    iterator->is_pooled_ = true;
    return iterator;
  }
  static void operator delete(void*) {}  // the destructor has given the memory back

  bool Valid() const override { return cursor_.valid(); }
  const char* key() const override { return cursor_.entry(); }
  void Next() override { cursor_.next(); }
  void Prev() override { cursor_.previous(); }
  void Seek(const Slice& internal_key, const char*) override { cursor_.seek(view_of_key(internal_key)); }
  void SeekForPrev(const Slice& internal_key, const char*) override {
    cursor_.seek_before(view_of_key(internal_key));
  }
  void SeekToFirst() override { cursor_.seek_to_first(); }
  void SeekToLast() override { cursor_.seek_to_last(); }

 private:
  EntryTree::Cursor cursor_;
  bool is_pooled_ = false;
};

class TreeTable final : public ::rocksdb::MemTableRep {
 public:
  explicit TreeTable(::rocksdb::Allocator* allocator)
      : MemTableRep(allocator), tree_([this](size_t bytes) {
          char* memory = nullptr;
          Allocate(bytes, &memory);
          return memory;
        }) {}

  void Insert(::rocksdb::KeyHandle entry) override { tree_.insert(static_cast<const char*>(entry)); }
  bool Contains(const char* entry) const override {
    const Slice key = ::rocksdb::GetLengthPrefixedSlice(entry);
    EntryTree::Cursor cursor(tree_);
    cursor.seek(view_of_key(key));
    return cursor.valid() && ::rocksdb::GetLengthPrefixedSlice(cursor.entry()) == key;
  }
  // LookupKey is not part of RocksDB's interface, so only the base class can read it. The base class seeks in
  // the iterator of GetDynamicPrefixIterator(), and does not delete the iterator.
  void Get(const ::rocksdb::LookupKey& key, void* arguments, bool (*callback)(void*, const char*)) override {
    TreeIterator iterator(tree_);
    iterator_of_get = &iterator;
    MemTableRep::Get(key, arguments, callback);
  }
  ::rocksdb::MemTableRep::Iterator* GetDynamicPrefixIterator(::rocksdb::Arena* arena) override {
    Iterator* const of_get = arena == nullptr ? std::exchange(iterator_of_get, nullptr) : nullptr;
    return of_get != nullptr ? of_get : GetIterator(arena);
  }
  ::rocksdb::MemTableRep::Iterator* GetIterator(::rocksdb::Arena*) override {
    return TreeIterator::make(tree_);
  }
  uint64_t ApproximateNumEntries(const Slice& begin, const Slice& end) override {
    return static_cast<uint64_t>(
        std::max(0.0, tree_.rank_of(view_of_key(end)) - tree_.rank_of(view_of_key(begin))));
  }
  size_t ApproximateMemoryUsage() override { return 0; }  // RocksDB's allocator counts the memory

 private:
  static thread_local Iterator* iterator_of_get;
  EntryTree tree_;
};
thread_local ::rocksdb::MemTableRep::Iterator* TreeTable::iterator_of_get = nullptr;

class TreeTables final : public ::rocksdb::MemTableRepFactory {
 public:
  using MemTableRepFactory::CreateMemTableRep;
  ::rocksdb::MemTableRep* CreateMemTableRep(const ::rocksdb::MemTableRep::KeyComparator&,
                                            ::rocksdb::Allocator* allocator, const ::rocksdb::SliceTransform*,
                                            ::rocksdb::Logger*) override {
    return new TreeTable(allocator);
  }
  const char* Name() const override { return "sibyl.tree"; }
};

}  // namespace

std::shared_ptr<::rocksdb::MemTableRepFactory> make_tree_tables() {
  return std::make_shared<TreeTables>();
}

}  // namespace sibyl::storage::rocksdb
