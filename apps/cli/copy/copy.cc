#include "cli/copy/copy.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <sstream>

#include "base/file.h"
#include "base/mutex.h"
#include "cli/command_line/password.h"
#include "cli/command_line/refuse.h"
#include "cli/command_line/text.h"
#include "cli/command_line/tls_flags.h"
#include "cli/copy/kept.h"
#include "cli/session/network.h"
#include "cli/shell/script.h"
#include "types/identifier.h"
#include "types/value.h"

namespace sibyl::cli::copy {
namespace {

base::Error usage(std::string text) {
  return {base::ErrorCode::invalid, std::move(text)};
}

base::Result<char> character(const std::string& text, const char* option) {
  if (text == "\\t" || text == "tab") return '\t';
  if (text.size() == 1 && text != "\n" && text != "\r") return text[0];
  return base::fail(usage(fmt::format("--{} must be one character, not '{}'", option, text)));
}

std::string duration_text(double seconds) {
  const auto whole = static_cast<uint64_t>(seconds);
  if (whole < 60) return fmt::format("{}s", whole);
  if (whole < 3600) return fmt::format("{}m{:02}s", whole / 60, whole % 60);
  return fmt::format("{}h{:02}m", whole / 3600, whole / 60 % 60);
}

}  // namespace

void add_common_options(CLI::App& command, CommonOptions& options) {
  command.add_option("table", options.table, "KEYSPACE.TABLE")->required();
  command.add_option("file", options.file, "The file; -: standard input or output")->required();
  command.add_option("--host", options.address, "The server: HOST[:PORT] (127.0.0.1:9042)");
  command.add_option("-u,--user,--username", options.server.user,
                     "User name, if the server requires a login. Without -p, the password is read from "
                     "SIBYL_PASSWORD or asked for");
  command
      .add_option("-p,--password", options.server.password,
                  "The user's password, visible to other users of this machine")
      ->each([&options](const std::string&) { options.has_password = true; });
  add_ssl_flags(command, options.server.tls);
  command
      .add_option("--format", options.format,
                  "csv or json, with one object per line (default: by the file's name, else csv)")
      ->check(CLI::IsMember({"csv", "json"}));
  command.add_option("--columns", options.columns, "The columns, separated by commas (default: all)");
  command.add_flag("--header", options.header, "CSV: the first line has the column names");
  command.add_option("--delimiter", options.delimiter, "CSV: the character between fields; \\t for a tab")
      ->capture_default_str();
  command.add_option("--quote", options.quote, "CSV: the character around fields")->capture_default_str();
  command.add_option("--escape", options.escape, "CSV: the character before a quote or an escape character")
      ->capture_default_str();
  command.add_option("--null", options.null, "CSV: the text for null (default: empty)");
  command.add_option("--jobs", options.jobs, "Number of connections")
      ->check(CLI::Range(1u, 64u))
      ->capture_default_str();
  command.add_flag("--restart", options.restart, "Start from the beginning, ignoring earlier runs");
  command.add_flag("-q,--quiet", options.quiet, "No progress");
}

base::Result<Dialect> dialect_of(const CommonOptions& options) {
  Dialect dialect;
  SIBYL_ASSIGN(dialect.delimiter, character(options.delimiter, "delimiter"));
  SIBYL_ASSIGN(dialect.quote, character(options.quote, "quote"));
  SIBYL_ASSIGN(dialect.escape, character(options.escape, "escape"));
  dialect.null = options.null;
  dialect.is_json = (options.format.empty() ? format_of(options.file) : options.format) == "json";
  return dialect;
}

std::string format_of(const std::string& file) {
  const auto named = [&](std::string_view end) { return file.ends_with(end); };
  return named(".json") || named(".jsonl") || named(".ndjson") ? "json" : "csv";
}

base::Result<client::Options> server_of(const CommonOptions& options) {
  const auto address = shell::parse_address(options.address);
  if (!address) return base::fail(usage(fmt::format("'{}' is not HOST:PORT", options.address)));
  client::Options server = options.server;
  server.host = address->host;
  server.port = address->port;
  if (!server.user.empty() && !options.has_password) {
    SIBYL_ASSIGN(server.password, shell::ask_password(server.user));
  }
  return server;
}

bool is_stream(const std::string& path) {
  std::error_code error;
  const std::filesystem::file_status status = std::filesystem::status(path, error);
  return path == "-" || (std::filesystem::exists(status) && !std::filesystem::is_regular_file(status) &&
                         !std::filesystem::is_directory(status));
}

base::Result<std::unique_ptr<client::Connection>> connect(const client::Options& server) {
  auto connection = client::Connection::connect(server);
  if (connection) return connection;
  return base::fail(shell::connect_error(
      server, connection.error(), "Start a server with `sibyl serve`, or name another one with --host."));
}

std::string run_text(const CommonOptions& options, const client::Options& server, const Dialect& dialect) {
  const std::string place = fmt::format("{}:{}", server.host, server.port);
  if (dialect.is_json) return fmt::format("at {}, json", place);
  return fmt::format("at {}, csv with delimiter {}, quote {}, escape {}, null '{}', {}", place,
                     dialect.delimiter, dialect.quote, dialect.escape, dialect.null,
                     options.header ? "a header" : "no header");
}

std::string TableInfo::quoted_name() const {
  return types::quote_identifier(keyspace) + "." + types::quote_identifier(name);
}

namespace {

// Finds the columns that a table WITH COMPACT STORAGE hides from statements, by the table's flags. A view has
// no flags.
base::Result<std::function<bool(std::string_view kind, std::string_view type)>> hidden_columns(
    client::Connection& connection, const TableInfo& table) {
  const types::ValueView values[] = {types::ValueView::of(table.keyspace), types::ValueView::of(table.name)};
  SIBYL_ASSIGN(
      client::Result found,
      connection.query("SELECT flags FROM system_schema.tables WHERE keyspace_name = ? AND table_name = ?",
                       values));
  client::Row row;
  const bool is_table = found.next(row);
  const std::string flags(is_table ? row[0].value_or("") : "compound");
  const bool is_dense = flags.find("dense") != std::string::npos;
  const bool is_static = !is_dense && flags.find("compound") == std::string::npos;
  return [=](std::string_view kind, std::string_view type) {
    return is_static ? kind == "clustering" || kind == "regular" : is_dense && type == "empty";
  };
}

}  // namespace

base::Result<TableInfo> find_table(client::Connection& connection, const std::string& name) {
  const auto parsed = shell::parse_table_name(name);
  if (!parsed) return base::fail(usage(fmt::format("'{}' is not KEYSPACE.TABLE", name)));
  TableInfo table{parsed->keyspace, parsed->table};
  const types::ValueView values[] = {types::ValueView::of(table.keyspace), types::ValueView::of(table.name)};
  SIBYL_ASSIGN(client::Result found,
               connection.query("SELECT column_name, kind, position, type FROM system_schema.columns WHERE "
                                "keyspace_name = ? AND table_name = ?",
                                values));
  SIBYL_ASSIGN(const auto is_hidden, hidden_columns(connection, table));
  std::map<std::pair<int, int32_t>, std::string> keys;  // key columns by their kind and position
  std::vector<std::string> others;
  for (client::Row row; found.next(row);) {
    const std::string column(row[0].value_or("")), kind(row[1].value_or(""));
    if (is_hidden(kind, row[3].value_or(""))) continue;
    table.is_counter = table.is_counter || row[3].value_or("") == "counter";
    const int32_t position =
        row[2] ? static_cast<int32_t>(types::decode_integer(types::Kind::int_, *row[2])) : -1;
    if (kind == "partition_key") table.partition_key.push_back("");
    if (kind == "partition_key" || kind == "clustering")
      keys[{kind == "clustering" ? 1 : 0, position}] = column;
    else
      others.push_back(column);
  }
  if (keys.empty())
    return base::fail(usage(fmt::format("There is no table {}.{}", table.keyspace, table.name)));
  for (const auto& [place, column] : keys) {
    if (place.first == 0) table.partition_key[static_cast<size_t>(place.second)] = column;
    table.primary_key.push_back(column);
  }
  table.columns = table.primary_key;
  table.columns.insert(table.columns.end(), others.begin(), others.end());
  return table;
}

base::Result<std::vector<std::string>> choose_columns(const TableInfo& table, const std::string& names) {
  if (names.empty()) return table.columns;
  std::vector<std::string> chosen;
  for (size_t begin = 0; begin <= names.size();) {
    const size_t end = std::min(names.find(',', begin), names.size());
    std::string name = names.substr(begin, end - begin);
    while (name.starts_with(' ')) name.erase(0, 1);
    while (name.ends_with(' ')) name.pop_back();
    if (name.size() > 2 && name.front() == '"' && name.back() == '"') name = name.substr(1, name.size() - 2);
    if (std::find(table.columns.begin(), table.columns.end(), name) == table.columns.end())
      return base::fail(usage(fmt::format("{} has no column '{}'", table.quoted_name(), name)));
    if (std::find(chosen.begin(), chosen.end(), name) != chosen.end())
      return base::fail(usage(fmt::format("Column '{}' is given twice", name)));
    chosen.push_back(std::move(name));
    begin = end + 1;
  }
  return chosen;
}

std::string quoted_list(const std::vector<std::string>& names) {
  std::string out;
  for (const std::string& name : names) out += (out.empty() ? "" : ", ") + types::quote_identifier(name);
  return out;
}

base::Status write_all(int file, const std::string& path, std::string_view bytes) {
  if (const int error = base::write_all(file, bytes); error != 0)
    return base::fail(base::file_error("write", path, error));
  return {};
}

// --- The journal: lines of the form "name value"

base::Result<Journal> Journal::open(std::string path, std::string what, bool restart) {
  std::replace(what.begin(), what.end(), '\n', ' ');  // the text must be one line
  Journal journal;
  journal.path_ = std::move(path);
  if (journal.path_.empty()) return journal;
  SIBYL_ASSIGN(const std::string text, read_own_file(journal.path_));
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    const size_t space = line.find(' ');
    if (space != std::string::npos) journal.facts_[line.substr(0, space)] = line.substr(space + 1);
  }
  if (!text.empty() && journal.get("run").empty())
    return base::fail(usage(fmt::format("{} already exists and is not a journal", journal.path_))
                          .with_hint("name another file with --journal"));
  if (restart) {
    SIBYL_TRY(remove_own_file(journal.path_));
    journal.facts_.clear();
  }
  if (!journal.facts_.empty() && journal.get("run") != what)
    return base::fail(
        usage(fmt::format("{} is the journal of another run ({})", journal.path_, journal.get("run")))
            .with_hint("use the same options to resume that run, or --restart to start from the beginning"));
  journal.is_resumed_ = !journal.facts_.empty();
  journal.set("run", what);
  return journal;
}

