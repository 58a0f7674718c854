// Tests of the operators' commands: configuration, status, flush and compact.
#include <gmock/gmock.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <filesystem>
#include <string>
#include <vector>

#include "cli/test_process.h"
#include "client/connection.h"

namespace sibyl::cli {
namespace {

using client::Connection;
using client::Row;
using testing::HasSubstr;

class OperateTest : public ServeTest {
 protected:
  static std::string first_value(Connection& connection, const std::string& query) {
    auto result = connection.query(query);
    EXPECT_TRUE(result) << result.error().text();
    Row row;
    return result && result->next(row) ? std::string(row[0].value_or("null")) : "nothing";
  }
  static uint16_t free_port() {
    boost::asio::io_context context;
    boost::asio::ip::tcp::acceptor acceptor(context, {boost::asio::ip::make_address("127.0.0.1"), 0});
    return acceptor.local_endpoint().port();
  }
  // The address of the metrics, from the server's log.
  static std::string metrics_address(Process& server) {
    constexpr std::string_view before = "metrics on http://";
    for (std::string line = server.read_error_line(); !line.empty(); line = server.read_error_line())
      if (const size_t at = line.find(before); at != line.npos)
        return line.substr(at + before.size(), line.find("/metrics\n") - at - before.size());
    ADD_FAILURE() << "no metrics";
    return {};
  }
};

TEST_F(OperateTest, ReadsItsConfiguration) {
  const std::string file = write("sibyl.yaml",
                                 "cluster_name: 'From the file'\nnum_tokens: 16\nlog_format: json\n"
                                 "data_file_directories: [" +
                                     data() + "]\ntombstone_warn_threshold: 7\n");
  const Outcome print =
      sibyl({"serve", "--config", file, "--print-config", "--set", "tombstone_warn_threshold=8"});
  EXPECT_EQ(print.status, 0);
  EXPECT_THAT(print.output, HasSubstr("\ncluster_name: 'From the file'  # " + file + ":1\n"));
  EXPECT_THAT(print.output, HasSubstr("\ntombstone_warn_threshold: 8  # --set\n"));
  {
    auto server = serve(data(), {"--config", file, "--metrics", "127.0.0.1:0"});
    auto connection = connect();
    EXPECT_EQ(first_value(*connection, "SELECT cluster_name FROM system.local"), "From the file");
    EXPECT_EQ(first_value(*connection,
                          "SELECT value FROM system_views.settings WHERE name = "
                          "'tombstone_warn_threshold'"),
              "7");
    connection.reset();
    server->signal(SIGTERM);
    EXPECT_EQ(server->wait(), 0);
    const std::string log = server->rest_of_errors();
    EXPECT_THAT(log, HasSubstr("ignored: num_tokens\"}"));
    EXPECT_THAT(log, HasSubstr("\"message\":\"stopped\"}"));
  }
  write("sibyl.yaml", "no_such_thing: 1\nnative_transport_port: x\n");
  const Outcome refused = sibyl({"serve", "--config", file});
  EXPECT_EQ(refused.status, 2);
  EXPECT_EQ(refused.errors, "sibyl serve: " + file + ":1: unknown setting 'no_such_thing'\n" +
                                "sibyl serve: " + file +
                                ":2: native_transport_port: 'x' is not a whole number\n");
}

TEST_F(OperateTest, StatusFlushAndCompactWorkWhileItServes) {
  auto server = serve(data(), {"--metrics", "127.0.0.1:0", "--set", "slow_query_log_timeout=0ms"});
  auto connection = connect();
  make_table(*connection);
  for (int i = 0; i < 10; ++i)
    run(*connection, "INSERT INTO ks.t (k, c, v) VALUES (1, " + std::to_string(i) + ", 'x')");
  for (const std::vector<std::string>& arguments : std::vector<std::vector<std::string>>{
           {"flush"}, {"compact"}, {"compact", "ks.t"}, {"compact", "ks"}}) {
    const Outcome command = sibyl(arguments, {"--data", data()});
    EXPECT_EQ(command.status, 0) << command.errors;
  }
  const Outcome wrong = sibyl({"compact", "ks.none", "--data", data()});
  EXPECT_EQ(wrong.status, 1);
  EXPECT_THAT(wrong.errors, HasSubstr("Table 'ks.none' does not exist"));
  EXPECT_EQ(connection->query("SELECT * FROM ks.t WHERE k = 1")->row_count(), 10u);

  connection.reset();
  const std::string metrics = metrics_address(*server);
  const Outcome status = sibyl({"status", "--host", metrics});
  EXPECT_EQ(status.status, 0) << status.errors;
  EXPECT_THAT(status.output, HasSubstr("connections  "));
  EXPECT_THAT(status.output, HasSubstr("insert                 10 "));
  EXPECT_THAT(status.output, HasSubstr("  ks.t\n"));
  const Outcome json = sibyl({"status", "--host", metrics, "--json"});
  EXPECT_THAT(json.output, testing::StartsWith("{\"version\":\""));
  EXPECT_EQ(json.status, 0);
  server->signal(SIGTERM);
  EXPECT_EQ(server->wait(), 0);
  // No server has the directory open now, so the commands open it themselves.
  const Outcome offline = sibyl({"compact", "--data", data()});
  EXPECT_EQ(offline.status, 0) << offline.errors;
  EXPECT_EQ(sibyl({"flush", "--data", path("none")}).status, 2);
  EXPECT_EQ(sibyl({"status", "--host", metrics}).status, 1);
}

TEST_F(OperateTest, CommandsFindAServerByItsAddress) {
  const std::string metrics = "127.0.0.1:" + std::to_string(free_port());
  auto server = serve(data(), {"--metrics", metrics});
  auto connection = connect();
  make_table(*connection);
  run(*connection, "INSERT INTO ks.t (k, c, v) VALUES (1, 2, 'x')");
  for (const std::vector<std::string>& arguments :
       std::vector<std::vector<std::string>>{{"flush"},
                                             {"compact", "ks.t"},
                                             {"layout", "ks.t"},
                                             {"snapshot", "take", "one"},
                                             {"snapshot", "verify", "one"}}) {
    const Outcome command = sibyl(arguments, {"--host", address()});
    EXPECT_EQ(command.status, 0) << arguments[0] << ": " << command.errors;
  }
  EXPECT_THAT(sibyl({"layout", "ks.t", "--host", address()}).output, HasSubstr("| x "));
  EXPECT_THAT(sibyl({"status", "--host", address()}).output, HasSubstr("  ks.t\n"));
  EXPECT_EQ(sibyl({"flush", "--host", address(), "--data", data()}).status, 2);
  const Outcome malformed = sibyl({"flush", "--host", "127.0.0.1:x"});
  EXPECT_EQ(malformed.status, 2);
  EXPECT_THAT(malformed.errors, HasSubstr("'127.0.0.1:x' is not an address"));
  const Outcome unreachable = sibyl({"flush", "--host", "127.0.0.1:1"});
  EXPECT_EQ(unreachable.status, 2);
  EXPECT_THAT(unreachable.errors, HasSubstr("cannot connect to 127.0.0.1:1"));
}

// A server of the same machine may use a directory that has the name of a remote server's directory.
TEST_F(OperateTest, CommandsRefuseTheDirectoryOfAnotherServer) {
  auto in_memory = serve(":memory:", {"--metrics", "off"});
  const Outcome memory = sibyl({"flush", "--host", address()});
  EXPECT_EQ(memory.status, 2);
  EXPECT_THAT(memory.errors, HasSubstr("has no data directory"));
  auto first = serve(data(), {"--metrics", "off"});
  const std::string first_address = address();
  std::filesystem::rename(data(), path("moved"));
  const Outcome gone = sibyl({"flush", "--host", first_address});
  EXPECT_EQ(gone.status, 2);
  EXPECT_THAT(gone.errors, HasSubstr("which no server on this machine has open"));
  auto second = serve(data(), {"--metrics", "off"});
  EXPECT_EQ(sibyl({"flush", "--host", address()}).status, 0);
  const Outcome other = sibyl({"flush", "--host", first_address});
  EXPECT_EQ(other.status, 2);
  EXPECT_THAT(other.errors, HasSubstr("which no server on this machine has open"));
}

TEST_F(OperateTest, CommandsUseTheServersConfiguredDirectory) {
  const std::string file = write("sibyl.yaml", "data_file_directories: [" + data() + "]\n");
  auto server = serve(data(), {"--metrics", "off"});
  EXPECT_EQ(sibyl({"flush", "--config", file}).status, 0);
  EXPECT_EQ(sibyl({"snapshot", "take", "one", "--config", file}).status, 0);
  ::setenv("SIBYL_DATA_FILE_DIRECTORIES", data().c_str(), 1);
  const Outcome listed = sibyl({"snapshot", "list", "--json"});
  const Outcome elsewhere = sibyl({"flush", "--data", path("none")});
  ::unsetenv("SIBYL_DATA_FILE_DIRECTORIES");
  EXPECT_EQ(listed.status, 0) << listed.errors;
  EXPECT_THAT(listed.output, testing::StartsWith("{\"snapshots\":[{\"name\":\"one\",\"taken\":\"20"));
  EXPECT_EQ(elsewhere.status, 2);
  write("sibyl.yaml", "no_such_thing: 1\n");
  EXPECT_EQ(sibyl({"flush", "--config", file}).status, 2);
}

TEST_F(OperateTest, ReportsItsDataCenter) {
  auto server = serve(data(), {"--set", "data_center=dc1", "--set", "rack=r7", "--metrics", "off"});
  auto connection = connect();
  EXPECT_EQ(first_value(*connection, "SELECT data_center FROM system.local"), "dc1");
  EXPECT_EQ(first_value(*connection, "SELECT rack FROM system.local"), "r7");
  EXPECT_EQ(first_value(*connection, "SELECT dc FROM system_views.gossip_info"), "dc1");
  run(*connection, "CREATE KEYSPACE a WITH replication = {'class': 'NetworkTopologyStrategy', 'dc1': 3}");
  run(*connection,
      "CREATE KEYSPACE b WITH replication = {'class': 'NetworkTopologyStrategy', "
      "'replication_factor': 1}");
  EXPECT_THAT(first_value(*connection,
                          "SELECT JSON replication FROM system_schema.keyspaces WHERE keyspace_name = 'b'"),
              HasSubstr("\"dc1\": \"1\""));
  const auto other = connection->query(
      "CREATE KEYSPACE c WITH replication = {'class': 'NetworkTopologyStrategy', 'datacenter1': 1}");
  ASSERT_FALSE(other);
  EXPECT_EQ(other.error().message(),
            "Unrecognized strategy option {datacenter1} passed to NetworkTopologyStrategy for keyspace c "
            "[hint: the data center of this server is 'dc1']");
  connection.reset();
  server->signal(SIGTERM);
  EXPECT_EQ(server->wait(), 0);
  auto moved = serve(data(), {"--metrics", "off"});
  EXPECT_EQ(first_value(*connect(), "SELECT data_center FROM system.local"), "datacenter1");
  moved->signal(SIGTERM);
  EXPECT_EQ(moved->wait(), 0);
  EXPECT_THAT(moved->rest_of_errors(), HasSubstr("keyspace a is replicated in data center dc1"));
}

}  // namespace
}  // namespace sibyl::cli
