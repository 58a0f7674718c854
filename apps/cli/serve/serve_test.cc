// Runs the binary as users do: processes, signals, exit codes, and statements over the network.
#include <fcntl.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "cli/test_process.h"
#include "client/connection.h"
#include "types/value.h"

namespace sibyl::cli {
namespace {

using client::Connection;
using client::Row;
using client::ValueView;
using testing::AllOf;
using testing::HasSubstr;
using testing::MatchesRegex;

TEST_F(ServeTest, PrintsReadyServesAndStopsCleanly) {
  auto server = serve(data());
  auto connection = connect();
  auto result = connection->query("SELECT release_version FROM system.local");
  ASSERT_TRUE(result) << result.error().text();
  Row row;
  ASSERT_TRUE(result->next(row));
  EXPECT_EQ(row[0]->substr(0, 2), "5.");
  server->signal(SIGTERM);
  EXPECT_EQ(server->wait(), 0);
  EXPECT_EQ(server->rest_of_output(), "");
}

TEST_F(ServeTest, InterruptStopsTheServer) {
  auto server = serve(":memory:");
  server->signal(SIGINT);
  EXPECT_EQ(server->wait(), 0);
}

TEST_F(ServeTest, ASecondServerOnTheDirectoryIsRefused) {
  auto first = serve(data());
  const Outcome second = sibyl({"serve", "--data", data(), "--listen", "127.0.0.1:0"});
  EXPECT_EQ(second.status, 2);
  EXPECT_EQ(second.output, "");
  EXPECT_THAT(second.errors, HasSubstr("sibyl serve: "));
  EXPECT_NE(connect(), nullptr);
}

// The process must not abort. Exit statuses of 128 and more stand for signals.
TEST_F(ServeTest, TooFewFileDescriptorsAreAnError) {
  const std::string errors = path("errors");
  const auto run_with = [&](int limit, const std::string& arguments) {
    const std::string statement =
        "CREATE KEYSPACE IF NOT EXISTS k WITH replication = {'class': 'SimpleStrategy', "
        "'replication_factor': 1}";
    // The shell itself needs about ten descriptors.
    const int status = std::system(fmt::format("echo \"{}\" | (ulimit -n {}; exec {} {}) > {} 2>&1",
                                               statement, limit, sibyl_binary, arguments, errors)
                                       .c_str());
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128;
  };
  for (const int limit : {16, 20, 24, 40}) {
    EXPECT_EQ(run_with(limit, "serve --listen 127.0.0.1:0 --data " + data()), 2) << limit;
    EXPECT_THAT(contents(errors), HasSubstr(fmt::format("The limit of open files is {}", limit)));
  }
  for (const int limit : {16, 18, 20, 24})
    EXPECT_LT(run_with(limit, "shell --data " + data()), 128) << limit << ": " << contents(errors);
}

TEST_F(ServeTest, AnAddressWithoutAPortKeepsTheConfiguredPort) {
  const std::string file = write("sibyl.yaml", "native_transport_port: 9999\n");
  const auto printed = [&](const std::string& listen) {
    const Outcome outcome = sibyl({"serve", "--config", file, "--listen", listen, "--print-config"});
    EXPECT_EQ(outcome.status, 0) << outcome.errors;
    return outcome.output;
  };
  EXPECT_THAT(printed("0.0.0.0"), HasSubstr("\nnative_transport_port: 9999  # "));
  EXPECT_THAT(printed("0.0.0.0"), HasSubstr("\nrpc_address: 0.0.0.0  # --listen"));
  EXPECT_THAT(printed("0.0.0.0:9042"), HasSubstr("\nnative_transport_port: 9042  # --listen"));
}

TEST_F(ServeTest, AnAddressInUseIsRefused) {
  auto first = serve(":memory:");
  const Outcome second = sibyl({"serve", "--data", ":memory:", "--listen", address()});
  EXPECT_EQ(second.status, 3);
  EXPECT_THAT(second.errors, HasSubstr("Cannot listen on " + address() + ": Address already in use"));
  EXPECT_THAT(second.errors, HasSubstr("--listen"));
  const Outcome demo = sibyl({"demo", "--listen", address(), "--console", "127.0.0.1:0"});
  EXPECT_EQ(demo.status, 3);
  EXPECT_THAT(demo.errors, HasSubstr("sibyl demo: Cannot listen on " + address()));
}

TEST_F(ServeTest, AFileInThePlaceOfTheDirectoryIsRefusedWithAHint) {
  const std::string file = write("file", "x");
  for (const std::string& data : {file, file + "/data"}) {
    const Outcome refused = sibyl({"serve", "--data", data, "--listen", "127.0.0.1:0"});
    EXPECT_EQ(refused.status, 2);
    EXPECT_THAT(refused.errors, HasSubstr("Cannot open the store in"));
    EXPECT_THAT(refused.errors, HasSubstr("a file has this name; choose another directory (--data)"));
  }
  EXPECT_EQ(contents(file), "x");
}

TEST_F(ServeTest, DirectoriesThatCannotBeUsedAreRefusedWithAdvice) {
  {
    auto server = serve(data());
    auto connection = connect();
    make_table(*connection);
    run(*connection, "INSERT INTO ks.t (k, c, v) VALUES (1, 1, 'x')");
    EXPECT_EQ(sibyl({"flush", "--data", data()}).status, 0);
    const Outcome second = sibyl({"serve", "--data", data(), "--listen", "127.0.0.1:0"});
    EXPECT_THAT(second.errors,
                HasSubstr("stop the other server on this directory, or use another directory"));
    server->signal(SIGTERM);
    EXPECT_EQ(server->wait(), 0);
  }
  const std::string copy = path("copy");
  const auto errors_with = [&](const std::string& file, const auto& change) {
    std::filesystem::remove_all(copy);
    std::filesystem::copy(data(), copy, std::filesystem::copy_options::recursive);
    std::string text = contents(copy + "/" + file);
    change(text);
    std::ofstream(copy + "/" + file) << text;
    const Outcome refused = sibyl({"serve", "--data", copy, "--listen", "127.0.0.1:0"});
    EXPECT_NE(refused.status, 0) << file;
    return refused.errors;
  };
  const auto damage = [](std::string& text) {
    text[text.size() / 2] = static_cast<char>(~text[text.size() / 2]);
  };
  EXPECT_THAT(errors_with("SIBYL_FORMAT", [](std::string& text) { text = "sibyl store format 99\n"; }),
              HasSubstr("use the newer program that wrote it"));
  EXPECT_THAT(errors_with("SIBYL_FORMAT", [](std::string& text) { text = "PK"; }),
              HasSubstr("has the line \"sibyl store format 1\" in it"));
  for (const auto& entry : std::filesystem::directory_iterator(data() + "/records")) {
    const std::string name = entry.path().filename();
    if (!name.starts_with("MANIFEST") && name != "CURRENT" && !name.ends_with(".sst")) continue;
    EXPECT_THAT(errors_with("records/" + name, damage),
                AllOf(HasSubstr(name), HasSubstr("sibyl snapshot restore"), HasSubstr("sibyl recover")));
  }
}

TEST_F(ServeTest, TheLogNamesTheConfigurationFile) {
  auto first = serve(":memory:");
  const std::string file = write("sibyl.yaml", "cluster_name: named\n");
  ::setenv("SIBYL_CONFIG", file.c_str(), 1);
  const Outcome second = sibyl({"serve", "--data", ":memory:", "--listen", address()});
  ::unsetenv("SIBYL_CONFIG");
  EXPECT_EQ(second.status, 3);
  EXPECT_THAT(second.errors, HasSubstr("is starting; configuration: " + file));
}

TEST_F(ServeTest, WritesSurviveAKill) {
  {
    auto server = serve(data());
    auto connection = connect();
    make_table(*connection);
    std::vector<Connection::Ticket> tickets;
    for (int i = 0; i < 200; ++i)
      tickets.push_back(
          *connection->start_query("INSERT INTO ks.t (k, c, v) VALUES (1, " + std::to_string(i) + ", 'x')"));
    for (const auto ticket : tickets) ASSERT_TRUE(connection->finish(ticket));
    server->signal(SIGKILL);
    EXPECT_EQ(server->wait(), -SIGKILL);
  }
  auto server = serve(data());
  auto connection = connect();
  EXPECT_EQ(connection->query("SELECT c FROM ks.t WHERE k = 1")->row_count(), 200u);
}

TEST_F(ServeTest, PreparedStatementsPagesAndBatches) {
  auto server = serve(":memory:");
  auto connection = connect();
  make_table(*connection);
  auto insert = connection->prepare("INSERT INTO ks.t (k, c, v) VALUES (?, ?, ?)");
  ASSERT_TRUE(insert) << insert.error().text();
  EXPECT_EQ(insert->partition_key_markers, std::vector<uint16_t>{0});
  const std::string key = types::encode_int32(7);
  for (int i = 0; i < 25; ++i) {
    const std::string position = types::encode_int32(i);
    const std::vector<ValueView> values = {ValueView::of(key), ValueView::of(position), ValueView::of("v")};
    ASSERT_TRUE(connection->execute(*insert, values));
  }
  auto select = connection->prepare("SELECT c FROM ks.t WHERE k = ?");
  ASSERT_TRUE(select);
  client::StatementOptions options;
  options.page_size = 10;
  std::vector<uint32_t> pages;
  do {
    const std::vector<ValueView> values = {ValueView::of(key)};
    auto page = connection->execute(*select, values, options);
    ASSERT_TRUE(page) << page.error().text();
    pages.push_back(page->row_count());
    options.paging_state = page->paging_state;
  } while (options.paging_state);
  EXPECT_EQ(pages, (std::vector<uint32_t>{10, 10, 5}));

  const std::string position = types::encode_int32(100);
  const std::vector<ValueView> values = {ValueView::of(key), ValueView::of(position), ValueView::null()};
  const std::vector<client::BatchStatement> batch = {{"DELETE FROM ks.t WHERE k = 7 AND c = 0", nullptr, {}},
                                                     {"", &*insert, values}};
  ASSERT_TRUE(connection->batch(protocol::Batch::Kind::logged, batch));
  EXPECT_EQ(connection->query("SELECT c FROM ks.t WHERE k = 7")->row_count(), 25u);
}

TEST_F(ServeTest, ManyRequestsInFlightOnManyConnections) {
  auto server = serve(data());
  make_table(*connect());
  std::vector<std::unique_ptr<Connection>> connections;
  std::vector<std::vector<Connection::Ticket>> tickets(20);
  for (int i = 0; i < 20; ++i) {
    connections.push_back(connect());
    for (int n = 0; n < 100; ++n) {
      const auto ticket = connections.back()->start_query(
          "INSERT INTO ks.t (k, c, v) VALUES (" + std::to_string(i) + ", " + std::to_string(n) + ", 'x')");
      ASSERT_TRUE(ticket);
      tickets[static_cast<size_t>(i)].push_back(*ticket);
    }
  }
  for (size_t i = 0; i < connections.size(); ++i)
    for (const auto ticket : tickets[i]) ASSERT_TRUE(connections[i]->finish(ticket));
  EXPECT_EQ(connections[0]->query("SELECT k, c FROM ks.t")->row_count(), 2000u);
}

TEST_F(ServeTest, SchemaEventsAndUse) {
  auto server = serve(":memory:");
  auto watcher = connect();
  ASSERT_TRUE(watcher->register_events({"SCHEMA_CHANGE"}));
  auto connection = connect();
  make_table(*connection);
  const auto created = watcher->next_event(std::chrono::seconds(10));
  ASSERT_TRUE(created && *created);
  EXPECT_EQ(std::get<protocol::SchemaChange>(**created).keyspace, "ks");
  const auto table = watcher->next_event(std::chrono::seconds(10));
  ASSERT_TRUE(table && *table);
  EXPECT_EQ(std::get<protocol::SchemaChange>(**table).name, "t");
  run(*connection, "USE ks");
  run(*connection, "SELECT * FROM t");
  EXPECT_FALSE(watcher->query("SELECT * FROM t"));
}

TEST_F(ServeTest, StoppingAnswersWritesInFlight) {
  auto server = serve(data());
  auto connection = connect();
  make_table(*connection);
  std::vector<Connection::Ticket> tickets;
  for (int i = 0; i < 500; ++i)
    tickets.push_back(
        *connection->start_query("INSERT INTO ks.t (k, c, v) VALUES (1, " + std::to_string(i) + ", 'x')"));
  ASSERT_TRUE(connection->finish(tickets[0]));
  server->signal(SIGTERM);
  size_t acknowledged = 1;
  for (size_t i = 1; i < tickets.size(); ++i)
    acknowledged += connection->finish(tickets[i]).has_value() ? 1 : 0;
  connection.reset();
  EXPECT_EQ(server->wait(), 0);
  auto again = serve(data());
  EXPECT_GE(connect()->query("SELECT c FROM ks.t WHERE k = 1")->row_count(), acknowledged);
}

TEST_F(ServeTest, BenchRunsEveryWorkload) {
  auto server = serve(":memory:");
  for (const std::string workload : {"write", "read", "slice", "mixed"}) {
    const Outcome bench = sibyl({"bench", "--host", address(), "--workload", workload, "--operations", "500",
                                 "--keys", "2000", "--partition-rows", "100", "--slice-rows", "10",
                                 "--connections", "3", "--threads", "2", "--json", "--quiet"});
    EXPECT_EQ(bench.status, 0) << bench.errors;
    EXPECT_THAT(bench.output, HasSubstr("\"operations\": 500, \"errors\": 0")) << workload;
    EXPECT_THAT(bench.output, HasSubstr("\"empty_reads\": 0")) << workload;
    EXPECT_THAT(bench.output, HasSubstr("\"cpu_us_per_operation\": ")) << workload;
  }
  EXPECT_EQ(sibyl({"bench", "--host", "127.0.0.1:1", "--operations", "1"}).status, 2);
}

TEST_F(ServeTest, VersionAndUsage) {
  const Outcome version = sibyl({"--version"});
  EXPECT_THAT(version.output, MatchesRegex("sibyl [0-9.]+\n"));
  EXPECT_EQ(version.status, 0);
  EXPECT_NE(sibyl({}).status, 0);
}

}  // namespace
}  // namespace sibyl::cli
