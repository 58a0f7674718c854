#include "base/quantile_sketch.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <cmath>

namespace sibyl::base {
namespace {

QuantileSketch sketch_of(const std::vector<uint64_t>& values) {
  QuantileSketch sketch;
  for (const uint64_t value : values) sketch.add(value);
  return sketch;
}

// Values of every magnitude.
rc::Gen<std::vector<uint64_t>> values() {
  return rc::gen::container<std::vector<uint64_t>>(
      rc::gen::map(rc::gen::pair(rc::gen::arbitrary<uint64_t>(), rc::gen::inRange(0, 64)),
                   [](const auto& pair) { return pair.first >> pair.second; }));
}

TEST(QuantileSketch, quantiles_are_within_the_error_of_a_value_at_that_rank) {
  EXPECT_TRUE(rc::check([] {
    std::vector<uint64_t> sorted = *values();
    const QuantileSketch sketch = sketch_of(sorted);
    std::sort(sorted.begin(), sorted.end());
    RC_ASSERT(sketch.count() == sorted.size());
    if (sorted.empty()) {
      RC_ASSERT(sketch.quantile(0.5) == 0u);
      return;
    }
    RC_ASSERT(sketch.max() == sorted.back());
    const int percent = *rc::gen::inRange(0, 101);
    const auto rank = static_cast<size_t>(std::ceil(percent / 100.0 * static_cast<double>(sorted.size())));
    const auto exact = static_cast<double>(sorted[rank == 0 ? 0 : rank - 1]);
    const auto found = static_cast<double>(sketch.quantile(percent / 100.0));
    RC_ASSERT(std::abs(found - exact) <= exact * QuantileSketch::relative_error);
    if (exact < 32) RC_ASSERT(found == exact);
  }));
}

TEST(QuantileSketch, merging_is_the_same_as_adding_everything_in_any_order_and_grouping) {
  EXPECT_TRUE(rc::check([] {
    const std::vector<uint64_t> one = *values(), two = *values(), three = *values();
    std::vector<uint64_t> all = one;
    all.insert(all.end(), two.begin(), two.end());
    all.insert(all.end(), three.begin(), three.end());
    QuantileSketch left = sketch_of(one);
    left.merge(sketch_of(two));
    left.merge(sketch_of(three));
    QuantileSketch inner = sketch_of(three), right = sketch_of(two);
    right.merge(inner);
    right.merge(sketch_of(one));
    RC_ASSERT(left == sketch_of(all));
    RC_ASSERT(right == left);
  }));
}

TEST(QuantileSketch, round_trips_through_bytes_and_refuses_garbage) {
  EXPECT_TRUE(rc::check([] {
    const QuantileSketch sketch = sketch_of(*values());
    Bytes bytes;
    sketch.append_to(bytes);
    Reader in(bytes);
    QuantileSketch again;
    RC_ASSERT(again.read_from(in));
    RC_ASSERT(in.at_end());
    RC_ASSERT(again == sketch);
    const auto cut = *rc::gen::inRange<size_t>(0, bytes.size());
    Reader part(BytesView(bytes).substr(0, cut));
    RC_ASSERT(!again.read_from(part));
  }));
}

}  // namespace
}  // namespace sibyl::base
