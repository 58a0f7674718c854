#include "storage/rocksdb/database_options.h"

#include <gtest/gtest.h>
#include <rocksdb/db.h>

#include <map>
#include <memory>
#include <string>

#include "base/test_directory.h"

namespace sibyl::storage::rocksdb {
namespace {

TEST(FitsWhole, WhileMetadataTakesAQuarterOfTheCache) {
  constexpr uint64_t cache = 256 << 20;
  EXPECT_TRUE(fits_whole(0, cache));
  EXPECT_TRUE(fits_whole(uint64_t{2} << 30, cache));
  EXPECT_FALSE(fits_whole(uint64_t{3} << 30, cache));
  EXPECT_FALSE(fits_whole(uint64_t{1} << 30, 32 << 20));
}

// Files of both layouts in one database: new ones follow the size of the data, and all can be read.
TEST(DatabaseOptions, ChooseTheLayoutOfEachFile) {
  const base::TemporaryDirectory directory;
  uint64_t data_bytes = 0;
  Options options;
  options.automatic_compaction = false;
  const auto cache = ::rocksdb::NewLRUCache(1 << 20);
  ::rocksdb::DB* opened = nullptr;
  ASSERT_TRUE(::rocksdb::DB::Open(database_options(options, cache, [&] { return data_bytes; }),
                                  directory.path(), &opened)
                  .ok());
  const std::unique_ptr<::rocksdb::DB> database(opened);
  const auto write = [&](const std::string& prefix) {
    for (int i = 0; i < 1000; ++i)
      EXPECT_TRUE(database->Put({}, prefix + std::to_string(i), std::string(100, 'v')).ok());
    EXPECT_TRUE(database->Flush({}).ok());
  };
  write("whole");
  data_bytes = uint64_t{1} << 40;
  write("partitioned");
  ::rocksdb::TablePropertiesCollection files;
  ASSERT_TRUE(database->GetPropertiesOfAllTables(&files).ok());
  std::map<uint64_t, int> by_partitions;
  for (const auto& [name, properties] : files) ++by_partitions[properties->index_partitions];
  EXPECT_EQ(by_partitions.size(), 2u);
  EXPECT_EQ(by_partitions[0], 1);
  std::string value;
  for (const char* key : {"whole0", "whole999", "partitioned0", "partitioned999"})
    EXPECT_TRUE(database->Get({}, key, &value).ok()) << key;
  EXPECT_TRUE(database->Get({}, "whole1000", &value).IsNotFound());
}

}  // namespace
}  // namespace sibyl::storage::rocksdb
