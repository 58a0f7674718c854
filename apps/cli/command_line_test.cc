// Messages and exit statuses of the commands, and mistakes that are refused before anything runs.
#include <fstream>

#include "cli/test_process.h"

namespace sibyl::cli {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

class CommandLineTest : public ServeTest {
 protected:
  // Runs sibyl with this descriptor as standard output (-1: closed). If the reader has closed it, writing is
  // an error, not a signal.
  static Outcome sibyl_into(int output, std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), sibyl_binary);
    int errors[2];
    EXPECT_EQ(::pipe2(errors, O_CLOEXEC), 0);
    const pid_t child = ::fork();
    if (child == 0) {
      ::signal(SIGPIPE, SIG_IGN);
      ::dup2(errors[1], STDERR_FILENO);
      if (output >= 0) {
        ::dup2(output, STDOUT_FILENO);
      } else {
        ::close(STDOUT_FILENO);
      }
      std::vector<char*> pointers;
      for (auto& argument : arguments) pointers.push_back(argument.data());
      pointers.push_back(nullptr);
      ::execv(pointers[0], pointers.data());
      ::_exit(127);
    }
    ::close(errors[1]);
    Outcome outcome;
    char buffer[4096];
    for (ssize_t size = 0; (size = ::read(errors[0], buffer, sizeof buffer)) > 0;)
      outcome.errors.append(buffer, static_cast<size_t>(size));
    ::close(errors[0]);
    int status = 0;
    ::waitpid(child, &status, 0);
    outcome.status = WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
    return outcome;
  }
  void make_certificate() {
    const std::string command =
        "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=server "
        "-addext subjectAltName=IP:127.0.0.1 -keyout " +
        path("key.pem") + " -out " + path("certificate.pem") + " 2>/dev/null";
    ASSERT_EQ(std::system(command.c_str()), 0);
  }
};

// Printed by the shell, by fmt::print (more than its buffer), through a buffer at the end, and by CLI11.
const std::vector<std::vector<std::string>> printing = {
    {"shell", "--data", ":memory:", "-e", "SELECT * FROM system.local"},
    {"serve", "--list-settings"},
    {"serve", "--print-config"},
    {"--help"},
    {"--version"},
};

TEST_F(CommandLineTest, OutputThatCannotBeWrittenIsAFailure) {
  const int full = ::open("/dev/full", O_WRONLY | O_CLOEXEC);
  for (const auto& arguments : printing) {
    const Outcome outcome = sibyl_into(full, arguments);
    EXPECT_EQ(outcome.status, 1) << arguments[0] << ": " << outcome.errors;
    EXPECT_THAT(outcome.errors, HasSubstr("No space left on device")) << arguments[0];
  }
  ::close(full);
}

TEST_F(CommandLineTest, AClosedOutputIsAFailure) {
  for (const auto& arguments : printing) {
    const Outcome outcome = sibyl_into(-1, arguments);
    EXPECT_EQ(outcome.status, 1) << arguments[0] << ": " << outcome.errors;
    EXPECT_THAT(outcome.errors, HasSubstr("Bad file descriptor")) << arguments[0];
  }
}

TEST_F(CommandLineTest, AReaderThatHasGoneIsNone) {
  int ends[2];
  ASSERT_EQ(::pipe2(ends, O_CLOEXEC), 0);
  ::close(ends[0]);
  for (const auto& arguments : printing) {
    const Outcome outcome = sibyl_into(ends[1], arguments);
    EXPECT_EQ(outcome.status, 0) << arguments[0];
    EXPECT_EQ(outcome.errors, "") << arguments[0];
  }
  ::close(ends[1]);
}

TEST_F(CommandLineTest, AServerServesWithoutAnOutput) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::dup2(::open("/dev/null", O_WRONLY | O_CLOEXEC), STDERR_FILENO);
    ::close(STDOUT_FILENO);
    ::execl(sibyl_binary, sibyl_binary, "serve", "--data", data().c_str(), "--listen", "127.0.0.1:0",
            "--metrics", "off", nullptr);
    ::_exit(127);
  }
  // The socket for operators' commands exists once the server serves.
  while (!std::filesystem::exists(data() + "/control.sock") && ::waitpid(child, nullptr, WNOHANG) == 0)
    ::usleep(1000);
  EXPECT_EQ(sibyl({"flush", "--data", data()}).status, 0);
  ::kill(child, SIGTERM);
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
}

