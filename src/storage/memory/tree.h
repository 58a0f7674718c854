// A persistent sorted map of byte strings: the memory store's heart.
//
// A Tree is a value: copying it is one reference count, and every change gives a new tree that shares all but
// the path to the change with the old one. So a snapshot is a copy, readers need no lock, and what no tree
// refers to any more is freed. Built as a treap whose priorities are a hash of the key: its shape depends on
// its contents alone, never on the order of changes or on chance.
//
// Trees that share nodes may be used and dropped by different threads.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "base/bytes.h"

namespace sibyl::storage::memory {

using base::Bytes;
using base::BytesView;

struct Record {
  Bytes key;
  Bytes value;
};

struct Node {
  std::shared_ptr<const Record> record;
  uint64_t priority = 0;
  uint64_t bytes = 0;  // of keys and values, children included
  std::shared_ptr<const Node> left;
  std::shared_ptr<const Node> right;
};
using NodePointer = std::shared_ptr<const Node>;

class Tree {
 public:
  const Record* find(BytesView key) const;
  [[nodiscard]] Tree with(Bytes key, Bytes value) const;
  [[nodiscard]] Tree without(BytesView key) const;
  // Logarithmic, whatever lies in [begin, end); freeing it is not.
  [[nodiscard]] Tree without_range(BytesView begin, BytesView end) const;

  uint64_t bytes() const { return root_ ? root_->bytes : 0; }
  uint64_t bytes_below(BytesView key) const;

  const Node* root() const { return root_.get(); }

 private:
  explicit Tree(NodePointer root) : root_(std::move(root)) {}
  NodePointer root_;

 public:
  Tree() = default;
};

// A place in a tree, which must outlive it. Starts nowhere.
class Cursor {
 public:
  explicit Cursor(const Tree& tree) : root_(tree.root()) {}

  bool valid() const { return !path_.empty(); }
  const Record& record() const { return *path_.back()->record; }
  void seek(BytesView key);           // the first record at or after key
  void seek_for_prev(BytesView key);  // the last record at or before key
  void seek_before(BytesView key);    // the last record before key
  void seek_to_last();
  void next();  // REQUIRES: valid()
  void prev();  // REQUIRES: valid()

 private:
  void descend(BytesView key, bool equal_is_left);
  const Node* root_;
  std::vector<const Node*> path_;  // from the root to the place
};

}  // namespace sibyl::storage::memory
