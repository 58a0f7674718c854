#include "storage/shard_iterators.h"

#include <algorithm>
#include <optional>
#include <utility>

namespace sibyl::storage {
namespace {

using base::Bytes;
using base::BytesView;

class FailedIterator final : public Iterator {
 public:
  explicit FailedIterator(base::Error error) : error_(std::move(error)) {}
  bool valid() const override { return false; }
  void seek(BytesView) override {}
  void seek_for_prev(BytesView) override {}
  void seek_to_first() override {}
  void seek_to_last() override {}
  void next() override {}
  void prev() override {}
  BytesView key() const override { return {}; }
  BytesView value() const override { return {}; }
  base::Status status() const override { return base::fail(error_); }

 private:
  const base::Error error_;
};

class OwningIterator final : public Iterator {
 public:
  OwningIterator(std::unique_ptr<Iterator> iterator, std::shared_ptr<const void> owned)
      : owned_(std::move(owned)), iterator_(std::move(iterator)) {}
  bool valid() const override { return iterator_->valid(); }
  void seek(BytesView key) override { iterator_->seek(key); }
  void seek_for_prev(BytesView key) override { iterator_->seek_for_prev(key); }
  void seek_to_first() override { iterator_->seek_to_first(); }
  void seek_to_last() override { iterator_->seek_to_last(); }
  void next() override { iterator_->next(); }
  void prev() override { iterator_->prev(); }
  BytesView key() const override { return iterator_->key(); }
  BytesView value() const override { return iterator_->value(); }
  base::Status status() const override { return iterator_->status(); }

 private:
  const std::shared_ptr<const void> owned_;  // destroyed last
  const std::unique_ptr<Iterator> iterator_;
};

// The parts with their iterators, which are made when they are needed.
class Parts {
 public:
  Parts(std::vector<ShardPart> parts, BytesView begin, BytesView end)
      : parts_(std::move(parts)), iterators_(parts_.size()), begin_(begin), end_(end) {}

  size_t size() const { return parts_.size(); }
  uint32_t shard(size_t i) const { return parts_[i].shard; }
  BytesView begin() const { return begin_; }
  BytesView end() const { return end_; }
  Iterator& at(size_t i) {
    if (!iterators_[i]) iterators_[i] = parts_[i].snapshot->iterate(begin_, end_);
    return *iterators_[i];
  }
  const Iterator& made(size_t i) const { return *iterators_[i]; }
  base::Status status() const {
    for (const auto& iterator : iterators_)
      if (iterator) SIBYL_TRY(iterator->status());
    return {};
  }

 private:
  std::vector<ShardPart> parts_;
  std::vector<std::unique_ptr<Iterator>> iterators_;  // destroyed first
  const Bytes begin_, end_;
};

class ConsecutiveIterator final : public Iterator {
 public:
  ConsecutiveIterator(Parts parts, const ShardMap& map) : parts_(std::move(parts)), map_(map) {}

  bool valid() const override { return is_valid_; }
  void seek(BytesView key) override {
    current_ = part_of(key);
    parts_.at(current_).seek(key);
    go_forwards();
  }
  void seek_for_prev(BytesView key) override {
    current_ = part_of(key);
    parts_.at(current_).seek_for_prev(key);
    go_backwards();
  }
  void seek_to_first() override {
    current_ = 0;
    parts_.at(current_).seek_to_first();
    go_forwards();
  }
  void seek_to_last() override {
    current_ = parts_.size() - 1;
    parts_.at(current_).seek_to_last();
    go_backwards();
  }
  void next() override {
    parts_.at(current_).next();
    go_forwards();
  }
  void prev() override {
    parts_.at(current_).prev();
    go_backwards();
  }
  BytesView key() const override { return parts_.made(current_).key(); }
  BytesView value() const override { return parts_.made(current_).value(); }
  base::Status status() const override { return parts_.status(); }

