#include "storage/rocksdb/memory_table/entry_tree.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <new>

namespace sibyl::storage::rocksdb {
namespace {

constexpr size_t slots = 14;
constexpr size_t line = 64;  // bytes of a cache line
constexpr size_t tag_size = 8;

// The field `order` has the number of entries in the lowest 4 bits, then 4 bits for each position: its slot.
// The positions after the entries have the free slots.
constexpr uint64_t sorted_order = [] {
  uint64_t order = 0;
  for (uint64_t slot = 0; slot < slots; ++slot) order |= slot << (4 + 4 * slot);
  return order;
}();
constexpr size_t count_of(uint64_t order) {
  return order & 15;
}
constexpr size_t slot_at(uint64_t order, size_t position) {
  return (order >> (4 + 4 * position)) & 15;
}
constexpr uint64_t with_count(uint64_t order, size_t count) {
  return (order & ~uint64_t{15}) | count;
}
// Moves the first free slot to the position.
constexpr uint64_t inserted(uint64_t order, size_t position) {
  const size_t size = count_of(order);
  const uint64_t slot = slot_at(order, size);
  const size_t begin = 4 + 4 * position, end = 4 + 4 * size;
  const uint64_t below = order & ((uint64_t{1} << begin) - 1);
  const uint64_t moved = order & ((uint64_t{1} << end) - 1) & ~((uint64_t{1} << begin) - 1);
  const uint64_t above = order & ~((uint64_t{16} << end) - 1);
  return (below | slot << begin | moved << 4 | above) + 1;
}
static_assert(inserted(inserted(sorted_order, 0), 0) % 4096 == (0x01 << 4) + 2);

// 8 bytes of a user key as a number that is ordered as the bytes are.
uint64_t digits_of(const char* data, size_t size, size_t skip) {
  uint64_t digits = 0;
  if (size >= skip + sizeof digits) {
    std::memcpy(&digits, data + skip, sizeof digits);
  } else if (size > skip) {
    std::memcpy(&digits, data + skip, size - skip);
  }
  if constexpr (std::endian::native == std::endian::little) digits = __builtin_bswap64(digits);
  return digits;
}

}  // namespace

// A search needs only the first two cache lines.
struct alignas(line) EntryTree::Node {
  std::atomic<uint64_t> order{sorted_order};
  std::atomic<uint32_t> version{0};
  uint16_t skip = 0;
  bool is_leaf = true;
  std::array<std::atomic<uint64_t>, slots> digits{};
  std::array<std::atomic<const char*>, slots> entries{};
  std::atomic<const char*> end{nullptr};  // the first entry on the right of this node; nullptr: there is none
  std::atomic<Node*> next{nullptr};       // on its right

  // Loads with `acquire`: a reader of a slot that was filled again also sees everything that was stored
  // before, above all the version.
  const char* entry_at(uint64_t in_order, size_t position) const {
    return entries[slot_at(in_order, position)].load(std::memory_order_acquire);
  }
  bool is_unchanged(uint32_t since) const { return version.load(std::memory_order_acquire) == since; }
};

// An inner node. Each child has the entries from its separator on.
struct EntryTree::Inner : Node {
  Node* first_child = nullptr;  // the child with the entries before the first separator
  std::array<std::atomic<Node*>, slots> children{};

