// `sibyl export`: writes a table to a CSV file, or to a file with one JSON object per line.
//
// The token ring is divided into ranges, which several connections read concurrently, each into its own file
// beside the output. Files of complete ranges are kept when the process ends, so that the next run reads only
// the others. At the end the files are concatenated in token order. The output file appears under its name
// only when it is complete.
#include "cli/copy/export.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <atomic>
#include <cerrno>
#include <filesystem>
#include <limits>
#include <thread>

#include "base/file.h"
#include "base/mutex.h"
#include "cli/commands.h"
#include "cli/copy/copy.h"
#include "cli/copy/kept.h"
#include "cli/copy/value.h"
#include "types/value.h"

namespace sibyl::cli::copy {
namespace {

namespace fs = std::filesystem;
constexpr const char* export_command = "export";
constexpr size_t write_bytes = 256 << 10;
constexpr int max_read_attempts = 20;
constexpr unsigned range_count = 128;  // a power of two

struct ExportOptions : CommonOptions {
  int32_t page_size = 1000;
};

// "-" is standard output.
base::File make_file(const std::string& path) {
  if (path == "-") return base::File(::dup(STDOUT_FILENO));
  return base::File(path, O_WRONLY | O_CREAT | O_TRUNC);
}

struct ExportPlan {
  Dialect dialect;
  std::vector<std::string> columns;
  std::string statement;
};

ExportPlan plan_export(const Dialect& dialect, const TableInfo& table, std::vector<std::string> columns) {
  ExportPlan plan{dialect, std::move(columns), ""};
  const std::string token = "token(" + quoted_list(table.partition_key) + ")";
  plan.statement =
      fmt::format("SELECT {}{} FROM {} WHERE {} >= ? AND {} <= ?", dialect.is_json ? "JSON " : "",
                  quoted_list(plan.columns), table.quoted_name(), token, token);
  return plan;
}

// Returns the i-th of equal parts of the ring, both ends included.
std::pair<int64_t, int64_t> range_of(unsigned i) {
  constexpr uint64_t step = std::numeric_limits<uint64_t>::max() / range_count + 1;
  constexpr uint64_t bias = uint64_t{1} << 63;
  const uint64_t first = step * i + bias;
  return {static_cast<int64_t>(first), static_cast<int64_t>(first + step - 1)};
}

// Assigns ranges in order, and journals completed ones. Thread-safe.
class ExportState {
 public:
  ExportState(Journal journal, Progress& progress, std::string parts)
      : journal_(std::move(journal)), progress_(progress), parts_(std::move(parts)) {
    for (unsigned i = 0; i < range_count; ++i) {
      if (!is_done(i)) continue;
      ++done_;
      rows_ += journal_.number(fact(i));
    }
  }

  std::string part_path(unsigned range) const { return fmt::format("{}/{:05}", parts_, range); }
  std::optional<unsigned> next() {
    const base::MutexLock lock(mutex_);
    while (next_ < range_count && is_done(next_)) ++next_;
    if (error_ || next_ >= range_count) return std::nullopt;
    return next_++;
  }
  void read(uint64_t bytes) {
    bytes_ += bytes;
    progress_.update(done_, range_count, rows(), bytes_);
  }
  // Counts the rows of a complete range, so that a range that is read again is counted once.
  void finish_range(unsigned range, uint64_t rows, uint64_t bytes) {
    constexpr auto interval = std::chrono::milliseconds(200);
    const base::MutexLock lock(mutex_);
    unsaved_.push_back({range, rows, bytes});
    new_rows_ += rows;
    ++done_;
    if (const auto now = Clock::now(); now - saved_ >= interval) {
      saved_ = now;
      save();
    }
  }
  // Saves the completed ranges, which the next run does not read again.
  void save_all() {
    const base::MutexLock lock(mutex_);
    save();
  }
  void stop(const base::Error& error) {
    const base::MutexLock lock(mutex_);
    if (!error_) error_ = error;
  }
  std::optional<base::Error> error() const {
    const base::MutexLock lock(mutex_);
    return error_;
  }
  uint64_t rows() const { return rows_ + new_rows_; }
  uint64_t bytes() const { return bytes_; }

 private:
  using Clock = std::chrono::steady_clock;
  struct Part {
    unsigned range;
    uint64_t rows, bytes;
  };

