// Reads files that a real Cassandra wrote (tests/data/sstables), whole and damaged.
#include "sstable/data_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/file.h"
#include "base/source_path.h"
#include "sstable/test_files.h"

namespace sibyl::sstable {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

struct Contents {
  std::vector<Partition> partitions;
  std::vector<Row> rows;
  std::vector<RangeDeletion> ranges;
};

base::Result<Contents> read_all(DataReader& reader) {
  Contents contents;
  while (true) {
    SIBYL_ASSIGN(const auto partition, reader.next_partition());
    if (!partition) return contents;
    contents.partitions.push_back(*partition);
    while (true) {
      SIBYL_ASSIGN(Item item, reader.next_item());
      if (item.kind == Item::Kind::end) break;
      if (item.kind == Item::Kind::row) contents.rows.push_back(std::move(item.row));
      if (item.kind == Item::Kind::range) contents.ranges.push_back(std::move(item.range));
    }
  }
}

std::string recorded(const std::string& folder) {
  return base::source_path("tests/data/sstables/" + folder);
}

base::Bytes bytes_of(const std::string& path) {
  const auto bytes = base::read_file(path);
  return bytes ? *bytes : base::Bytes();
}

base::Result<Contents> read_seed(const std::string& name, const char* version) {
  const base::Bytes seed = bytes_of(base::source_path("tests/fuzz/sstable_fuzz/" + name)).substr(1);
  const Files files{"/x", std::string(version) + "-1-big", version, "big"};
  SIBYL_ASSIGN(const auto reader,
               DataReader::make(files, std::make_unique<MemoryFile>(seed), sample_statistics(), "", ""));
  return read_all(*reader);
}

TEST(DataReader, ReadsEveryKindOfItemInBothEncodingsOfTimes) {
  for (const auto& [name, version] : {std::pair("data_old", "nb"), std::pair("data_new", "oa")}) {
    const auto contents = read_seed(name, version);
    ASSERT_TRUE(contents) << contents.error().message();
    ASSERT_EQ(contents->partitions.size(), 2u);
    EXPECT_FALSE(contents->partitions[0].deletion);
    ASSERT_EQ(contents->ranges.size(), 4u);
    const RangeDeletion& first = contents->ranges[0];
    EXPECT_EQ(first.start.prefix.size(), 1u);
    EXPECT_TRUE(first.start.is_inclusive);
    EXPECT_EQ(first.end.prefix[1], "b");
    EXPECT_FALSE(first.end.is_inclusive);
    EXPECT_TRUE(contents->ranges[1].start.is_inclusive);
    EXPECT_EQ(contents->ranges[1].deletion.timestamp, first.deletion.timestamp + 1);
    ASSERT_EQ(contents->rows.size(), 6u);
    EXPECT_TRUE(contents->rows[0].is_static);
    EXPECT_EQ(contents->rows[0].column_deletions.size(), 1u);
    const Row& row = contents->rows[1];
    ASSERT_TRUE(row.marker && row.marker->expiry);
    EXPECT_EQ(row.marker->expiry->time_to_live, 60u);
    ASSERT_EQ(row.cells.size(), 6u);
    EXPECT_EQ(row.cells[0].timestamp, row.marker->timestamp);
    EXPECT_FALSE(row.cells[0].expiry);
    ASSERT_TRUE(row.cells[1].expiry);
    EXPECT_EQ(row.cells[1].expiry->local_time, row.marker->expiry->local_time);
    EXPECT_TRUE(row.cells[3].is_deleted);
    EXPECT_EQ(row.cells[4].path, "element");
    EXPECT_TRUE(contents->rows[2].deletion);
    EXPECT_THAT(contents->rows[2].clustering, ElementsAre(base::Bytes("\0\0\0\4", 4), ""));
  }
}

TEST(DataReader, TruncatedDataIsAnErrorWithAnOffset) {
  const base::Bytes seed = bytes_of(base::source_path("tests/fuzz/sstable_fuzz/data_new")).substr(1);
  const Files files{"/x", "oa-1-big", "oa", "big"};
  for (size_t size = 1; size < seed.size(); ++size) {
    if (size == seed.size() / 2) continue;  // this would be the end of the first partition
    auto reader = DataReader::make(files, std::make_unique<MemoryFile>(seed.substr(0, size)),
                                   sample_statistics(), "", "");
    ASSERT_TRUE(reader);
    const auto contents = read_all(**reader);
    ASSERT_FALSE(contents) << size;
    EXPECT_THAT(contents.error().message(), HasSubstr("/x/oa-1-big-Data.db is damaged at byte "));
  }
}

class Recorded : public testing::TestWithParam<const char*> {};

TEST_P(Recorded, FilesOfCassandraAreReadToTheirEnds) {
  size_t rows = 0, ranges = 0, deleted_cells = 0, expiring = 0;
  for (const char* table : {"every", "ranges", "counts", "keys_only"}) {
    const auto found = find_files(recorded(GetParam() + std::string("/") + table));
    ASSERT_TRUE(found) << found.error().message();
    for (const Files& files : *found) {
      auto reader = DataReader::open(files);
      ASSERT_TRUE(reader) << reader.error().message();
      const auto contents = read_all(**reader);
      ASSERT_TRUE(contents) << contents.error().message();
      EXPECT_EQ((*reader)->offset(), (*reader)->data_length());
      rows += contents->rows.size();
      ranges += contents->ranges.size();
      for (const Row& row : contents->rows) {
        for (const Cell& cell : row.cells) {
          deleted_cells += cell.is_deleted ? 1 : 0;
          expiring += cell.expiry ? 1 : 0;
        }
      }
    }
  }
  EXPECT_GE(rows, 15u);
  EXPECT_GE(ranges, 4u);
  EXPECT_GE(deleted_cells, 4u);
  EXPECT_GE(expiring, 5u);
}

TEST_P(Recorded, EveryDamagedByteIsFound) {
  const auto found = find_files(recorded(GetParam() + std::string("/every")));
  ASSERT_TRUE(found);
  const Files& files = found->front();
  const base::Bytes data = bytes_of(files.path("Data.db")),
                    statistics = bytes_of(files.path("Statistics.db")),
                    info = bytes_of(files.path("CompressionInfo.db")),
                    checksums = bytes_of(files.path("CRC.db"));
  const auto read = [&](const base::Bytes& changed) -> base::Status {
    SIBYL_ASSIGN(const auto reader,
                 DataReader::make(files, std::make_unique<MemoryFile>(changed), statistics, info, checksums));
    SIBYL_TRY(read_all(*reader));
    return {};
  };
  ASSERT_TRUE(read(data));
  for (size_t i = 0; i < data.size(); ++i) {
    base::Bytes changed = data;
    changed[i] = static_cast<char>(changed[i] ^ 0x41);
    const auto result = read(changed);
    ASSERT_FALSE(result) << "byte " << i;
    EXPECT_THAT(result.error().message(), HasSubstr("-Data.db is damaged at byte "));
  }
}

INSTANTIATE_TEST_SUITE_P(All, Recorded,
                         testing::Values("nb-lz4", "nb-snappy", "nb-deflate", "nb-zstd", "nb-none", "oa-lz4",
                                         "da-lz4", "da-none"));

TEST(Statistics, DamageIsAnError) {
  const base::Bytes whole = sample_statistics();
  ASSERT_TRUE(parse_statistics(whole, "Statistics.db"));
  const auto header = parse_statistics(whole, "Statistics.db");
  EXPECT_THAT(header->is_descending, ElementsAre(false, true));
  for (size_t i = 8; i < whole.size(); ++i) {
    base::Bytes changed = whole;
    changed[i] = static_cast<char>(changed[i] ^ 0x41);
    EXPECT_FALSE(parse_statistics(changed, "Statistics.db")) << i;
    EXPECT_FALSE(parse_statistics(whole.substr(0, i), "Statistics.db")) << i;
  }
}

TEST(Files, NamesOfOtherVersionsAreRefused) {
  EXPECT_TRUE(parse_name("/x", "nb-1-big-Data.db"));
  EXPECT_TRUE(parse_name("/x", "oa-3gcx_0uyt_1e7hs2o8yt5zq1i7wb-big-Data.db"));
  EXPECT_TRUE(parse_name("/x", "da-7-bti-Data.db"));
  EXPECT_FALSE(parse_name("/x", "me-1-big-Data.db"));
  EXPECT_FALSE(parse_name("/x", "shop-orders-jb-1-Data.db"));
  EXPECT_FALSE(parse_name("/x", "nb-1-big-Index.db"));
  EXPECT_FALSE(parse_name("/x", "-Data.db"));
}

}  // namespace
}  // namespace sibyl::sstable
