// What `sibyl import` and `sibyl export` share: the server, the table, the journal, the progress bar.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "client/connection.h"
#include "sibyl/copy_csv.h"
#include "sibyl/session.h"

namespace CLI {
class App;
}

namespace sibyl::copy {

inline constexpr int exit_rejected = 1;  // done, but some rows were rejected
inline constexpr int exit_refused = 2;   // wrong usage, no connection, no such table or file
inline constexpr int exit_stopped = 3;   // stopped on the way; the same command continues

struct CommonOptions {
  std::string table;       // KEYSPACE.TABLE
  std::string file;        // or "-"
  std::string address;     // HOST:PORT
  client::Options server;  // but for the address: who logs in, and whether it is encrypted
  bool has_password = false;
  std::string format;   // csv, json, or by the file's name
  std::string columns;  // separated by commas; empty: all
  std::string delimiter = ",", quote = "\"", escape = "\\", null;
  bool header = false;
  unsigned jobs = 2;
  bool restart = false;  // forget what an earlier run has done
  bool quiet = false;
};

void add_common_options(CLI::App& command, CommonOptions& options);
// By the file's name: json or csv.
std::string format_of(const std::string& file);
base::Result<Dialect> dialect_of(const CommonOptions& options);
// Asks for the password of a user that came without (shell::ask_password).
base::Result<client::Options> server_of(const CommonOptions& options);
// Whether the file is read or written in one go, without a journal: standard input or output, a pipe, a
// device.
bool is_stream(const std::string& path);
base::Result<std::unique_ptr<client::Connection>> connect(const client::Options& server);
// What makes two runs on one file the same, beside their statement: the server, and how the file is read.
std::string run_text(const CommonOptions& options, const client::Options& server, const Dialect& dialect);

// A table as the server's system_schema tells it.
struct TableInfo {
  std::string keyspace, name;
  std::vector<std::string> partition_key;
  std::vector<std::string> primary_key;
  std::vector<std::string> columns;  // cqlsh's order: the primary key, then by name
  bool is_counter = false;

  std::string quoted_name() const;
};
base::Result<TableInfo> find_table(client::Connection& connection, const std::string& name);
// Names separated by commas, each one of the table's; empty: all.
base::Result<std::vector<std::string>> choose_columns(const TableInfo& table, const std::string& names);
std::string quoted_list(const std::vector<std::string>& names);

// All of the bytes; the path is for the error.
base::Status write_all(int file, const std::string& path, std::string_view bytes);

// Small facts about a run, kept beside the file it works on so that another run continues it. Written by
// replacing the whole file: after a crash it says what it said before or after a save().
class Journal {
 public:
  // `what` names the run: a journal of another one is refused. An empty path: none is kept.
  static base::Result<Journal> open(std::string path, std::string what, bool restart);
  bool is_resumed() const { return is_resumed_; }
  std::string get(const std::string& name) const;
  uint64_t number(const std::string& name) const;
  void set(const std::string& name, const std::string& value) { facts_[name] = value; }
  base::Status save();
  void remove();

 private:
  std::string path_;
  std::map<std::string, std::string> facts_;
  bool is_resumed_ = false;
};

// A bar on a terminal, else a line now and then; on standard error.
class Progress {
 public:
  Progress(std::string what, bool quiet);
  // How far it is, of how much (0: not known). Thread-safe; shows it when it is time.
  void update(uint64_t done, uint64_t total, uint64_t rows, uint64_t bytes);
  // The last line.
  void finish(const std::string& summary);

 private:
  using Clock = std::chrono::steady_clock;
  std::mutex mutex_;
  const std::string what_;
  const bool is_quiet_, is_terminal_;
  const Clock::time_point begin_;
  Clock::time_point next_;
  std::optional<uint64_t> first_done_;
  bool has_bar_ = false;
};

std::string rate_text(double per_second);
int refuse(const char* command, const base::Error& error);

}  // namespace sibyl::copy
