// For tests: runs the binary as users do, as a process, and as a server on a temporary directory.
#pragma once

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "client/connection.h"
#include "types/value.h"

namespace sibyl::cli {

// The path of the binary under test.
extern const char* const sibyl_binary;

// A child process whose output is read through pipes.
class Process {
 public:
  explicit Process(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), sibyl_binary);
    int out[2], error[2];
    EXPECT_EQ(::pipe2(out, O_CLOEXEC), 0);
    EXPECT_EQ(::pipe2(error, O_CLOEXEC), 0);
    pid_ = ::fork();
    if (pid_ == 0) {
      ::dup2(out[1], STDOUT_FILENO);
      ::dup2(error[1], STDERR_FILENO);
      std::vector<char*> pointers;
      for (auto& argument : arguments) pointers.push_back(argument.data());
      pointers.push_back(nullptr);
      ::execv(pointers[0], pointers.data());
      ::_exit(127);
    }
    ::close(out[1]);
    ::close(error[1]);
    out_ = out[0];
    error_ = error[0];
  }
  ~Process() {
    if (pid_ > 0) {
      ::kill(pid_, SIGKILL);
      wait();
    }
    ::close(out_);
    ::close(error_);
  }
  Process(const Process&) = delete;

  pid_t pid() const { return pid_; }
  void signal(int number) { ::kill(pid_, number); }
  // Returns the exit status, or the negated number of the signal that ended the process.
  int wait() {
    int status = 0;
    ::waitpid(pid_, &status, 0);
    pid_ = -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
  }
  std::string read_line() { return read_line(out_); }
  std::string read_error_line() { return read_line(error_); }
  // These read until the process closes the stream.
  std::string rest_of_output() { return read_all(out_); }
  std::string rest_of_errors() { return read_all(error_); }

 private:
  static std::string read_line(int descriptor) {
    std::string line;
    char c = 0;
    while (::read(descriptor, &c, 1) == 1) {
      line.push_back(c);
      if (c == '\n') break;
    }
    return line;
  }
  static std::string read_all(int descriptor) {
    std::string text;
    char buffer[4096];
    ssize_t size = 0;
    while ((size = ::read(descriptor, buffer, sizeof buffer)) > 0)
      text.append(buffer, static_cast<size_t>(size));
    return text;
  }
  pid_t pid_ = -1;
  int out_ = -1, error_ = -1;
};

// The result of a process that has ended.
struct Outcome {
  int status = 0;
  std::string output, errors;
};

// Every test has its own directory, for data and other files. Servers listen on free loopback ports.
class ServeTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = testing::TempDir() + "sibyl-serve-XXXXXX";
    directory_ = ::mkdtemp(pattern.data());
  }
  void TearDown() override { std::filesystem::remove_all(directory_); }

  std::string data() const { return path("data"); }
  std::string path(const std::string& name) const { return directory_ + "/" + name; }
  // Writes a file in the directory, and returns its path.
  std::string write(const std::string& name, const std::string& text) const {
    std::ofstream(path(name)) << text;
    return path(name);
  }
  static std::string contents(const std::string& path) {
    std::ifstream file(path);
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
  }

  // Runs the binary with both lists of arguments until it exits. The output is read first, then the errors.
  // So the command must not write more errors than a pipe can hold.
  static Outcome sibyl(std::vector<std::string> arguments, const std::vector<std::string>& more = {}) {
    arguments.insert(arguments.end(), more.begin(), more.end());
    Process process(std::move(arguments));
    Outcome outcome;
    outcome.output = process.rest_of_output();
    outcome.errors = process.rest_of_errors();
    outcome.status = process.wait();
    return outcome;
  }
  static Outcome advise(const std::vector<std::string>& arguments) { return sibyl({"advise"}, arguments); }

  std::unique_ptr<Process> serve(const std::string& data, std::vector<std::string> more = {}) {
    std::vector<std::string> arguments = {"serve", "--data", data, "--listen", "127.0.0.1:0"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    auto process = std::make_unique<Process>(arguments);
    const std::string line = process->read_line();
    EXPECT_THAT(line, testing::MatchesRegex("ready on 127\\.0\\.0\\.1:[0-9]+\n"));
    if (line.size() > 19) port_ = static_cast<uint16_t>(std::stoi(line.substr(19)));
    return process;
  }
  // The address of the server that serve() started last.
  std::string address() const { return "127.0.0.1:" + std::to_string(port_); }
  // Kills the server and restarts it on the same data and address.
  void kill_and_restart(std::unique_ptr<Process>& server) {
    server->signal(SIGKILL);
    server->wait();
    server =
        std::make_unique<Process>(std::vector<std::string>{"serve", "--data", data(), "--listen", address()});
    EXPECT_EQ(server->read_line(), "ready on " + address() + "\n");
  }
  std::unique_ptr<client::Connection> connect() {
    client::Options options;
    options.port = port_;
    auto connection = client::Connection::connect(options);
    EXPECT_TRUE(connection) << connection.error().message();
    return connection ? std::move(*connection) : nullptr;
  }
  static void run(client::Connection& connection, const std::string& text) {
    const auto result = connection.query(text);
    ASSERT_TRUE(result) << text << ": " << result.error().text();
  }
  static int64_t count(client::Connection& connection, const std::string& table) {
    auto result = connection.query("SELECT count(*) FROM " + table);
    client::Row row;
    return result && result->next(row) ? types::decode_integer(types::Kind::bigint, *row[0]) : -1;
  }
  static void make_table(client::Connection& connection) {
    run(connection,
        "CREATE KEYSPACE ks WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}");
    run(connection, "CREATE TABLE ks.t (k int, c int, v text, PRIMARY KEY (k, c))");
  }

  std::string directory_;
  uint16_t port_ = 0;
};

}  // namespace sibyl::cli
