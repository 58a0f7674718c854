#include "storage/rocksdb/committer.h"

#include <gtest/gtest.h>

#include <future>
#include <new>
#include <stdexcept>

namespace sibyl::storage::rocksdb {
namespace {

WriteSet one_write() {
  WriteSet writes;
  writes.put("key", "value");
  return writes;
}

base::Status commit(Committer& committer) {
  std::promise<base::Status> answer;
  auto future = answer.get_future();
  committer.submit(one_write(), [&](base::Status status) { answer.set_value(std::move(status)); });
  return future.get();
}

TEST(Committer, AnExceptionInAWriteFailsOnlyItsGroup) {
  bool throws = true;
  Committer::Work work;
  work.write = [&](std::span<Committer::Request>) -> base::Status {
    if (throws) throw std::bad_alloc();
    return {};
  };
  Committer committer(std::move(work));
  const base::Status failed = commit(committer);
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().message(), "Out of memory");
  throws = false;
  EXPECT_TRUE(commit(committer));
}

// The other requests of the group must still be completed.
TEST(Committer, AThrowingCompletionDoesNotAffectOthers) {
  std::promise<void> gate;
  Committer::Work work;
  work.write = [&, opened = gate.get_future().share()](std::span<Committer::Request>) -> base::Status {
    opened.wait();
    return {};
  };
  Committer committer(std::move(work));
  auto kept = std::make_shared<int>();
  for (int i = 0; i < 3; ++i)
    committer.submit(one_write(), [kept](const base::Status&) { throw std::length_error("completing"); });
  std::promise<base::Status> last;
  committer.submit(one_write(), [&](base::Status status) { last.set_value(std::move(status)); });
  gate.set_value();
  EXPECT_TRUE(last.get_future().get());
  EXPECT_TRUE(commit(committer));
  EXPECT_TRUE(commit(committer));  // the previous group has been destroyed
  EXPECT_EQ(kept.use_count(), 1) << "an uncompleted completion must be destroyed";
}

TEST(Committer, AThrowingSyncIsRetried) {
  std::promise<void> synced;
  int tries = 0;
  Committer::Work work;
  work.write = [](std::span<Committer::Request>) -> base::Status { return {}; };
  work.interval = std::chrono::milliseconds(1);
  work.pause = [&] {
    if (++tries < 3) throw std::bad_alloc();
    if (tries == 3) synced.set_value();
    return true;
  };
  Committer committer(std::move(work));
  EXPECT_TRUE(commit(committer));
  synced.get_future().wait();
  EXPECT_EQ(tries, 3);
}

}  // namespace
}  // namespace sibyl::storage::rocksdb