std::string Journal::get(const std::string& name) const {
  const auto found = facts_.find(name);
  return found == facts_.end() ? "" : found->second;
}

uint64_t Journal::number(const std::string& name) const {
  const std::string text = get(name);
  return text.empty() ? 0 : std::strtoull(text.c_str(), nullptr, 10);
}

base::Status Journal::save() {
  if (path_.empty()) return {};
  std::string text;
  for (const auto& [name, value] : facts_) text += name + " " + value + "\n";
  const std::string unfinished = path_ + ".new";
  {
    SIBYL_ASSIGN(const base::File file, replace_own_file(unfinished));
    SIBYL_TRY(write_all(file.number(), unfinished, text));
    if (::fdatasync(file.number()) != 0) return base::fail(base::file_error("sync", unfinished, errno));
  }
  if (::rename(unfinished.c_str(), path_.c_str()) != 0)
    return base::fail(base::file_error("write", path_, errno));
  return {};
}

void Journal::remove() {
  if (!path_.empty()) ::unlink(path_.c_str());
}

// --- Progress

Progress::Progress(std::string what, bool quiet)
    : what_(std::move(what)),
      is_quiet_(quiet),
      is_terminal_(isatty(STDERR_FILENO) != 0),
      begin_(Clock::now()),
      next_(begin_ + (is_terminal_ ? std::chrono::milliseconds(100) : std::chrono::milliseconds(5'000))) {}

void Progress::update(uint64_t done, uint64_t total, uint64_t rows, uint64_t bytes) {
  const base::MutexLock lock(mutex_);
  if (!first_done_) first_done_ = done;
  const auto now = Clock::now();
  if (is_quiet_ || now < next_) return;
  next_ = now + (is_terminal_ ? std::chrono::milliseconds(200) : std::chrono::milliseconds(10'000));
  const double seconds = std::chrono::duration<double>(now - begin_).count();
  std::string text =
      fmt::format("{} {} rows, {} rows/s, {:.1f} MB/s", what_, rows,
                  rate_text(static_cast<double>(rows) / seconds), static_cast<double>(bytes) / seconds / 1e6);
  if (total > 0) {
    const double share = static_cast<double>(done) / static_cast<double>(total);
    const double gained = static_cast<double>(done - *first_done_);
    if (gained > 0)
      text += fmt::format(", {} left", duration_text(static_cast<double>(total - done) / gained * seconds));
    constexpr size_t width = 24;
    std::string bar(static_cast<size_t>(share * width), '#');
    bar.resize(width, '.');
    text = is_terminal_ ? fmt::format("[{}] {:3.0f}% {}", bar, share * 100, text)
                        : fmt::format("{:.0f}% {}", share * 100, text);
  }
  has_bar_ = is_terminal_;
  if (is_terminal_)
    fmt::print(stderr, "\r{}\033[K", text.substr(0, static_cast<size_t>(shell::terminal_width()) - 1));
  else
    fmt::print(stderr, "{}\n", text);
  std::fflush(stderr);
}

void Progress::finish(const std::string& summary) {
  const base::MutexLock lock(mutex_);
  if (has_bar_) fmt::print(stderr, "\r\033[K");
  if (!is_quiet_) fmt::print(stderr, "{}\n", summary);
}

std::string rate_text(double per_second) {
  if (per_second < 10'000) return fmt::format("{:.0f}", per_second);
  return fmt::format("{:.0f}k", per_second / 1000);
}

int refuse(const char* command, const base::Error& error) {
  return cli::refuse(command, exit_refused, error);
}

}  // namespace sibyl::cli::copy
