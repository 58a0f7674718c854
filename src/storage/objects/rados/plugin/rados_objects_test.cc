// Tests that run on the cluster whose directory is in SIBYL_TEST_CEPH. tests/ceph/with_ceph starts a cluster.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include <condition_variable>
#include <filesystem>
#include <fstream>
#include <thread>

#include "storage/objects/conformance.h"
#include "storage/objects/rados/open_rados.h"
#include "storage/objects/rados/plugin/lock_class.h"

namespace sibyl::storage::objects {
namespace {

std::string cluster_directory() {
  const char* const path = ::getenv("SIBYL_TEST_CEPH");
  return path != nullptr ? path : "";
}

RadosOptions options_for(const std::string& object_namespace, std::chrono::seconds timeout) {
  RadosOptions options;
  options.configuration = cluster_directory() + "/ceph.conf";
  options.pool = "sibyl";
  options.object_namespace = object_namespace;
  options.timeout = timeout;
  return options;
}

void signal_storage_nodes(int signal) {
  for (const auto& file : std::filesystem::directory_iterator(cluster_directory() + "/run")) {
    if (!file.path().filename().string().starts_with("osd.") || file.path().extension() != ".pid") continue;
    pid_t pid = 0;
    std::ifstream(file.path()) >> pid;
    ASSERT_GT(pid, 0);
    ASSERT_EQ(::kill(pid, signal), 0);
  }
}

class RadosWorld final : public World {
 public:
  ~RadosWorld() override { release(); }

  std::unique_ptr<ObjectStore> connect() override { return connect(std::chrono::seconds(30)); }
  std::unique_ptr<ObjectStore> connect_impatient() override { return connect(std::chrono::seconds(1)); }
  void run_until(const std::function<bool()>& condition) override {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(40);
    while (!condition()) {
      ASSERT_LT(std::chrono::steady_clock::now(), deadline);
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  }
  void pass(std::chrono::milliseconds time) override { std::this_thread::sleep_for(time); }
  // Stopped processes still receive requests, and serve them when they continue.
  void hold() override {
    is_held_ = true;
    signal_storage_nodes(SIGSTOP);
  }
  void release() override {
    if (std::exchange(is_held_, false)) signal_storage_nodes(SIGCONT);
  }
  void set_full(bool full) override {
    const std::string command = fmt::format("ceph -c {}/ceph.conf tell 'osd.*' injectfull {} >/dev/null 2>&1",
                                            cluster_directory(), full ? "full" : "none");
    ASSERT_EQ(::system(command.c_str()), 0) << command;
    wait_until_full(full);
  }

 private:
  std::unique_ptr<ObjectStore> connect(std::chrono::seconds timeout) {
    auto store = open_rados(options_for(namespace_, timeout));
    EXPECT_TRUE(store.has_value()) << store.error().text();
    return std::move(*store);
  }
  // Storage nodes and clients learn at different times that the storage is full.
  void wait_until_full(bool full) {
    const auto store = connect();
    Blocking blocking(*store);
    for (int seen = 0, i = 0; seen < 20; ++i) {
      const Reply reply = blocking.mutate(fmt::format("probe.{}", i), Mutation().append("x"));
      seen = reply.is_refused(Reason::full) == full ? seen + 1 : 0;
      if (seen == 0) std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
  }

  static inline int next_ = 0;
  const std::string namespace_ = fmt::format("test-{}-{}", ::getpid(), next_++);
  bool is_held_ = false;
};

INSTANTIATE_TEST_SUITE_P(Rados, ObjectStoreConformance,
                         testing::Values(Implementation{"rados",
                                                        [] { return std::make_unique<RadosWorld>(); }}),
                         [](const auto& info) { return info.param.name; });

TEST(RadosObjects, ExplainsWhatIsWrongWithTheConfiguration) {
  RadosOptions options = options_for("", std::chrono::seconds(5));
  options.configuration = "/nonexistent/ceph.conf";
  const auto unreadable = open_rados(options);
  ASSERT_FALSE(unreadable.has_value());
  EXPECT_THAT(unreadable.error().text(), testing::HasSubstr("/nonexistent/ceph.conf"));
  options = options_for("", std::chrono::seconds(5));
  options.pool = "no-such-pool";
  const auto unknown = open_rados(options);
  ASSERT_FALSE(unknown.has_value());
  EXPECT_THAT(unknown.error().text(), testing::HasSubstr("no-such-pool"));
  options.plugin = "/nonexistent/plugin.so";
  EXPECT_THAT(open_rados(options).error().text(), testing::HasSubstr("sibyl-rados"));
}

TEST(RadosObjects, ClosingDropsCallbacksButWaitsForOperations) {
  RadosWorld world;
  auto store = world.connect_impatient();
  std::atomic<int> called = 0;
  world.hold();
  for (int i = 0; i < 10; ++i) store->mutate("o", Mutation().append("x"), [&called](Reply) { ++called; });
  store.reset();
  const int then = called;
  world.release();
  EXPECT_EQ(then, 0);
  EXPECT_EQ(called, 0);
}

}  // namespace
}  // namespace sibyl::storage::objects
