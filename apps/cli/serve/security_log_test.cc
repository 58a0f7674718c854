// The server logs events of security for its operator, and never logs secrets.
#include <sys/resource.h>

#include <chrono>
#include <filesystem>
#include <thread>

#include "cli/test_process.h"

namespace sibyl::cli {
namespace {

using testing::HasSubstr;
using testing::Not;

class SecurityLogTest : public ServeTest {
 protected:
  base::Result<std::unique_ptr<client::Connection>> log_in(const std::string& user,
                                                           const std::string& password) const {
    client::Options options;
    options.port = port_;
    options.user = user;
    options.password = password;
    return client::Connection::connect(options);
  }
  // Stops the server, and returns everything that it has logged.
  static std::string log_of(Process& server) {
    server.signal(SIGTERM);
    EXPECT_EQ(server.wait(), 0);
    return server.rest_of_errors();
  }
};

TEST_F(SecurityLogTest, LoginsRolesAndDefinitionsAreLoggedWithoutSecrets) {
  auto server = serve(data(), {"--authenticator", "PasswordAuthenticator", "--authorizer",
                               "CassandraAuthorizer", "--metrics", "off"});
  EXPECT_FALSE(log_in("bob\x1e", "wrong-secret"));
  auto connection = log_in("cassandra", "cassandra");
  ASSERT_TRUE(connection) << connection.error().text();
  make_table(**connection);
  run(**connection, "CREATE ROLE ann WITH PASSWORD = 'hunter2' AND LOGIN = true");
  run(**connection, "GRANT SELECT ON KEYSPACE ks TO ann");
  run(**connection, "TRUNCATE ks.t");
  run(**connection, "LIST ROLES");
  connection->reset();
  const std::string log = log_of(*server);
  EXPECT_THAT(log, HasSubstr("created the superuser 'cassandra'"));
  EXPECT_THAT(log, HasSubstr("warning the superuser 'cassandra' has its default password"));
  EXPECT_THAT(log, HasSubstr("warning login refused role=bob? client=127.0.0.1 error="));
  EXPECT_THAT(log, HasSubstr("schema changed statement=\"CREATE TABLE ks.t"));
  EXPECT_THAT(log, HasSubstr("roles changed statement=\"CREATE ROLE ann WITH PASSWORD = ?"));
  EXPECT_THAT(log, HasSubstr("roles changed statement=\"GRANT SELECT ON KEYSPACE ks TO ann\" client=127."));
  EXPECT_THAT(log, HasSubstr("table truncated statement=\"TRUNCATE ks.t\""));
  EXPECT_THAT(log, HasSubstr(" role=cassandra"));
  EXPECT_THAT(log, Not(HasSubstr("LIST ROLES")));
  for (const char* secret : {"hunter2", "wrong-secret"}) EXPECT_THAT(log, Not(HasSubstr(secret)));
}

TEST_F(SecurityLogTest, WarnsOfDefaultPasswordsUntilTheyAreChanged) {
  const std::vector<std::string> flags = {"--authenticator", "PasswordAuthenticator", "--metrics", "off"};
  {
    auto server = serve(data(), flags);
    auto connection = log_in("cassandra", "cassandra");
    ASSERT_TRUE(connection);
    run(**connection, "ALTER ROLE cassandra WITH PASSWORD = 'another'");
    EXPECT_THAT(log_of(*server), HasSubstr("warning the superuser 'cassandra' has its default password"));
  }
  auto server = serve(data(), flags);
  EXPECT_THAT(log_of(*server), Not(HasSubstr("default password")));
}

TEST_F(SecurityLogTest, SighupReopensTheLogFile) {
  const std::string file = path("sibyl.log");
  auto server = serve(":memory:", {"--set", "log_file=" + file, "--metrics", "off"});
  std::filesystem::rename(file, path("moved.log"));
  server->signal(SIGHUP);
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (contents(file).find("SIGHUP") == std::string::npos) {
    ASSERT_LT(std::chrono::steady_clock::now(), deadline) << "nothing in the new file";
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  server->signal(SIGTERM);
  EXPECT_EQ(server->wait(), 0);
  EXPECT_THAT(contents(file), HasSubstr("stopped"));
  EXPECT_THAT(contents(path("moved.log")), HasSubstr("serving"));
  EXPECT_THAT(contents(path("moved.log")), Not(HasSubstr("stopped")));
}

TEST_F(SecurityLogTest, AFileSizeLimitFailsOnlyWrites) {
  auto server = serve(data(), {"--metrics", "off"});
  auto connection = connect();
  make_table(*connection);
  run(*connection, "INSERT INTO ks.t (k, c, v) VALUES (1, 1, 'before')");
  rlimit limit{4 << 20, RLIM_INFINITY};
  ASSERT_EQ(::prlimit(server->pid(), RLIMIT_FSIZE, &limit, nullptr), 0);
  client::StatementOptions options;
  options.consistency = client::Consistency::local_quorum;
  const std::string value(1 << 20, 'v');
  std::optional<base::Error> failed;
  for (int i = 0; i < 40 && !failed; ++i) {
    const auto result = connection->query(
        "INSERT INTO ks.t (k, c, v) VALUES (2, " + std::to_string(i) + ", '" + value + "')", {}, options);
    if (!result) failed = result.error();
  }
  ASSERT_TRUE(failed);
  EXPECT_EQ(failed->code(), base::ErrorCode::write_failure) << failed->text();
  EXPECT_THAT(failed->message(), HasSubstr("File too large"));
  EXPECT_EQ(failed->details().consistency, static_cast<uint16_t>(client::Consistency::local_quorum));
  EXPECT_EQ(failed->details().failures, 1);
  EXPECT_EQ(connection->query("SELECT v FROM ks.t WHERE k = 1")->row_count(), 1u);
  // With this limit, no write to a file succeeds, but the server still runs.
  limit.rlim_cur = 10;
  ASSERT_EQ(::prlimit(server->pid(), RLIMIT_FSIZE, &limit, nullptr), 0);
  for (int i = 0; i < 20; ++i)
    EXPECT_FALSE(connection->query("INSERT INTO ks.t (k, c, v) VALUES (3, 1, 'none')"));
  EXPECT_EQ(connection->query("SELECT v FROM ks.t WHERE k = 1")->row_count(), 1u);
  limit.rlim_cur = RLIM_INFINITY;
  ASSERT_EQ(::prlimit(server->pid(), RLIMIT_FSIZE, &limit, nullptr), 0);
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (!connection->query("INSERT INTO ks.t (k, c, v) VALUES (1, 2, 'after')")) {
    ASSERT_LT(std::chrono::steady_clock::now(), deadline) << "it does not recover by itself";
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
}

}  // namespace
}  // namespace sibyl::cli
