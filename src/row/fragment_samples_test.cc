// Fragments written by earlier versions must stay readable. tests/data/fragments_v1.txt holds samples, each
// as bytes in hex and as text from print().
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "row/fragment_print.h"
#include "row/merge.h"

namespace sibyl::row {
namespace {

// Finds the test data, starting from this source file or from the working directory.
std::filesystem::path data_folder() {
  for (auto folder : {std::filesystem::path(__FILE__), std::filesystem::current_path()})
    for (; folder.has_relative_path(); folder = folder.parent_path())
      if (std::filesystem::exists(folder / "tests/data")) return folder / "tests/data";
  return {};
}

TEST(FragmentSamples, Version1IsRead) {
  std::ifstream file(data_folder() / "fragments_v1.txt");
  ASSERT_TRUE(file.good());
  std::string line;
  size_t samples = 0;
  while (std::getline(file, line)) {
    if (line.empty() || line.front() == '#') continue;
    const size_t space = line.find(' ');
    const std::string text = space == std::string::npos ? "" : line.substr(space + 1);
    Bytes bytes;
    ASSERT_TRUE(base::from_hex(line.substr(0, space), bytes)) << line;
    Fragment fragment;
    ASSERT_TRUE(decode(bytes, fragment)) << line;
    EXPECT_EQ(print(fragment), text);
    Bytes again;
    encode(fragment, again);
    EXPECT_EQ(base::to_hex(again), line.substr(0, space));
    ++samples;
  }
  EXPECT_GE(samples, 12u);
}

}  // namespace
}  // namespace sibyl::row