 private:
  // A key outside of the bounds may belong to any shard, so it is handled first.
  size_t part_of(BytesView key) const {
    if (key <= parts_.begin()) return 0;
    if (!parts_.end().empty() && key >= parts_.end()) return parts_.size() - 1;
    const uint32_t shard = std::max(map_.shard_of(key), parts_.shard(0));
    return std::min<size_t>(shard - parts_.shard(0), parts_.size() - 1);
  }
  void go_forwards() {
    while (!settle() && current_ + 1 < parts_.size()) parts_.at(++current_).seek_to_first();
  }
  void go_backwards() {
    while (!settle() && current_ > 0) parts_.at(--current_).seek_to_last();
  }
  // Returns true if the current iterator is at a record, or has failed.
  bool settle() {
    is_valid_ = parts_.at(current_).valid();
    return is_valid_ || !parts_.at(current_).status();
  }

  Parts parts_;
  const ShardMap& map_;
  size_t current_ = 0;
  bool is_valid_ = false;
};

class MergingIterator final : public Iterator {
 public:
  explicit MergingIterator(Parts parts) : parts_(std::move(parts)) {}

  bool valid() const override { return current_.has_value(); }
  void seek(BytesView key) override {
    for (size_t i = 0; i < parts_.size(); ++i) parts_.at(i).seek(key);
    choose(false);
  }
  void seek_for_prev(BytesView key) override {
    for (size_t i = 0; i < parts_.size(); ++i) parts_.at(i).seek_for_prev(key);
    choose(true);
  }
  void seek_to_first() override {
    for (size_t i = 0; i < parts_.size(); ++i) parts_.at(i).seek_to_first();
    choose(false);
  }
  void seek_to_last() override {
    for (size_t i = 0; i < parts_.size(); ++i) parts_.at(i).seek_to_last();
    choose(true);
  }
  // The other iterators are all beyond the current key, in the direction of the last move. A record is in one
  // shard only.
  void next() override {
    if (is_backwards_) turn([](Iterator& other, BytesView key) { other.seek(key); });
    parts_.at(*current_).next();
    choose(false);
  }
  void prev() override {
    if (!is_backwards_) turn([](Iterator& other, BytesView key) { other.seek_for_prev(key); });
    parts_.at(*current_).prev();
    choose(true);
  }
  BytesView key() const override { return parts_.made(*current_).key(); }
  BytesView value() const override { return parts_.made(*current_).value(); }
  base::Status status() const override { return parts_.status(); }

 private:
  template <typename Seek>
  void turn(const Seek& seek) {
    for (size_t i = 0; i < parts_.size(); ++i)
      if (i != *current_) seek(parts_.at(i), key());
  }
  void choose(bool backwards) {
    is_backwards_ = backwards;
    current_.reset();
    if (!parts_.status()) return;
    for (size_t i = 0; i < parts_.size(); ++i) {
      if (!parts_.at(i).valid()) continue;
      const bool is_better = !current_ || (backwards ? parts_.at(i).key() > parts_.at(*current_).key()
                                                     : parts_.at(i).key() < parts_.at(*current_).key());
      if (is_better) current_ = i;
    }
  }

  Parts parts_;
  std::optional<size_t> current_;
  bool is_backwards_ = false;
};

}  // namespace

std::unique_ptr<Iterator> iterate_parts(std::vector<ShardPart> parts, bool is_in_order, const ShardMap& map,
                                        BytesView begin, BytesView end) {
  Parts all(std::move(parts), begin, end);
  if (is_in_order) return std::make_unique<ConsecutiveIterator>(std::move(all), map);
  return std::make_unique<MergingIterator>(std::move(all));
}

std::unique_ptr<Iterator> failed_iterator(base::Error error) {
  return std::make_unique<FailedIterator>(std::move(error));
}

std::unique_ptr<Iterator> owning_iterator(std::unique_ptr<Iterator> iterator,
                                          std::shared_ptr<const void> owned) {
  return std::make_unique<OwningIterator>(std::move(iterator), std::move(owned));
}

}  // namespace sibyl::storage
