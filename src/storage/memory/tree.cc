#include "storage/memory/tree.h"

#include <functional>
#include <utility>

namespace sibyl::storage::memory {
namespace {

// Mixes the hash once more, so that similar keys get unrelated priorities.
uint64_t priority_of(BytesView key) {
  uint64_t hash = std::hash<BytesView>{}(key);
  hash = (hash ^ (hash >> 30)) * 0xbf58476d1ce4e5b9ULL;
  hash = (hash ^ (hash >> 27)) * 0x94d049bb133111ebULL;
  return hash ^ (hash >> 31);
}

uint64_t bytes_of(const Record& record) {
  return record.key.size() + record.value.size();
}
uint64_t bytes_of(const NodePointer& node) {
  return node ? node->bytes : 0;
}

NodePointer make_node(std::shared_ptr<const Record> record, uint64_t priority, NodePointer left,
                      NodePointer right) {
  const uint64_t bytes = bytes_of(*record) + bytes_of(left) + bytes_of(right);
  return std::make_shared<const Node>(
      Node{std::move(record), priority, bytes, std::move(left), std::move(right)});
}
NodePointer make_node(const Node& from, NodePointer left, NodePointer right) {
  return make_node(from.record, from.priority, std::move(left), std::move(right));
}

// Equal priorities are compared by key, so that the tree has only one possible shape.
bool above(const Node& left, const Node& right) {
  if (left.priority != right.priority) return left.priority > right.priority;
  return left.record->key < right.record->key;
}

// Returns the nodes below `key`, and those at or above it.
std::pair<NodePointer, NodePointer> split(const NodePointer& node, BytesView key) {
  if (!node) return {};
  if (node->record->key < key) {
    auto [low, high] = split(node->right, key);
    return {make_node(*node, node->left, std::move(low)), std::move(high)};
  }
  auto [low, high] = split(node->left, key);
  return {std::move(low), make_node(*node, std::move(high), node->right)};
}

// REQUIRES: every key of `low` is below every key of `high`.
NodePointer join(const NodePointer& low, const NodePointer& high) {
  if (!low) return high;
  if (!high) return low;
  if (above(*low, *high)) return make_node(*low, low->left, join(low->right, high));
  return make_node(*high, join(low, high->left), high->right);
}

NodePointer insert(const NodePointer& node, std::shared_ptr<const Record> record, uint64_t priority) {
  const BytesView key = record->key;
  const int order = node ? key.compare(node->record->key) : 0;
  if (node && order == 0) return make_node(std::move(record), priority, node->left, node->right);
  // Equal priorities are compared by key, so that the tree has only one possible shape.
  if (!node || priority > node->priority || (priority == node->priority && order < 0)) {
    auto [low, high] = split(node, key);
    return make_node(std::move(record), priority, std::move(low), std::move(high));
  }
  if (order < 0) return make_node(*node, insert(node->left, std::move(record), priority), node->right);
  return make_node(*node, node->left, insert(node->right, std::move(record), priority));
}

// REQUIRES: the key exists.
NodePointer remove(const NodePointer& node, BytesView key) {
  const int order = key.compare(node->record->key);
  if (order == 0) return join(node->left, node->right);
  if (order < 0) return make_node(*node, remove(node->left, key), node->right);
  return make_node(*node, node->left, remove(node->right, key));
}

}  // namespace

const Record* Tree::find(BytesView key) const {
  for (const Node* node = root_.get(); node != nullptr;) {
    const int order = key.compare(node->record->key);
    if (order == 0) return node->record.get();
    node = order < 0 ? node->left.get() : node->right.get();
  }
  return nullptr;
}

Tree Tree::with(Bytes key, Bytes value) const {
  const uint64_t priority = priority_of(key);
  auto record = std::make_shared<const Record>(Record{std::move(key), std::move(value)});
  return Tree(insert(root_, std::move(record), priority));
}

Tree Tree::without(BytesView key) const {
  return find(key) == nullptr ? *this : Tree(remove(root_, key));
}

Tree Tree::without_range(BytesView begin, BytesView end) const {
  if (begin >= end) return *this;
  auto [low, rest] = split(root_, begin);
  return Tree(join(low, split(rest, end).second));
}

uint64_t Tree::bytes_below(BytesView key) const {
  uint64_t bytes = 0;
  for (const Node* node = root_.get(); node != nullptr;) {
    if (BytesView(node->record->key) < key) {
      bytes += bytes_of(*node->record) + bytes_of(node->left);
      node = node->right.get();
    } else {
      node = node->left.get();
    }
  }
  return bytes;
}

void Cursor::descend(BytesView key, bool equal_is_left) {
  path_.clear();
  for (const Node* node = root_; node != nullptr;) {
    path_.push_back(node);
    const int order = key.compare(node->record->key);
    node = order < 0 || (order == 0 && equal_is_left) ? node->left.get() : node->right.get();
  }
}

// A descent ends next to the position of `key`. The record before or after it is the last one on the path at
// which the descent turned to the other side.
void Cursor::seek(BytesView key) {
  descend(key, true);
  while (!path_.empty() && BytesView(path_.back()->record->key) < key) path_.pop_back();
}

void Cursor::seek_for_prev(BytesView key) {
  descend(key, false);
  while (!path_.empty() && BytesView(path_.back()->record->key) > key) path_.pop_back();
}

void Cursor::seek_before(BytesView key) {
  descend(key, true);
  while (!path_.empty() && BytesView(path_.back()->record->key) >= key) path_.pop_back();
}

void Cursor::seek_to_last() {
  path_.clear();
  for (const Node* node = root_; node != nullptr; node = node->right.get()) path_.push_back(node);
}

void Cursor::next() {
  const Node* child = path_.back();
  if (child->right) {
    for (const Node* node = child->right.get(); node != nullptr; node = node->left.get())
      path_.push_back(node);
    return;
  }
  do {
    child = path_.back();
    path_.pop_back();
  } while (!path_.empty() && path_.back()->right.get() == child);
}

void Cursor::prev() {
  const Node* child = path_.back();
  if (child->left) {
    for (const Node* node = child->left.get(); node != nullptr; node = node->right.get())
      path_.push_back(node);
    return;
  }
  do {
    child = path_.back();
    path_.pop_back();
  } while (!path_.empty() && path_.back()->left.get() == child);
}

}  // namespace sibyl::storage::memory
