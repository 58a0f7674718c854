#include "storage/rocksdb/recovery/salvage.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>

#include "base/file.h"
#include "row/fragment.h"
#include "storage/rocksdb/recovery/manifest_guard.h"
#include "storage/rocksdb/recovery/table_scan.h"
#include "storage/rocksdb/test_store.h"

namespace sibyl::storage::rocksdb {
namespace {

namespace fs = std::filesystem;

void change_byte(const std::string& path, size_t at) {
  std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
  file.seekg(static_cast<std::streamoff>(at));
  const char changed = static_cast<char>(file.get() ^ 0x40);
  file.seekp(static_cast<std::streamoff>(at));
  file.put(changed);
}

void replace_file(const std::string& path, const Bytes& bytes) {
  fs::remove(path);
  std::ofstream(path, std::ios::binary) << bytes;
}

std::map<std::string, std::string> contents_of(const std::string& path) {
  std::map<std::string, std::string> contents;
  const auto store = opened(path);
  if (store == nullptr) return contents;
  const auto records = store->iterate({}, {});
  for (records->seek_to_first(); records->valid(); records->next())
    contents[std::string(records->key())] = records->value();
  EXPECT_TRUE(records->status().has_value());
  return contents;
}

std::string key_of(int number) {
  return fmt::format("key {:05}", number);
}

// Values, deletions and a range deletion in files of two levels, and more in the log, as after a kill.
class DamagedStore : public testing::Test {
 protected:
  void SetUp() override {
    Options options;
    options.automatic_compaction = false;
    const std::string original = directory_.path() + "/original";
    auto store = opened(original, options);
    ASSERT_NE(store, nullptr);
    const auto write = [&](int from, int to, const std::string& text) {
      WriteSet writes;
      for (int i = from; i < to; ++i) writes.put(key_of(i), text + std::to_string(i) + Bytes(100, 'x'));
      ASSERT_TRUE(store->commit(std::move(writes)).has_value());
    };
    write(0, 3000, "old ");
    ASSERT_TRUE(store->compact({}, {}).has_value());  // compresses the files
    write(2000, 4000, "new ");
    WriteSet erase;
    erase.erase(key_of(7));
    erase.erase_range(key_of(100), key_of(120));
    ASSERT_TRUE(store->commit(std::move(erase)).has_value());
    ASSERT_TRUE(store->flush().has_value());
    write(110, 115, "again ");
    write(5000, 5010, "in the log ");
    fs::copy(original, data_, fs::copy_options::recursive);
    store.reset();
    expected_ = contents_of(original);
    ASSERT_EQ(expected_.size(), 4000u - 1 - 20 + 5 + 10);
  }

  std::vector<std::string> tables() const {
    std::vector<std::string> paths;
    for (const auto& [number, size] : table_files_in(data_ + "/records"))
      paths.push_back(data_ + "/records/" + table_file_name(number));
    return paths;
  }
  Salvaged save() {
    fs::remove_all(to_);
    auto salvaged = salvage(data_, to_);
    EXPECT_TRUE(salvaged.has_value()) << salvaged.error().text();
    return salvaged ? *salvaged : Salvaged{};
  }

  TemporaryDirectory directory_;
  const std::string data_ = directory_.path() + "/data", to_ = directory_.path() + "/saved";
  std::map<std::string, std::string> expected_;
};

TEST_F(DamagedStore, AnIntactStoreIsSavedCompletely) {
  const Salvaged salvaged = save();
  EXPECT_TRUE(salvaged.is_complete());
  EXPECT_EQ(salvaged.table_files, 2u);
  EXPECT_GT(salvaged.log_groups, 0u);
  EXPECT_EQ(contents_of(to_), expected_);
}

TEST_F(DamagedStore, WithoutAManifestAllFilesAreRead) {
  fs::resize_file(data_ + "/records/" + manifest_name(*current_manifest(data_ + "/records")), 10);
  ASSERT_FALSE(open_store(data_).has_value());
  EXPECT_TRUE(save().is_complete());  // the record of the store confirms that these are all files
  EXPECT_EQ(contents_of(to_), expected_);
  fs::remove(data_ + "/SIBYL_MANIFEST");
  EXPECT_EQ(save().doubts.size(), 1u);
  EXPECT_EQ(contents_of(to_), expected_);
}

// Wherever a data file is damaged, only the records of one or two blocks are lost, and the loss is reported.
TEST_F(DamagedStore, RecordsAroundDamageAreSaved) {
  for (const std::string& table : tables()) {
    const size_t size = fs::file_size(table);
    for (size_t i = 0; i < 12; ++i) {
      const size_t at = size * (2 * i + 1) / 24;
      change_byte(table, at);
      const Salvaged salvaged = save();
      const auto saved = contents_of(to_);
      size_t missing = 0;
      for (const auto& [key, value] : expected_) {
        const auto found = saved.find(key);
        if (found != saved.end() && found->second == value) continue;
        ++missing;
        ASSERT_EQ(salvaged.losses.size(), 1u) << at << " " << key;
        const Salvaged::Loss& loss = salvaged.losses.front();
        EXPECT_LE(loss.first_key, key) << at;
        EXPECT_GE(loss.last_key, key) << at;
      }
      ASSERT_LT(missing, 300u) << fs::path(table).filename() << " " << at;
      EXPECT_LT(salvaged.losses.size(), 2u);
      change_byte(table, at);  // restores the byte
    }
  }
}

// Without an index, the ends of blocks are searched for.
TEST_F(DamagedStore, BlocksAreFoundWithoutAnIndex) {
  for (const std::string& table : tables()) {
    for (size_t i = 0; i < 53; ++i) change_byte(table, fs::file_size(table) - 53 + i);
  }
  const Salvaged salvaged = save();
  EXPECT_TRUE(salvaged.losses.empty());
  EXPECT_EQ(salvaged.doubts.size(), 2u);
  // The range deletion is lost together with the footers.
  auto saved = contents_of(to_);
  for (int i = 100; i < 120; ++i)
    if (!expected_.contains(key_of(i))) saved.erase(key_of(i));
  EXPECT_EQ(saved, expected_);
}

TEST_F(DamagedStore, GroupsAroundDamageInTheLogAreSaved) {
  std::string segment;
  for (const auto& entry : fs::directory_iterator(data_ + "/log")) segment = entry.path().string();
  const size_t at = base::read_file(segment)->find("again 110");
  ASSERT_NE(at, Bytes::npos);
  change_byte(segment, at);
  ASSERT_FALSE(open_store(data_).has_value());
  const Salvaged salvaged = save();
  ASSERT_EQ(salvaged.log_losses.size(), 1u);
  auto saved = contents_of(to_);
  EXPECT_EQ(saved.size(), expected_.size() - 5);
  for (int i = 5000; i < 5010; ++i) EXPECT_EQ(saved[key_of(i)], expected_[key_of(i)]);
}

TEST_F(DamagedStore, RefusesExistingDataAndStoresInUse) {
  fs::create_directories(to_);
  replace_file(to_ + "/thesis.txt", "years of work");
  EXPECT_FALSE(salvage(data_, to_).has_value());
  EXPECT_EQ(*base::read_file(to_ + "/thesis.txt"), "years of work");
  const auto store = opened(data_);
  const auto refused = salvage(data_, directory_.path() + "/other");
  ASSERT_FALSE(refused.has_value());
  EXPECT_NE(refused.error().message().find("Another process has"), std::string::npos);
  EXPECT_FALSE(fs::exists(directory_.path() + "/other"));
}

}  // namespace
}  // namespace sibyl::storage::rocksdb
