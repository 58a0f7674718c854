#include "storage/purger.h"

#include <gtest/gtest.h>

#include <deque>

namespace sibyl::storage {
namespace {

constexpr uint32_t table = 1024;
constexpr int64_t grace = 100, now = 1000;

// Treats every record as whole and counts the calls.
class CountingView final : public Purger::View {
 public:
  explicit CountingView(int& asked) : asked_(asked) {}
  bool is_whole(BytesView, BytesView) override { return ++asked_ > 0; }
  std::unique_ptr<Iterator> iterate() override { return nullptr; }  // only rows are visited

 private:
  int& asked_;
};

class PurgerTest : public testing::Test {
 protected:
  Purger::Verdict visit(row::Fragment fragment) {
    auto policy = std::make_shared<PurgePolicy>();
    policy->tables = {{table, {grace}}};
    Purger purger(policy, now, std::make_unique<CountingView>(asked_));
    Bytes value;
    row::encode(fragment, value);
    return purger.visit_whole(row::row_record_key(row::partition_prefix(table, "k"), "c"), value, changed_);
  }
  static row::Fragment cell(row::CellKind kind, int32_t time_to_live, int64_t expires) {
    row::Fragment fragment;
    row::Cell& cell = fragment.cells.emplace_back();
    cell.kind = kind;
    cell.time_to_live = time_to_live;
    cell.expires_seconds = expires;
    cell.timestamp = 1;
    return fragment;
  }

  int asked_ = 0;
  Bytes changed_;
};

// A compaction must not read anything for records that it keeps in any case.
TEST_F(PurgerTest, TheViewIsReadOnlyForOldData) {
  using row::CellKind;
  EXPECT_EQ(visit(cell(CellKind::expiring, 500, now + 10)), Purger::Verdict::keep);  // still live
  // Still within the grace period.
  EXPECT_EQ(visit(cell(CellKind::expiring, 5, now - 1)), Purger::Verdict::keep);
  EXPECT_EQ(visit(cell(CellKind::tombstone, 0, now - grace)), Purger::Verdict::keep);
  row::Fragment row;
  row.deletion = {1, now - grace};
  EXPECT_EQ(visit(row), Purger::Verdict::keep);
  row.deletion = {};
  row.marker = {1, 50, now - 1};
  EXPECT_EQ(visit(row), Purger::Verdict::keep);
  row.marker = {};
  row.column_deletions = {{3, {1, now - 1}}};
  EXPECT_EQ(visit(row), Purger::Verdict::keep);
  EXPECT_EQ(asked_, 0);

  EXPECT_EQ(visit(cell(CellKind::tombstone, 0, now - grace - 1)), Purger::Verdict::remove);
  EXPECT_EQ(visit(cell(CellKind::expiring, grace, now - 1)), Purger::Verdict::remove);
  row.column_deletions = {{3, {1, now - grace - 1}}};
  EXPECT_EQ(visit(row), Purger::Verdict::remove);
  row.column_deletions.clear();
  row.deletion = {1, now - grace - 1};
  EXPECT_EQ(visit(row), Purger::Verdict::remove);
  row.deletion = {};
  row.marker = {1, 50, now - grace - 1};
  EXPECT_EQ(visit(row), Purger::Verdict::remove);
  EXPECT_EQ(asked_, 5);
}

// The collection is large enough for its cells to be streamed.
TEST_F(PurgerTest, ALargeCollectionLosesItsOldCells) {
  row::Fragment collection;
  std::deque<Bytes> paths;
  for (uint32_t i = 0; i < 20'000; ++i) {
    const bool is_old = i % 4 == 0;
    row::Cell one =
        cell(is_old ? row::CellKind::tombstone : row::CellKind::live, 0, is_old ? now - grace - 1 : 0)
            .cells.front();
    base::append_big_endian(paths.emplace_back(), i);
    one.path = paths.back();
    one.value = "value";
    collection.cells.push_back(one);
  }
  row::Fragment expected = collection;
  ASSERT_TRUE(row::purge(expected, {.now_seconds = now, .gc_before_seconds = now - grace}));
  Bytes expected_bytes;
  row::encode(expected, expected_bytes);
  EXPECT_EQ(expected.cells.size(), 15'000u);

  EXPECT_EQ(visit(collection), Purger::Verdict::change);
  EXPECT_TRUE(changed_ == expected_bytes);
  changed_.clear();
  EXPECT_EQ(visit(expected), Purger::Verdict::keep);
  EXPECT_EQ(changed_, "");
  for (row::Cell& one : collection.cells)
    one = {.column = one.column, .kind = row::CellKind::tombstone, .path = one.path, .timestamp = 1};
  EXPECT_EQ(visit(collection), Purger::Verdict::remove);
}

}  // namespace
}  // namespace sibyl::storage