TEST_F(CommandLineTest, WrongUsageIsOneReasonAndWhereToRead) {
  const std::vector<std::pair<std::vector<std::string>, std::string>> wrong = {
      {{"nonsense"}, "sibyl: unknown command 'nonsense'\nSee `sibyl --help`.\n"},
      {{"nonsense", "--help"}, "sibyl: unknown command 'nonsense'\nSee `sibyl --help`.\n"},
      {{"serv"}, "sibyl: unknown command 'serv'; did you mean 'serve'?\nSee `sibyl --help`.\n"},
      {{"--nonsense"}, "sibyl: unknown option '--nonsense'\nSee `sibyl --help`.\n"},
      {{"serve", "--nonsense"},
       "sibyl serve: The following argument was not expected: --nonsense\nSee `sibyl serve --help`.\n"},
      {{"snapshot", "verify"},
       "sibyl snapshot verify: name is required\nSee `sibyl snapshot verify --help`.\n"},
      {{"advise"}, "sibyl advise: A file to review, or --live is required\nSee `sibyl advise --help`.\n"},
  };
  for (const auto& [arguments, text] : wrong) {
    const Outcome outcome = sibyl(arguments);
    EXPECT_EQ(outcome.status, 2) << text;
    EXPECT_EQ(outcome.errors, text);
    EXPECT_EQ(outcome.output, "");
  }
  const Outcome nothing = sibyl({});
  EXPECT_EQ(nothing.status, 2);
  EXPECT_THAT(nothing.errors, HasSubstr("shell"));
  for (const auto& arguments : std::vector<std::vector<std::string>>{
           {"bench", "--duration", "-1"},
           {"bench", "--duration", "0"},
           {"bench", "--connections", "0"},
           {"bench", "--in-flight", "0"},
           {"bench", "--threads", "0"},
       })
    EXPECT_EQ(sibyl(arguments).status, 2) << arguments[1];
}

TEST_F(CommandLineTest, DirectoriesAreNoFiles) {
  std::ofstream(path("good.cql")) << "CREATE TABLE t (p int PRIMARY KEY);\n";
  for (const auto& arguments : std::vector<std::vector<std::string>>{
           {"advise", directory_},
           {"advise", "--baseline", directory_, path("good.cql")},
           {"advise", "design", directory_},
           {"serve", "--data", ":memory:", "--config", directory_},
           {"serve", "--data", ":memory:", "--listen", "127.0.0.1:0", "--tls-certificate", directory_},
           {"shell", "--data", ":memory:", "-f", directory_},
           {"import", "ks.t", directory_},
           {"export", "ks.t", directory_},
       }) {
    const Outcome outcome = sibyl(arguments);
    EXPECT_EQ(outcome.status, 2) << arguments[0] << ": " << outcome.errors;
    EXPECT_THAT(outcome.errors, HasSubstr(directory_)) << arguments[0];
    EXPECT_THAT(outcome.errors, HasSubstr("Is a directory")) << arguments[0];
    EXPECT_THAT(outcome.errors, Not(HasSubstr("Run the same command again"))) << arguments[0];
  }
  for (const char* left : {".import", ".parts", ".new"})
    EXPECT_FALSE(std::filesystem::exists(directory_ + left));
}

TEST_F(CommandLineTest, FilesThatAreNotThere) {
  EXPECT_EQ(
      sibyl({"serve", "--data", ":memory:", "--listen", "127.0.0.1:0", "--tls-certificate", path("none")})
          .status,
      2);
  for (const char* command : {"list", "take"}) {
    const Outcome outcome = sibyl({"snapshot", command, "--data", path("none")});
    EXPECT_EQ(outcome.status, 2) << command;
    EXPECT_THAT(outcome.errors, HasSubstr("there is no data in " + path("none"))) << command;
  }
}

TEST_F(CommandLineTest, EntitiesAreDesignedNotReviewed) {
  std::ofstream(path("entities.cql")) << "-- @entity people count=10 (id uuid key, name text)\n"
                                         "-- @query person rate=1/s\n"
                                         "--   SELECT people.* FROM people WHERE id = :id\n";
  const Outcome outcome = sibyl({"advise", path("entities.cql")});
  EXPECT_EQ(outcome.status, 2);
  EXPECT_EQ(outcome.output, "");
  EXPECT_THAT(outcome.errors, HasSubstr("sibyl advise design " + path("entities.cql")));
}

TEST_F(CommandLineTest, LoginInTheShell) {
  auto server =
      serve(data(), {"--authenticator", "PasswordAuthenticator", "--authorizer", "CassandraAuthorizer"});
  const auto shell = [&](const std::string& statements, std::vector<std::string> more = {}) {
    std::vector<std::string> arguments = {"shell", address(),   "-u", "cassandra",
                                          "-p",    "cassandra", "-e", statements};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return sibyl(arguments);
  };
  const Outcome made = shell(
      "CREATE ROLE bob WITH PASSWORD = 'x' AND LOGIN = true; CREATE KEYSPACE ks WITH replication = "
      "{'class': 'SimpleStrategy', 'replication_factor': 1}; CREATE TABLE ks.t (k int PRIMARY KEY);");
  ASSERT_EQ(made.status, 0) << made.errors;
  const Outcome bob = shell("USE ks; LOGIN bob x; SELECT * FROM t");
  EXPECT_EQ(bob.status, 1);
  EXPECT_THAT(bob.errors, HasSubstr("User bob has no SELECT permission on <table ks.t>"));
  EXPECT_EQ(shell("LOGIN bob x; LOGIN cassandra 'cassandra'; SELECT * FROM ks.t").status, 0);
  const Outcome wrong = shell("LOGIN bob y; SELECT * FROM ks.t", {"--keep-going"});
  EXPECT_EQ(wrong.status, 1);
  EXPECT_EQ(wrong.output, "");
  EXPECT_THAT(wrong.errors, HasSubstr("Provided username bob and/or password are incorrect"));
  EXPECT_EQ(sibyl({"shell", "--data", ":memory:", "-e", "LOGIN bob x"}).status, 1);
}

