// Values and distributions for synthetic data. All of it is a function of numbers: the same ones give the
// same data, on every machine.
#pragma once

#include <cstdint>
#include <vector>

#include "base/bytes.h"
#include "types/type.h"

namespace sibyl::advisor {

// A number that looks like chance.
uint64_t mix(uint64_t value);
inline uint64_t mix(uint64_t left, uint64_t right) {
  return mix(left ^ mix(right + 0x9e37'79b9'7f4a'7c15u));
}

// A sequence of such numbers.
class Random {
 public:
  explicit Random(uint64_t seed) : state_(mix(seed)) {}
  uint64_t next() { return mix(++state_); }
  uint64_t below(uint64_t count) { return count == 0 ? 0 : next() % count; }
  double unit() { return static_cast<double>(next() >> 11) * 0x1p-53; }  // in [0, 1)

 private:
  uint64_t state_;
};

// Ranks 0 to count - 1, evenly or by a Zipf distribution.
class Ranks {
 public:
  Ranks(uint64_t count, double exponent);
  // The rank that a number in [0, 1) falls on.
  uint64_t at(double unit) const;
  uint64_t count() const { return count_; }

 private:
  uint64_t count_;
  std::vector<double> cumulative_;  // empty: evenly
};

// A value in CQL's serialisation. Different numbers give different values where the type has room for them,
// and larger ones larger values of numbers and times. `size`: of texts and the like on average; the sizes of
// single values differ by up to a quarter. `elements`: of collections on average.
base::Bytes synthetic_value(const types::Type& type, uint64_t number, double size = 0, double elements = 0);

// A timestamp, timeuuid or date of so many milliseconds after the first moment of synthetic data; different
// numbers give different timeuuids.
base::Bytes synthetic_moment(const types::Type& type, double milliseconds, uint64_t number);
int64_t synthetic_epoch();  // that moment, in milliseconds

}  // namespace sibyl::advisor