  static std::string fact(unsigned range) { return fmt::format("rows-{}", range); }
  static std::string size_fact(unsigned range) { return fmt::format("bytes-{}", range); }
  // A part is complete if it has as many bytes as the journal says, however the earlier run ended.
  bool is_done(unsigned range) const {
    if (parts_.empty() || journal_.get(fact(range)).empty() || journal_.get(size_fact(range)).empty())
      return false;
    std::error_code error;
    const auto size = fs::file_size(part_path(range), error);
    return !error && size == journal_.number(size_fact(range));
  }

  // Parts are synced to the device before the journal lists them.
  static base::Status sync(const std::string& path) {
    const base::File file(path, O_RDONLY);
    if (!file || ::fdatasync(file.number()) != 0) return base::fail(base::file_error("sync", path, errno));
    return {};
  }
  void save() SIBYL_REQUIRES(mutex_) {
    base::Status status = {};
    for (const Part& part : unsaved_) {
      if (!parts_.empty() && status) status = sync(part_path(part.range));
      journal_.set(fact(part.range), std::to_string(part.rows));
      journal_.set(size_fact(part.range), std::to_string(part.bytes));
    }
    unsaved_.clear();
    if (status) status = journal_.save();
    if (!status && !error_) error_ = status.error();
  }

  mutable base::Mutex mutex_;
  std::vector<Part> unsaved_ SIBYL_GUARDED_BY(mutex_);
  Clock::time_point saved_ SIBYL_GUARDED_BY(mutex_) = Clock::now();
  Journal journal_;
  Progress& progress_;
  // Name of the part files; empty: there are none, and output goes to standard output.
  const std::string parts_;
  unsigned next_ SIBYL_GUARDED_BY(mutex_) = 0;
  std::atomic<unsigned> done_ = 0;
  uint64_t rows_ = 0;  // number of rows that earlier runs have written
  std::atomic<uint64_t> new_rows_ = 0, bytes_ = 0;
  std::optional<base::Error> error_ SIBYL_GUARDED_BY(mutex_);
};

class ExportReader {
 public:
  ExportReader(const client::Options& server, const ExportPlan& plan, const ExportOptions& options,
               ExportState& state)
      : server_(server), plan_(plan), options_(options), state_(state) {}

