// A persistent sorted map of byte strings: the memory store's data structure.
//
// A Tree is a value. Copying it increments one reference count. Every change returns a new tree that shares
// all nodes with the old one except the path to the change. Thus a snapshot is a copy, readers need no lock,
// and nodes are freed when no tree refers to them. It is a treap whose priorities are hashes of the keys, so
// its shape depends only on its contents and not on the order of changes.
//
// Trees that share nodes may be used and destroyed by different threads.
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
  uint64_t bytes = 0;  // bytes of keys and values in this subtree
  std::shared_ptr<const Node> left;
  std::shared_ptr<const Node> right;
};
using NodePointer = std::shared_ptr<const Node>;

class Tree {
 public:
  const Record* find(BytesView key) const;
  [[nodiscard]] Tree with(Bytes key, Bytes value) const;
  [[nodiscard]] Tree without(BytesView key) const;
  // Takes logarithmic time, excluding the time to free the removed nodes.
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

// A position in a tree, which must outlive the cursor. Invalid until the first seek.
class Cursor {
 public:
  explicit Cursor(const Tree& tree) : root_(tree.root()) {}

  bool valid() const { return !path_.empty(); }
  const Record& record() const { return *path_.back()->record; }
  void seek(BytesView key);           // moves to the first record at or after key
  void seek_for_prev(BytesView key);  // moves to the last record at or before key
  void seek_before(BytesView key);    // moves to the last record before key
  void seek_to_last();
  void next();  // REQUIRES: valid()
  void prev();  // REQUIRES: valid()

 private:
  void descend(BytesView key, bool equal_is_left);
  const Node* root_;
  std::vector<const Node*> path_;  // the nodes from the root to the current one
};

}  // namespace sibyl::storage::memory
