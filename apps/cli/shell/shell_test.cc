#include "cli/shell/shell.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <deque>
#include <fstream>

#include "types/value.h"

namespace sibyl::cli::shell {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// Returns prepared results and records the statements.
class FakeSession : public Session {
 public:
  base::Result<StatementResult> execute(std::string_view text, const StatementOptions& options) override {
    texts.emplace_back(text);
    asked.push_back(options);
    if (text.starts_with("USE ")) keyspace_ = text.substr(4);
    if (text.find("bad") != std::string_view::npos)
      return base::fail(base::Error(base::ErrorCode::syntax, "line 1:0 no viable alternative at input 'bad'")
                            .at({1, 0, 0})
                            .with_hint("be good"));
    if (answers.empty()) return StatementResult{};
    StatementResult result = std::move(answers.front());
    answers.pop_front();
    return result;
  }
  base::Status log_in(const std::string& user, const std::string& password) override {
    logins.push_back(user + ":" + password);
    if (password == "wrong") return base::fail(base::ErrorCode::bad_credentials, "no");
    return {};
  }
  std::string place() const override { return "at nowhere"; }
  ServerVersions versions() override { return {"Fake", "5.0.2", "3.4.7", "4"}; }
  const SchemaNames& names() override { return names_; }

  std::vector<std::string> texts, logins;
  std::vector<StatementOptions> asked;
  std::deque<StatementResult> answers;

 private:
  SchemaNames names_;
};

StatementResult numbers(std::initializer_list<int32_t> values, bool more = false) {
  StatementResult result;
  result.kind = StatementResult::Kind::rows;
  result.columns = {{"k", "t", "n", types::scalar(types::Kind::int_)}};
  for (const int32_t value : values) result.rows.push_back({types::encode_int32(value)});
  if (more) result.paging_state = "next";
  return result;
}

// Collects the output of a stdio stream.
class Output {
 public:
  Output() : file_(open_memstream(&data_, &size_)) {}
  ~Output() {
    std::fclose(file_);
    std::free(data_);
  }
  std::FILE* file() { return file_; }
  std::string text() {
    std::fflush(file_);
    return {data_, size_};
  }

 private:
  char* data_ = nullptr;
  size_t size_ = 0;
  std::FILE* file_;
};

class ShellTest : public testing::Test {
 protected:
  bool run(std::string_view text, ShellOptions options = {}, const std::string& name = "") {
    Shell shell(session, options, out.file(), errors.file());
    const bool succeeded = shell.run_text(text, name);
    failed = shell.failed();
    return succeeded;
  }
  std::string write_file(const std::string& name, const std::string& text) {
    const std::string path = testing::TempDir() + "/" + std::to_string(getpid()) + name;
    std::ofstream(path) << text;
    return path;
  }

