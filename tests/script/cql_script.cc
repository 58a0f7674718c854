// Runs CQL scripts and compares the results with their recorded transcripts.
//
//   cql_script [--store memory|rocksdb|rocksdb-restart|cluster] [--server HOST:PORT] [--prepared] [--page-size N]
//              FILE.cql...
//   cql_script --record HOST:PORT FILE.cql...     write FILE.expected from the server's results
//   cql_script --print [...] FILE.cql...          only print the transcript
//
// Each script runs in a fresh keyspace with its own name, which is dropped afterwards.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>

#include "script/target.h"
#include "script/transcript.h"

namespace {

using sibyl::script::Mode;
using sibyl::script::Outcome;
using sibyl::script::ScriptStatement;
using sibyl::script::Target;

struct Options {
  std::string store = "memory";
  std::string server;
  std::string record;
  bool print = false;
  Mode mode;
  std::vector<std::string> files;
};

std::string read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

std::unique_ptr<Target> make_target(const Options& options, const std::filesystem::path& scratch) {
  if (!options.record.empty()) return sibyl::script::network_target(options.record);
  if (!options.server.empty()) return sibyl::script::network_target(options.server);
  if (options.store == "memory") return sibyl::script::memory_target();
  if (options.store == "cluster") return sibyl::script::cluster_target();
  return sibyl::script::directory_target(scratch.string());
}

void must(Target& target, const std::string& statement) {
  const Outcome outcome = target.run(statement, Mode());
  if (!outcome.error) return;
  std::cerr << statement << ": " << outcome.error->text() << "\n";
  std::exit(2);
}

struct Answers {
  std::vector<std::string> blocks;
  std::vector<std::string> problems;  // missing hints and warnings
};

std::string replaced(std::string text, std::string_view from, std::string_view to) {
  for (size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
  return text;
}

// Functions are written in Lua for Sibyl and in Java for Cassandra. Their bodies are valid in both languages,
// so that everything else can be compared.
Outcome run_in_java(Target& target, const std::string& statement, const Mode& mode) {
  Outcome outcome = target.run(replaced(statement, "LANGUAGE lua", "LANGUAGE java"), mode);
  for (auto& row : outcome.rows)
    for (auto& cell : row)
      if (cell) cell = *cell == "java" ? "lua" : replaced(*cell, "LANGUAGE java", "LANGUAGE lua");
  return outcome;
}

Answers run_script(Target& target, const std::vector<ScriptStatement>& script, const std::string& keyspace,
                   const Options& options) {
  must(target, "DROP KEYSPACE IF EXISTS " + keyspace);
  must(target, "CREATE KEYSPACE " + keyspace +
                   " WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}");
  must(target, "USE " + keyspace);
  Answers answers;
  for (const auto& statement : script) {
    if (options.store == "rocksdb-restart") target.restart();
    Mode mode = options.mode;
    if (statement.one_page) mode.page_size = 0;
    if (statement.page_size > 0) mode.page_size = statement.page_size;
    mode.now_seconds = statement.now_seconds;
    mode.values = statement.values;
    Outcome outcome =
        options.record.empty() ? target.run(statement.text, mode) : run_in_java(target, statement.text, mode);
    if (outcome.error) outcome.error = sibyl::script::split_hint(*outcome.error);
    const bool is_recorded = !options.record.empty();
    for (const auto& warning : statement.own_warnings)
      if (!is_recorded && std::erase_if(outcome.warnings, [&](const std::string& one) {
                            return one.find(warning) != std::string::npos;
                          }) == 0)
        answers.problems.push_back(fmt::format("line {}: no warning '{}'", statement.line, warning));
    answers.blocks.push_back(render(statement, outcome));
    if (is_recorded) continue;
    for (const auto& hint : statement.hints)
      if (!outcome.error || outcome.error->hint().find(hint) == std::string::npos)
        answers.problems.push_back(fmt::format("line {}: no hint '{}' but '{}'", statement.line, hint,
                                               outcome.error ? outcome.error->hint() : "no error"));
  }
  must(target, "DROP KEYSPACE IF EXISTS " + keyspace);
  return answers;
}

std::vector<std::string> split_blocks(const std::string& transcript) {
  std::vector<std::string> blocks;
  size_t start = 0;
  while (start < transcript.size()) {
    const size_t end = transcript.find("\n\n> ", start);
    const size_t stop = end == std::string::npos ? transcript.size() : end + 2;
    blocks.push_back(transcript.substr(start, stop - start));
    start = stop;
  }
  return blocks;
}

int compare(const std::string& file, const std::vector<ScriptStatement>& script, const Answers& answers) {
  const std::string expected_file = std::filesystem::path(file).replace_extension(".expected").string();
  const auto expected = split_blocks(read_file(expected_file));
  int failures = 0;
  for (size_t i = 0; i < std::max(expected.size(), answers.blocks.size()); ++i) {
    const std::string want = i < expected.size() ? expected[i] : "(nothing recorded)\n";
    const std::string got = i < answers.blocks.size() ? answers.blocks[i] : "(no statement)\n";
    if (want == got) continue;
    ++failures;
    std::cout << fmt::format("{}:{}: differs\n--- expected\n{}--- got\n{}\n", file,
                             i < script.size() ? script[i].line : 0, want, got);
  }
  for (const auto& problem : answers.problems) {
    ++failures;
    std::cout << file << ": " << problem << "\n";
  }
  return failures;
}

int run_file(const std::string& file, const Options& options) {
  const auto script = sibyl::script::read_script(read_file(file));
  if (script.empty()) {
    std::cout << file << ": no statements\n";
    return 1;
  }
  const std::string keyspace = "script_" + std::filesystem::path(file).stem().string();
  std::string scratch = (std::filesystem::temp_directory_path() / "sibyl-script-XXXXXX").string();
  if (mkdtemp(scratch.data()) == nullptr) return 1;
  const std::filesystem::path directory = std::filesystem::path(scratch) / "data";
  int failures = 0;
  {
    const auto target = make_target(options, directory);
    const Answers answers = run_script(*target, script, keyspace, options);
    std::string transcript;
    for (const auto& block : answers.blocks) transcript += block;
    if (options.print) {
      std::cout << transcript;
    } else if (!options.record.empty()) {
      std::ofstream(std::filesystem::path(file).replace_extension(".expected"), std::ios::binary)
          << transcript;
    } else {
      failures = compare(file, script, answers);
    }
  }
  std::filesystem::remove_all(scratch);
  std::cout << fmt::format("{}: {} statements, {} differ\n", file, script.size(), failures);
  return failures;
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  CLI::App app{"Runs CQL scripts and compares the results with recorded transcripts"};
  app.add_option("--store", options.store)
      ->check(CLI::IsMember({"memory", "rocksdb", "rocksdb-restart", "cluster"}));
  app.add_option("--server", options.server);
  app.add_option("--record", options.record);
  app.add_flag("--print", options.print);
  app.add_flag("--prepared", options.mode.prepared);
  app.add_option("--page-size", options.mode.page_size);
  app.add_option("files", options.files)->required();
  CLI11_PARSE(app, argc, argv);
  int failures = 0;
  for (const auto& file : options.files) failures += run_file(file, options);
  return failures == 0 ? 0 : 1;
}
