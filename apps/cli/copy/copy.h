// Common parts of `sibyl import` and `sibyl export`: server options, table, journal, progress bar.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/mutex.h"
#include "base/result.h"
#include "cli/copy/csv.h"
#include "cli/exit_status.h"
#include "cli/session/session.h"
#include "client/connection.h"

namespace CLI {
class App;
}

namespace sibyl::cli::copy {

struct CommonOptions {
  std::string table;       // KEYSPACE.TABLE
  std::string file;        // or "-"
  std::string address;     // HOST:PORT
  client::Options server;  // login and TLS; the address is above
  bool has_password = false;
  std::string format;   // csv or json; empty: by the file's name
  std::string columns;  // separated by commas; empty: all
  std::string delimiter = ",", quote = "\"", escape = "\\", null;
  bool header = false;
  unsigned jobs = 2;
  bool restart = false;  // ignore the journal of an earlier run
  bool quiet = false;
};

void add_common_options(CLI::App& command, CommonOptions& options);
// Returns json or csv, by the file's name.
std::string format_of(const std::string& file);
base::Result<Dialect> dialect_of(const CommonOptions& options);
// Asks for the password if a user was given without one (shell::ask_password).
base::Result<client::Options> server_of(const CommonOptions& options);
// Returns true if the file is read or written in one pass, without a journal: standard input or output, a
// pipe, a device.
bool is_stream(const std::string& path);
base::Result<std::unique_ptr<client::Connection>> connect(const client::Options& server);
// Identifies a run together with its statement: the server, and how the file is read. Only an identical run
// can be resumed.
std::string run_text(const CommonOptions& options, const client::Options& server, const Dialect& dialect);

// A table as described by the server's system_schema.
struct TableInfo {
  std::string keyspace, name;
  std::vector<std::string> partition_key;
  std::vector<std::string> primary_key;
  std::vector<std::string> columns;  // the columns in cqlsh's order: the primary key, then by name
  bool is_counter = false;

  std::string quoted_name() const;
};
base::Result<TableInfo> find_table(client::Connection& connection, const std::string& name);
// Parses column names separated by commas, which must be columns of the table; empty: all columns.
base::Result<std::vector<std::string>> choose_columns(const TableInfo& table, const std::string& names);
std::string quoted_list(const std::vector<std::string>& names);

// Writes all of the bytes. `path` is used in the error.
base::Status write_all(int file, const std::string& path, std::string_view bytes);

// Small facts about a run, stored beside the file, so that another run can resume it. save() replaces the
// file atomically: after a crash it has either the old or the new contents.
class Journal {
 public:
  // `what` identifies the run; a journal of another run is an error. With an empty path no journal is kept.
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

// Prints progress to standard error: a bar on a terminal, otherwise an occasional line.
class Progress {
 public:
  Progress(std::string what, bool quiet);
  // `done` of `total` (0: unknown). Thread-safe. Prints only if enough time has passed.
  void update(uint64_t done, uint64_t total, uint64_t rows, uint64_t bytes);
  // Prints the last line.
  void finish(const std::string& summary);

 private:
  using Clock = std::chrono::steady_clock;
  base::Mutex mutex_;
  const std::string what_;
  const bool is_quiet_, is_terminal_;
  const Clock::time_point begin_;
  Clock::time_point next_ SIBYL_GUARDED_BY(mutex_);
  std::optional<uint64_t> first_done_ SIBYL_GUARDED_BY(mutex_);
  bool has_bar_ SIBYL_GUARDED_BY(mutex_) = false;
};

std::string rate_text(double per_second);
int refuse(const char* command, const base::Error& error);

}  // namespace sibyl::cli::copy
