#include "row/cell_stream.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include "row/fragment_generator.h"
#include "row/fragment_print.h"
#include "row/merge.h"

namespace sibyl::row {
namespace {

std::vector<BytesView> views_of(const std::vector<Bytes>& fragments) {
  return {fragments.begin(), fragments.end()};
}

Bytes streamed(const std::vector<Bytes>& fragments, size_t min_bytes_of_part) {
  Bytes out = "left over";
  merge_streamed(views_of(fragments), min_bytes_of_part, out);
  return out;
}

// Merges by decoding all fragments.
Bytes model(const std::vector<Bytes>& fragments) {
  Fragment merged;
  std::deque<Fragment> decoded;
  Bytes largest_invalid;
  bool some_valid = false;
  for (const Bytes& bytes : fragments) {
    if (decode(bytes, decoded.emplace_back())) {
      add(decoded.back(), merged);
      some_valid = true;
    } else {
      largest_invalid = std::max(largest_invalid, bytes);
    }
  }
  if (!some_valid) return largest_invalid;
  Bytes out;
  encode(merged, out);
  return out;
}

std::vector<Bytes> any_fragments() {
  std::vector<Bytes> fragments;
  for (int i = *rc::gen::inRange(0, 7); i > 0; --i) fragments.push_back(generate::anything());
  return fragments;
}

RC_GTEST_PROP(CellStreamProperty, StreamedMergeEqualsDecodedMerge, ()) {
  const std::vector<Bytes> fragments = any_fragments();
  const size_t min_bytes_of_part = *rc::gen::element<size_t>(0, 20, 60, 4096);
  RC_ASSERT(base::to_hex(streamed(fragments, min_bytes_of_part)) == base::to_hex(model(fragments)));
}

RC_GTEST_PROP(CellStreamProperty, IsFragmentAgreesWithDecode, ()) {
  const Bytes bytes = generate::anything();
  Fragment fragment;
  const bool valid = decode(bytes, fragment);
  size_t cells = 0;
  RC_ASSERT(is_fragment(bytes, &cells) == valid);
  if (valid) RC_ASSERT(cells == fragment.cells.size());
}

RC_GTEST_PROP(CellStreamProperty, AStreamOfOneFragmentEncodesToItself, ()) {
  const Bytes bytes = generate::encoded_fragment();
  CellStream cells(bytes);
  const Fragment head = cells.head();
  Bytes out;
  encode_stream(head, cells, out);
  RC_ASSERT(out == bytes);
}

int64_t tombstones_of(const Fragment& fragment, int64_t now, const Deletion& covering) {
  return std::ranges::count_if(fragment.cells, [&](const Cell& cell) {
    return !covering.covers(cell.timestamp) && !cell.is_live(now);
  });
}

// A reader of some columns sees the same cells in them as a reader of all columns.
RC_GTEST_PROP(CellStreamProperty, DecodedColumnsAreVisibleAsInTheWholeRow, ()) {
  const Bytes bytes = generate::anything();
  std::vector<uint32_t> columns;
  for (const uint32_t column : {0u, 1u, 3u, std::numeric_limits<uint32_t>::max()})
    if (*rc::gen::arbitrary<bool>()) columns.push_back(column);
  const Deletion covering = *rc::gen::inRange(0, 2) == 0 ? generate::deletion() : Deletion{};
  const int64_t now = generate::seconds();

  Fragment all, some;
  const bool valid = decode(bytes, all);
  RC_ASSERT(decode_columns(bytes, columns, some) == valid);
  if (!valid) return;
  RC_ASSERT(tombstones_of(some, now, covering) == tombstones_of(all, now, covering));
  RC_ASSERT(visible_at(some, covering, now) == visible_at(all, covering, now));
  for (Fragment* each : {&all, &some})
    std::erase_if(each->cells,
                  [&](const Cell& cell) { return !std::ranges::binary_search(columns, cell.column); });
  RC_ASSERT(print(some) == print(all));
}

// A streamed purge gives the same bytes as a purge of the decoded fragment.
RC_GTEST_PROP(CellStreamProperty, StreamedPurgeEqualsDecodedPurge, ()) {
  const Bytes bytes = generate::encoded_fragment();
  PurgeRules rules;
  if (*rc::gen::inRange(0, 2) == 0) rules.covering = generate::deletion();
  rules.now_seconds = generate::seconds();
  if (*rc::gen::inRange(0, 3) != 0) rules.gc_before_seconds = generate::seconds();
  rules.may_drop_deletion = *rc::gen::arbitrary<bool>();
  const bool clears_flag = *rc::gen::arbitrary<bool>();

  Fragment decoded;
  RC_ASSERT(decode(bytes, decoded));
  if (clears_flag) decoded.has_range_deletions = false;
  Bytes expected;
  const bool is_left = purge(decoded, rules);
  encode(decoded, expected);

  Fragment head;
  RC_ASSERT(decode_head(bytes, head));
  RC_ASSERT(head.cells.empty());
  if (clears_flag) head.has_range_deletions = false;
  Bytes out;
  const Purged purged = purge_streamed(bytes, head, rules, out);
  RC_ASSERT((purged != Purged::removed) == is_left);
  RC_ASSERT((purged == Purged::unchanged) == (is_left && expected == bytes));
  if (purged == Purged::changed) RC_ASSERT(base::to_hex(out) == base::to_hex(expected));
}

// Elements first, first + step, ... of a collection, as one fragment.
Bytes elements(int first, int count, int step, int64_t timestamp, size_t value_bytes) {
  Fragment fragment;
  std::deque<Bytes> bytes;
  const Bytes value(value_bytes, 'v');
  for (int i = 0; i < count; ++i) {
    Bytes& path = bytes.emplace_back();
    base::append_big_endian(path, static_cast<uint32_t>(first + i * step));
    Cell& cell = fragment.cells.emplace_back();
    cell.column = 3;
    cell.path = path;
    cell.timestamp = timestamp;
    cell.value = value;
  }
  Bytes out;
  encode(fragment, out);
  return out;
}

// The collection is large enough for merge() to stream it. The parts have all sizes: many have one element,
// some have thousands.
TEST(CellStream, LargeCollectionsMergeLikeDecodedOnes) {
  std::vector<Bytes> fragments;
  for (int i = 0; i < 20; ++i) fragments.push_back(elements(i * 900, 1000, 1, 100 + i % 3, 10));
  for (int i = 0; i < 5000; ++i) fragments.push_back(elements(i * 3, 1, 1, 101, 8));
  fragments.push_back(elements(0, 20'000, 7, 99, 3));
  Fragment deletion;
  deletion.column_deletions = {{3, {100, 5}}};
  encode(deletion, fragments.emplace_back());
  fragments.push_back("not a fragment");
  Bytes out;
  merge(views_of(fragments), out);
  EXPECT_GT(out.size(), min_streamed_bytes);
  EXPECT_TRUE(out == model(fragments));
  EXPECT_EQ(out.capacity(), Bytes(out.size(), ' ').capacity()) << "allocated for the worst case";
}

TEST(CellStream, ElementsOfOtherColumnsTakeNoMemory) {
  const Bytes bytes = elements(0, 20'000, 1, 5, 10);
  Fragment fragment;
  ASSERT_TRUE(decode_columns(bytes, std::vector<uint32_t>{1, 2, 4}, fragment));
  EXPECT_EQ(fragment.cells.size(), 1u);
  EXPECT_EQ(fragment.cells.capacity(), 1u);
  ASSERT_TRUE(decode_columns(bytes, std::vector<uint32_t>{2, 3}, fragment));
  EXPECT_EQ(fragment.cells.size(), 20'000u);
}

TEST(CellStream, ALargeFragmentDecodesWithoutSpareMemory) {
  const Bytes bytes = elements(0, 20'000, 1, 5, 10);
  ASSERT_GT(bytes.size(), min_streamed_bytes);
  Fragment fragment;
  ASSERT_TRUE(decode(bytes, fragment));
  EXPECT_EQ(fragment.cells.size(), 20'000u);
  EXPECT_EQ(fragment.cells.capacity(), 20'000u);
}

}  // namespace
}  // namespace sibyl::row
