// Runs `sibyl import --sstables` on files that a real Cassandra wrote (tests/data/sstables).
#include <filesystem>
#include <fstream>
#include <sstream>

#include "base/source_path.h"
#include "cli/test_process.h"

namespace sibyl::cli {
namespace {

using testing::HasSubstr;
namespace fs = std::filesystem;

class ImportSstablesTest : public ServeTest, public testing::WithParamInterface<const char*> {
 protected:
  void SetUp() override {
    ServeTest::SetUp();
    server_ = serve(data());
    connection_ = connect();
  }
  static std::string recorded(const std::string& name) {
    return base::source_path("tests/data/sstables/" + name);
  }

  // Creates the keyspace, types and tables of tests/drivers/moving.cql.
  void make_tables() {
    std::istringstream lines(contents(base::source_path("tests/drivers/moving.cql")));
    for (std::string line; std::getline(lines, line);)
      if (line.starts_with("CREATE KEYSPACE") || line.starts_with("CREATE TYPE") ||
          line.starts_with("CREATE TABLE"))
        run(*connection_, line);
  }
  Outcome import(const std::string& table, const std::string& directory,
                 const std::vector<std::string>& more = {}) {
    std::vector<std::string> arguments = {"import",  "moving." + table, "--sstables",
                                          directory, "--host",          address()};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return sibyl(arguments);
  }
  // The answers to the recorded queries, in the form of the recording.
  std::string answers() {
    std::string all;
    std::istringstream queries(contents(recorded("queries.cql")));
    for (std::string line; std::getline(queries, line);) {
      if (line.ends_with(';')) line.pop_back();
      all += "-- " + line + "\n" + sibyl({"shell", address(), "-e", line}).output;
    }
    return all;
  }
  std::string copy_of(const std::string& name) {
    fs::copy(recorded(name), path("copy"),
             fs::copy_options::recursive | fs::copy_options::overwrite_existing);
    return path("copy");
  }
  static std::string data_file(const std::string& directory, const std::string& component) {
    for (const auto& entry : fs::directory_iterator(directory))
      if (entry.path().filename().string().ends_with(component)) return entry.path().string();
    return "";
  }

