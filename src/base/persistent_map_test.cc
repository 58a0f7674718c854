#include "base/persistent_map.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <map>
#include <string>
#include <tuple>

namespace sibyl::base {
namespace {

using Map = PersistentMap<std::string, int>;
using Model = std::map<std::string, int>;
using Difference = std::tuple<std::string, int, int>;  // key, old value, new value; -1: there is none

Model contents(const Map& map) {
  Model all;
  std::string last;
  for (const auto& [key, value] : map) {
    EXPECT_TRUE(all.empty() || last < key) << "in order";
    last = key;
    all.emplace(key, value);
  }
  EXPECT_EQ(all.size(), map.size());
  return all;
}

std::vector<Difference> differences(const Map& before, const Map& after) {
  std::vector<Difference> found;
  compare_maps(before, after, [&](const std::string& key, const int* old, const int* next) {
    found.emplace_back(key, old != nullptr ? *old : -1, next != nullptr ? *next : -1);
  });
  return found;
}

std::vector<Difference> differences(const Model& before, const Model& after) {
  std::map<std::string, Difference> found;
  for (const auto& [key, value] : before)
    if (!after.contains(key)) found.emplace(key, Difference(key, value, -1));
  for (const auto& [key, value] : after) {
    const auto old = before.find(key);
    if (old == before.end() || old->second != value)
      found.emplace(key, Difference(key, old == before.end() ? -1 : old->second, value));
  }
  std::vector<Difference> all;
  for (const auto& [key, difference] : found) all.push_back(difference);
  return all;
}

// Makes the same random change in both maps: mostly insertions at first, so that the maps grow.
void change(Map& map, Model& model) {
  const std::string key = std::to_string(*rc::gen::inRange(0, 300));
  if (*rc::gen::inRange(0, 3) == 0) {
    RC_ASSERT(map.erase(key) == model.erase(key));
  } else {
    const int value = *rc::gen::inRange(0, 5);
    map.insert_or_assign(key, value);
    model[key] = value;
  }
}

RC_GTEST_PROP(PersistentMap, EqualsStdMap, ()) {
  Map map;
  Model model;
  const int changes = *rc::gen::inRange(0, 400);
  for (int i = 0; i < changes; ++i) change(map, model);
  RC_ASSERT(contents(map) == model);
  for (int i = 0; i < 20; ++i) {
    const std::string key = std::to_string(*rc::gen::inRange(0, 300));
    RC_ASSERT(map.contains(key) == model.contains(key));
    RC_ASSERT((map.find(std::string_view(key)) == map.end()) == !model.contains(key));
    const auto bound = model.lower_bound(key);
    RC_ASSERT((map.lower_bound(key) == map.end()) == (bound == model.end()));
    if (bound != model.end()) RC_ASSERT(map.lower_bound(key)->first == bound->first);
  }
}

RC_GTEST_PROP(PersistentMap, CopiesStayAndAreCompared, ()) {
  Map map;
  Model model;
  for (int i = *rc::gen::inRange(0, 300); i > 0; --i) change(map, model);
  const Map before = map;
  const Model model_before = model;
  for (int i = *rc::gen::inRange(0, 60); i > 0; --i) change(map, model);
  RC_ASSERT(contents(before) == model_before);
  RC_ASSERT(differences(before, map) == differences(model_before, model));
  RC_ASSERT(differences(map, before) == differences(model, model_before));
  RC_ASSERT(differences(before, Map()) == differences(model_before, Model()));
}

TEST(PersistentMap, AtThrowsWithoutTheKey) {
  Map map;
  map.insert_or_assign("a", 7);
  EXPECT_EQ(map.at("a"), 7);
  EXPECT_THROW(map.at("b"), std::out_of_range);
}

// Counts comparisons of keys, to measure work without a clock.
struct CountedKey {
  int number;
  bool operator<(const CountedKey& other) const {
    ++comparisons;
    return number < other.number;
  }
  static inline uint64_t comparisons = 0;
};

// Inserts ascending keys, which are the worst case for an unbalanced tree.
TEST(PersistentMap, ChangesAndComparisonsTakeLogarithmicTime) {
  constexpr int count = 100'000;
  PersistentMap<CountedKey, int> map;
  for (int i = 0; i < count; ++i) map.insert_or_assign({2 * i}, i);
  const uint64_t most = static_cast<uint64_t>(10 * std::log2(count));
  for (const int key : {0, 1, 99'999, 100'000, 2 * count}) {
    const PersistentMap<CountedKey, int> before = map;
    CountedKey::comparisons = 0;
    map.insert_or_assign({key}, -1);
    EXPECT_LT(CountedKey::comparisons, most) << key;
    CountedKey::comparisons = 0;
    int changes = 0;
    compare_maps(before, map, [&](const CountedKey& changed, const int*, const int*) {
      EXPECT_EQ(changed.number, key);
      ++changes;
    });
    EXPECT_EQ(changes, 1) << key;
    EXPECT_LT(CountedKey::comparisons, most) << key;
  }
  const PersistentMap<CountedKey, int> before = map;
  CountedKey::comparisons = 0;
  EXPECT_EQ(map.erase(CountedKey{100'000}), 1u);
  compare_maps(before, map, [](const CountedKey&, const int*, const int*) {});
  EXPECT_LT(CountedKey::comparisons, 2 * most);
}

}  // namespace
}  // namespace sibyl::base
