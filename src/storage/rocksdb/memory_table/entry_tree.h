// The entries of a memory table in order: a B+ tree for one writer and any number of readers at the same
// time.
//
// An entry is what RocksDB stores in a memory table: a varint with the size of the internal key, the internal
// key (the user key and 8 bytes with the sequence number and the type), and more that the tree does not read.
// Entries are ordered by user key, as bytes, and then from the newest to the oldest. The tree keeps pointers
// to them. Nothing is ever removed.
//
// Readers take no locks and never wait. The rules:
//
//  1. A node has 14 slots and a word `order` with the number of its entries and the permutation that sorts
//     the slots. The writer fills a free slot and then publishes it by storing `order`.
//  2. A full node is split. Its upper half moves to a new node on its right. The writer stores `next`, then
//     `end`, then a shorter `order`, and then increments `version`: from now on the slots of the upper half
//     may be filled again.
//  3. A reader loads `version` before it loads `order`, and again after it has loaded the last slot. If it
//     has changed, the slots may have been filled again, and the reader repeats the node.
//  4. A reader that is past the last entry of a node compares with `end`: the entries from `end` on are in
//     nodes on the right. So it finds entries that have been moved there after it chose the node.
//
// A node's entries share the first `skip` bytes of their user keys. The next 8 bytes are in the node, as a
// number: most comparisons need no other memory.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string_view>

namespace sibyl::storage::rocksdb {

class EntryTree {
 public:
  // Returns memory that lives as long as the tree. May throw std::bad_alloc. The tree is then unchanged.
  using Allocate = std::function<char*(size_t bytes)>;

  explicit EntryTree(Allocate allocate);
  EntryTree(const EntryTree&) = delete;
  EntryTree& operator=(const EntryTree&) = delete;

  // Borrows the entry. REQUIRES: called by one thread at a time; the tree has no entry with this internal
  // key.
  void insert(const char* entry);

  // --- Thread-safe, also during an insertion.

  uint64_t size() const { return size_.load(std::memory_order_relaxed); }
  // The approximate number of entries before an internal key.
  double rank_of(std::string_view internal_key) const;

 private:
  struct Node;
  struct Inner;
  // An internal key.
  struct Key {
    const char* data;
    size_t size;   // size of the user key
    uint64_t tag;  // sequence number and type
  };

 public:
  // A position in the tree. Invalid until the first seek. Entries that are inserted while a cursor is in use
  // may or may not be visited. Must not outlive the tree.
  class Cursor {
   public:
    explicit Cursor(const EntryTree& tree) : tree_(&tree) {}

    bool valid() const { return entry_ != nullptr; }
    const char* entry() const { return entry_; }      // REQUIRES: valid()
    void seek(std::string_view internal_key);         // the first entry at or after the key
    void seek_before(std::string_view internal_key);  // the last entry at or before the key
    void seek_to_first();
    void seek_to_last();
    void next();      // REQUIRES: valid()
    void previous();  // REQUIRES: valid()

   private:
    void find_first(const Key& key);
    void find_last(const Key& key, bool or_equal);
    void continue_right(const Node& node, const Key& key, bool or_equal);
    void prefetch_next() const;
    bool land(const Node& node, uint32_t version, uint64_t order, size_t position);

    const EntryTree* tree_;
    const char* entry_ = nullptr;
    // The state of entry_'s leaf when the cursor came to that leaf.
    const Node* leaf_ = nullptr;
    uint64_t order_ = 0;
    uint32_t version_ = 0;
    size_t position_ = 0;
  };

 private:
  static constexpr size_t max_height = 24;
  struct Path {
    std::array<Inner*, max_height> nodes;
    size_t size = 0;
  };

  static Key key_of(const char* entry);
  static Key key_of(std::string_view internal_key);
  static int compare(const Key& left, const Key& right);
  static size_t shared_bytes(const Key& left, const Key& right);
  // Returns the number of entries of a node that are before the key; with `or_equal`, before or equal to it.
  template <bool or_equal>
  static size_t count(const Node& node, uint64_t order, const Key& key);
  static const Node* right_of(const Node* node, const Key& key, bool or_equal);
  static void add(Node& node, size_t position, const char* entry, Node* child);
  static void publish_split(Node& left, Node& right, const char* separator, size_t kept);

  void reserve(size_t bytes);  // the only function here that throws
  void reserve_for_split(const Path& path);
  char* take_memory(size_t bytes);
  Node* make_leaf();
  Inner* make_inner();
  void split_leaf(Path& path, Node& leaf, size_t position, const char* entry);
  void add_to_parent(Path& path, const char* separator, Node& right);
  void split_inner(Path& path, Inner& node, size_t position, const char* separator, Node& child);

  const Allocate allocate_;
  std::atomic<Node*> root_{nullptr};
  std::atomic<uint64_t> size_ = 0;
  char* free_ = nullptr;  // memory for nodes
  size_t free_bytes_ = 0;
  // The leaf to which the last insertion appended at the end. The next one may continue an ascending
  // sequence.
  const Node* ascending_ = nullptr;
};

}  // namespace sibyl::storage::rocksdb
