#include "engine/maintenance/recover.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "base/file.h"
#include "base/test_directory.h"
#include "engine/test_database.h"

namespace sibyl::engine {
namespace {

namespace fs = std::filesystem;

void change_byte(const std::string& path, size_t at) {
  std::string bytes = *base::read_file(path);
  bytes[at] = static_cast<char>(bytes[at] ^ 0x20);
  std::ofstream(path, std::ios::binary) << bytes;
}

class Recover : public testing::Test {
 protected:
  void SetUp() override {
    TestDatabase database(data_);
    database.must("CREATE TABLE orders (p int, c int, v text, PRIMARY KEY (p, c))");
    database.must("CREATE TABLE other (k int PRIMARY KEY)");
    database.must("CREATE INDEX by_value ON orders (v)");
    for (int i = 0; i < 2000; ++i)
      database.must(fmt::format("INSERT INTO orders (p, c, v) VALUES ({}, {}, 'value {}')", i % 100, i, i));
    for (int i = 0; i < 10; ++i) database.must(fmt::format("INSERT INTO other (k) VALUES ({})", i));
    ASSERT_TRUE(database.engine->flush());
  }

  // The largest data file, which holds the rows.
  std::string table() const {
    std::string largest;
    for (const auto& entry : fs::directory_iterator(data_ + "/records"))
      if (entry.path().extension() == ".sst" &&
          (largest.empty() || entry.file_size() > fs::file_size(largest)))
        largest = entry.path().string();
    return largest;
  }

  base::TemporaryDirectory directory_;
  const std::string data_ = directory_.path() + "/data", to_ = directory_.path() + "/saved";
};

TEST_F(Recover, ACutManifestLosesNothing) {
  for (const auto& entry : fs::directory_iterator(data_ + "/records"))
    if (entry.path().filename().string().starts_with("MANIFEST")) fs::resize_file(entry.path(), 100);
  ASSERT_FALSE(Engine::open({.data = data_}).has_value());
  const auto recovery = recover(data_, to_);
  ASSERT_TRUE(recovery.has_value()) << recovery.error().text();
  EXPECT_TRUE(recovery->is_complete());
  TestDatabase saved(to_);
  EXPECT_EQ(saved.count("SELECT * FROM orders"), 2000u);
  EXPECT_EQ(saved.count("SELECT * FROM other"), 10u);
  EXPECT_TRUE(saved.faults().empty());
}

TEST_F(Recover, ADamagedBlockIsReportedAndTheRestIsSaved) {
  change_byte(table(), fs::file_size(table()) / 4);
  const auto recovery = recover(data_, to_);
  ASSERT_TRUE(recovery.has_value()) << recovery.error().text();
  ASSERT_EQ(recovery->losses.size(), 1u);
  const std::string& loss = recovery->losses.front();
  EXPECT_NE(loss.find(fs::path(table()).filename().string()), std::string::npos) << loss;
  EXPECT_NE(loss.find("; records from e.orders token "), std::string::npos) << loss;
  EXPECT_EQ(recovery->affected_tables, std::vector<std::string>{"e.orders"});
  TestDatabase saved(to_);
  const size_t rows = saved.count("SELECT * FROM orders");
  EXPECT_LT(rows, 2000u);
  EXPECT_GT(rows, 1500u);
  EXPECT_EQ(saved.count("SELECT * FROM other"), 10u);
}

// Definitions are the first records. Their block is lost, and the names of the tables with it.
TEST_F(Recover, ADamagedCatalogueGivesAStoreThatOpens) {
  change_byte(table(), 20);
  const auto recovery = recover(data_, to_);
  ASSERT_TRUE(recovery.has_value()) << recovery.error().text();
  EXPECT_FALSE(recovery->is_complete());
  EXPECT_TRUE(std::any_of(recovery->doubts.begin(), recovery->doubts.end(), [](const std::string& doubt) {
    return doubt.starts_with("definitions may be among the lost records");
  }));
  const TestDatabase saved(to_);
  EXPECT_NE(saved.engine, nullptr);
}

}  // namespace
}  // namespace sibyl::engine