  // Reads ranges into a file each, or all into `single`.
  void run(const std::optional<std::string>& single) {
    while (const auto range = state_.next()) {
      base::Status status = {};
      written_ = 0;
      for (int attempt = 0; attempt < max_read_attempts; ++attempt) {
        status = read_range(*range, single);
        // A range that was partly written to standard output cannot be read again.
        if (status || (single && written_ > 0) || !is_transient(status.error())) break;
        if (status.error().code() == base::ErrorCode::unprepared) prepared_.reset();
        std::this_thread::sleep_for(std::chrono::milliseconds(std::min(50 << attempt, 2'000)));
      }
      if (!status) return state_.stop(status.error());
    }
  }

 private:
  bool is_transient(const base::Error& error) const {
    return !connection_ || !connection_->is_connected() || error.code() == base::ErrorCode::overloaded ||
           error.code() == base::ErrorCode::read_timeout || error.code() == base::ErrorCode::unavailable ||
           error.code() == base::ErrorCode::unprepared;
  }

  base::Status connect() {
    if (!connection_ || !connection_->is_connected()) {
      prepared_.reset();
      SIBYL_ASSIGN(connection_, client::Connection::connect(server_));
    }
    if (prepared_) return {};
    SIBYL_ASSIGN(prepared_, connection_->prepare(plan_.statement));
    return {};
  }

  base::Status read_range(unsigned range, const std::optional<std::string>& single) {
    text_.clear();  // text of an earlier attempt that failed
    if (!single) written_ = 0;
    SIBYL_TRY(connect());
    const std::string path = single ? *single : state_.part_path(range) + ".new";
    const base::File file = make_file(path);
    if (!file) return base::fail(base::file_error("make", path, errno));
    const auto [first, last] = range_of(range);
    const base::Bytes begin = types::encode_int64(first), end = types::encode_int64(last);
    const types::ValueView values[] = {types::ValueView::of(begin), types::ValueView::of(end)};
    client::StatementOptions statement;
    statement.page_size = options_.page_size;
    uint64_t rows = 0;
    SIBYL_ASSIGN(client::Connection::Ticket ticket,
                 connection_->start_execute(*prepared_, values, statement));
    for (bool more = true; more;) {
      SIBYL_ASSIGN(client::Result page, connection_->finish(ticket));
      more = page.paging_state.has_value();
      // The next page is fetched while this one is written.
      if (more) {
        statement.paging_state = page.paging_state;
        SIBYL_ASSIGN(ticket, connection_->start_execute(*prepared_, values, statement));
      }
      rows += page.row_count();
      SIBYL_TRY(write_page(page, file.number(), path));
    }
    SIBYL_TRY(flush(file.number(), path));
    if (!single && ::rename(path.c_str(), state_.part_path(range).c_str()) != 0)
      return base::fail(base::file_error("make", path, errno));
    state_.finish_range(range, rows, written_);
    return {};
  }

  base::Status write_page(client::Result& page, int file, const std::string& path) {
    const size_t before = text_.size();
    for (client::Row row; page.next(row);) {
      for (size_t i = 0; i < row.size(); ++i) {
        if (i > 0) text_ += plan_.dialect.delimiter;
        if (plan_.dialect.is_json)
          text_ += row[i].value_or("");
        else
          write_field(plan_.dialect,
                      row[i] ? std::optional(to_text(*page.columns[i].type, *row[i])) : std::nullopt, text_);
      }
      text_ += '\n';
    }
    state_.read(text_.size() - before);
    return text_.size() < write_bytes ? base::Status() : flush(file, path);
  }
  base::Status flush(int file, const std::string& path) {
    // The rows are counted before they are written, because a failing write may have written a part of them.
    written_ += text_.size();
    SIBYL_TRY(write_all(file, path, text_));
    text_.clear();
    return {};
  }

  const client::Options server_;
  const ExportPlan& plan_;
  const ExportOptions& options_;
  ExportState& state_;
  std::unique_ptr<client::Connection> connection_;
  std::optional<client::Prepared> prepared_;
  std::string text_;      // the text of the range that is not written yet
  uint64_t written_ = 0;  // bytes of the range that were written; to standard output by all attempts
};

std::string header_line(const ExportPlan& plan) {
  std::string line;
  for (size_t i = 0; i < plan.columns.size(); ++i) {
    if (i > 0) line += plan.dialect.delimiter;
    write_field(plan.dialect, plan.columns[i], line);
  }
  return line + "\n";
}

base::Status append_file(const std::string& from, int to, const std::string& to_path) {
  const base::File file(from, O_RDONLY);
  if (!file) return base::fail(base::file_error("open", from, errno));
  std::string buffer(write_bytes, '\0');
  for (;;) {
    const ssize_t got = ::read(file.number(), buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return base::fail(base::file_error("read", from, errno));
    if (got == 0) return {};
    SIBYL_TRY(write_all(to, to_path, {buffer.data(), static_cast<size_t>(got)}));
  }
}

// Users who may read the replaced file may also read the new one.
void keep_mode(const std::string& replaced, int file) {
  struct stat status{};
  if (::stat(replaced.c_str(), &status) != 0) return;
  // If this is not permitted, the default mode stays.
  if (::fchown(file, status.st_uid, status.st_gid) != 0) return;
  (void)::fchmod(file, status.st_mode & 07777);
}

// Concatenates the parts. They are kept until the output is complete and renamed, so that nothing must be
// read again if this is interrupted. Parts and output together take twice the space of the table.
base::Status join_parts(const ExportOptions& options, const ExportPlan& plan, const ExportState& state,
                        const std::string& parts) {
  const std::string path = options.file + ".new";
  {
    SIBYL_ASSIGN(const base::File file, replace_own_file(path));
    keep_mode(options.file, file.number());
    if (options.header && !plan.dialect.is_json) SIBYL_TRY(write_all(file.number(), path, header_line(plan)));
    for (unsigned i = 0; i < range_count; ++i)
      SIBYL_TRY(append_file(state.part_path(i), file.number(), path));
    if (::fsync(file.number()) != 0 && errno != EINVAL)
      return base::fail(base::file_error("sync", path, errno));
  }
  if (::rename(path.c_str(), options.file.c_str()) != 0)
    return base::fail(base::file_error("make", options.file, errno));
  std::error_code ignored;
  SIBYL_TRY(base::sync_path(fs::absolute(options.file, ignored).parent_path().string()));
  fs::remove_all(parts, ignored);
  return {};
}

// Resolves links, and checks that the directory exists. A device or pipe is opened as standard output, which
// replaces it from here on.
base::Status find_target(ExportOptions& options) {
  if (options.file == "-") return {};
  std::error_code error;
  for (int links = 0; fs::is_symlink(options.file, error) && links < 40; ++links) {
    const fs::path target = fs::read_symlink(options.file, error);
    options.file = (fs::path(options.file).parent_path() / target).string();
  }
  if (fs::is_directory(options.file, error))
    return base::fail(base::file_error("write", options.file, EISDIR));
  if (is_stream(options.file)) {
    const base::File file(options.file, O_WRONLY);
    if (!file || ::dup2(file.number(), STDOUT_FILENO) < 0)
      return base::fail(base::file_error("write", options.file, errno));
    options.file = "-";
    return {};
  }
  const fs::path directory = fs::absolute(options.file, error).parent_path();
  if (!fs::is_directory(directory, error)) return base::fail(base::file_error("write", options.file, ENOENT));
  return {};
}

int run_export(ExportOptions options) {
  if (options.format.empty()) options.format = format_of(options.file);
  if (const auto found = find_target(options); !found) return refuse(export_command, found.error());
  const bool is_stream = options.file == "-";
  if (is_stream) options.jobs = 1;
  const auto server = server_of(options);
  if (!server) return refuse(export_command, server.error());
  const auto dialect = dialect_of(options);
  if (!dialect) return refuse(export_command, dialect.error());
  auto connection = connect(*server);
  if (!connection) return refuse(export_command, connection.error());
  const auto table = find_table(**connection, options.table);
  if (!table) return refuse(export_command, table.error());
  auto columns = choose_columns(*table, options.columns);
  if (!columns) return refuse(export_command, columns.error());
  const ExportPlan plan = plan_export(*dialect, *table, std::move(*columns));
  if (const auto known = (*connection)->prepare(plan.statement); !known)
    return refuse(export_command, known.error());

  const std::string parts = is_stream ? "" : options.file + ".parts";
  std::error_code error;
  if (options.restart && !is_stream) fs::remove_all(parts, error);
  if (!is_stream)
    if (const auto made = make_own_directory(parts); !made) return refuse(export_command, made.error());
  auto journal = Journal::open(
      is_stream ? "" : parts + "/journal",
      fmt::format("{} {} in {} ranges", plan.statement, run_text(options, *server, *dialect), range_count),
      options.restart);
  if (!journal) return refuse(export_command, journal.error());

  const auto begin = std::chrono::steady_clock::now();
  Progress progress("exported", options.quiet);
  ExportState state(std::move(*journal), progress, parts);
  state.save_all();  // assigns the part files to this run
  if (is_stream && options.header && !dialect->is_json)
    if (const auto written = write_all(STDOUT_FILENO, "-", header_line(plan)); !written)
      state.stop(written.error());
  const std::optional<std::string> single = is_stream ? std::optional<std::string>("-") : std::nullopt;
  std::vector<std::thread> readers;
  for (unsigned i = 0; i < options.jobs; ++i)
    readers.emplace_back([&] { ExportReader(*server, plan, options, state).run(single); });
  for (std::thread& reader : readers) reader.join();
  auto stopped = state.error();
  if (!stopped && !is_stream)
    if (const auto made = join_parts(options, plan, state, parts); !made) stopped = made.error();
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  if (stopped) {
    state.save_all();
    progress.finish(fmt::format("stopped after {} rows", state.rows()));
    refuse(export_command, *stopped);
    if (!is_stream) fmt::print(stderr, "Run the same command again to resume.\n");
    return exit_stopped;
  }
  progress.finish(fmt::format("exported {} rows in {:.1f} s ({} rows/s, {:.1f} MB/s)", state.rows(), seconds,
                              rate_text(static_cast<double>(state.rows()) / std::max(seconds, 1e-3)),
                              static_cast<double>(state.bytes()) / std::max(seconds, 1e-3) / 1e6));
  return 0;
}

}  // namespace
}  // namespace sibyl::cli::copy

namespace sibyl::cli {

void add_export_command(CLI::App& app) {
  auto options = std::make_shared<copy::ExportOptions>();
  CLI::App* command = app.add_subcommand("export", "Write the rows of a table to a CSV or JSON file");
  copy::add_common_options(*command, *options);
  command->add_option("--page-size", options->page_size, "Rows fetched at a time")
      ->check(CLI::Range(1, 100'000))
      ->capture_default_str();
  command->footer(
      "Exit status: 0 done, 2 wrong usage or no connection, 3 stopped; run the same command again to "
      "resume.");
  command->callback([options] {
    if (const int status = copy::run_export(*options); status != 0) throw CLI::RuntimeError(status);
  });
}

}  // namespace sibyl::cli
