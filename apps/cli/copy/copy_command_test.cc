// Runs `sibyl import`, `sibyl export` and `sibyl snapshot` as processes against a server.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <fstream>
#include <map>
#include <sstream>
#include <thread>

#include "cli/test_process.h"
#include "types/value.h"

namespace sibyl::cli {
namespace {

using testing::HasSubstr;
namespace fs = std::filesystem;

class CopyCommandTest : public ServeTest {
 protected:
  Outcome copy(const char* command, const std::string& table, const std::string& file,
               const std::vector<std::string>& more = {}) {
    return sibyl({command, table, file, "--host", address()}, more);
  }
  // Writes a file of rows for the table of make_table().
  std::string write_rows(int rows) const {
    std::string text;
    for (int i = 0; i < rows; ++i) {
      const std::string number = std::to_string(i);
      text += number + "," + number + ",value" + number + "\n";
    }
    return write("many.csv", text);
  }
  static void expect_lines_once_each(const std::string& text, int expected) {
    std::map<std::string, int> lines;
    std::istringstream stream(text);
    for (std::string line; std::getline(stream, line);) ++lines[line];
    EXPECT_EQ(lines.size(), static_cast<size_t>(expected));
    for (const auto& [line, times] : lines) ASSERT_EQ(times, 1) << line;
  }
};

constexpr const char* all_types =
    "CREATE TABLE ks.everything (k int, c text, a ascii, b blob, bi bigint, bo boolean, d date, de decimal, "
    "du duration, dd "
    "double, f float, i inet, s smallint, st text static, t time, ti tinyint, ts timestamp, tu timeuuid, u "
    "uuid, v varint, l "
    "list<int>, se set<text>, m map<text, timestamp>, tp tuple<int, text>, ud frozen<address>, ve "
    "vector<float, 2>, PRIMARY "
    "KEY (k, c))";

TEST_F(CopyCommandTest, EveryTypeRoundTripsInBothFormats) {
  auto server = serve(data());
  auto connection = connect();
  make_table(*connection);
  run(*connection, "CREATE TYPE ks.address (street text, number int)");
  run(*connection, all_types);
  run(*connection,
      "INSERT INTO ks.everything (k, c, a, b, bi, bo, d, de, du, dd, f, i, s, st, t, ti, ts, tu, u, v, l, "
      "se, m, tp, ud, ve) "
      "VALUES (1, 'it''s, \"quoted\"\n\\ and more', 'ascii', 0x00ff, 9223372036854775807, true, "
      "'2011-02-03', 1.50, 1mo2d3s, "
      "0.1, 3.4028235E38, '::1', -5, 'static', '04:05:06.789', 7, '2011-02-03T04:05:06.789Z', "
      "50554d6e-29bb-11e5-b345-feff819cdc9f, 50554d6e-29bb-41e5-b345-feff819cdc9f, "
      "123456789012345678901234567890, [1, 2], {'a', 'b, c'}, {'x': '2011-02-03T04:05:06.789Z'}, (1, null), "
      "{street: 'Main', number: 7}, [1.5, -2])");
  run(*connection, "INSERT INTO ks.everything (k, c, a) VALUES (1, '', '')");
  run(*connection, "INSERT INTO ks.everything (k, c) VALUES (2, 'only the key')");
  for (const char* file : {"all.csv", "all.json"}) {
    for (int round = 0; round < 2; ++round) {
      const auto exported =
          copy("export", "ks.everything", path((round ? "again-" : "") + std::string(file)), {"--header"});
      ASSERT_EQ(exported.status, 0) << exported.errors;
      EXPECT_THAT(exported.errors, HasSubstr("exported 3 rows"));
      if (round == 1) break;
      run(*connection, "TRUNCATE ks.everything");
      const auto imported = copy("import", "ks.everything", path(file), {"--header"});
      ASSERT_EQ(imported.status, 0) << imported.errors
                                    << contents(path(std::string(file) + ".rejected.reasons"));
      EXPECT_THAT(imported.errors, HasSubstr("imported 3 rows"));
    }
    EXPECT_EQ(contents(path(file)), contents(path("again-" + std::string(file))));
    EXPECT_FALSE(fs::exists(path(std::string(file) + ".parts")));
    EXPECT_FALSE(fs::exists(path(std::string(file) + ".import")));
  }
}

// A file in the format of cqlsh's COPY TO, with its line ends and its notation of values.
TEST_F(CopyCommandTest, ReadsWhatCqlshWrites) {
  auto server = serve(data());
  auto connection = connect();
  make_table(*connection);
  run(*connection,
      "CREATE TABLE ks.c (k int PRIMARY KEY, b boolean, f float, m map<text, int>, t timestamp, x text)");
  write("cqlsh.csv",
        "1,True,3.14159,\"{'a': 1, 'b': 2}\",2011-02-03 04:05:06.789+0000,plain\r\n"
        "2,,,,,\"say \\\"hi\\\", twice\"\r\n");
  const auto imported = copy("import", "ks.c", path("cqlsh.csv"));
  ASSERT_EQ(imported.status, 0) << imported.errors;
  const auto exported = copy("export", "ks.c", "-");
  EXPECT_EQ(exported.status, 0) << exported.errors;
  EXPECT_EQ(exported.output,
            "1,True,3.14159,\"{'a': 1, 'b': 2}\",2011-02-03 04:05:06.789+0000,plain\n"
            "2,,,,,\"say \\\"hi\\\", twice\"\n");
}

TEST_F(CopyCommandTest, RejectedRowsAreKeptWithTheirReasons) {
  auto server = serve(data());
  auto connection = connect();
  make_table(*connection);
  write("some.csv", "k,c,v\n1,1,one\ntwo,2,\"bad\nkey\"\n3,3\n4,,no clustering\n5,5,five\n");
  auto imported = copy("import", "ks.t", path("some.csv"), {"--header"});
  EXPECT_EQ(imported.status, 1) << imported.errors;
  EXPECT_THAT(imported.errors, HasSubstr("imported 2 rows"));
  EXPECT_EQ(contents(path("some.csv.rejected")), "two,2,\"bad\nkey\"\n3,3\n4,,no clustering\n");
  EXPECT_EQ(contents(path("some.csv.rejected.reasons")),
            "line 3: k: Unable to make int from 'two'\n"
            "line 5: Invalid row length 2 should be 3\n"
            "line 6: Cannot insert null value for primary key column 'c'\n");
  EXPECT_EQ(count(*connection, "ks.t"), 2);

  imported = copy("import", "ks.t", path("some.csv"), {"--header", "--max-errors", "1"});
  EXPECT_EQ(imported.status, 3);
  EXPECT_THAT(imported.errors, HasSubstr("more than --max-errors"));
  write("some.json", "{\"k\": 7, \"c\": 7, \"v\": \"x\"}\n{\"k\": \"seven\", \"c\": 7}\nnonsense\n");
  imported = copy("import", "ks.t", path("some.json"));
  EXPECT_EQ(imported.status, 1) << imported.errors;
  EXPECT_EQ(contents(path("some.json.rejected")), "{\"k\": \"seven\", \"c\": 7}\nnonsense\n");
}

TEST_F(CopyCommandTest, RejectsImpossibleRequests) {
  auto server = serve(data());
  auto connection = connect();
  make_table(*connection);
  run(*connection, "CREATE TABLE ks.counts (k int PRIMARY KEY, n counter)");
  run(*connection, "UPDATE ks.counts SET n = n + 5 WHERE k = 1");
  write("x.csv", "1,2\n");
  EXPECT_THAT(copy("import", "ks.counts", path("x.csv")).errors, HasSubstr("counters"));
  EXPECT_EQ(copy("export", "ks.counts", "-").output, "1,5\n");
  EXPECT_THAT(copy("import", "ks.none", path("x.csv")).errors, HasSubstr("There is no table ks.none"));
  EXPECT_THAT(copy("import", "ks.t", path("none.csv")).errors, HasSubstr("Cannot open"));
  EXPECT_THAT(copy("import", "ks.t", path("x.csv"), {"--columns", "k,z"}).errors, HasSubstr("no column 'z'"));
  EXPECT_THAT(copy("import", "ks.t", path("x.csv"), {"--columns", "k,v"}).errors,
              HasSubstr("primary key column 'c'"));
  EXPECT_EQ(copy("import", "ks.t", path("x.csv"), {"--delimiter", "::"}).status, 2);
}

TEST_F(CopyCommandTest, TtlTimestampAndNulls) {
  auto server = serve(data());
  auto connection = connect();
  make_table(*connection);
  run(*connection, "INSERT INTO ks.t (k, c, v) VALUES (1, 1, 'stays')");
  write("x.csv", "1,1,\n2,2,\"\"\n");
  ASSERT_EQ(copy("import", "ks.t", path("x.csv"), {"--ttl", "1000", "--timestamp", "5"}).status, 0);
  auto result = connection->query("SELECT ttl(v), writetime(v), v FROM ks.t WHERE k = 2");
  client::Row row;
  ASSERT_TRUE(result && result->next(row));
  EXPECT_LE(types::decode_integer(types::Kind::int_, *row[0]), 1000);
  EXPECT_EQ(types::decode_integer(types::Kind::bigint, *row[1]), 5);
  EXPECT_EQ(*row[2], "");
  EXPECT_EQ(copy("export", "ks.t", "-", {"--columns", "v"}).output, "stays\n\"\"\n");
  ASSERT_EQ(copy("import", "ks.t", path("x.csv"), {"--write-nulls"}).status, 0);
  EXPECT_EQ(copy("export", "ks.t", "-", {"--columns", "v"}).output, "\n\"\"\n");
}

TEST_F(CopyCommandTest, HiddenColumnsOfCompactTablesAreNotCopied) {
  auto server = serve(data());
  auto connection = connect();
  make_table(*connection);
  run(*connection, "CREATE TABLE ks.s (k int PRIMARY KEY, v int, column1 text) WITH COMPACT STORAGE");
  run(*connection, "CREATE TABLE ks.n (k int, c int, PRIMARY KEY (k, c)) WITH COMPACT STORAGE");
  run(*connection, "INSERT INTO ks.s (k, v, column1) VALUES (1, 2, 'x')");
  run(*connection, "INSERT INTO ks.n (k, c) VALUES (3, 4)");
  for (const auto& [table, expected] : {std::pair("ks.s", "k,column1,v\n1,x,2\n"), {"ks.n", "k,c\n3,4\n"}}) {
    const std::string file = path(std::string(table) + ".csv");
    ASSERT_EQ(copy("export", table, file, {"--header"}).status, 0);
    EXPECT_EQ(contents(file), expected);
    run(*connection, std::string("TRUNCATE ") + table);
    ASSERT_EQ(copy("import", table, file, {"--header"}).status, 0);
    EXPECT_EQ(copy("export", table, "-", {"--header"}).output, expected);
  }
}

// An import that is killed repeatedly finally writes every row.
TEST_F(CopyCommandTest, AnImportResumesAfterItWasKilled) {
  auto server = serve(data());
  auto connection = connect();
  make_table(*connection);
  constexpr int rows = 400'000;  // these rows are more than three attempts can import
  {
    std::ofstream file(path("many.csv"));
    for (int i = 0; i < rows; ++i) file << i << "," << i << ",\"value\n" << i << "\"\n";
    file << "bad,1,x\n";
  }
  const std::vector<std::string> command = {"import",  "ks.t",   path("many.csv"),
                                            "--quiet", "--host", address()};
  int kills = 0;
  for (int attempt = 0; attempt < 3; ++attempt) {
    const std::string before = contents(path("many.csv.import"));
    Process process(command);
    while (contents(path("many.csv.import")) == before && fs::exists(path("many.csv"))) {
      if (::kill(process.pid(), 0) != 0) break;
      ::usleep(1000);
    }
    process.signal(SIGKILL);
    kills += process.wait() == -SIGKILL ? 1 : 0;
    if (!fs::exists(path("many.csv.import"))) break;
  }
  EXPECT_GT(kills, 0);
  const auto finished = sibyl(command);
  EXPECT_EQ(finished.status, 1) << finished.errors;
  EXPECT_THAT(finished.errors, HasSubstr("continuing at byte"));
  EXPECT_EQ(count(*connection, "ks.t"), rows);
  EXPECT_EQ(contents(path("many.csv.rejected")), "bad,1,x\n");
}

// A resumed export reads only the missing ranges.
TEST_F(CopyCommandTest, AnExportResumesAfterItWasKilled) {
  auto server = serve(data());
  auto connection = connect();
  make_table(*connection);
  constexpr int rows = 20'000;
  ASSERT_EQ(copy("import", "ks.t", write_rows(rows)).status, 0);
  const std::vector<std::string> command = {"export",  "ks.t",   path("out.csv"),
                                            "--quiet", "--host", address()};
  {
    Process process(command);
    while (!fs::exists(path("out.csv.parts/00003")) && !fs::exists(path("out.csv"))) ::usleep(200);
    process.signal(SIGKILL);
    process.wait();
  }
  const bool was_interrupted = !fs::exists(path("out.csv"));
  const auto kept = was_interrupted ? fs::last_write_time(path("out.csv.parts/00003")) : fs::file_time_type();
  const auto other = copy("export", "ks.t", path("out.csv"), {"--columns", "k"});
  if (was_interrupted) {
    EXPECT_THAT(other.errors, HasSubstr("another run"));
  }
  EXPECT_TRUE(!was_interrupted || fs::last_write_time(path("out.csv.parts/00003")) == kept);
  ASSERT_EQ(sibyl(command).status, 0);
  expect_lines_once_each(contents(path("out.csv")), rows);
}

// After a power failure a part may exist without its data. It is read again.
TEST_F(CopyCommandTest, AnExportReadsIncompletePartsAgain) {
  auto server = serve(data());
  auto connection = connect();
  make_table(*connection);
  constexpr int rows = 2'000;
  ASSERT_EQ(copy("import", "ks.t", write_rows(rows)).status, 0);
  fs::create_directory(path("out.csv.new"));  // makes the last step fail, which keeps the parts
  EXPECT_EQ(copy("export", "ks.t", path("out.csv")).status, 3);
  fs::remove(path("out.csv.new"));
  ASSERT_GT(fs::file_size(path("out.csv.parts/00005")), 0u);
  fs::resize_file(path("out.csv.parts/00005"), 0);
  ASSERT_EQ(copy("export", "ks.t", path("out.csv")).status, 0);
  expect_lines_once_each(contents(path("out.csv")), rows);
}

// The output files of an import never replace its input. A resumed import fails if the file of rejected rows
// was truncated.
TEST_F(CopyCommandTest, OutputFilesNeverOverwriteTheInput) {
  auto server = serve(data());
  auto connection = connect();
  make_table(*connection);
  const std::string text = "1,1,one\ntwo,2,bad\n";
  for (const char* name : {"x.csv", "x.reasons"}) {
    write(name, text);
    const auto refused =
        copy("import", "ks.t", path(name), {"--rejected", path(name[2] == 'c' ? "x.csv" : "x")});
    EXPECT_EQ(refused.status, 2) << name;
    EXPECT_THAT(refused.errors, HasSubstr("would be overwritten")) << name;
    EXPECT_EQ(contents(path(name)), text);
  }
  EXPECT_EQ(copy("import", "ks.t", path("x.csv"), {"--max-errors", "0"}).status, 3);
  ASSERT_EQ(contents(path("x.csv.rejected")), "two,2,bad\n");
  fs::resize_file(path("x.csv.rejected"), 3);
  const auto shorter = copy("import", "ks.t", path("x.csv"), {"--max-errors", "0"});
  EXPECT_EQ(shorter.status, 3);
  EXPECT_THAT(shorter.errors, HasSubstr("has 3 bytes, but the journal expects 10"));
  EXPECT_EQ(contents(path("x.csv.rejected")), "two");
}

// Other users who can write to the directory may have created links there that point to files of this user.
TEST_F(CopyCommandTest, FilesBesideTheInputAreNotWrittenThroughLinks) {
  auto server = serve(data());
  auto connection = connect();
  make_table(*connection);
  write("x.csv", "1,1,one\ntwo,2,bad\n");
  for (const char* name : {"x.csv.rejected", "x.csv.rejected.reasons", "x.csv.import", "x.csv.import.new"}) {
    const std::string victim = write("victim", "precious\n");
    const auto refuse = [&](const char* what) {
      for (const bool restart : {false, true}) {
        const auto refused = restart ? copy("import", "ks.t", path("x.csv"), {"--restart"})
                                     : copy("import", "ks.t", path("x.csv"));
        EXPECT_GE(refused.status, 2) << name << " " << what;
        EXPECT_THAT(refused.errors, HasSubstr(path(name) + " is " + what));
        EXPECT_EQ(contents(victim), "precious\n") << name;
      }
      for (const char* kept :
           {"x.csv.rejected", "x.csv.rejected.reasons", "x.csv.import", "x.csv.import.new"})
        fs::remove(path(kept));
    };
    fs::create_symlink(victim, path(name));
    refuse("a link");
    fs::create_hard_link(victim, path(name));
    refuse("a file with several hard links");
    ASSERT_EQ(::mkfifo(path(name).c_str(), 0600), 0);
    refuse("not a regular file");
  }
  EXPECT_EQ(copy("import", "ks.t", path("x.csv")).status, 1);
  EXPECT_EQ(contents(path("x.csv.rejected")), "two,2,bad\n");

  fs::create_directory(path("elsewhere"));
  fs::create_directory_symlink(path("elsewhere"), path("out.csv.parts"));
  const auto refused = copy("export", "ks.t", path("out.csv"));
  EXPECT_EQ(refused.status, 2);
  EXPECT_THAT(refused.errors, HasSubstr("out.csv.parts is a link"));
  EXPECT_TRUE(fs::is_empty(path("elsewhere")));
}

TEST_F(CopyCommandTest, AJournalReplacesNothing) {
  auto server = serve(data());
  auto connection = connect();
  make_table(*connection);
  write("rows.csv", "1,1,one\n");
  write("notes.txt", "keep\nthis\n");
  for (const char* journal : {"rows.csv", "rows.csv.rejected", "notes.txt"}) {
    for (const bool restart : {false, true}) {
      std::vector<std::string> more = {"--journal", path(journal)};
      if (restart) more.emplace_back("--restart");
      EXPECT_EQ(copy("import", "ks.t", path("rows.csv"), more).status, 2) << journal;
    }
  }
  EXPECT_EQ(contents(path("rows.csv")), "1,1,one\n");
  EXPECT_EQ(contents(path("notes.txt")), "keep\nthis\n");
}

// An import survives a restart of the server.
TEST_F(CopyCommandTest, AnImportWaitsForAServerThatRestarts) {
  auto server = serve(data());
  {
    auto connection = connect();
    make_table(*connection);
  }
  constexpr int rows = 20'000;
  Process process({"import", "ks.t", write_rows(rows), "--quiet", "--host", address()});
  while (contents(path("many.csv.import")).empty()) ::usleep(1000);
  kill_and_restart(server);
  EXPECT_EQ(process.wait(), 0) << process.rest_of_errors();
  auto connection = connect();
  EXPECT_EQ(count(*connection, "ks.t"), rows);
}

// Rows of a range that were read before the server stopped are not written twice, to a file or to standard
// output.
TEST_F(CopyCommandTest, AnExportReadsARangeAgainWhenTheServerRestarts) {
  auto server = serve(data());
  constexpr int rows = 6'000;
  {
    auto connection = connect();
    make_table(*connection);
  }
  ASSERT_EQ(copy("import", "ks.t", write_rows(rows)).status, 0);
  for (const std::string& output : {path("out.csv"), std::string("-")}) {
    // Ranges have many pages, so the server almost always stops in the middle of one.
    Process process({"export", "ks.t", output, "--host", address(), "--page-size", "1", "--jobs", "1"});
    std::string text;
    if (output == "-")
      text = process.read_line();
    else
      while (!fs::exists(path("out.csv.parts/00001")) && !fs::exists(path("out.csv"))) ::usleep(200);
    kill_and_restart(server);
    text += process.rest_of_output();
    EXPECT_THAT(process.rest_of_errors(), HasSubstr("exported 6000 rows"));
    ASSERT_EQ(process.wait(), 0);
    expect_lines_once_each(output == "-" ? text : contents(output), rows);
  }
}

// A journal resumes only the same run: the same file and dialect, into the same server.
TEST_F(CopyCommandTest, AnotherServerOrDialectIsAnotherRun) {
  auto server = serve(data());
  make_table(*connect());
  write("x.csv", "bad,1,x\n1,1,x\n");
  ASSERT_EQ(copy("import", "ks.t", path("x.csv"), {"--max-errors", "0"}).status, 3);
  const std::vector<std::vector<std::string>> others = {
      {"--delimiter", ";"}, {"--quote", "'"}, {"--escape", "\""}, {"--null", "N"}, {"--write-nulls"}};
  for (const auto& other : others) {
    const auto outcome = copy("import", "ks.t", path("x.csv"), other);
    EXPECT_EQ(outcome.status, 2) << other[0];
    EXPECT_THAT(outcome.errors, HasSubstr("another run")) << other[0];
  }
  auto second = serve(path("second"));
  make_table(*connect());
  const auto outcome = copy("import", "ks.t", path("x.csv"));
  EXPECT_EQ(outcome.status, 2);
  EXPECT_THAT(outcome.errors, HasSubstr("another run"));
  EXPECT_EQ(copy("import", "ks.t", path("x.csv"), {"--restart"}).status, 1);
}

// A missing quote rejects the rows after it. They are stored as rejected, and no row is made of them.
TEST_F(CopyCommandTest, AnUnclosedQuoteRejectsTheFollowingRows) {
  auto server = serve(data());
  auto connection = connect();
  make_table(*connection);
  write("x.csv", "1,1,good\n2,2,\"open\n3,3,three\n");
  EXPECT_EQ(copy("import", "ks.t", path("x.csv")).status, 1);
  EXPECT_EQ(contents(path("x.csv.rejected")), "2,2,\"open\n3,3,three\n");
  EXPECT_EQ(contents(path("x.csv.rejected.reasons")), "line 2: a quoted field is not closed\n");
  EXPECT_EQ(count(*connection, "ks.t"), 1);
}

// --- Snapshots

TEST_F(CopyCommandTest, ASnapshotOfARunningServerIsRestored) {
  auto server = serve(data());
  auto connection = connect();
  make_table(*connection);
  run(*connection, "INSERT INTO ks.t (k, c, v) VALUES (1, 1, 'kept')");
  const auto taken = sibyl({"snapshot", "take", "--name", "first", "--data", data()});
  ASSERT_EQ(taken.status, 0) << taken.errors;
  EXPECT_THAT(taken.output, HasSubstr("took snapshot first"));
  EXPECT_EQ(sibyl({"snapshot", "take", "first", "--data", data()}).status, 1);
  run(*connection, "TRUNCATE ks.t");
  EXPECT_THAT(sibyl({"snapshot", "list", "--data", data()}).output, HasSubstr("first"));
  EXPECT_EQ(sibyl({"snapshot", "verify", "first", "--data", data()}).status, 0);
  const auto restored = sibyl({"snapshot", "restore", "first", "--data", data(), "--to", path("new")});
  ASSERT_EQ(restored.status, 0) << restored.errors;
  EXPECT_EQ(sibyl({"snapshot", "restore", "first", "--data", data(), "--to", path("new")}).status, 1);

  auto other = serve(path("new"));
  auto there = connect();
  EXPECT_EQ(count(*there, "ks.t"), 1);
  EXPECT_EQ(sibyl({"snapshot", "clear", "first", "--data", data()}).status, 0);
  EXPECT_EQ(sibyl({"snapshot", "clear", "first", "--data", data()}).status, 1);
}

// Files that root creates in a service's data directory belong to the service.
TEST_F(CopyCommandTest, FilesCreatedByRootBelongToTheService) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give files away";
  constexpr uid_t nobody = 65534;
  {
    auto server = serve(data());
    make_table(*connect());
    server->signal(SIGTERM);
    server->wait();
  }
  fs::permissions(directory_, fs::perms::owner_all | fs::perms::group_exec | fs::perms::others_exec);
  ASSERT_EQ(::lchown(data().c_str(), nobody, nobody), 0);
  for (const auto& entry : fs::recursive_directory_iterator(data()))
    ASSERT_EQ(::lchown(entry.path().c_str(), nobody, nobody), 0);
  const auto taken = sibyl({"snapshot", "take", "s", "--data", data()});
  ASSERT_EQ(taken.status, 0) << taken.errors;
  ASSERT_EQ(sibyl({"snapshot", "restore", "s", "--data", data(), "--to", path("new")}).status, 0);
  for (const std::string& tree : {data(), path("new")})
    for (const auto& entry : fs::recursive_directory_iterator(tree)) {
      struct stat status{};
      ASSERT_EQ(::lstat(entry.path().c_str(), &status), 0);
      EXPECT_EQ(status.st_uid, nobody) << entry.path();
    }
}

TEST_F(CopyCommandTest, ASnapshotOfAClosedDirectory) {
  {
    auto server = serve(data());
    auto connection = connect();
    make_table(*connection);
    run(*connection, "INSERT INTO ks.t (k, c, v) VALUES (1, 1, 'kept')");
    server->signal(SIGKILL);  // the snapshot includes data that is only in the log
    server->wait();
  }
  ASSERT_EQ(sibyl({"snapshot", "take", "cold", "--data", data()}).status, 0);
  // The path of a snapshot can be given instead of its name.
  ASSERT_EQ(sibyl({"snapshot", "restore", data() + "/snapshots/cold", "--to", path("new")}).status, 0);
  auto server = serve(path("new"));
  auto connection = connect();
  EXPECT_EQ(count(*connection, "ks.t"), 1);
  EXPECT_EQ(sibyl({"snapshot", "take", "--data", path("nowhere")}).status, 2);
}

TEST_F(CopyCommandTest, ExportsFollowLinksAndWriteToPipes) {
  auto server = serve(data());
  auto connection = connect();
  make_table(*connection);
  run(*connection, "INSERT INTO ks.t (k, c, v) VALUES (1, 2, 'three')");
  const std::string line = "1,2,three\n";

  // If the output is a link, its target is replaced and keeps its mode.
  write("target.csv", "old");
  fs::permissions(path("target.csv"), fs::perms::owner_read | fs::perms::owner_write);
  fs::create_symlink("target.csv", path("link.csv"));
  ASSERT_EQ(copy("export", "ks.t", path("link.csv")).status, 0);
  EXPECT_TRUE(fs::is_symlink(path("link.csv")));
  EXPECT_EQ(contents(path("target.csv")), line);
  EXPECT_EQ(fs::status(path("target.csv")).permissions(), fs::perms::owner_read | fs::perms::owner_write);

  // If the output is a pipe, it remains a pipe.
  ASSERT_EQ(::mkfifo(path("pipe").c_str(), 0600), 0);
  const int reader = ::open(path("pipe").c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  ASSERT_EQ(copy("export", "ks.t", path("pipe")).status, 0);
  char buffer[64];
  const ssize_t got = ::read(reader, buffer, sizeof buffer);
  EXPECT_EQ(std::string(buffer, got > 0 ? static_cast<size_t>(got) : 0), line);
  ::close(reader);
  EXPECT_TRUE(fs::is_fifo(path("pipe")));

  const auto nowhere = copy("export", "ks.t", path("none/out.csv"));
  EXPECT_EQ(nowhere.status, 2);
  EXPECT_THAT(nowhere.errors, HasSubstr("No such file or directory"));
  EXPECT_FALSE(fs::exists(path("none")));
}

TEST_F(CopyCommandTest, ImportsComeFromPipesAndSpreadsheets) {
  auto server = serve(data());
  auto connection = connect();
  make_table(*connection);
  ASSERT_EQ(::mkfifo(path("pipe").c_str(), 0600), 0);
  Process import({"import", "ks.t", path("pipe"), "--host", address()});
  int writer = -1;
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (writer < 0) {  // repeats until the pipe has a reader
    ASSERT_LT(std::chrono::steady_clock::now(), deadline);
    writer = ::open(path("pipe").c_str(), O_WRONLY | O_NONBLOCK | O_CLOEXEC);
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  ASSERT_EQ(::write(writer, "1,1,piped\n", 10), 10);
  ::close(writer);
  EXPECT_EQ(import.wait(), 0) << import.rest_of_errors();
  EXPECT_EQ(count(*connection, "ks.t"), 1);
  EXPECT_FALSE(fs::exists(path("pipe.import")));

  const std::string byte_order_mark = "\xef\xbb\xbf";
  write("named.csv", byte_order_mark + "k,c,v\n2,2,named\n");
  const auto named = copy("import", "ks.t", path("named.csv"), {"--header"});
  EXPECT_EQ(named.status, 0) << named.errors;
  write("plain.csv", byte_order_mark + "3,3,plain\n");
  const auto plain = copy("import", "ks.t", path("plain.csv"), {"--journal", path("elsewhere")});
  EXPECT_EQ(plain.status, 0) << plain.errors;
  EXPECT_EQ(count(*connection, "ks.t"), 3);
}

// Rows are sent over several connections concurrently, so they may arrive in another order than in the file.
TEST_F(CopyCommandTest, TheLastRowOfAKeyInTheFileWins) {
  auto server = serve(data());
  auto connection = connect();
  make_table(*connection);
  std::string text;
  for (int i = 0; i < 20'000; ++i) text += "1,1,value" + std::to_string(i) + "\n";
  const std::string file = write("same.csv", text);
  for (int i = 0; i < 2; ++i) {
    run(*connection, "INSERT INTO ks.t (k, c, v) VALUES (1, 1, 'before')");
    EXPECT_EQ(copy("import", "ks.t", file, {"--jobs", "4"}).status, 0);
    EXPECT_EQ(copy("export", "ks.t", "-").output, "1,1,value19999\n");
  }
  // Later writes have a higher timestamp.
  run(*connection, "UPDATE ks.t SET v = 'after' WHERE k = 1 AND c = 1");
  EXPECT_EQ(copy("export", "ks.t", "-").output, "1,1,after\n");
}

TEST_F(CopyCommandTest, PasswordsNeedNotBeOnTheCommandLine) {
  auto server = serve(data(), {"--authenticator", "PasswordAuthenticator"});
  ::setenv("SIBYL_PASSWORD", "cassandra", 1);
  const auto known = copy("export", "system.local", "-", {"-u", "cassandra"});
  ::setenv("SIBYL_PASSWORD", "wrong", 1);
  const auto wrong = copy("export", "system.local", "-", {"-u", "cassandra"});
  ::unsetenv("SIBYL_PASSWORD");
  EXPECT_EQ(known.status, 0) << known.errors;
  EXPECT_EQ(wrong.status, 2);
  EXPECT_THAT(wrong.errors, HasSubstr("and/or password are incorrect"));
}

}  // namespace
}  // namespace sibyl::cli