TEST_F(CommandLineTest, WhyThereIsNoConnection) {
  auto server = serve(data(), {"--authenticator", "PasswordAuthenticator"});
  const Outcome nobody = sibyl({"shell", address(), "-e", "SELECT 1"});
  EXPECT_EQ(nobody.status, 2);
  EXPECT_EQ(nobody.errors,
            "sibyl shell: cannot connect to " + address() +
                ": the server asks for a user and a password\n"
                "Name a user with -u; without -p, the password is read from SIBYL_PASSWORD or asked for.\n");
  const Outcome wrong = sibyl({"shell", address(), "--username", "cassandra", "-p", "x", "-e", "SELECT 1"});
  EXPECT_EQ(wrong.status, 2);
  EXPECT_EQ(wrong.errors, "sibyl shell: cannot connect to " + address() +
                              ": Provided username cassandra and/or password are incorrect\n");
  const Outcome exported =
      sibyl({"export", "ks.t", path("out.csv"), "--host", address(), "--user", "cassandra", "-p", "x"});
  EXPECT_EQ(exported.status, 2);
  EXPECT_THAT(exported.errors, StartsWith("sibyl export: cannot connect to " + address() + ": Provided"));
  const Outcome unreachable = sibyl({"shell", "127.0.0.1:1", "-e", "SELECT 1"});
  EXPECT_THAT(unreachable.errors,
              HasSubstr("cannot connect to 127.0.0.1:1: Connection refused\nStart a server"));
  const Outcome status = sibyl({"status", "--host", address()});
  EXPECT_EQ(status.status, 1);
  EXPECT_EQ(status.errors, "sibyl status: " + address() +
                               ": it does not speak HTTP\nuse --host with the server's metrics_address, and "
                               "--ssl if it has metrics_encryption\n");
}

TEST_F(CommandLineTest, StatusIsReadOverHttps) {
  make_certificate();
  auto server = serve(data(), {"--tls-certificate", path("certificate.pem"), "--tls-key", path("key.pem"),
                               "--metrics", "127.0.0.1:0", "--set", "metrics_encryption=true"});
  constexpr std::string_view before = "metrics on https://";
  std::string line = server->read_error_line();
  while (!line.empty() && line.find(before) == line.npos) line = server->read_error_line();
  ASSERT_NE(line, "");
  const std::string address = line.substr(line.find(before) + before.size(),
                                          line.find("/metrics\n") - line.find(before) - before.size());
  const Outcome trusted = sibyl({"status", "--host", address, "--ssl", "--ssl-ca", path("certificate.pem")});
  EXPECT_EQ(trusted.status, 0) << trusted.errors;
  EXPECT_THAT(trusted.output, HasSubstr("up for"));
  const Outcome unknown = sibyl({"status", "--host", address, "--ssl"});
  EXPECT_EQ(unknown.status, 1);
  EXPECT_THAT(unknown.errors, HasSubstr("certificate verify failed"));
  EXPECT_EQ(sibyl({"status", "--host", address, "--ssl", "--ssl-no-verify"}).status, 0);
  EXPECT_EQ(sibyl({"status", "--host", address}).status, 1);
}

TEST_F(CommandLineTest, CertificatesThatCannotBeUsedChangeNothing) {
  make_certificate();
  auto server = serve(data(), {"--tls-certificate", path("certificate.pem"), "--tls-key", path("key.pem")});
  const auto ask = [&](std::vector<std::string> more) {
    std::vector<std::string> arguments = {"shell", address(), "-e", "SELECT key FROM system.local"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return sibyl(arguments);
  };
  const Outcome plain = ask({});
  EXPECT_EQ(plain.status, 2);
  EXPECT_THAT(plain.errors,
              HasSubstr("This server requires encrypted connections (TLS)\nEncrypt the connection "
                        "with --ssl"));
  const Outcome stranger = ask({"--ssl"});
  EXPECT_EQ(stranger.status, 2);
  EXPECT_THAT(stranger.errors, HasSubstr("\n--ssl-ca names the authority"));
  EXPECT_THAT(stranger.errors, Not(HasSubstr("Start a server")));
  EXPECT_EQ(ask({"--ssl", "--ssl-no-verify"}).status, 0);
  const std::vector<std::string> known = {"--ssl", "--ssl-ca", path("authority.pem")};
  std::filesystem::rename(path("certificate.pem"), path("authority.pem"));
  std::filesystem::create_directory(path("certificate.pem"));
  server->signal(SIGHUP);
  std::string line;
  do line = server->read_error_line();
  while (!line.empty() && line.find("stays in use") == line.npos);
  EXPECT_THAT(line, HasSubstr("it cannot be read: Is a directory"));
  EXPECT_EQ(ask(known).status, 0);
  server->signal(SIGTERM);
  EXPECT_EQ(server->wait(), 0);
}

}  // namespace
}  // namespace sibyl::cli