  FakeSession session;
  Output out, errors;
  bool failed = false;
};

TEST_F(ShellTest, RunsStatementsInOrder) {
  session.answers = {numbers({1, 22})};
  EXPECT_TRUE(run("SELECT n FROM t;\nSELECT 2"));
  EXPECT_THAT(session.texts, ElementsAre("SELECT n FROM t", "SELECT 2"));
  EXPECT_EQ(out.text(), "\n n\n----\n  1\n 22\n\n(2 rows)\n");
  EXPECT_FALSE(failed);
}

TEST_F(ShellTest, FetchesAllPages) {
  session.answers = {numbers({1}, true), numbers({2}, true), numbers({3})};
  EXPECT_TRUE(run("SELECT n FROM t;"));
  EXPECT_EQ(out.text(), "\n n\n---\n 1\n 2\n 3\n\n(3 rows)\n");
  ASSERT_EQ(session.asked.size(), 3u);
  EXPECT_FALSE(session.asked[0].paging_state);
  EXPECT_EQ(session.asked[2].paging_state, "next");
}

TEST_F(ShellTest, AFailureEndsAScriptAndNamesItsPlace) {
  EXPECT_FALSE(run("-- one\nSELECT 1;\n\nSELECT\n bad;\nSELECT 3;", {}, "a.cql"));
  EXPECT_TRUE(failed);
  EXPECT_EQ(session.texts.size(), 2u);
  EXPECT_EQ(errors.text(),
            "  SELECT\n  ^\na.cql:4: SyntaxException: line 1:0 no viable alternative at input 'bad'\nHint: "
            "be good\n");
  EXPECT_EQ(out.text(), "");
}

TEST_F(ShellTest, KeepGoing) {
  EXPECT_TRUE(run("bad; SELECT 3;", {.keep_going = true}));
  EXPECT_TRUE(failed);
  EXPECT_THAT(session.texts, ElementsAre("bad", "SELECT 3"));
}

TEST_F(ShellTest, ExitEndsAScript) {
  EXPECT_TRUE(run("SELECT 1; exit; bad;"));
  EXPECT_FALSE(failed);
  EXPECT_THAT(session.texts, ElementsAre("SELECT 1"));
}

TEST_F(ShellTest, SettingsReachTheSession) {
  EXPECT_TRUE(
      run("CONSISTENCY\nCONSISTENCY quorum\nSERIAL CONSISTENCY local_serial\nPAGING 7\nSELECT 1;PAGING OFF\n"
          "SELECT 2;"));
  EXPECT_EQ(out.text(),
            "Current consistency level is ONE.\nConsistency level set to QUORUM.\n"
            "Serial consistency level set to LOCAL_SERIAL.\nPage size: 7\nPAGING set to OFF\n");
  ASSERT_EQ(session.asked.size(), 2u);
  EXPECT_EQ(session.asked[0].consistency, Consistency::quorum);
  EXPECT_EQ(session.asked[0].serial_consistency, Consistency::local_serial);
  EXPECT_EQ(session.asked[0].page_size, 7);
  EXPECT_EQ(session.asked[1].page_size, 0);
}

TEST_F(ShellTest, WrongArgumentsOfCommandsAreErrors) {
  for (const char* text : {"CONSISTENCY SOME", "SERIAL CONSISTENCY ONE", "SERIAL", "EXPAND maybe", "PAGING 0",
                           "SHOW ME", "SOURCE", "SOURCE '/does/not/exist'", "CAPTURE OFF", "HELP me"})
    EXPECT_FALSE(run(text)) << text;
  EXPECT_THAT(errors.text(), HasSubstr("Could not open '/does/not/exist': No such file"));
  EXPECT_TRUE(session.texts.empty());
}

TEST_F(ShellTest, Expand) {
  session.answers = {numbers({5})};
  EXPECT_TRUE(run("EXPAND ON\nSELECT n FROM t;"));
  EXPECT_EQ(out.text(), "EXPAND set to ON\n\n@ Row 1\n---+---\n n | 5\n\n(1 rows)\n");
}

TEST_F(ShellTest, SourceRunsAFileAndFailsWithIt) {
  const std::string path = write_file("source.cql", "SELECT 1;\nbad;\nSELECT 2;");
  EXPECT_FALSE(run("SOURCE '" + path + "'; SELECT 3;"));
  EXPECT_THAT(session.texts, ElementsAre("SELECT 1", "bad"));
  EXPECT_THAT(errors.text(), HasSubstr(path + ":2: SyntaxException"));
}

TEST_F(ShellTest, SourceInAnInteractiveShellContinuesAfterErrors) {
  const std::string path = write_file("source2.cql", "bad;\nSELECT 2;");
  EXPECT_TRUE(run("SOURCE '" + path + "'", {.interactive = true}));
  EXPECT_THAT(session.texts, ElementsAre("bad", "SELECT 2"));
}

TEST_F(ShellTest, AFileThatRunsItselfEnds) {
  const std::string path = testing::TempDir() + "/" + std::to_string(getpid()) + "loop.cql";
  std::ofstream(path) << "SOURCE '" << path << "'\n";
  EXPECT_FALSE(run("SOURCE '" + path + "'"));
  EXPECT_THAT(errors.text(), HasSubstr("SOURCE is nested too deeply"));
}

TEST_F(ShellTest, CaptureTakesResultsOnly) {
  const std::string path = testing::TempDir() + "/" + std::to_string(getpid()) + "capture.txt";
  std::remove(path.c_str());
  session.answers = {numbers({1}), numbers({2})};
  EXPECT_TRUE(run("CAPTURE '" + path + "'\nSELECT n FROM t;\nCAPTURE OFF\nSELECT n FROM t;"));
  std::ifstream file(path);
  const std::string captured((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  EXPECT_EQ(captured, "\n n\n---\n 1\n\n(1 rows)\n");
  EXPECT_EQ(out.text(), "Now capturing query output to '" + path + "'.\n\n n\n---\n 2\n\n(1 rows)\n");
}

TEST_F(ShellTest, StreamsRunStatementsAsTheyArrive) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  Shell shell(session, {}, out.file(), errors.file());
  const std::string script = "SELECT 1;\n" + std::string(100'000, ' ') + "SELECT\n2;\nDESC keyspaces";
  // The input is larger than a pipe. A child process writes it, so that neither side blocks the other.
  const pid_t writer = fork();
  if (writer == 0) {
    close(ends[0]);
    const char* at = script.data();
    for (size_t left = script.size(); left > 0;) {
      const ssize_t count = write(ends[1], at, left);
      if (count <= 0) break;
      at += count;
      left -= static_cast<size_t>(count);
    }
    _exit(0);
  }
  close(ends[1]);
  EXPECT_TRUE(shell.run_stream(ends[0], "pipe"));
  close(ends[0]);
  EXPECT_THAT(session.texts, ElementsAre("SELECT 1", "SELECT\n2", "DESC keyspaces"));
}

TEST_F(ShellTest, ShowAndTracing) {
  EXPECT_TRUE(run("SHOW HOST\nSHOW VERSION\nTRACING ON\nTRACING ON"));
  EXPECT_EQ(out.text(),
            "Connected to Fake at nowhere\n[Cassandra 5.0.2 | CQL spec 3.4.7 | Native protocol v4]\n"
            "TRACING set to ON\nTRACING is already ON\n");
}

TEST_F(ShellTest, ALineCommentAtTheEndHasAnEnd) {
  EXPECT_TRUE(run("SELECT 1; SELECT 2 -- two"));
  EXPECT_THAT(session.texts, ElementsAre("SELECT 1", "SELECT 2 -- two\n"));
}

TEST_F(ShellTest, LoginReachesTheSession) {
  EXPECT_TRUE(run("LOGIN bob secret\nLOGIN 'bob' 'it''s; x'; SELECT 1;"));
  EXPECT_THAT(session.logins, ElementsAre("bob:secret", "bob:it's; x"));
  EXPECT_EQ(session.texts.size(), 1u);
  EXPECT_EQ(out.text(), "");
}

TEST_F(ShellTest, AScriptEndsWhenLoginFails) {
  for (const char* text : {"LOGIN bob wrong; SELECT 1;", "LOGIN bob; SELECT 1;", "LOGIN; SELECT 1;",
                           "LOGIN bob secret more; SELECT 1;"}) {
    run(text, {.keep_going = true});
    EXPECT_TRUE(failed) << text;
    EXPECT_TRUE(session.texts.empty()) << text << ": it would run as who was logged in before";
  }
}

TEST_F(ShellTest, NothingIsRunAfterExit) {
  Shell shell(session, {}, out.file(), errors.file());
  EXPECT_TRUE(shell.run_text("EXIT", ""));
  EXPECT_TRUE(shell.run_text("SELECT 1", ""));
  EXPECT_TRUE(session.texts.empty());
}

TEST_F(ShellTest, CopyNeedsAServer) {
  EXPECT_FALSE(run("COPY k.t TO 'file.csv';"));
  EXPECT_THAT(errors.text(), HasSubstr("COPY needs a server"));
  EXPECT_TRUE(session.texts.empty());
}

TEST_F(ShellTest, CopyRunsTheProgramAsTheLoggedInUser) {
  std::vector<ProgramCall> calls;
  ShellOptions options;
  options.run_program = [&](const ProgramCall& call) {
    calls.push_back(call);
    return call.arguments[0] == "import" ? 1 : 0;
  };
  Shell shell(session, options, out.file(), errors.file());
  EXPECT_TRUE(shell.run_text("USE k; LOGIN eve 'secret'; COPY t TO 'file.csv' WITH PAGESIZE = 10;", ""));
  ASSERT_EQ(calls.size(), 1u);
  EXPECT_THAT(calls[0].arguments, ElementsAre("export", "k.t", "file.csv", "--format", "csv"));
  EXPECT_EQ(calls[0].user + ":" + calls[0].password, "eve:secret");
  EXPECT_THAT(out.text(), HasSubstr("PAGESIZE has no effect here."));
  EXPECT_FALSE(shell.failed());
  EXPECT_FALSE(shell.run_text("COPY t FROM 'file.csv'; SELECT 1;", ""));
  EXPECT_TRUE(shell.failed());
  EXPECT_THAT(session.texts, ElementsAre("USE k"));
}

TEST_F(ShellTest, ShowSession) {
  EXPECT_FALSE(run("SHOW SESSION one"));
  EXPECT_TRUE(session.texts.empty());
  StatementResult told;
  told.kind = StatementResult::Kind::rows;
  told.rows = {{"Execute CQL3 query", types::encode_int32(7), std::nullopt, std::nullopt, std::nullopt}};
  session.answers = {told};
  EXPECT_TRUE(run("SHOW SESSION 50554d6e-29bb-11e5-b345-feff819cdc9f"));
  EXPECT_THAT(session.texts[0], HasSubstr("WHERE session_id = 50554d6e-29bb-11e5-b345-feff819cdc9f"));
  EXPECT_THAT(out.text(), HasSubstr("Execute CQL3 query"));
}

TEST_F(ShellTest, AnswersThatCannotBeWrittenEndAScript) {
  std::FILE* full = std::fopen("/dev/full", "w");
  ASSERT_NE(full, nullptr);
  session.answers = {numbers({1}), numbers({2})};
  Shell shell(session, {.keep_going = true}, full, errors.file());
  shell.run_text("SELECT 1; SELECT 2;", "");
  EXPECT_TRUE(shell.failed());
  EXPECT_EQ(session.texts.size(), 1u);
  EXPECT_EQ(errors.text(), "Could not write the output: No space left on device\n");
  std::fclose(full);
}

TEST_F(ShellTest, ACaptureThatCannotBeWrittenIsReported) {
  session.answers = {numbers({1}), numbers({2})};
  EXPECT_TRUE(run("CAPTURE '/dev/full'\nSELECT 1;\nSELECT 2;", {.interactive = true}));
  EXPECT_TRUE(failed);
  EXPECT_EQ(session.texts.size(), 2u) << "a person may go on";
  EXPECT_THAT(errors.text(), HasSubstr("Could not write '/dev/full': No space left on device\n"));
}

TEST_F(ShellTest, HelpKnowsEveryCommand) {
  for (const std::string_view name : command_names()) EXPECT_TRUE(run("HELP " + std::string(name))) << name;
  EXPECT_TRUE(run("HELP"));
  EXPECT_TRUE(run("?"));
  EXPECT_TRUE(run("HELP create table"));
}

}  // namespace
}  // namespace sibyl::cli::shell
