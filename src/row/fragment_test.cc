#include "row/fragment.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <cstdlib>

#include "row/fragment_generator.h"
#include "row/fragment_print.h"
#include "row/merge.h"

namespace sibyl::row {
namespace {

// RapidCheck's default of 100 cases is too few for these properties. RC_PARAMS in the environment takes
// precedence.
const int more_cases = setenv("RC_PARAMS", "max_success=1000", 0);

constexpr int64_t now_micros = 1'700'000'000'000'000;

Cell plain(uint32_t column, BytesView value, int64_t timestamp = now_micros) {
  Cell cell;
  cell.column = column;
  cell.value = value;
  cell.timestamp = timestamp;
  return cell;
}

Bytes encoded(Fragment fragment) {
  Bytes out;
  encode(fragment, out);
  return out;
}

TEST(Fragment, AnInsertedRowTakesTwoBytesPerCell) {
  Fragment fragment;
  fragment.marker.timestamp = now_micros;
  for (uint32_t column = 0; column < 5; ++column) fragment.cells.push_back(plain(column, "1234"));
  EXPECT_EQ(encoded(fragment).size(), 2u + 8 + 5 * (2 + 4));
}

TEST(Fragment, CellsShareTheMarkersExpiry) {
  Fragment fragment;
  fragment.marker = {now_micros, 3600, 1'700'003'600};
  for (uint32_t column = 0; column < 5; ++column) {
    Cell cell = plain(column, "1234");
    cell.kind = CellKind::expiring;
    cell.time_to_live = 3600;
    cell.expires_seconds = 1'700'003'600;
    fragment.cells.push_back(cell);
  }
  EXPECT_EQ(encoded(fragment).size(), 2u + 8 + 2 + 5 + 5 * (2 + 4));
}

TEST(Fragment, EmptyFragmentIsTwoBytes) {
  const Bytes bytes = encoded({});
  EXPECT_EQ(bytes, Bytes("\x01\x00", 2));
  Fragment decoded;
  ASSERT_TRUE(decode(bytes, decoded));
  EXPECT_TRUE(decoded.empty());
}

TEST(Fragment, EncodingSortsAndMergesDuplicates) {
  Fragment fragment;
  fragment.cells = {plain(3, "x"), plain(1, "old", 5), plain(1, "new", 6)};
  Fragment decoded;
  const Bytes bytes = encoded(fragment);
  ASSERT_TRUE(decode(bytes, decoded));
  ASSERT_EQ(decoded.cells.size(), 2u);
  EXPECT_EQ(decoded.cells[0].value, "new");
  EXPECT_EQ(decoded.cells[1].column, 3u);
}

// Otherwise a statement could end the process.
TEST(Fragment, ExhaustedMemoryIsAnException) {
  static_assert(!noexcept(normalise(std::declval<Fragment&>())) &&
                !noexcept(decode({}, std::declval<Fragment&>())) &&
                !noexcept(merge({}, std::declval<Bytes&>())));
  constexpr size_t too_large = size_t{1} << 62;
  Fragment fragment;
  fragment.cells.push_back(plain(1, BytesView("x", too_large)));
  Bytes out;
  EXPECT_THROW(encode(fragment, out), std::exception);
}

TEST(Fragment, DecodingKeepsTheCapacityOfTheFragment) {
  Fragment fragment;
  for (uint32_t column = 0; column < 100; ++column) fragment.cells.push_back(plain(column, "v"));
  const Bytes bytes = encoded(fragment);
  Fragment decoded;
  ASSERT_TRUE(decode(bytes, decoded));
  const Cell* before = decoded.cells.data();
  ASSERT_TRUE(decode(bytes, decoded));
  EXPECT_EQ(decoded.cells.data(), before);
}

TEST(Fragment, AnotherVersionIsRefused) {
  Bytes bytes = encoded({});
  bytes[0] = 2;
  Fragment decoded;
  EXPECT_FALSE(decode(bytes, decoded));
  EXPECT_FALSE(is_perishable(bytes));
}

TEST(Fragment, VisibleAtDropsShadowedExpiredAndDeletedCells) {
  Fragment fragment;
  fragment.marker = {20, 10, 110};
  fragment.deletion = {5, 100};
  Cell expired = plain(1, "e", 20);
  expired.kind = CellKind::expiring;
  expired.expires_seconds = 100;
  Cell tombstone = plain(2, "", 20);
  tombstone.kind = CellKind::tombstone;
  fragment.cells = {plain(0, "shadowed", 15), expired, tombstone, plain(3, "seen", 20)};
  Fragment at_109 = fragment;
  ASSERT_TRUE(visible_at(at_109, {15, 0}, 109));
  EXPECT_TRUE(at_109.marker.exists());
  ASSERT_EQ(at_109.cells.size(), 1u);
  EXPECT_EQ(at_109.cells[0].value, "seen");
  Fragment at_110 = fragment;
  ASSERT_TRUE(visible_at(at_110, {15, 0}, 110));
  EXPECT_FALSE(at_110.marker.exists());
  EXPECT_FALSE(visible_at(fragment, {20, 0}, 109));
}

RC_GTEST_PROP(FragmentProperty, DecodesToWhatWasEncoded, ()) {
  GeneratedFragment generated = generate::fragment();
  Bytes bytes;
  encode(generated.fragment, bytes);  // also normalises the fragment
  Fragment decoded;
  RC_ASSERT(decode(bytes, decoded));
  RC_ASSERT(print(decoded) == print(generated.fragment));
  RC_ASSERT(is_perishable(bytes) ==
            (print(decoded).find("local") != std::string::npos || decoded.has_range_deletions ||
             print(decoded).find("expires") != std::string::npos));
}

RC_GTEST_PROP(FragmentProperty, AcceptsOnlyWhatItWouldWrite, ()) {
  const Bytes bytes = generate::anything();
  Fragment decoded;
  if (!decode(bytes, decoded)) return;
  Bytes again;
  encode(decoded, again);
  RC_ASSERT(again == bytes);
}

// Every truncation, extension and change of one bit is either rejected or gives another canonical fragment.
RC_GTEST_PROP(FragmentProperty, DamageIsRefusedOrCanonical, ()) {
  const Bytes bytes = generate::encoded_fragment();
  const auto check = [](const Bytes& damaged) {
    Fragment decoded;
    if (!decode(damaged, decoded)) return;
    Bytes again;
    encode(decoded, again);
    RC_ASSERT(again == damaged);
  };
  for (size_t size = 0; size < bytes.size(); ++size) check(bytes.substr(0, size));
  check(bytes + '\0');
  for (size_t bit = 0; bit < bytes.size() * 8; ++bit) {
    Bytes flipped = bytes;
    flipped[bit / 8] = static_cast<char>(flipped[bit / 8] ^ (1 << (bit % 8)));
    check(flipped);
  }
}

}  // namespace
}  // namespace sibyl::row
