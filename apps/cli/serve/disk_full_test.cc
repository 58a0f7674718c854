// A server whose disk fills up, from the clients' point of view; and notifications to the service manager.
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <chrono>
#include <cstring>
#include <filesystem>
#include <thread>

#include "cli/test_process.h"

namespace sibyl::cli {
namespace {

using testing::HasSubstr;

class DiskFullTest : public ServeTest {
 protected:
  void SetUp() override {
    ServeTest::SetUp();
    if (::mount("none", directory_.c_str(), "tmpfs", 0, "size=64m") != 0)
      GTEST_SKIP() << "no small file system can be mounted: " << std::strerror(errno);
    mounted_ = true;
  }
  void TearDown() override {
    if (mounted_) ::umount(directory_.c_str());
    ServeTest::TearDown();
  }
  void fill() {
    const int file = ::open((directory_ + "/filler").c_str(), O_WRONLY | O_CREAT, 0644);
    const std::string piece(4096, 'x');
    while (::write(file, piece.data(), piece.size()) > 0) {
    }
    ::close(file);
  }
  static base::Status write(client::Connection& connection, int key) {
    const std::string value(20'000, 'v');
    auto result = connection.query("INSERT INTO ks.t (k, c, v) VALUES (" + std::to_string(key) + ", 1, '" +
                                   value + "')");
    if (!result) return base::fail(result.error());
    return {};
  }
  bool mounted_ = false;
};

TEST_F(DiskFullTest, WritesFailAndReadsContinueUntilThereIsSpaceAgain) {
  auto server = serve(data());
  auto connection = connect();
  make_table(*connection);
  int64_t written = 0;
  int key = 0;
  for (; key < 100; ++key) {
    ASSERT_TRUE(write(*connection, key));
    ++written;
  }
  fill();
  int refused = 0;
  for (; key < 20'000 && refused < 20; ++key) {
    const auto status = write(*connection, key);
    if (status) {
      ++written;
      continue;
    }
    ++refused;
    ASSERT_EQ(status.error().code(), base::ErrorCode::write_failure) << status.error().text();
    EXPECT_THAT(status.error().message(), HasSubstr("No space left on device"));
    EXPECT_THAT(status.error().message(), HasSubstr("free some disk space"));
  }
  EXPECT_EQ(refused, 20);
  EXPECT_EQ(count(*connection, "ks.t"), written);
  // RocksDB's own log file would abort the process when its last page is full.
  EXPECT_FALSE(std::filesystem::exists(data() + "/records/LOG"));
  ASSERT_EQ(::unlink((directory_ + "/filler").c_str()), 0);
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (!write(*connection, ++key)) {
    ASSERT_LT(std::chrono::steady_clock::now(), deadline) << "it does not recover by itself";
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  ++written;
  EXPECT_EQ(count(*connection, "ks.t"), written);
  server->signal(SIGKILL);
  server->wait();
  server = serve(data());
  EXPECT_EQ(count(*connect(), "ks.t"), written);
}

TEST_F(ServeTest, NotifiesTheServiceManager) {
  const std::string path = directory_ + "/notify";
  const int listener = ::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  ASSERT_LT(path.size(), sizeof address.sun_path);
  std::memcpy(address.sun_path, path.c_str(), path.size());
  ASSERT_EQ(::bind(listener, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  const auto told = [&] {
    char text[64];
    const ssize_t got = ::recv(listener, text, sizeof text, 0);
    return std::string(text, got > 0 ? static_cast<size_t>(got) : 0);
  };
  ::setenv("NOTIFY_SOCKET", path.c_str(), 1);
  auto server = serve(data());
  ::unsetenv("NOTIFY_SOCKET");
  EXPECT_EQ(told(), "READY=1");
  server->signal(SIGTERM);
  EXPECT_EQ(told(), "STOPPING=1");
  EXPECT_EQ(server->wait(), 0);
  ::close(listener);
}

}  // namespace
}  // namespace sibyl::cli
