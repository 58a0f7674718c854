// Purging, as every store must implement it: no reader sees a change, and invisible data is removed.
//
// Part of the suite of conformance.h. These tests try to make deleted data reappear.
#pragma once

#include "row/fragment_print.h"
#include "row/record_key.h"
#include "storage/conformance.h"

namespace sibyl::storage::conformance {

inline constexpr uint32_t purged_table = 1024;
inline constexpr uint32_t purged_view = 3000;
inline constexpr int64_t grace = 3;

inline std::shared_ptr<const PurgePolicy> purge_policy() {
  auto policy = std::make_shared<PurgePolicy>();
  policy->tables = {{purged_table, {grace}}, {purged_view, {grace, true}}};
  return policy;
}

inline Bytes the_partition() {
  return row::partition_prefix(purged_table, "partition");
}
inline Bytes partition_key() {
  return row::partition_record_key(the_partition());
}
inline Bytes row_key(BytesView clustering) {
  return row::row_record_key(the_partition(), clustering);
}
inline Bytes range_key(BytesView begin, std::optional<BytesView> end) {
  return row::range_deletion_record_key(the_partition(), begin, end);
}

inline Bytes encoded(row::Fragment fragment) {
  Bytes bytes;
  row::encode(fragment, bytes);
  return bytes;
}
inline row::Fragment one_cell(int64_t timestamp, BytesView value = "v") {
  row::Fragment fragment;
  row::Cell cell;
  cell.timestamp = timestamp;
  cell.value = value;
  fragment.cells = {cell};
  return fragment;
}
inline row::Fragment one_tombstone(int64_t timestamp, int64_t local) {
  row::Fragment fragment = one_cell(timestamp, "");
  fragment.cells[0].kind = row::CellKind::tombstone;
  fragment.cells[0].expires_seconds = local;
  return fragment;
}
inline row::Fragment one_deletion(int64_t timestamp, int64_t local) {
  row::Fragment fragment;
  fragment.deletion = {timestamp, local};
  return fragment;
}

// A reader's view of the partition as text, computed directly from the definition.
inline std::string visible_rows(const State& records, int64_t now) {
  row::Deletion partition;
  struct Range {
    Bytes begin;
    std::optional<Bytes> end;
    row::Deletion deletion;
  };
  std::vector<Range> ranges;
  std::string text;
  for (const auto& [key, value] : records) {
    row::RecordKey parsed;
    row::Fragment fragment;
    if (!row::parse_record_key(key, parsed) || !row::decode(value, fragment)) return "unreadable";
    row::Deletion covering = partition;
    if (parsed.kind == row::RecordKind::partition) {
      partition = fragment.deletion;
    } else if (parsed.kind == row::RecordKind::range_deletion) {
      Range range{{}, {}, fragment.deletion};
      if (!row::decode_range_bounds(parsed.rest, range.begin, range.end)) return "unreadable";
      ranges.push_back(range);
      continue;
    } else {
      for (const Range& range : ranges)
        if (BytesView(range.begin) <= parsed.rest && (!range.end || parsed.rest < BytesView(*range.end)))
          covering = row::reconcile(covering, range.deletion);
    }
    if (row::visible_at(fragment, covering, now)) {
      fragment.has_range_deletions = false;
      text += base::to_hex(parsed.rest) + ": " + row::print(fragment) + "\n";
    }
  }
  return text;
}

inline Bytes some_clustering() {
  return *rc::gen::element<Bytes>("a", "b", "c");
}

// Writes once at `now`. Timestamps lie up to five seconds in the past, which exceeds the grace period, but
// after `floor`: older tombstones may have been purged.
inline WriteSet some_change(int64_t now, int64_t floor) {
  const auto timestamp = [&] { return *rc::gen::inRange<int64_t>(std::max(floor, now - 5) + 1, now + 1); };
  WriteSet writes;
  row::Fragment fragment;
  switch (*rc::gen::inRange(0, 9)) {
    case 0:
      writes.merge(partition_key(), encoded(one_deletion(timestamp(), now)));
      break;
    case 1: {
      const Bytes begin = some_clustering();
      std::optional<Bytes> end = *rc::gen::element<std::optional<Bytes>>("b", "c", "d", std::nullopt);
      fragment.has_range_deletions = true;
      writes.merge(partition_key(), encoded(fragment));
      writes.merge(range_key(begin, end ? std::optional<BytesView>(*end) : std::nullopt),
                   encoded(one_deletion(timestamp(), now)));
      break;
    }
    case 2:
      writes.merge(row_key(some_clustering()), encoded(one_deletion(timestamp(), now)));
      break;
    case 3:
      writes.merge(row_key(some_clustering()), encoded(one_tombstone(timestamp(), now)));
      break;
    case 4: {
      fragment = one_cell(timestamp(), "expiring");
      fragment.cells[0].kind = row::CellKind::expiring;
      fragment.cells[0].time_to_live = *rc::gen::inRange(1, 6);
      fragment.cells[0].expires_seconds = now + fragment.cells[0].time_to_live;
      writes.merge(row_key(some_clustering()), encoded(fragment));
      break;
    }
    case 5:
      fragment.marker.timestamp = timestamp();
      writes.merge(row_key(some_clustering()), encoded(fragment));
      break;
    case 6:
      fragment.column_deletions = {{0, {timestamp(), now}}};
      writes.merge(row_key(some_clustering()), encoded(fragment));
      break;
    case 7:
      writes.merge(partition_key(), encoded(one_cell(timestamp(), "static")));
      break;
    default:
      writes.merge(row_key(some_clustering()), encoded(one_cell(timestamp())));
      break;
  }
  return writes;
}

// Writes, deletions, expiry, flushes, purges and restarts in random order: a reader must see the same as
// without purges.
TEST_P(StoreConformance, PurgingIsInvisible) {
  EXPECT_TRUE(rc::check([this] {
    const auto harness = GetParam()();
    int64_t now = 1000, floor = 0;
    harness->clock().set_micros(now * 1'000'000);
    harness->store().set_purge_policy(purge_policy());
    State model;
    for (int step = *rc::gen::inRange(1, 40); step > 0; --step) {
      switch (*rc::gen::inRange(0, 12)) {
        case 0:
          RC_ASSERT(harness->store().flush().has_value());
          break;
        case 1:
          RC_ASSERT(harness->store().compact({}, {}).has_value());
          floor = now - grace;
          break;
        case 2:
        case 3:
          now += *rc::gen::inRange(1, 5);
          break;
        case 4:
          harness->reopen();
          harness->store().set_purge_policy(purge_policy());
          break;
        default: {
          WriteSet writes = some_change(now, floor);
          apply_to_model(writes, model);
          RC_ASSERT(harness->store().commit(std::move(writes)).has_value());
        }
      }
      harness->clock().set_micros(now * 1'000'000);
      RC_ASSERT(visible_rows(forwards(*harness->store().iterate({}, {})), now) == visible_rows(model, now));
    }
  }));
}

class StorePurge : public StoreConformance {
 protected:
  void SetUp() override {
    harness_ = GetParam()();
    at(1000);
    store().set_purge_policy(purge_policy());
  }
  Store& store() { return harness_->store(); }
  void at(int64_t seconds) {
    now_ = seconds;
    harness_->clock().set_micros(seconds * 1'000'000);
  }
  void merge(Bytes key, const row::Fragment& fragment) {
    WriteSet writes;
    writes.merge(std::move(key), encoded(fragment));
    ASSERT_TRUE(store().commit(std::move(writes)).has_value());
  }
  void purge() { ASSERT_TRUE(store().compact({}, {}).has_value()); }
  State records() { return forwards(*store().iterate({}, {})); }
  std::string visible() { return visible_rows(records(), now_); }

