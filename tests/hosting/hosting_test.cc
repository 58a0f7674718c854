// Real servers' membership and ownership over real shards on an object store in memory.
#include "cluster/hosting/store_shard_host.h"

#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <future>
#include <random>
#include <thread>

#include "cluster/membership.h"
#include "row/record_key.h"
#include "storage/objects/memory/memory_objects.h"
#include "storage/rocksdb/shared/open_sharded_store.h"

namespace sibyl::cluster {
namespace {

using storage::ShardedStore;
using storage::TokenShards;
using storage::objects::MemoryObjects;
using storage::rocksdb::open_sharded_store;
using storage::rocksdb::ShardedStoreOptions;

constexpr uint32_t shard_count = 6;

// Runs tasks on one thread, in the order of their times.
class TestExecutor final : public base::Executor {
 public:
  TestExecutor() : thread_([this] { loop(); }) {}
  ~TestExecutor() override { stop(); }
  void stop() {
    {
      const std::lock_guard lock(mutex_);
      is_stopping_ = true;
    }
    changed_.notify_one();
    if (thread_.joinable()) thread_.join();
  }
  int64_t now_micros() const override {
    return std::chrono::duration_cast<std::chrono::microseconds>(
               std::chrono::steady_clock::now().time_since_epoch())
        .count();
  }
  void run_after(int64_t micros, Task task) override {
    {
      const std::lock_guard lock(mutex_);
      tasks_.emplace(now_micros() + micros, std::move(task));
    }
    changed_.notify_one();
  }
  void run(std::function<void()> task) {
    std::promise<void> done;
    run_after(0, [&] {
      task();
      done.set_value();
    });
    done.get_future().wait();
  }

 private:
  void loop() {
    std::unique_lock lock(mutex_);
    while (!is_stopping_) {
      if (tasks_.empty()) {
        changed_.wait(lock);
      } else if (const int64_t wait = tasks_.begin()->first - now_micros(); wait > 0) {
        changed_.wait_for(lock, std::chrono::microseconds(wait));
      } else {
        auto task = tasks_.extract(tasks_.begin());
        lock.unlock();
        task.mapped()();
        lock.lock();
      }
    }
  }
  std::mutex mutex_;
  std::condition_variable changed_;
  bool is_stopping_ = false;
  std::multimap<int64_t, Task> tasks_;
  std::thread thread_;
};

// Callbacks of the store become tasks.
class TestStore final : public storage::objects::ObjectStore {
 public:
  TestStore(ObjectStore& store, TestExecutor& executor) : store_(store), executor_(executor) {}
  void mutate(std::string object, storage::objects::Mutation mutation, Done done) override {
    store_.mutate(std::move(object), std::move(mutation), later(std::move(done)));
  }
  void read(std::string object, storage::objects::Read what, ReadDone done) override {
    store_.read(std::move(object), std::move(what), later(std::move(done)));
  }
  void lock(std::string, storage::objects::Lock, Done) override {}
  void unlock(std::string, std::string, std::string, Done) override {}
  void read_lock(std::string, std::string, LockReadDone) override {}
  void break_lock(std::string, std::string, storage::objects::LockHolder, Done) override {}
  void watch(std::string, storage::objects::Watcher, WatchDone done) override {
    later(std::move(done))(storage::objects::Reply::unknown(storage::objects::Reason::failed), nullptr);
  }
  void notify(std::string, base::Bytes, Done) override {}
  std::string client() const override { return store_.client(); }
  void fence(std::string client, Done done) override { store_.fence(std::move(client), std::move(done)); }
  void space(SpaceDone) override {}

