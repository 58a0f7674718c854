// A sorted map that is cheap to copy and to compare with an earlier copy of itself.
//
// A PersistentMap is a value. Copying it increments one reference count. A change copies the path from the
// root to the changed entry and shares everything else with older copies, so it takes logarithmic time and
// memory. compare_maps() skips whatever two maps share. Lookups and iteration are like those of std::map.
//
// The map is an AVL tree of immutable nodes. Threads: maps that share nodes may be read, changed and
// destroyed by different threads. One map is as thread-safe as any container.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <initializer_list>
#include <iterator>
#include <memory>
#include <stdexcept>
#include <utility>
#include <vector>

namespace sibyl::base {

template <typename Key, typename Value>
class PersistentMap {
  struct Node;
  using NodePointer = std::shared_ptr<const Node>;
  // An AVL tree of this height has more than 2^32 nodes.
  static constexpr size_t max_height = 48;

 public:
  using key_type = Key;
  using mapped_type = Value;
  using value_type = std::pair<const Key, Value>;

  // Iterates in key order. Entries cannot be changed through it. Valid while the map exists unchanged.
  class const_iterator {
   public:
    using iterator_category = std::forward_iterator_tag;
    using value_type = PersistentMap::value_type;
    using difference_type = std::ptrdiff_t;
    using pointer = const value_type*;
    using reference = const value_type&;

    const_iterator() = default;
    reference operator*() const { return path_[depth_ - 1]->entry; }
    pointer operator->() const { return &**this; }
    const_iterator& operator++() {
      const Node* next = path_[--depth_]->right.get();
      descend_left(next);
      return *this;
    }
    const_iterator operator++(int) {
      const_iterator before = *this;
      ++*this;
      return before;
    }
    bool operator==(const const_iterator& other) const { return node() == other.node(); }

   private:
    friend class PersistentMap;
    const Node* node() const { return depth_ == 0 ? nullptr : path_[depth_ - 1]; }
    void descend_left(const Node* node) {
      for (; node != nullptr; node = node->left.get()) path_[depth_++] = node;
    }
    // The path to the current node, which is the last element. The elements before it are the ancestors whose
    // left subtree contains it.
    std::array<const Node*, max_height> path_;
    size_t depth_ = 0;
  };
  using iterator = const_iterator;

  PersistentMap() = default;
  PersistentMap(std::initializer_list<value_type> entries) {
    for (const auto& [key, value] : entries) insert_or_assign(key, value);
  }

  const_iterator begin() const {
    const_iterator first;
    first.descend_left(root_.get());
    return first;
  }
  const_iterator end() const { return {}; }
  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }

  // Keys may be given as any type that compares with Key, for example as string_view.
  template <typename Name>
  const_iterator find(const Name& key) const {
    const_iterator found = lower_bound(key);
    return found != end() && !(key < found->first) ? found : end();
  }
  // The first entry whose key is not less than `key`.
  template <typename Name>
  const_iterator lower_bound(const Name& key) const {
    const_iterator found;
    for (const Node* node = root_.get(); node != nullptr;) {
      if (node->entry.first < key) {
        node = node->right.get();
      } else {
        found.path_[found.depth_++] = node;
        node = node->left.get();
      }
    }
    return found;
  }
  template <typename Name>
  bool contains(const Name& key) const {
    return find(key) != end();
  }
  // Throws std::out_of_range if there is no such key.
  template <typename Name>
  const Value& at(const Name& key) const {
    const const_iterator found = find(key);
    if (found == end()) throw std::out_of_range("PersistentMap::at");
    return found->second;
  }

  void insert_or_assign(const Key& key, Value value) {
    if (!contains(key)) ++size_;
    root_ = inserted(root_, key, std::move(value));
  }
  // Returns the number of entries that were removed: 0 or 1.
  template <typename Name>
  size_t erase(const Name& key) {
    if (!contains(key)) return 0;
    --size_;
    root_ = erased(root_, key);
    return 1;
  }

 private:
  struct Node {
    value_type entry;
    NodePointer left, right;
    int height;
  };

  static int height_of(const NodePointer& node) { return node ? node->height : 0; }

  static NodePointer make(const value_type& entry, NodePointer left, NodePointer right) {
    const int height = 1 + std::max(height_of(left), height_of(right));
    return std::make_shared<const Node>(entry, std::move(left), std::move(right), height);
  }

