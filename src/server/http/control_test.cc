#include "server/http/control.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <latch>
#include <stdexcept>
#include <thread>
#include <vector>

namespace sibyl::server {
namespace {

class ControlTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (std::filesystem::temp_directory_path() / "sibyl-control-XXXXXX").string();
    ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
    root_ = pattern;
    data_ = root_ + "/" + std::string(150, 'd');  // longer than a socket address
    std::filesystem::create_directory(data_);
  }
  void TearDown() override { std::filesystem::remove_all(root_); }
  std::string root_, data_;
};

TEST_F(ControlTest, CommandsAreAnswered) {
  Control control;
  control.add("greet", [](const ControlArguments& arguments) -> base::Result<std::string> {
    return arguments.at("name") == "\"you\"\n" ? "{\"text\":\"hello\"}" : "null";
  });
  control.add("fail", [](const ControlArguments&) -> base::Result<std::string> {
    return base::fail(base::Error(base::ErrorCode::invalid, "not \"today\"\n").with_hint("come tomorrow"));
  });
  ASSERT_TRUE(control.start(data_).has_value());

  const auto greeting = call_control(data_, "greet", {{"name", "\"you\"\n"}});
  ASSERT_TRUE(greeting.has_value()) << greeting.error().text();
  EXPECT_EQ(*greeting, R"({"text":"hello"})");
  const auto failure = call_control(data_, "fail");
  ASSERT_FALSE(failure.has_value());
  EXPECT_EQ(failure.error().code(), base::ErrorCode::invalid);
  EXPECT_EQ(failure.error().message(), "not \"today\"\n");
  EXPECT_EQ(failure.error().hint(), "come tomorrow");
  EXPECT_EQ(call_control(data_, "dance").error().message(), "Unknown control command 'dance'");
}

TEST_F(ControlTest, ACommandThatThrowsReturnsAnError) {
  Control control;
  control.add("throw", [](const ControlArguments&) -> base::Result<std::string> {
    throw std::runtime_error("what a library threw");
  });
  control.add("ping", [](const ControlArguments&) -> base::Result<std::string> { return "1"; });
  ASSERT_TRUE(control.start(data_).has_value());
  const auto failure = call_control(data_, "throw");
  ASSERT_FALSE(failure.has_value());
  EXPECT_EQ(failure.error().code(), base::ErrorCode::server);
  EXPECT_EQ(failure.error().message(), "Unexpected exception: what a library threw");
  EXPECT_EQ(call_control(data_, "ping"), "1");
}

TEST_F(ControlTest, OnlyTheServersUserMayConnect) {
  Control control;
  ASSERT_TRUE(control.start(data_).has_value());
  struct stat status{};
  ASSERT_EQ(::stat((data_ + "/control.sock").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777u, 0600u);
}

TEST_F(ControlTest, ADirectoryWithoutAServerIsUnavailable) {
  EXPECT_EQ(call_control(data_, "status").error().code(), base::ErrorCode::unavailable);
  {
    Control control;
    ASSERT_TRUE(control.start(data_).has_value());
  }
  EXPECT_FALSE(std::filesystem::exists(data_ + "/control.sock"));
  EXPECT_EQ(call_control(data_, "status").error().code(), base::ErrorCode::unavailable);
  EXPECT_EQ(call_control(data_ + "/none", "status").error().code(), base::ErrorCode::server);
}

TEST_F(ControlTest, ADeadServersSocketIsReplaced) {
  std::filesystem::create_symlink("nowhere", data_ + "/control.sock");
  Control control;
  control.add("ping", [](const ControlArguments&) -> base::Result<std::string> { return "1"; });
  ASSERT_TRUE(control.start(data_).has_value());
  EXPECT_EQ(call_control(data_, "ping"), "1");
}

// A long command of one caller does not block another. Stopping waits for both.
TEST_F(ControlTest, CallersDoNotWaitForEachOther) {
  auto control = std::make_unique<Control>();
  std::latch began(1), may_end(1);
  control->add("slow", [&](const ControlArguments&) -> base::Result<std::string> {
    began.count_down();
    may_end.wait();
    return "\"slow\"";
  });
  control->add("quick", [](const ControlArguments&) -> base::Result<std::string> { return "\"quick\""; });
  ASSERT_TRUE(control->start(data_).has_value());
  base::Result<std::string> slow = base::fail(base::ErrorCode::server, "not called");
  std::thread caller([&] { slow = call_control(data_, "slow"); });
  began.wait();
  EXPECT_EQ(call_control(data_, "quick"), "\"quick\"");
  std::thread stopper([&] { control->stop(); });
  may_end.count_down();
  caller.join();
  stopper.join();
  EXPECT_EQ(slow, "\"slow\"");
}

}  // namespace
}  // namespace sibyl::server