 private:
  template <typename... Values>
  std::move_only_function<void(Values...)> later(std::move_only_function<void(Values...)> done) {
    return [this, done = std::move(done)](Values... values) mutable {
      executor_.run_after(0, [done = std::move(done), ... values = std::move(values)]() mutable {
        done(std::move(values)...);
      });
    };
  }
  ObjectStore& store_;
  TestExecutor& executor_;
};

class Server {
 public:
  Server(MemoryObjects& objects, std::string name, uint64_t incarnation)
      : client_(objects.connect()), id_{std::move(name), incarnation} {
    ShardedStoreOptions options;
    options.objects = client_.get();
    options.shards = std::make_shared<TokenShards>(shard_count);
    options.log = to_string(id_);
    options.patience = std::chrono::seconds(10);
    auto created = open_sharded_store(std::move(options));
    if (!created) throw std::runtime_error(created.error().text());
    shards_ = std::move(*created);
    host_ = std::make_unique<StoreShardHost>(*shards_, executor_);
    executor_.run([this] {
      membership_ = std::make_unique<Membership>(
          objects_, executor_,
          Membership::Options{
              .name = id_.name, .incarnation = id_.incarnation, .address = id_.name, .has_log = true},
          Membership::Events{.on_state = [this](const State& state) { ownership_->follow(state); },
                             .on_removed = [this] { ownership_->drop_all(); },
                             .on_left = [this] { has_left_ = true; }});
      ownership_ = std::make_unique<Ownership>(objects_, executor_, *membership_, *host_);
      membership_->start();
    });
  }
  // Without leave(), this looks like a crash to others: the shards are not closed first.
  ~Server() {
    executor_.run([this] {
      ownership_.reset();
      membership_.reset();
    });
    if (!has_left_)
      for (uint32_t shard = 0; shard < shard_count; ++shard) shards_->drop_shard(shard);
    executor_.stop();
    host_.reset();
  }
  void leave() {
    executor_.run([this] { membership_->leave(); });
    while (!has_left_) std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  // Writes if the shard is here and served.
  bool write(const base::Bytes& key, uint32_t shard) {
    bool serves = false;
    executor_.run([&] { serves = ownership_ && ownership_->serving_epoch(shard).has_value(); });
    if (!serves) return false;
    const auto use = shards_->use(shard);
    if (!use) return false;
    storage::WriteSet writes;
    writes.put(key, "v");
    return shards_->commit(std::move(writes)).has_value();
  }
  std::optional<bool> read(const base::Bytes& key) {
    base::Bytes value;
    const auto found = shards_->get(key, value);
    return found ? std::optional(*found) : std::nullopt;
  }
  size_t open_shards() const {
    size_t open = 0;
    for (uint32_t shard = 0; shard < shard_count; ++shard) open += shards_->open_epoch(shard).has_value();
    return open;
  }

 private:
  std::unique_ptr<storage::objects::ObjectStore> client_;
  const MemberId id_;
  TestExecutor executor_;
  TestStore objects_{*client_, executor_};
  std::unique_ptr<ShardedStore> shards_;
  std::unique_ptr<StoreShardHost> host_;
  std::unique_ptr<Membership> membership_;
  std::unique_ptr<Ownership> ownership_;
  std::atomic<bool> has_left_ = false;
};

class Hosting : public testing::Test {
 protected:
  Hosting() {
    const auto client = objects_.connect();
    // A member that loses its lease does not join again here. So leases are long enough for a busy machine.
    const Settings settings{.shards = shard_count, .lease = std::chrono::milliseconds(5'000)};
    EXPECT_TRUE(storage::objects::Blocking(*client).mutate(state_object, create_state(settings)).is_done());
  }
  std::unique_ptr<Server> start(const std::string& name) {
    return std::make_unique<Server>(objects_, name, ++incarnations_);
  }
  static base::Bytes key_of(uint32_t number) {
    const auto token = static_cast<int64_t>(number * 0x9e3779b97f4a7c15u);
    return row::row_record_key(row::partition_prefix(2000, token, std::to_string(number)), "c");
  }
  // Tries the servers until one of them has done the write.
  void write(const std::vector<Server*>& servers, uint32_t number) {
    const base::Bytes key = key_of(number);
    const uint32_t shard = TokenShards(shard_count).shard_of(key);
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (std::ranges::none_of(servers, [&](Server* server) { return server->write(key, shard); })) {
      ASSERT_LT(std::chrono::steady_clock::now(), deadline) << "shard " << shard << " is not served";
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
  }
  static void expect_all(const std::vector<Server*>& servers, uint32_t count) {
    for (uint32_t number = 0; number < count; ++number)
      EXPECT_TRUE(std::ranges::any_of(servers, [&](Server* server) {
        return server->read(key_of(number)).value_or(false);
      })) << number;
  }

  MemoryObjects objects_{{}};
  uint64_t incarnations_ = 0;
};

TEST_F(Hosting, ServersShareShardsAndTakeThemOver) {
  auto one = start("one");
  for (uint32_t i = 0; i < 50; ++i) write({one.get()}, i);
  auto two = start("two");
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  while (two->open_shards() < shard_count / 2 && std::chrono::steady_clock::now() < deadline)
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  EXPECT_EQ(two->open_shards(), shard_count / 2);
  for (uint32_t i = 50; i < 100; ++i) write({one.get(), two.get()}, i);
  one.reset();  // the server dies, and its lease expires
  for (uint32_t i = 100; i < 150; ++i) write({two.get()}, i);
  expect_all({two.get()}, 150);
  auto three = start("three");
  for (uint32_t i = 150; i < 200; ++i) write({two.get(), three.get()}, i);
  two->leave();  // the server hands everything over first
  EXPECT_EQ(two->open_shards(), 0u);
  for (uint32_t i = 200; i < 250; ++i) write({three.get()}, i);
  expect_all({three.get()}, 250);
}

}  // namespace
}  // namespace sibyl::cluster