  // Like make(), for subtrees whose heights differ by two at most, which a rotation corrects.
  static NodePointer balanced(const value_type& entry, NodePointer left, NodePointer right) {
    if (height_of(left) > height_of(right) + 1) {
      if (height_of(left->left) >= height_of(left->right))
        return make(left->entry, left->left, make(entry, left->right, std::move(right)));
      const Node& middle = *left->right;
      return make(middle.entry, make(left->entry, left->left, middle.left),
                  make(entry, middle.right, std::move(right)));
    }
    if (height_of(right) > height_of(left) + 1) {
      if (height_of(right->right) >= height_of(right->left))
        return make(right->entry, make(entry, std::move(left), right->left), right->right);
      const Node& middle = *right->left;
      return make(middle.entry, make(entry, std::move(left), middle.left),
                  make(right->entry, middle.right, right->right));
    }
    return make(entry, std::move(left), std::move(right));
  }

  static NodePointer inserted(const NodePointer& node, const Key& key, Value value) {
    if (!node) return make({key, std::move(value)}, nullptr, nullptr);
    if (key < node->entry.first)
      return balanced(node->entry, inserted(node->left, key, std::move(value)), node->right);
    if (node->entry.first < key)
      return balanced(node->entry, node->left, inserted(node->right, key, std::move(value)));
    return make({key, std::move(value)}, node->left, node->right);
  }

  // REQUIRES: the key is in the subtree.
  template <typename Name>
  static NodePointer erased(const NodePointer& node, const Name& key) {
    if (key < node->entry.first) return balanced(node->entry, erased(node->left, key), node->right);
    if (node->entry.first < key) return balanced(node->entry, node->left, erased(node->right, key));
    if (!node->left) return node->right;
    if (!node->right) return node->left;
    const Node* successor = node->right.get();
    while (successor->left) successor = successor->left.get();
    return balanced(successor->entry, node->left, erased(node->right, successor->entry.first));
  }

  // The rest of a map, in key order. Subtrees are expanded only when they must be.
  class Remainder {
   public:
    explicit Remainder(const PersistentMap& map) {
      if (map.root_) parts_.push_back({map.root_.get(), true});
    }
    bool empty() const { return parts_.empty(); }
    bool starts_with_tree() const { return !parts_.empty() && parts_.back().is_tree; }
    const Node* front() const { return parts_.back().node; }
    void pop() { parts_.pop_back(); }
    void expand() {
      const Node* node = front();
      pop();
      if (node->right) parts_.push_back({node->right.get(), true});
      parts_.push_back({node, false});
      if (node->left) parts_.push_back({node->left.get(), true});
    }
    // Returns true if both begin with the same entry or the same subtree.
    bool shares_front(const Remainder& other) const {
      return !empty() && !other.empty() && parts_.back() == other.parts_.back();
    }
    // Returns true if this one must be expanded before the two can be compared.
    bool must_expand(const Remainder& other) const {
      if (!starts_with_tree()) return false;
      return !other.starts_with_tree() || front()->height >= other.front()->height;
    }

   private:
    struct Part {
      const Node* node;
      bool is_tree;  // the node with its subtrees; otherwise only its entry
      bool operator==(const Part&) const = default;
    };
    std::vector<Part> parts_;  // a stack: the next part is at the back
  };

  template <typename K, typename V, typename Visit>
  friend void compare_maps(const PersistentMap<K, V>& before, const PersistentMap<K, V>& after, Visit visit);

  NodePointer root_;
  size_t size_ = 0;
};

// Calls visit(key, old, new), in key order, for each key whose values differ. nullptr: there is no such
// entry. Takes logarithmic time for each change between a map and a changed copy of it.
template <typename Key, typename Value, typename Visit>
void compare_maps(const PersistentMap<Key, Value>& before, const PersistentMap<Key, Value>& after,
                  Visit visit) {
  const Value* const none = nullptr;
  typename PersistentMap<Key, Value>::Remainder old(before), next(after);
  while (!old.empty() || !next.empty()) {
    if (old.shares_front(next)) {
      old.pop();
      next.pop();
    } else if (old.must_expand(next)) {
      old.expand();
    } else if (next.must_expand(old)) {
      next.expand();
    } else if (old.empty() || (!next.empty() && next.front()->entry.first < old.front()->entry.first)) {
      visit(next.front()->entry.first, none, &next.front()->entry.second);
      next.pop();
    } else if (next.empty() || old.front()->entry.first < next.front()->entry.first) {
      visit(old.front()->entry.first, &old.front()->entry.second, none);
      old.pop();
    } else {
      const auto& [key, value] = old.front()->entry;
      if (!(value == next.front()->entry.second)) visit(key, &value, &next.front()->entry.second);
      old.pop();
      next.pop();
    }
  }
}

}  // namespace sibyl::base
