#include "base/space_saving.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <map>

namespace sibyl::base {
namespace {

using Stream = std::vector<uint64_t>;

// Few items occur often, many seldom.
rc::Gen<Stream> stream() {
  return rc::gen::container<Stream>(
      2000, rc::gen::oneOf(rc::gen::inRange<uint64_t>(0, 8), rc::gen::inRange<uint64_t>(0, 100),
                           rc::gen::inRange<uint64_t>(0, 100'000)));
}

SpaceSaving counted(const Stream& stream) {
  SpaceSaving counter;
  for (const uint64_t thing : stream) counter.add(thing, std::to_string(thing));
  return counter;
}

// Checks the bounds for listed and for unlisted items.
void check_law(const SpaceSaving& counter, const std::vector<Stream>& streams) {
  std::map<uint64_t, uint64_t> truth;
  uint64_t total = 0;
  for (const Stream& stream : streams)
    for (const uint64_t thing : stream) {
      ++truth[thing];
      ++total;
    }
  RC_ASSERT(counter.total() == total);
  const std::vector<SpaceSaving::Entry> listed = counter.heaviest();
  RC_ASSERT(listed.size() == std::min(truth.size(), SpaceSaving::capacity));
  for (size_t i = 0; i < listed.size(); ++i) {
    const SpaceSaving::Entry& entry = listed[i];
    RC_ASSERT(entry.name == std::to_string(entry.hash));
    RC_ASSERT(entry.count - entry.error <= truth[entry.hash]);
    RC_ASSERT(truth[entry.hash] <= entry.count);
    if (i > 0) RC_ASSERT(entry.count <= listed[i - 1].count);
    truth.erase(entry.hash);
  }
  for (const auto& [thing, count] : truth) RC_ASSERT(count <= counter.floor());
}

TEST(SpaceSaving, true_counts_lie_within_the_bounds) {
  EXPECT_TRUE(rc::check([] {
    const Stream one = *stream();
    const SpaceSaving counter = counted(one);
    check_law(counter, {one});
    RC_ASSERT(counter.floor() <= one.size() / SpaceSaving::capacity);
  }));
}

TEST(SpaceSaving, bounds_hold_after_merging_and_further_adds) {
  EXPECT_TRUE(rc::check([] {
    const Stream one = *stream(), two = *stream(), three = *stream();
    SpaceSaving counter = counted(one);
    counter.merge(counted(two));
    check_law(counter, {one, two});
    for (const uint64_t thing : three) counter.add(thing, std::to_string(thing));
    check_law(counter, {one, two, three});
  }));
}

TEST(SpaceSaving, merging_does_not_depend_on_the_order) {
  EXPECT_TRUE(rc::check([] {
    const SpaceSaving one = counted(*stream()), two = counted(*stream());
    SpaceSaving left = one, right = two;
    left.merge(two);
    right.merge(one);
    RC_ASSERT(left.heaviest() == right.heaviest());
    RC_ASSERT(left.floor() == right.floor());
  }));
}

TEST(SpaceSaving, counts_are_exact_while_entries_are_free) {
  SpaceSaving counter;
  for (uint64_t thing = 0; thing < SpaceSaving::capacity; ++thing)
    for (uint64_t i = 0; i <= thing; ++i) counter.add(thing, "x");
  EXPECT_EQ(counter.floor(), 1u);  // the next item would replace the first
  uint64_t expected = SpaceSaving::capacity;
  for (const SpaceSaving::Entry& entry : counter.heaviest()) {
    EXPECT_EQ(entry.count, expected--);
    EXPECT_EQ(entry.error, 0u);
  }
  EXPECT_EQ(counter.heaviest(3).size(), 3u);
}

TEST(SpaceSaving, long_names_are_not_stored) {
  SpaceSaving counter;
  counter.add(7, Bytes(SpaceSaving::max_name, 'a'));
  counter.add(8, Bytes(SpaceSaving::max_name + 1, 'b'));
  for (const SpaceSaving::Entry& entry : counter.heaviest())
    EXPECT_EQ(entry.name.size(), entry.hash == 7 ? SpaceSaving::max_name : 0);
}

TEST(SpaceSaving, round_trips_through_bytes_and_refuses_garbage) {
  EXPECT_TRUE(rc::check([] {
    const Stream one = *stream(), two = *stream();
    const SpaceSaving counter = counted(one);
    Bytes bytes;
    counter.append_to(bytes);
    Reader in(bytes);
    SpaceSaving again;
    RC_ASSERT(again.read_from(in));
    RC_ASSERT(in.at_end());
    RC_ASSERT(again.heaviest() == counter.heaviest());
    for (const uint64_t thing : two) again.add(thing, std::to_string(thing));
    check_law(again, {one, two});
    Reader part(BytesView(bytes).substr(0, bytes.size() / 2));
    RC_ASSERT(one.empty() || !again.read_from(part));
  }));
}

}  // namespace
}  // namespace sibyl::base