  std::unique_ptr<Process> server_;
  std::unique_ptr<client::Connection> connection_;
};

class EveryFormat : public ImportSstablesTest {};

TEST_P(EveryFormat, EverySelectAnswersAsInCassandra) {
  make_tables();
  for (const char* table : {"every", "ranges", "counts", "keys_only"}) {
    const auto imported = import(table, recorded(GetParam() + std::string("/") + table));
    ASSERT_EQ(imported.status, 0) << imported.errors << imported.output;
  }
  const std::string expected = contents(recorded("expected.txt"));
  ASSERT_THAT(expected, HasSubstr("(7 rows)"));
  EXPECT_EQ(answers(), expected);
  // A second run counts and appends nothing twice.
  for (const char* table : {"every", "ranges", "counts", "keys_only"})
    EXPECT_EQ(import(table, recorded(GetParam() + std::string("/") + table)).status, 0);
  EXPECT_EQ(answers(), expected);
}

INSTANTIATE_TEST_SUITE_P(All, EveryFormat,
                         testing::Values("nb-lz4", "nb-snappy", "nb-deflate", "nb-zstd", "nb-none", "oa-lz4",
                                         "da-lz4", "da-none"));

// Deletions are stored as well as the remaining data. They also delete data that is written later with older
// timestamps.
TEST_F(ImportSstablesTest, DeletionsKeepTheirTimestamps) {
  make_tables();
  ASSERT_EQ(import("ranges", recorded("nb-lz4/ranges")).status, 0);
  const auto insert = [&](int k, int a, const char* b, int c, int64_t micros) {
    run(*connection_, "INSERT INTO moving.ranges (k, a, b, c, v) VALUES (" + std::to_string(k) + ", " +
                          std::to_string(a) + ", '" + b + "', " + std::to_string(c) +
                          ", 'planted') USING TIMESTAMP " + std::to_string(micros));
  };
  const auto planted = [&] {
    return sibyl({"shell", address(), "-e",
                  "SELECT k, a, b, c FROM moving.ranges WHERE v = 'planted' ALLOW FILTERING"})
        .output;
  };
  constexpr int64_t base = 1'700'000'000'000'000;
  insert(1, 1, "x", 9, base + 2000);  // deleted by a = 1 AND b = 'x' AND c > 1
  insert(1, 1, "z", 9, base + 3000);  // deleted by a = 1 AND b > 'x'
  insert(1, 2, "q", 9, base + 4000);  // deleted by a >= 2 AND a < 4
  insert(1, 3, "q", 9, base + 5000);  // deleted by a > 2 AND a <= 3
  insert(2, 9, "q", 9, base + 2000);  // the partition
  insert(3, 1, "x", 1, base + 2000);  // the row
  EXPECT_THAT(planted(), HasSubstr("(0 rows)"));
  // These rows are just outside of the deletions, or just later.
  insert(1, 1, "x", 0, base + 2000);
  insert(1, 1, "z", 9, base + 3001);
  insert(1, 4, "q", 9, base + 4000);
  insert(1, 3, "q", 9, base + 5001);
  insert(2, 9, "q", 9, base + 2001);
  insert(3, 1, "x", 1, base + 2001);
  EXPECT_THAT(planted(), HasSubstr("(6 rows)"));
}

// Ranges whose ends have different lengths take several deletions in CQL. The file was not written by
// Cassandra. It has the ranges [(1), (1, 'b')) and [(1, 'b'), (2)], where the second column is descending.
TEST_F(ImportSstablesTest, RangesThatCqlCannotExpressAreDivided) {
  run(*connection_,
      "CREATE KEYSPACE moving WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}");
  run(*connection_, "CREATE TYPE moving.u (a int)");
  run(*connection_,
      "CREATE TABLE moving.made (k int, a int, b text, sm map<text, int> static, i int, t text, l list<int>, "
      "s set<text>, "
      "u u, PRIMARY KEY (k, a, b)) WITH CLUSTERING ORDER BY (a ASC, b DESC)");
  const auto imported = import("made", recorded("made"));
  ASSERT_EQ(imported.status, 0) << imported.errors << imported.output;
  constexpr int64_t epoch = 1'442'880'000'000'000;
  const auto live_after = [&](int a, const char* b, int64_t micros) {
    run(*connection_, "INSERT INTO moving.made (k, a, b, i) VALUES (1, " + std::to_string(a) + ", '" + b +
                          "', 1) USING TIMESTAMP " + std::to_string(epoch + micros));
    auto found = connection_->query("SELECT i FROM moving.made WHERE k = 1 AND a = " + std::to_string(a) +
                                    " AND b = '" + b + "'");
    return found && found->row_count() == 1;
  };
  EXPECT_FALSE(live_after(1, "c", 3));
  EXPECT_TRUE(live_after(1, "c", 4));
  EXPECT_FALSE(live_after(1, "b", 4));
  EXPECT_FALSE(live_after(1, "a", 4));
  EXPECT_FALSE(live_after(2, "z", 4));
  EXPECT_TRUE(live_after(2, "z", 5));
  EXPECT_TRUE(live_after(0, "x", 1));
  EXPECT_TRUE(live_after(3, "q", 1));
  EXPECT_FALSE(live_after(4, "", 9));  // a deleted row
  EXPECT_TRUE(live_after(4, "", 10));
  // The static map has an element that is newer than its deletion. This adds an older one.
  run(*connection_,
      "UPDATE moving.made USING TIMESTAMP " + std::to_string(epoch + 4) + " SET sm['old'] = 1 WHERE k = 1");
  auto found = connection_->query("SELECT DISTINCT sm['k'], sm['old'] FROM moving.made WHERE k = 1");
  client::Row row;
  ASSERT_TRUE(found && found->next(row));
  EXPECT_TRUE(row[0]);
  EXPECT_FALSE(row[1]);
}

TEST_F(ImportSstablesTest, DamageIsReportedWithFileAndOffset) {
  make_tables();
  // Bytes from the end: of the data, of the serialization header, and of the number of chunks.
  for (const auto& [component, from_end] :
       {std::pair("-Data.db", 10), std::pair("-Statistics.db", 10), std::pair("-CompressionInfo.db", 9)}) {
    const std::string directory = copy_of("nb-lz4/keys_only");
    const std::string file = data_file(directory, component);
    std::string bytes = contents(file);
    char& byte = bytes[bytes.size() - static_cast<size_t>(from_end)];
    byte = static_cast<char>(byte ^ 0x10);
    std::ofstream(file) << bytes;
    const auto imported = import("keys_only", directory);
    EXPECT_GE(imported.status, 2) << component;
    EXPECT_THAT(imported.errors, HasSubstr(component));
    fs::remove_all(directory);
  }
  const std::string directory = copy_of("nb-lz4/keys_only");
  fs::resize_file(data_file(directory, "-Data.db"), 20);
  const auto imported = import("keys_only", directory);
  EXPECT_EQ(imported.status, 3);
  EXPECT_THAT(imported.errors, testing::ContainsRegex("-Data.db is damaged at byte [0-9]+: "));
}

TEST_F(ImportSstablesTest, ForeignFilesAreRefused) {
  make_tables();
  EXPECT_THAT(import("every", path("nowhere")).errors, HasSubstr("Cannot read"));
  fs::create_directory(path("empty"));
  EXPECT_THAT(import("every", path("empty")).errors, HasSubstr("has no SSTables"));
  write("empty/md-1-big-Data.db", "x");
  EXPECT_THAT(import("every", path("empty")).errors,
              HasSubstr("has the format big md, which cannot be read"));
  const auto other = import("ranges", recorded("nb-lz4/every"));
  EXPECT_EQ(other.status, 2);
  EXPECT_THAT(other.errors, HasSubstr("clustering columns"));
  EXPECT_EQ(import("nothing", recorded("nb-lz4/every")).status, 2);
  EXPECT_EQ(sibyl({"import", "moving.every", "--host", address()}).status, 2);
}

TEST_F(ImportSstablesTest, ColumnsThatTheTableDoesNotHaveAreReported) {
  make_tables();
  run(*connection_, "ALTER TABLE moving.every DROP bi");
  const auto imported = import("every", recorded("nb-lz4/every"));
  EXPECT_EQ(imported.status, 1) << imported.errors;
  EXPECT_THAT(imported.output, HasSubstr("column bi of moving.every"));
}

}  // namespace
}  // namespace sibyl::cli