  std::unique_ptr<Harness> harness_;
  int64_t now_ = 0;
};

TEST_P(StorePurge, NothingIsPurgedWithoutAPolicy) {
  const auto harness = GetParam()();
  harness->clock().set_micros(5'000'000'000);
  WriteSet writes;
  writes.merge(row_key("a"), encoded(one_tombstone(1, 1)));
  ASSERT_TRUE(harness->store().commit(std::move(writes)).has_value());
  ASSERT_TRUE(harness->store().compact({}, {}).has_value());
  EXPECT_EQ(forwards(*harness->store().iterate({}, {})).size(), 1u);
}

TEST_P(StorePurge, TombstonesGoAfterTheirGraceAndNotBefore) {
  merge(row_key("a"), one_cell(10));
  merge(row_key("a"), one_tombstone(11, 1000));
  at(1000 + grace);
  purge();
  EXPECT_EQ(records().size(), 1u);
  at(1001 + grace);
  purge();
  EXPECT_EQ(records(), State{});
}

TEST_P(StorePurge, ExpiredRowsGo) {
  row::Fragment fragment = one_cell(10);
  fragment.cells[0].kind = row::CellKind::expiring;
  fragment.cells[0].time_to_live = 5;
  fragment.cells[0].expires_seconds = 1005;
  fragment.marker = {10, 5, 1005};
  merge(row_key("a"), fragment);
  at(1004);
  purge();
  EXPECT_NE(visible(), "");
  at(1005 + grace + 1);
  purge();
  EXPECT_EQ(records(), State{});
}

TEST_P(StorePurge, RowsOfViewsGoWithTheirMarkers) {
  row::Fragment fragment = one_cell(10);
  fragment.marker = {10, 5, 1005};
  const Bytes of_view = row::row_record_key(row::partition_prefix(purged_view, "partition"), "a");
  WriteSet writes;
  writes.put(of_view, encoded(fragment));
  writes.put(row_key("a"), encoded(fragment));
  ASSERT_TRUE(store().commit(std::move(writes)).has_value());
  at(1005 + grace);
  purge();
  EXPECT_EQ(records().size(), 2u);
  at(1006 + grace);
  purge();
  ASSERT_EQ(records().size(), 1u);
  EXPECT_EQ(records().begin()->first, row_key("a"));
}

// The tombstone is past its grace period, but a later fragment carries an earlier timestamp. Only the
// tombstone hides it, and a reader cannot see that it exists.
TEST_P(StorePurge, ATombstoneStaysWhileALaterFragmentHidesBehindIt) {
  merge(row_key("a"), one_tombstone(100, 1000));
  purge();
  at(2000);
  merge(row_key("a"), one_cell(50));
  ASSERT_TRUE(store().flush().has_value());
  EXPECT_EQ(visible(), "");
  purge();
  EXPECT_EQ(visible(), "");
  purge();
  EXPECT_EQ(visible(), "");
  EXPECT_EQ(records(), State{});
}

TEST_P(StorePurge, APartitionDeletionTakesItsRowsAndThenGoes) {
  merge(row_key("a"), one_cell(10));
  merge(row_key("b"), one_cell(11));
  merge(partition_key(), one_deletion(10, 1000));
  purge();
  EXPECT_EQ(records().size(), 2u);
  EXPECT_FALSE(records().contains(row_key("a")));
  at(2000);
  purge();
  EXPECT_EQ(records().size(), 1u);
  EXPECT_TRUE(records().contains(row_key("b")));
}

// The same situation, but a row deletion hides the later fragment, and the partition deletion covers the row
// deletion.
TEST_P(StorePurge, APartitionDeletionStaysWhileSomethingHidesBehindWhatItCovers) {
  merge(row_key("a"), one_deletion(60, 1000));
  merge(partition_key(), one_deletion(100, 1000));
  purge();
  merge(row_key("b"), one_deletion(60, 1000));
  ASSERT_TRUE(store().flush().has_value());
  at(2000);
  merge(row_key("b"), one_cell(50));
  for (int i = 0; i < 3; ++i) {
    purge();
    EXPECT_EQ(visible(), "");
  }
}

TEST_P(StorePurge, ARangeDeletionTakesItsRowsAndThenGoesWithItsFlag) {
  row::Fragment flag;
  flag.has_range_deletions = true;
  for (const char* clustering : {"a", "b", "c"}) merge(row_key(clustering), one_cell(10));
  merge(partition_key(), flag);
  merge(range_key("b", "c"), one_deletion(10, 1000));
  const std::string before = visible();
  purge();
  EXPECT_EQ(visible(), before);
  EXPECT_FALSE(records().contains(row_key("b")));
  EXPECT_EQ(records().size(), 4u);
  at(2000);
  purge();
  purge();
  EXPECT_EQ(visible(), before);
  EXPECT_EQ(records().size(), 2u);
}

// If a client repeatedly deletes everything older, one deletion must remain, not all of them.
TEST_P(StorePurge, RangeDeletionsThatALaterOneReachesBeyondGo) {
  row::Fragment flag;
  flag.has_range_deletions = true;
  merge(partition_key(), flag);
  for (const char* clustering : {"a", "b", "c", "d"}) merge(row_key(clustering), one_cell(30));
  merge(range_key("a", "b"), one_deletion(40, 1000));
  merge(range_key("a", "bb"), one_deletion(60, 1000));  // has the same timestamp as the next one
  merge(range_key("a", "c"), one_deletion(60, 1000));
  merge(range_key("a", "d"), one_deletion(20, 1000));  // earlier
  merge(range_key("b", "c"), one_deletion(40, 1000));  // begins elsewhere
  const std::string before = visible();
  const auto ranges = [this] {
    std::vector<Bytes> found;
    for (const auto& [key, value] : records())
      if (key != partition_key() && key < row_key("")) found.push_back(key);
    return found;
  };
  purge();
  EXPECT_EQ(visible(), before);
  const std::vector<Bytes> left = {range_key("a", "bb"), range_key("a", "c"), range_key("a", "d"),
                                   range_key("b", "c")};
  EXPECT_EQ(ranges(), left);
  merge(range_key("a", std::nullopt), one_deletion(70, 1001));
  at(1002);
  const std::string then = visible();
  purge();
  EXPECT_EQ(visible(), then);
  EXPECT_EQ(ranges(), (std::vector<Bytes>{range_key("a", std::nullopt), range_key("b", "c")}));
}

TEST_P(StorePurge, ALargePartitionKeepsItsDeletion) {
  WriteSet writes;
  for (int i = 0; i < 2000; ++i) writes.merge(row_key("r" + std::to_string(i)), encoded(one_cell(20)));
  writes.merge(partition_key(), encoded(one_deletion(10, 1000)));
  ASSERT_TRUE(store().commit(std::move(writes)).has_value());
  at(2000);
  purge();
  EXPECT_EQ(records().size(), 2001u);
}

// A deletion that was erased must not shadow later writes.
TEST_P(StorePurge, AnErasedDeletionDoesNotShadow) {
  merge(partition_key(), one_deletion(100, 1000));
  ASSERT_TRUE(store().flush().has_value());
  WriteSet writes;
  writes.erase_range(row::table_begin(purged_table), row::table_end(purged_table));
  writes.merge(row_key("a"), encoded(one_cell(50)));
  ASSERT_TRUE(store().commit(std::move(writes)).has_value());
  ASSERT_TRUE(store().flush().has_value());
  purge();
  EXPECT_EQ(records().size(), 1u);
  EXPECT_NE(visible(), "");
}

TEST_P(StorePurge, DroppedTablesGoAndTheCatalogueAndSystemTablesStay) {
  const auto in_table = [](uint32_t id) { return row::row_record_key(row::partition_prefix(id, "p"), "r"); };
  WriteSet writes;
  for (const uint32_t id : {0u, 1u, 1023u, 1024u, 1025u, 5000u})
    writes.merge(in_table(id), encoded(one_cell(10)));
  Bytes catalogue = row::table_begin(row::catalogue_table_id) + "anything";
  writes.put(catalogue, "schema");
  ASSERT_TRUE(store().commit(std::move(writes)).has_value());
  purge();
  const State left = records();
  for (const uint32_t id : {0u, 1u, 1023u, 1024u}) EXPECT_TRUE(left.contains(in_table(id))) << id;
  EXPECT_TRUE(left.contains(catalogue));
  EXPECT_EQ(left.size(), 5u);
}

// A server may compact with a policy that is older than a table of another server.
TEST_P(StorePurge, TablesThatThePolicyCannotKnowStay) {
  auto policy = std::make_shared<PurgePolicy>(*purge_policy());
  policy->next_table_id = 4000;
  store().set_purge_policy(policy);
  const auto in_table = [](uint32_t id) { return row::row_record_key(row::partition_prefix(id, "p"), "r"); };
  WriteSet writes;
  for (const uint32_t id : {3999u, 4000u, 5000u}) writes.merge(in_table(id), encoded(one_cell(10)));
  ASSERT_TRUE(store().commit(std::move(writes)).has_value());
  purge();
  const State left = records();
  EXPECT_FALSE(left.contains(in_table(3999)));
  EXPECT_TRUE(left.contains(in_table(4000)));
  EXPECT_TRUE(left.contains(in_table(5000)));
}

// A snapshot must not change after a purge removes data that it still needs.
TEST_P(StorePurge, SnapshotsAndIteratorsKeepTheirMoment) {
  merge(row_key("a"), one_cell(10));
  merge(row_key("b"), one_cell(10));
  ASSERT_TRUE(store().flush().has_value());
  const auto snapshot = store().snapshot();
  const auto iterator = store().iterate({}, {});
  const State before = records();
  merge(partition_key(), one_deletion(100, 1000));
  purge();
  EXPECT_EQ(visible(), "");
  EXPECT_EQ(forwards(*snapshot->iterate({}, {})), before);
  EXPECT_EQ(forwards(*iterator), before);
}

}  // namespace sibyl::storage::conformance
