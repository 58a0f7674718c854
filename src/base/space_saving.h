// The heaviest of many things, counted in a fixed number of places (Space-Saving: Metwally et al., 2005).
//
// For everything that is listed the true count lies in [count - error, count], and whatever is not listed
// occurred at most floor() times. Both hold after merge(), too. Things are told apart by a 64-bit hash; the
// bytes beside it are only kept. Not synchronised.
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
  static constexpr size_t max_name = 256;  // longer names are not kept

  struct Entry {
    uint64_t hash = 0;
    uint64_t count = 0, error = 0;
    Bytes name;
    bool operator==(const Entry& other) const = default;
  };

  SpaceSaving() { heads_.fill(none); }

  // Constant time, on the average; no memory once the places are taken and names of their size were met.
  void add(uint64_t hash, BytesView name);
  // Takes what two of them counted together.
  void merge(const SpaceSaving& other);

  // How often anything occurred.
  uint64_t total() const { return total_; }
  // What may have been lost: nothing unlisted occurred more often.
  uint64_t floor() const { return entries_.size() < capacity ? floor_ : smallest(); }
  // Heaviest first.
  std::vector<Entry> heaviest(size_t most = capacity) const;

  void append_to(Bytes& out) const;
  // False when the bytes are none.
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
  // A place that has the smallest count.
  uint8_t least();
  uint64_t smallest() const;

  std::vector<Entry> entries_;  // at most `capacity`
  std::array<uint8_t, 256> heads_{};
  std::array<uint8_t, capacity> next_{};
  uint64_t total_ = 0;
  uint64_t floor_ = 0;     // of what was merged in with places free
  uint64_t least_ = 0;     // at most the smallest count
  uint8_t look_from_ = 0;  // where to look for the next place with that count
};

}  // namespace sibyl::base
