// Values and distributions for synthetic data. Deterministic: the same numbers give the same data on every
// machine.
#pragma once

#include <cstdint>
#include <vector>

#include "base/bytes.h"
#include "types/type.h"

namespace sibyl::advisor {

// A hash that is used as a pseudo-random number.
uint64_t mix(uint64_t value);
inline uint64_t mix(uint64_t left, uint64_t right) {
  return mix(left ^ mix(right + 0x9e37'79b9'7f4a'7c15u));
}

// A sequence of pseudo-random numbers.
class Random {
 public:
  explicit Random(uint64_t seed) : state_(mix(seed)) {}
  uint64_t next() { return mix(++state_); }
  uint64_t below(uint64_t count) { return count == 0 ? 0 : next() % count; }
  double unit() { return static_cast<double>(next() >> 11) * 0x1p-53; }  // in [0, 1)

 private:
  uint64_t state_;
};

// Draws ranks 0 to count - 1 from a uniform or Zipf distribution.
class Ranks {
 public:
  Ranks(uint64_t count, double exponent);
  // The rank for a number in [0, 1).
  uint64_t at(double unit) const;
  uint64_t count() const { return count_; }

 private:
  uint64_t count_;
  std::vector<double> cumulative_;  // empty: uniform
};

// A serialised CQL value. Distinct numbers give distinct values if the type has enough of them. For numeric
// and time types, a larger number gives a larger value. `size` is the mean size of values of variable size;
// single values differ from it by up to a quarter. `elements` is the mean number of elements of a collection.
base::Bytes synthetic_value(const types::Type& type, uint64_t number, double size = 0, double elements = 0);

// A timestamp, timeuuid or date that lies `milliseconds` after synthetic_epoch(). Distinct numbers give
// distinct timeuuids.
base::Bytes synthetic_moment(const types::Type& type, double milliseconds, uint64_t number);
int64_t synthetic_epoch();  // the start of synthetic time, in milliseconds since 1970

}  // namespace sibyl::advisor
