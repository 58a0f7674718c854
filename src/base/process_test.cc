#include "base/process.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <pthread.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <thread>

#include "base/test_directory.h"

namespace sibyl::base {
namespace {

TEST(Process, SeesItself) {
  const ProcessUsage usage = own_usage();
  EXPECT_GT(usage.resident_bytes, 100'000u);
  EXPECT_GE(usage.resident_peak_bytes, usage.resident_bytes / 2);
  EXPECT_GT(usage.virtual_bytes, usage.resident_bytes);
  EXPECT_GE(usage.open_descriptors, 3u);
  EXPECT_GE(usage.max_descriptors, usage.open_descriptors);
  EXPECT_GE(usage.threads, 1u);
  EXPECT_LE(usage.started_seconds, std::time(nullptr));
  EXPECT_GT(usage.started_seconds, std::time(nullptr) - 3600);
  EXPECT_GT(own_resident_bytes(), 100'000);
}

TEST(Process, CountsDescriptorsAndThreads) {
  const ProcessUsage before = own_usage();
  const std::ifstream file("/proc/self/stat");
  ProcessUsage during;
  std::jthread([&] { during = own_usage(); }).join();
  EXPECT_EQ(during.open_descriptors, before.open_descriptors + 1);
  EXPECT_EQ(during.threads, before.threads + 1);
}

TEST(Process, CountsTime) {
  const double before = own_usage().cpu_seconds;
  const std::clock_t start = std::clock();
  while (std::clock() - start < CLOCKS_PER_SEC / 20) continue;
  EXPECT_GE(own_usage().cpu_seconds - before, 0.05);
}

TEST(Process, DistinguishesThreadsByName) {
  double seconds = 0;
  std::thread([&] {
    pthread_setname_np(pthread_self(), "sought:one");
    while (seconds < 0.05) seconds = thread_cpu_seconds(::getpid(), "sought:");
  }).join();
  EXPECT_GE(seconds, 0.05);
  EXPECT_LE(seconds, own_usage().cpu_seconds + 0.02);
  EXPECT_EQ(thread_cpu_seconds(::getpid(), "absent:"), 0);
}

TEST(Process, SeesOtherProcesses) {
  const auto other = usage_of(::getppid());
  ASSERT_TRUE(other);
  EXPECT_GE(other->threads, 1u);
  EXPECT_FALSE(usage_of(-1));
}

TEST(Process, FindsTheListenerOfAPort) {
  const int socket = ::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  ASSERT_EQ(::bind(socket, reinterpret_cast<sockaddr*>(&address), size), 0);
  ASSERT_EQ(::getsockname(socket, reinterpret_cast<sockaddr*>(&address), &size), 0);
  const uint16_t port = ntohs(address.sin_port);
  EXPECT_EQ(find_listener(port), std::nullopt);  // the port is bound, but nothing listens
  ASSERT_EQ(::listen(socket, 1), 0);
  EXPECT_EQ(find_listener(port), ::getpid());
  ::close(socket);
}

// A directory with the files of /proc and /sys that machine_memory() reads.
class MemoryFiles {
 public:
  explicit MemoryFiles(const std::string& group) {
    write("/proc/meminfo", "MemTotal:       16000 kB\nMemFree:  10 kB\nMemAvailable:    8000 kB\n");
    write("/proc/self/cgroup", "0::" + group + "\n");
  }
  void write(const std::string& path, const std::string& text) {
    const std::filesystem::path full = directory_.path() + path;
    std::filesystem::create_directories(full.parent_path());
    std::ofstream(full) << text;
  }
  uint64_t usable() const { return usable_memory(directory_.path()); }
  MachineMemory read() const { return machine_memory(directory_.path()).value_or(MachineMemory{}); }

 private:
  TemporaryDirectory directory_;
};

TEST(MachineMemory, IsThatOfTheMachineWithoutALimit) {
  MemoryFiles files("/system.slice/sibyl.service");
  EXPECT_EQ(files.read().total_bytes, 16000u << 10);
  EXPECT_EQ(files.read().available_bytes, 8000u << 10);
  files.write("/sys/fs/cgroup/system.slice/memory.max", "max\n");
  files.write("/sys/fs/cgroup/system.slice/memory.current", "4096\n");
  EXPECT_EQ(files.read().available_bytes, 8000u << 10);
}

TEST(MachineMemory, IsThatOfTheGroupWithTheLeastAvailable) {
  MemoryFiles files("/system.slice/sibyl.service");
  files.write("/sys/fs/cgroup/system.slice/memory.max", "4000000\n");
  files.write("/sys/fs/cgroup/system.slice/memory.current", "3000000\n");
  files.write("/sys/fs/cgroup/system.slice/memory.stat", "anon 9\ninactive_file 500000\nactive_file 7\n");
  EXPECT_EQ(files.read().total_bytes, 4'000'000u);
  EXPECT_EQ(files.read().available_bytes, 1'500'000u);
  files.write("/sys/fs/cgroup/system.slice/sibyl.service/memory.max", "2000000\n");
  files.write("/sys/fs/cgroup/system.slice/sibyl.service/memory.current", "2100000\n");
  EXPECT_EQ(files.read().total_bytes, 2'000'000u);
  EXPECT_EQ(files.read().available_bytes, 0u);
}

TEST(MachineMemory, OfAContainerIsInTheRootOfItsGroups) {
  MemoryFiles files("/");
  files.write("/sys/fs/cgroup/memory.max", "1000000\n");
  files.write("/sys/fs/cgroup/memory.current", "400000\n");
  EXPECT_EQ(files.read().available_bytes, 600'000u);
}

TEST(MachineMemory, KnowsTheFirstVersionOfControlGroups) {
  MemoryFiles files("/");
  files.write("/proc/self/cgroup", "5:memory:/docker/1\n4:cpu:/docker/1\n0::/\n");
  files.write("/sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
  files.write("/sys/fs/cgroup/memory/memory.usage_in_bytes", "3000000\n");
  EXPECT_EQ(files.read().available_bytes, 8000u << 10);
  files.write("/sys/fs/cgroup/memory/docker/1/memory.limit_in_bytes", "1000000\n");
  files.write("/sys/fs/cgroup/memory/docker/1/memory.usage_in_bytes", "700000\n");
  files.write("/sys/fs/cgroup/memory/docker/1/memory.stat", "inactive_file 1\ntotal_inactive_file 200000\n");
  EXPECT_EQ(files.read().total_bytes, 1'000'000u);
  EXPECT_EQ(files.read().available_bytes, 500'000u);
}

TEST(MachineMemory, IsUnknownWithoutFiles) {
  const TemporaryDirectory directory;
  EXPECT_FALSE(machine_memory(directory.path()).has_value());
  const auto here = machine_memory();
  ASSERT_TRUE(here.has_value());
  EXPECT_GT(here->available_bytes, 1u << 20);
  EXPECT_GE(here->total_bytes, here->available_bytes);
}

TEST(UsableMemory, IsTheLeastLimitOfTheGroups) {
  MemoryFiles files("/system.slice/sibyl.service");
  const auto machine =
      static_cast<uint64_t>(::sysconf(_SC_PHYS_PAGES)) * static_cast<uint64_t>(::sysconf(_SC_PAGESIZE));
  EXPECT_EQ(files.usable(), machine);
  files.write("/sys/fs/cgroup/system.slice/sibyl.service/memory.max", "max\n");
  files.write("/sys/fs/cgroup/memory.max", "0\n");
  EXPECT_EQ(files.usable(), machine);
  files.write("/sys/fs/cgroup/system.slice/memory.max", "4000000\n");
  EXPECT_EQ(files.usable(), 4'000'000u);
  files.write("/sys/fs/cgroup/system.slice/sibyl.service/memory.max", "3000000\n");
  EXPECT_EQ(files.usable(), 3'000'000u);
  files.write("/sys/fs/cgroup/memory/memory.limit_in_bytes", "2000000\n");
  EXPECT_EQ(files.usable(), 2'000'000u);
  files.write("/sys/fs/cgroup/memory.max", "1000000\n");
  EXPECT_EQ(files.usable(), 1'000'000u);
}

TEST(Process, NamesTheBootAndTheNetwork) {
  const std::string place = boot_and_network();
  EXPECT_EQ(place, boot_and_network());
  EXPECT_NE(place.find("net:["), std::string::npos) << place;
  EXPECT_GT(place.find("net:["), 30u) << "the identifier of the boot comes first: " << place;
}

}  // namespace
}  // namespace sibyl::base
