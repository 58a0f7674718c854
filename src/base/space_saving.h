// The most frequent items of a stream, in a fixed number of entries (Space-Saving: Metwally et al., 2005).
//
// The true count of a listed item is in [count - error, count]. An item that is not listed occurred at most
// floor() times. Both still hold after merge(). Items are identified by a 64-bit hash; the name is only
// stored with it. Not thread-safe.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/bytes.h"

namespace sibyl::base {

class SpaceSaving {
 public:
  static constexpr size_t capacity = 64;
  static constexpr size_t max_name = 256;  // longer names are not stored

  struct Entry {
    uint64_t hash = 0;
    uint64_t count = 0, error = 0;
    Bytes name;
    bool operator==(const Entry& other) const = default;
  };

  SpaceSaving() { heads_.fill(none); }

  // Amortised constant time. Allocates nothing once all entries are in use and have had names of this size.
  void add(uint64_t hash, BytesView name);
  // Adds the counts of `other`.
  void merge(const SpaceSaving& other);

  // The number of items that were counted.
  uint64_t total() const { return total_; }
  // No unlisted item occurred more often than this.
  uint64_t floor() const { return entries_.size() < capacity ? floor_ : smallest(); }
  // Most frequent first.
  std::vector<Entry> heaviest(size_t max_entries = capacity) const;

  void append_to(Bytes& out) const;
  // Returns false if the bytes are malformed.
  bool read_from(Reader& in);

 private:
  static constexpr uint8_t none = 0xff;
  static size_t head_of(uint64_t hash) { return static_cast<size_t>((hash * 0x9e3779b97f4a7c15u) >> 56); }

  uint8_t find(uint64_t hash) const {
    uint8_t at = heads_[head_of(hash)];
    while (at != none && entries_[at].hash != hash) at = next_[at];
    return at;
  }
  void link(uint8_t at);
  void unlink(uint8_t at);
  void put(Entry entry);
  // The index of an entry with the smallest count.
  uint8_t least();
  uint64_t smallest() const;

  std::vector<Entry> entries_;  // at most `capacity`
  std::array<uint8_t, 256> heads_{};
  std::array<uint8_t, capacity> next_{};
  uint64_t total_ = 0;
  uint64_t floor_ = 0;       // floor of merged counters, while entries are free
  uint64_t least_ = 0;       // lower bound of the smallest count
  uint8_t search_from_ = 0;  // least() continues its search here
};

}  // namespace sibyl::base