  Node* child_at(uint64_t in_order, size_t position) const {
    if (position == 0) return first_child;
    return children[slot_at(in_order, position - 1)].load(std::memory_order_acquire);
  }
};

EntryTree::EntryTree(Allocate allocate) : allocate_(std::move(allocate)) {
  reserve(sizeof(Node));
  root_.store(make_leaf(), std::memory_order_release);
}

// --- Keys

EntryTree::Key EntryTree::key_of(const char* entry) {
  size_t size = static_cast<uint8_t>(*entry++);
  if (size >= 128) {
    size -= 128;
    for (unsigned shift = 7;; shift += 7) {
      const auto byte = static_cast<uint8_t>(*entry++);
      size |= static_cast<size_t>(byte & 127) << shift;
      if (byte < 128) break;
    }
  }
  return key_of(std::string_view(entry, size));
}

EntryTree::Key EntryTree::key_of(std::string_view internal_key) {
  Key key{internal_key.data(), internal_key.size() - tag_size, 0};
  std::memcpy(&key.tag, key.data + key.size, tag_size);
  if constexpr (std::endian::native == std::endian::big) key.tag = __builtin_bswap64(key.tag);
  return key;
}

int EntryTree::compare(const Key& left, const Key& right) {
  const int order = std::memcmp(left.data, right.data, std::min(left.size, right.size));
  if (order != 0) return order;
  if (left.size != right.size) return left.size < right.size ? -1 : 1;
  if (left.tag == right.tag) return 0;
  return left.tag > right.tag ? -1 : 1;
}

size_t EntryTree::shared_bytes(const Key& left, const Key& right) {
  const size_t size = std::min({left.size, right.size, size_t{UINT16_MAX}});
  return static_cast<size_t>(std::mismatch(left.data, left.data + size, right.data).first - left.data);
}

// REQUIRES: the key has the bytes that the node's entries share. That is so if a parent or right_of() led to
// the node.
template <bool or_equal>
size_t EntryTree::count(const Node& node, uint64_t order, const Key& key) {
  const uint64_t digits = digits_of(key.data, key.size, node.skip);
  size_t low = 0, high = count_of(order);
  while (low < high) {
    const size_t middle = (low + high) / 2;
    const size_t slot = slot_at(order, middle);
    const uint64_t other = node.digits[slot].load(std::memory_order_acquire);
    bool is_before = other < digits;
    if (other == digits) [[unlikely]] {
      const int compared = compare(key_of(node.entries[slot].load(std::memory_order_acquire)), key);
      is_before = or_equal ? compared <= 0 : compared < 0;
    }
    if (is_before)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

// --- Writing

void EntryTree::reserve(size_t bytes) {
  constexpr size_t chunk = 4096 - line;  // one page, with the alignment
  if (free_bytes_ >= bytes) return;
  char* const memory = allocate_(std::max(bytes, chunk) + line);
  const size_t misaligned = reinterpret_cast<uintptr_t>(memory) % line;
  free_ = memory + (line - misaligned) % line;
  free_bytes_ = std::max(bytes, chunk);
}

// Allocates memory for the nodes that a split of a leaf needs.
void EntryTree::reserve_for_split(const Path& path) {
  size_t bytes = sizeof(Node), parents = path.size;
  while (parents > 0 && count_of(path.nodes[parents - 1]->order.load(std::memory_order_relaxed)) == slots) {
    bytes += sizeof(Inner);
    --parents;
  }
  reserve(parents == 0 ? bytes + sizeof(Inner) : bytes);
}

char* EntryTree::take_memory(size_t bytes) {
  char* const memory = free_;
  free_ += bytes;
  free_bytes_ -= bytes;
  return memory;
}

EntryTree::Node* EntryTree::make_leaf() {
  static_assert(sizeof(Node) == 4 * line);
  return new (take_memory(sizeof(Node))) Node;
}

EntryTree::Inner* EntryTree::make_inner() {
  static_assert(sizeof(Inner) == 6 * line);
  Inner* const inner = new (take_memory(sizeof(Inner))) Inner;
  inner->is_leaf = false;
  return inner;
}

void EntryTree::add(Node& node, size_t position, const char* entry, Node* child) {
  const uint64_t order = node.order.load(std::memory_order_relaxed);
  const size_t slot = slot_at(order, count_of(order));
  const Key key = key_of(entry);
  node.digits[slot].store(digits_of(key.data, key.size, node.skip), std::memory_order_release);
  node.entries[slot].store(entry, std::memory_order_release);
  if (child != nullptr) static_cast<Inner&>(node).children[slot].store(child, std::memory_order_release);
  node.order.store(inserted(order, position), std::memory_order_release);
}

void EntryTree::insert(const char* entry) {
  const Key key = key_of(entry);
  Path path;
  Node* node = root_.load(std::memory_order_relaxed);
  while (!node->is_leaf) {
    auto* const inner = static_cast<Inner*>(node);
    const uint64_t order = inner->order.load(std::memory_order_relaxed);
    path.nodes[path.size++] = inner;
    node = inner->child_at(order, count<true>(*inner, order, key));
    __builtin_prefetch(node);
    __builtin_prefetch(reinterpret_cast<const char*>(node) + line);
  }
  const uint64_t order = node->order.load(std::memory_order_relaxed);
  const size_t position = count<false>(*node, order, key);
  if (count_of(order) == slots) {
    split_leaf(path, *node, position, entry);
  } else {
    ascending_ = position == count_of(order) ? node : nullptr;
    add(*node, position, entry, nullptr);
  }
  size_.store(size_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
}

// Follows rule 2 of entry_tree.h.
void EntryTree::publish_split(Node& left, Node& right, const char* separator, size_t kept) {
  left.next.store(&right, std::memory_order_release);
  left.end.store(separator, std::memory_order_release);
  left.order.store(with_count(left.order.load(std::memory_order_relaxed), kept), std::memory_order_release);
  left.version.store(left.version.load(std::memory_order_relaxed) + 1, std::memory_order_release);
}

// If entries arrive in ascending order, the leaves stay full.
void EntryTree::split_leaf(Path& path, Node& leaf, size_t position, const char* entry) {
  reserve_for_split(path);
  const bool is_ascending = position == slots && ascending_ == &leaf;
  const size_t kept = is_ascending ? slots : slots / 2;
  const uint64_t order = leaf.order.load(std::memory_order_relaxed);
  const char* const separator = is_ascending ? entry : leaf.entry_at(order, kept);
  const char* const end = leaf.end.load(std::memory_order_relaxed);
  Node& right = *make_leaf();
  if (end != nullptr) right.skip = static_cast<uint16_t>(shared_bytes(key_of(separator), key_of(end)));
  right.end.store(end, std::memory_order_relaxed);
  right.next.store(leaf.next.load(std::memory_order_relaxed), std::memory_order_relaxed);
  for (size_t i = kept; i < slots; ++i) add(right, i - kept, leaf.entry_at(order, i), nullptr);
  if (position > kept || is_ascending) add(right, position - kept, entry, nullptr);
  publish_split(leaf, right, separator, kept);
  if (position <= kept && !is_ascending) add(leaf, position, entry, nullptr);
  ascending_ = is_ascending ? &right : nullptr;
  add_to_parent(path, separator, right);
}

void EntryTree::add_to_parent(Path& path, const char* separator, Node& right) {
  if (path.size == 0) {
    Inner& root = *make_inner();
    root.first_child = root_.load(std::memory_order_relaxed);
    add(root, 0, separator, &right);
    root_.store(&root, std::memory_order_release);
    return;
  }
  Inner& parent = *path.nodes[--path.size];
  const uint64_t order = parent.order.load(std::memory_order_relaxed);
  const size_t position = count<false>(parent, order, key_of(separator));
  if (count_of(order) == slots) return split_inner(path, parent, position, separator, right);
  add(parent, position, separator, &right);
}

// The separator between the halves moves to the parent.
void EntryTree::split_inner(Path& path, Inner& node, size_t position, const char* separator, Node& child) {
  const size_t kept = position == slots ? slots - 1 : slots / 2;
  const uint64_t order = node.order.load(std::memory_order_relaxed);
  const char* const middle = node.entry_at(order, kept);
  const char* const end = node.end.load(std::memory_order_relaxed);
  Inner& right = *make_inner();
  if (end != nullptr) right.skip = static_cast<uint16_t>(shared_bytes(key_of(middle), key_of(end)));
  right.end.store(end, std::memory_order_relaxed);
  right.next.store(node.next.load(std::memory_order_relaxed), std::memory_order_relaxed);
  right.first_child = node.child_at(order, kept + 1);
  for (size_t i = kept + 1; i < slots; ++i)
    add(right, i - kept - 1, node.entry_at(order, i), node.child_at(order, i + 1));
  if (position > kept) add(right, position - kept - 1, separator, &child);
  publish_split(node, right, middle, kept);
  if (position <= kept) add(node, position, separator, &child);
  add_to_parent(path, middle, right);
}

// --- Reading

// Rule 4, for a reader that is past the end of the node: returns the node on its right whose range includes
// the key. With `or_equal` false, the range must include the position just before the key.
const EntryTree::Node* EntryTree::right_of(const Node* node, const Key& key, bool or_equal) {
  while (const char* const end = node->end.load(std::memory_order_acquire)) {
    const int compared = compare(key_of(end), key);
    if (or_equal ? compared > 0 : compared >= 0) break;
    node = node->next.load(std::memory_order_acquire);
  }
  return node;
}

bool EntryTree::Cursor::land(const Node& node, uint32_t version, uint64_t order, size_t position) {
  const char* const entry = node.entry_at(order, position);
  if (!node.is_unchanged(version)) return false;
  entry_ = entry;
  leaf_ = &node;
  version_ = version;
  order_ = order;
  position_ = position;
  return true;
}

// Moves to the first entry at or after the key.
void EntryTree::Cursor::find_first(const Key& key) {
  const Node* node = tree_->root_.load(std::memory_order_acquire);
  for (;;) {
    const uint32_t version = node->version.load(std::memory_order_acquire);
    const uint64_t order = node->order.load(std::memory_order_acquire);
    const size_t position = node->is_leaf ? count<false>(*node, order, key) : count<true>(*node, order, key);
    if (position == count_of(order)) {
      const Node* const right = right_of(node, key, true);
      if (right != node) {
        node = right;
        continue;
      }
    }
    if (!node->is_leaf) {
      const Node* const child = static_cast<const Inner*>(node)->child_at(order, position);
      if (!node->is_unchanged(version)) continue;
      node = child;
      __builtin_prefetch(node);
      __builtin_prefetch(reinterpret_cast<const char*>(node) + line);
      continue;
    }
    if (position < count_of(order)) {
      if (land(*node, version, order, position)) return;
    } else if (node->is_unchanged(version)) {
      return continue_right(*node, key, true);
    }
  }
}

// Moves to the last entry before the key or, with `or_equal`, at or before it. The separator of the leaf that
// it chooses is such an entry, except in the first leaf.
void EntryTree::Cursor::find_last(const Key& key, bool or_equal) {
  const Node* node = tree_->root_.load(std::memory_order_acquire);
  for (;;) {
    const uint32_t version = node->version.load(std::memory_order_acquire);
    const uint64_t order = node->order.load(std::memory_order_acquire);
    const size_t position = or_equal ? count<true>(*node, order, key) : count<false>(*node, order, key);
    if (position == count_of(order)) {
      const Node* const right = right_of(node, key, or_equal);
      if (right != node) {
        node = right;
        continue;
      }
    }
    if (!node->is_leaf) {
      const Node* const child = static_cast<const Inner*>(node)->child_at(order, position);
      if (node->is_unchanged(version)) node = child;
      continue;
    }
    if (position > 0) {
      if (land(*node, version, order, position - 1)) return;
    } else if (node->is_unchanged(version)) {
      entry_ = nullptr;
      return;
    }
  }
}

// Moves to the first entry on the right of the node that is after the key or, with `or_equal`, at or after
// it.
void EntryTree::Cursor::continue_right(const Node& from, const Key& key, bool or_equal) {
  const Node* node = from.next.load(std::memory_order_acquire);
  while (node != nullptr) {
    const uint32_t version = node->version.load(std::memory_order_acquire);
    const uint64_t order = node->order.load(std::memory_order_acquire);
    const int first = compare(key_of(node->entry_at(order, 0)), key);
    size_t position = 0;
    if (first < 0 || (first == 0 && !or_equal)) {
      // The node was split after the caller had searched it.
      if (const Node* const right = right_of(node, key, true); right != node) {
        node = right;
        continue;
      }
      position = or_equal ? count<false>(*node, order, key) : count<true>(*node, order, key);
    }
    if (position < count_of(order)) {
      if (land(*node, version, order, position)) return prefetch_next();
    } else if (node->is_unchanged(version)) {
      node = node->next.load(std::memory_order_acquire);
    }
  }
  entry_ = nullptr;
}

// The entries are not in the order of their addresses, so the processor does not prefetch them.
void EntryTree::Cursor::prefetch_next() const {
  for (const size_t position : {position_ + 1, position_ + 2}) {
    if (position >= count_of(order_)) continue;
    const char* const entry = leaf_->entries[slot_at(order_, position)].load(std::memory_order_relaxed);
    __builtin_prefetch(entry);
    __builtin_prefetch(entry + line);
  }
  if (position_ + 3 != count_of(order_)) return;
  const auto* const next = reinterpret_cast<const char*>(leaf_->next.load(std::memory_order_relaxed));
  if (next == nullptr) return;
  for (size_t i = 0; i < sizeof(Node); i += line) __builtin_prefetch(next + i);
}

void EntryTree::Cursor::seek(std::string_view internal_key) {
  find_first(key_of(internal_key));
}

void EntryTree::Cursor::seek_before(std::string_view internal_key) {
  find_last(key_of(internal_key), true);
}

void EntryTree::Cursor::seek_to_first() {
  const Node* node = tree_->root_.load(std::memory_order_acquire);
  while (!node->is_leaf) node = static_cast<const Inner*>(node)->first_child;
  entry_ = nullptr;
  for (;;) {
    const uint32_t version = node->version.load(std::memory_order_acquire);
    const uint64_t order = node->order.load(std::memory_order_acquire);
    if (count_of(order) == 0 || land(*node, version, order, 0)) return;
  }
}

void EntryTree::Cursor::seek_to_last() {
  const Node* node = tree_->root_.load(std::memory_order_acquire);
  entry_ = nullptr;
  for (;;) {
    const uint32_t version = node->version.load(std::memory_order_acquire);
    const uint64_t order = node->order.load(std::memory_order_acquire);
    const Node* const right = node->next.load(std::memory_order_acquire);
    if (right != nullptr) {
      node = right;
    } else if (!node->is_leaf) {
      const Node* const child = static_cast<const Inner*>(node)->child_at(order, count_of(order));
      if (node->is_unchanged(version)) node = child;
    } else if (count_of(order) == 0 || land(*node, version, order, count_of(order) - 1)) {
      return;
    }
  }
}

void EntryTree::Cursor::next() {
  if (position_ + 1 == count_of(order_)) return continue_right(*leaf_, key_of(entry_), false);
  if (land(*leaf_, version_, order_, position_ + 1)) return prefetch_next();
  // The leaf was split, so the entry may be in another one.
  const Key key = key_of(entry_);
  const Node* const node = right_of(leaf_, key, true);
  for (;;) {
    const uint32_t version = node->version.load(std::memory_order_acquire);
    const uint64_t order = node->order.load(std::memory_order_acquire);
    const size_t position = count<true>(*node, order, key);
    if (position < count_of(order)) {
      if (land(*node, version, order, position)) return;
    } else if (node->is_unchanged(version)) {
      return continue_right(*node, key, false);
    }
  }
}

void EntryTree::Cursor::previous() {
  if (position_ > 0 && land(*leaf_, version_, order_, position_ - 1)) return;
  find_last(key_of(entry_), false);
}

double EntryTree::rank_of(std::string_view internal_key) const {
  const Key key = key_of(internal_key);
  double before = 0, share = 1;
  const Node* node = root_.load(std::memory_order_acquire);
  for (;;) {
    const uint32_t version = node->version.load(std::memory_order_acquire);
    const uint64_t order = node->order.load(std::memory_order_acquire);
    const size_t position = count<true>(*node, order, key);
    const auto parts = static_cast<double>(count_of(order) + (node->is_leaf ? 0 : 1));
    const Node* const child =
        node->is_leaf ? nullptr : static_cast<const Inner*>(node)->child_at(order, position);
    if (!node->is_unchanged(version)) continue;
    if (parts == 0) return 0;
    before += share * static_cast<double>(position) / parts;
    share /= parts;
    if (child == nullptr) return before * static_cast<double>(size());
    node = child;
  }
}

}  // namespace sibyl::storage::rocksdb
