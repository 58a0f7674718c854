#include "row/merge.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <array>

#include "row/counter.h"
#include "row/fragment_generator.h"
#include "row/fragment_print.h"

namespace sibyl::row {
namespace {

Bytes merged(std::vector<Bytes> fragments) {
  std::vector<BytesView> views(fragments.begin(), fragments.end());
  Bytes out = "left over";
  merge(views, out);
  return out;
}

std::string show(const Bytes& bytes) {
  Fragment fragment;
  return decode(bytes, fragment) ? print(fragment) : "invalid " + base::to_hex(bytes);
}

Cell cell_of(CellKind kind, int64_t timestamp, int64_t expires, BytesView value) {
  Cell cell;
  cell.kind = kind;
  cell.timestamp = timestamp;
  cell.expires_seconds = expires;
  cell.time_to_live = kind == CellKind::expiring ? 10 : 0;
  cell.value = value;
  return cell;
}

// Each cell wins over all cells before it.
TEST(Merge, CellsReconcileInCassandrasOrder) {
  const Bytes counters[] = {encode_counter({1, 9}), encode_counter({2, -1}), encode_counter({2, 0})};
  const std::vector<Cell> ascending = {
      cell_of(CellKind::tombstone, 1, 500, ""),  // an earlier timestamp loses, whatever the kind
      cell_of(CellKind::live, 2, 0, ""),
      cell_of(CellKind::live, 2, 0, "a"),
      cell_of(CellKind::live, 2, 0, "aa"),
      cell_of(CellKind::live, 2, 0, "b"),
      cell_of(CellKind::live, 2, 0, "\xff"),  // values compare as unsigned bytes
      cell_of(CellKind::counter, 2, 0, "bad"),
      cell_of(CellKind::counter, 2, 0, counters[0]),
      cell_of(CellKind::counter, 2, 0, counters[1]),
      cell_of(CellKind::counter, 2, 0, counters[2]),
      cell_of(CellKind::expiring, 2, 100, "z"),
      cell_of(CellKind::expiring, 2, 101, "a"),
      cell_of(CellKind::expiring, 2, 101, "b"),
      cell_of(CellKind::tombstone, 2, 50, ""),
      cell_of(CellKind::tombstone, 2, 51, ""),
      cell_of(CellKind::live, 3, 0, ""),
  };
  for (size_t i = 0; i < ascending.size(); ++i) {
    for (size_t j = 0; j < i; ++j) {
      EXPECT_EQ(&reconcile(ascending[i], ascending[j]), &ascending[i]) << i << " against " << j;
      EXPECT_EQ(&reconcile(ascending[j], ascending[i]), &ascending[i]) << i << " against " << j;
    }
  }
}

TEST(Merge, MarkersAndDeletionsReconcileInCassandrasOrder) {
  const Marker markers[] = {{}, {1, 10, 900}, {2, 0, 0}, {2, 30, 100}, {2, 10, 101}, {2, 20, 101}, {3, 0, 0}};
  for (size_t i = 0; i < std::size(markers); ++i)
    for (size_t j = 0; j < i; ++j) {
      EXPECT_EQ(&reconcile(markers[i], markers[j]), &markers[i]) << i << " against " << j;
      EXPECT_EQ(&reconcile(markers[j], markers[i]), &markers[i]) << i << " against " << j;
    }
  const Deletion deletions[] = {{}, {1, 900}, {2, 100}, {2, 101}};
  for (size_t i = 0; i < std::size(deletions); ++i)
    for (size_t j = 0; j < i; ++j) {
      EXPECT_EQ(&reconcile(deletions[i], deletions[j]), &deletions[i]) << i << " against " << j;
      EXPECT_EQ(&reconcile(deletions[j], deletions[i]), &deletions[i]) << i << " against " << j;
    }
}

TEST(Merge, MergingNoneOrOneFragment) {
  EXPECT_EQ(merged({}), "");
  EXPECT_EQ(merged({"not a fragment"}), "not a fragment");
}

TEST(Merge, InvalidBytesLose) {
  const Bytes valid("\x01\x00", 2);
  EXPECT_EQ(merged({"zzz", valid, ""}), valid);
  EXPECT_EQ(merged({"aa", "b", ""}), "b");
}

TEST(Merge, ADeletionRemovesWhatItCovers) {
  Fragment row;
  row.marker.timestamp = 10;
  row.cells = {cell_of(CellKind::live, 10, 0, "a"), cell_of(CellKind::live, 11, 0, "b")};
  row.cells[1].column = 1;
  Bytes row_bytes;
  encode(row, row_bytes);
  Fragment deletion;
  deletion.deletion = {10, 100};
  Bytes deletion_bytes;
  encode(deletion, deletion_bytes);
  EXPECT_EQ(show(merged({row_bytes, deletion_bytes})),
            "deletion at 10 local 100; cell 1 live at 11 value 62");
}

TEST(Merge, ManyFragmentsOfOneCollection) {
  std::vector<Bytes> fragments;
  for (int i = 999; i >= 0; --i) {
    Fragment fragment;
    const Bytes path = "element " + std::to_string(i);
    fragment.cells = {cell_of(CellKind::live, i, 0, "v")};
    fragment.cells[0].path = path;
    encode(fragment, fragments.emplace_back());
  }
  const Bytes bytes = merged(fragments);
  Fragment decoded;
  ASSERT_TRUE(decode(bytes, decoded));
  EXPECT_EQ(decoded.cells.size(), 1000u);
}

RC_GTEST_PROP(MergeLaw, Commutative, ()) {
  const Bytes a = generate::anything(), b = generate::anything();
  RC_ASSERT(show(merged({a, b})) == show(merged({b, a})));
}

RC_GTEST_PROP(MergeLaw, Associative, ()) {
  const Bytes a = generate::anything(), b = generate::anything(), c = generate::anything();
  const Bytes all = merged({a, b, c});
  RC_ASSERT(show(merged({merged({a, b}), c})) == show(all));
  RC_ASSERT(show(merged({a, merged({b, c})})) == show(all));
  RC_ASSERT(show(merged({c, a, b})) == show(all));
}

RC_GTEST_PROP(MergeLaw, Idempotent, ()) {
  const Bytes a = generate::anything(), b = generate::anything();
  RC_ASSERT(merged({a, a}) == a);
  const Bytes ab = merged({a, b});
  RC_ASSERT(merged({ab, a}) == ab);
  RC_ASSERT(merged({b, ab, a, b}) == ab);
}

RC_GTEST_PROP(MergeLaw, IdentityOnOneFragment, ()) {
  const Bytes a = generate::anything();
  RC_ASSERT(merged({a}) == a);
}

RC_GTEST_PROP(MergeLaw, GivesCanonicalBytes, ()) {
  const Bytes ab = merged({generate::encoded_fragment(), generate::encoded_fragment()});
  Fragment decoded;
  RC_ASSERT(decode(ab, decoded));
}

std::string visible(Bytes bytes, const Deletion& covering, int64_t now) {
  Fragment fragment;
  RC_ASSERT(decode(bytes, fragment));
  const bool exists = visible_at(fragment, covering, now);
  fragment.has_range_deletions = false;
  fragment.original_clustering = {};
  RC_ASSERT(exists == !fragment.empty());
  return print(fragment);
}

Bytes purged(const Bytes& bytes, const Deletion& covering, int64_t now, int64_t gc_before, bool may_drop) {
  Fragment fragment;
  RC_ASSERT(decode(bytes, fragment));
  const bool left = purge(fragment, {covering, now, gc_before, may_drop});
  RC_ASSERT(left == !fragment.empty());
  Bytes out;
  encode(fragment, out);
  return out;
}

// After a whole record is purged, no reader at or after `now` sees a difference.
RC_GTEST_PROP(PurgeProperty, PurgingAWholeRecordIsInvisible, ()) {
  const Bytes record = generate::encoded_fragment();
  const Deletion covering = *rc::gen::inRange(0, 2) == 0 ? generate::deletion() : Deletion{};
  const int64_t now = generate::seconds();
  const Bytes after = purged(record, covering, now, generate::seconds(), *rc::gen::arbitrary<bool>());
  const int64_t reader = now + *rc::gen::element<int64_t>(0, 1, 9, 10, 11, 1'000'000);
  RC_ASSERT(visible(after, covering, reader) == visible(record, covering, reader));
}

// After a part of a record is purged, no reader sees a difference once the other parts are merged.
RC_GTEST_PROP(PurgeProperty, PurgingAPartIsInvisibleAfterMerging, ()) {
  const Bytes part = generate::encoded_fragment(), other = generate::encoded_fragment();
  const Deletion covering = *rc::gen::inRange(0, 2) == 0 ? generate::deletion() : Deletion{};
  const int64_t now = generate::seconds();
  const Bytes after = purged(part, covering, now, keep_deletions, *rc::gen::arbitrary<bool>());
  const int64_t reader = now + *rc::gen::element<int64_t>(0, 1, 9, 10, 11, 1'000'000);
  RC_ASSERT(visible(merged({after, other}), covering, reader) ==
            visible(merged({part, other}), covering, reader));
}

TEST(Purge, DropsTombstonesAfterTheGracePeriod) {
  Fragment record;
  record.deletion = {5, 99};
  record.column_deletions = {{1, {6, 99}}, {2, {6, 100}}};
  record.cells = {cell_of(CellKind::tombstone, 10, 99, ""), cell_of(CellKind::tombstone, 10, 100, ""),
                  cell_of(CellKind::expiring, 10, 109, "gone"),
                  cell_of(CellKind::expiring, 10, 110, "stripped"),
                  cell_of(CellKind::expiring, 10, 121, "alive")};
  for (uint32_t i = 0; i < record.cells.size(); ++i) record.cells[i].column = i + 10;
  Fragment kept = record;
  ASSERT_TRUE(purge(kept, {{}, 120, 100, true}));
  EXPECT_EQ(print(kept),
            "column 2 deletion at 6 local 100; cell 11 tombstone at 10 local 100; "
            "cell 13 expiring at 10 ttl 10 expires 110 value -; "
            "cell 14 expiring at 10 ttl 10 expires 121 value 616c697665");
  Fragment scoped;
  scoped.deletion = {5, 99};
  EXPECT_TRUE(purge(scoped, {{}, 120, 100, false}));
  EXPECT_FALSE(purge(scoped, {{}, 120, 100, true}));
}

TEST(Purge, DropsWhatACoveringDeletionShadows) {
  Fragment record;
  record.marker.timestamp = 10;
  record.deletion = {5, 1000};
  record.cells = {cell_of(CellKind::live, 10, 0, "v")};
  EXPECT_FALSE(purge(record, {{10, 100}, 0, keep_deletions, false}));
}

}  // namespace
}  // namespace sibyl::row
