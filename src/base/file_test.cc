#include "base/file.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>

namespace sibyl::base {
namespace {

class FileTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = testing::TempDir() + "sibyl-file-XXXXXX";
    directory_ = ::mkdtemp(pattern.data());
  }
  void TearDown() override { std::filesystem::remove_all(directory_); }
  std::string directory_;
};

TEST_F(FileTest, IsClosedAtItsEnd) {
  int number = -1;
  {
    const File file(directory_ + "/x", O_WRONLY | O_CREAT);
    ASSERT_TRUE(file);
    number = file.number();
    EXPECT_NE(::fcntl(number, F_GETFD) & FD_CLOEXEC, 0);
    EXPECT_EQ(write_all(number, std::string(1 << 20, 'x')), 0);
  }
  EXPECT_EQ(::fcntl(number, F_GETFD), -1);
  EXPECT_EQ(std::filesystem::file_size(directory_ + "/x"), 1u << 20);
  EXPECT_TRUE(sync_path(directory_ + "/x").has_value());
  EXPECT_TRUE(sync_path(directory_).has_value());
}

TEST_F(FileTest, SaysWhatWasRefused) {
  const File none(directory_ + "/none", O_RDONLY);
  EXPECT_FALSE(none);
  const File read(directory_, O_RDONLY);
  EXPECT_EQ(write_all(read.number(), "x"), EBADF);
  const Status status = sync_path(directory_ + "/none");
  ASSERT_FALSE(status.has_value());
  EXPECT_EQ(status.error().message(), "Cannot sync " + directory_ + "/none: No such file or directory");
  EXPECT_EQ(status.error().hint(), "");
  EXPECT_EQ(file_error("make", "/x", ENOSPC).hint(), "free some disk space");
}

}  // namespace
}  // namespace sibyl::base
