// Point reads of tables without partition records, while a commit adds the first one.
#include <gtest/gtest.h>

#include <functional>

#include "execute/read/select_fixture_test.h"

namespace sibyl::execute {
namespace {

// Forwards to a store, and can run a function before or after a read of one key.
class WatchedStore final : public storage::Store {
 public:
  explicit WatchedStore(std::unique_ptr<storage::Store> store) : store_(std::move(store)) {}

  bool may_have = false;
  std::function<void()> before_get, after_get, before_iterate, after_iterate;
  mutable int single_reads = 0, other_reads = 0;

  void commit(storage::WriteSet writes, Done done) override {
    store_->commit(std::move(writes), std::move(done));
  }
  bool may_have_partition_records(uint32_t) const override { return may_have; }
  base::Result<bool> get(BytesView key, Bytes& value) const override {
    ++single_reads;
    if (before_get) before_get();
    auto found = store_->get(key, value);
    if (after_get) after_get();
    return found;
  }
  base::Status get_many(std::span<const Bytes> keys, std::span<std::optional<Bytes>> values) const override {
    ++other_reads;
    return store_->get_many(keys, values);
  }
  std::unique_ptr<storage::Iterator> iterate(BytesView begin, BytesView end) const override {
    if (before_iterate) before_iterate();
    auto iterator = store_->iterate(begin, end);
    if (after_iterate) after_iterate();
    return iterator;
  }
  std::shared_ptr<const storage::Snapshot> snapshot() const override { return store_->snapshot(); }
  base::Status flush() override { return {}; }
  base::Status compact(BytesView, BytesView) override { return {}; }
  void set_purge_policy(std::shared_ptr<const storage::PurgePolicy>) override {}
  uint64_t approximate_size(BytesView, BytesView) const override { return 0; }
  storage::StoreStatistics statistics() const override { return {}; }

 private:
  const std::unique_ptr<storage::Store> store_;
};

class PointReads : public testing::Test {
 protected:
  PointReads() {
    auto watched = std::make_unique<WatchedStore>(std::move(db_.store));
    store_ = watched.get();
    db_.store = std::move(watched);
    db_.must("CREATE TABLE t (k int, c int, v int, PRIMARY KEY (k, c))");
    db_.must("INSERT INTO t (k, c, v) VALUES (1, 1, 11)");
    db_.must("INSERT INTO t (k, c, v) VALUES (1, 2, 12)");
  }
  std::vector<std::string> read(const std::string& where) {
    return db_.rows_in_pages("SELECT v FROM t WHERE " + where, 0);
  }
  void delete_partition() {
    store_->may_have = true;
    db_.must("DELETE FROM t WHERE k = 1");
  }

  ReadFixture db_;
  WatchedStore* store_;
  using Rows = std::vector<std::string>;
};

TEST_F(PointReads, ReadOneKeyOfATableWithoutPartitionRecords) {
  EXPECT_EQ(read("k = 1 AND c = 2"), Rows{"12"});
  EXPECT_EQ(read("k = 1 AND c = 3"), Rows{});
  EXPECT_EQ(store_->single_reads, 2);
  EXPECT_EQ(store_->other_reads, 0);
  EXPECT_EQ(read("k IN (1, 2) AND c IN (2, 1)"), (Rows{"11", "12"}));
  EXPECT_EQ(store_->other_reads, 1);
  store_->may_have = true;
  EXPECT_EQ(read("k = 1 AND c = 2"), Rows{"12"});
  EXPECT_EQ(store_->single_reads, 2);
  EXPECT_EQ(store_->other_reads, 2);
}

// The deletion is committed after the reader has decided to read the row alone.
TEST_F(PointReads, NoticeTheFirstPartitionRecord) {
  store_->before_get = [this] { delete_partition(); };
  EXPECT_EQ(read("k = 1 AND c = 2"), Rows{});
  EXPECT_EQ(store_->single_reads, 1);
  EXPECT_EQ(store_->other_reads, 1);
}

TEST_F(PointReads, NoticeADeletionThatFollowsTheRead) {
  store_->after_get = [this] { delete_partition(); };
  EXPECT_EQ(read("k = 1 AND c = 1"), Rows{});
  EXPECT_EQ(store_->other_reads, 1);
}

// Slices do not look for a partition record either, but must see one that was committed before their moment.
TEST_F(PointReads, SlicesNoticeTheFirstPartitionRecord) {
  EXPECT_EQ(read("k = 1"), (Rows{"11", "12"}));
  EXPECT_EQ(read("k = 1 ORDER BY c DESC"), (Rows{"12", "11"}));
  store_->before_iterate = [this] { delete_partition(); };
  EXPECT_EQ(read("k = 1"), Rows{});
}

TEST_F(PointReads, SlicesReadAsOfTheirMoment) {
  store_->after_iterate = [this] { delete_partition(); };
  EXPECT_EQ(read("k = 1 AND c > 0"), (Rows{"11", "12"}));
}

}  // namespace
}  // namespace sibyl::execute
