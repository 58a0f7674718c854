// Reads values from bytes in memory, as Cassandra's SSTables encode them. After a failed read the cursor
// stays failed and returns zeros.
#pragma once

#include <cstdint>
#include <limits>

#include "base/bytes.h"
#include "types/vint.h"

namespace sibyl::sstable {

class Cursor {
 public:
  explicit Cursor(base::BytesView bytes) : begin_(bytes), rest_(bytes) {}

  bool ok() const { return ok_; }
  bool at_end() const { return rest_.empty(); }
  uint64_t offset() const { return begin_.size() - rest_.size(); }
  base::BytesView rest() const { return rest_; }

  base::BytesView take(uint64_t size) {
    if (size > rest_.size()) {
      fail();
      return {};
    }
    const base::BytesView taken = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return taken;
  }
  template <typename Unsigned>
  Unsigned big_endian() {
    const base::BytesView taken = take(sizeof(Unsigned));
    return taken.size() == sizeof(Unsigned) ? base::read_big_endian<Unsigned>(taken) : Unsigned{0};
  }
  uint64_t vint() {
    uint64_t value = 0;
    if (!types::take_unsigned_vint(rest_, value)) fail();
    return value;
  }
  // A count or an index: larger values fail.
  uint32_t count() {
    const uint64_t value = vint();
    if (value > std::numeric_limits<int32_t>::max()) fail();
    return ok_ ? static_cast<uint32_t>(value) : 0;
  }
  base::BytesView sized() { return take(vint()); }

 private:
  void fail() {
    ok_ = false;
    rest_ = {};
  }
  base::BytesView begin_, rest_;
  bool ok_ = true;
};

}  // namespace sibyl::sstable
