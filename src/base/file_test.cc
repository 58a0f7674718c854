#include "base/file.h"

#include <fcntl.h>
#include <gtest/gtest.h>

#include <cerrno>
#include <filesystem>
#include <fstream>

#include "base/test_directory.h"

namespace sibyl::base {
namespace {

TEST(File, IsClosedOnDestruction) {
  const TemporaryDirectory directory;
  const std::string path = directory.path() + "/x";
  int number = -1;
  {
    const File file(path, O_WRONLY | O_CREAT);
    ASSERT_TRUE(file);
    number = file.number();
    EXPECT_NE(::fcntl(number, F_GETFD) & FD_CLOEXEC, 0);
    EXPECT_EQ(write_all(number, std::string(1 << 20, 'x')), 0);
  }
  EXPECT_EQ(::fcntl(number, F_GETFD), -1);
  EXPECT_EQ(std::filesystem::file_size(path), 1u << 20);
  EXPECT_TRUE(sync_path(path).has_value());
  EXPECT_TRUE(sync_path(directory.path()).has_value());
}

TEST(File, ReportsFailedOperations) {
  const TemporaryDirectory directory;
  const std::string path = directory.path() + "/none";
  const File none(path, O_RDONLY);
  EXPECT_FALSE(none);
  const File read(directory.path(), O_RDONLY);
  EXPECT_EQ(write_all(read.number(), "x"), EBADF);
  const Status status = sync_path(path);
  ASSERT_FALSE(status.has_value());
  EXPECT_EQ(status.error().message(), "Cannot sync " + path + ": No such file or directory");
  EXPECT_EQ(status.error().hint(), "");
  EXPECT_EQ(file_error("make", "/x", ENOSPC).hint(), "free some disk space");
}

TEST(File, ReadsAllBytes) {
  const TemporaryDirectory directory;
  std::string bytes(200'000, 'x');
  bytes[70'000] = '\0';
  std::ofstream(directory.path() + "/file", std::ios::binary) << bytes;
  const auto read = read_file(directory.path() + "/file");
  ASSERT_TRUE(read) << read.error().message();
  EXPECT_EQ(*read, bytes);
  std::ofstream(directory.path() + "/empty");
  EXPECT_EQ(read_file(directory.path() + "/empty").value(), "");
}

TEST(File, ReportsWhyItCannotBeRead) {
  const TemporaryDirectory directory;
  EXPECT_EQ(read_file(directory.path()).error().message(), "Is a directory");
  EXPECT_EQ(open_to_read(directory.path()).error().message(), "Is a directory");
  EXPECT_EQ(read_file(directory.path() + "/none").error().message(), "No such file or directory");
  // The file can be opened but not read, because no memory is mapped at the process's address 0.
  EXPECT_EQ(read_file("/proc/self/mem").error().message(), "Input/output error");
}

}  // namespace
}  // namespace sibyl::base
