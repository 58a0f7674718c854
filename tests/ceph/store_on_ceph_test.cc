// A store on real Ceph, whose process is killed while it writes. Runs on the cluster of tests/ceph/with_ceph.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <string>

#include "storage/objects/rados/open_rados.h"
#include "storage/rocksdb/shared/shared_store.h"

namespace sibyl::storage::rocksdb {
namespace {

constexpr int rounds = 3, commits_per_round = 1500;

std::unique_ptr<Store> open() {
  objects::RadosOptions cluster;
  cluster.configuration = std::string(::getenv("SIBYL_TEST_CEPH")) + "/ceph.conf";
  cluster.pool = "sibyl";
  cluster.object_namespace = "store";
  auto client = objects::open_rados(cluster);
  EXPECT_TRUE(client.has_value()) << client.error().text();
  if (!client) return nullptr;
  SharedStoreOptions options;
  options.name = "shard";
  options.store.write_buffer_bytes = 64 << 10;
  options.store.log_segment_bytes = 64 << 10;
  auto store = open_shared_store(std::move(*client), options);
  EXPECT_TRUE(store.has_value()) << store.error().text();
  return store ? std::move(*store) : nullptr;
}

std::string key_of(int number) {
  return fmt::format("key{:08}", number);
}

// Commits numbers from `first` on, and writes each into the pipe once it is acknowledged.
[[noreturn]] void write_until_killed(int first, int pipe) {
  const auto store = open();
  if (!store) ::_exit(1);
  for (int number = first;; ++number) {
    WriteSet writes;
    writes.put(key_of(number), std::string(1000, 'v'));
    if (!store->commit(std::move(writes)) || ::write(pipe, &number, sizeof number) != sizeof number)
      ::_exit(1);
  }
}

// Returns how many commits, from number 0, exist without a gap.
int count_commits(const Store& store) {
  const auto iterator = store.iterate("key", "kez");
  int count = 0;
  for (iterator->seek_to_first(); iterator->valid() && iterator->key() == key_of(count); iterator->next())
    ++count;
  EXPECT_TRUE(iterator->status().has_value());
  EXPECT_FALSE(iterator->valid()) << "a gap before " << iterator->key();
  return count;
}

TEST(StoreOnCeph, KeepsEveryAcknowledgedCommitOfAProcessThatIsKilled) {
  int written = 0;
  for (int round = 0; round < rounds; ++round) {
    int pipe[2];
    ASSERT_EQ(::pipe(pipe), 0);
    const pid_t child = ::fork();
    if (child == 0) write_until_killed(written, pipe[1]);
    ASSERT_GT(child, 0);
    ::close(pipe[1]);
    int acknowledged = -1;
    while (acknowledged < written + commits_per_round &&
           ::read(pipe[0], &acknowledged, sizeof acknowledged) == sizeof acknowledged) {
    }
    ::kill(child, SIGKILL);
    ASSERT_EQ(::waitpid(child, nullptr, 0), child);
    while (::read(pipe[0], &acknowledged, sizeof acknowledged) == sizeof acknowledged) {
    }
    ::close(pipe[0]);
    ASSERT_GE(acknowledged, written + commits_per_round);
    // Another process, which has nothing but access to the cluster.
    const pid_t checker = ::fork();
    if (checker == 0) {
      const auto started = std::chrono::steady_clock::now();
      const auto store = open();
      if (!store) ::_exit(1);
      const auto taken = std::chrono::steady_clock::now() - started;
      const int found = count_commits(*store);
      fmt::print("opened in {} ms, {} acknowledged, {} found\n",
                 std::chrono::duration_cast<std::chrono::milliseconds>(taken).count(), acknowledged + 1,
                 found);
      std::fflush(stdout);
      const bool is_complete = found >= acknowledged + 1 && found <= acknowledged + 2;
      ::_exit(is_complete && store->compact({}, {}) && count_commits(*store) == found ? 0 : 1);
    }
    int status = 0;
    ASSERT_EQ(::waitpid(checker, &status, 0), checker);
    EXPECT_EQ(status, 0);
    written = acknowledged + 1;
  }
}

}  // namespace
}  // namespace sibyl::storage::rocksdb
