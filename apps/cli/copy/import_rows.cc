#include "cli/copy/import_rows.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <thread>
#include <utility>

#include "base/file.h"
#include "base/mutex.h"
#include "cli/copy/kept.h"
#include "cli/copy/value.h"

namespace sibyl::cli::copy {
namespace {

constexpr size_t max_queued = 8;
constexpr auto save_pause = std::chrono::milliseconds(200);
constexpr int max_write_attempts = 40;  // The attempts of one write, which together take about two minutes.

// Appends to a file and returns its new size. The data is on the device afterwards, because the journal
// relies on it.
base::Result<uint64_t> append(const std::string& path, const std::string& text) {
  SIBYL_ASSIGN(const base::File file, open_own_file(path, O_WRONLY | O_CREAT | O_APPEND));
  SIBYL_TRY(write_all(file.number(), path, text));
  if (::fdatasync(file.number()) != 0) return base::fail(base::file_error("sync", path, errno));
  return static_cast<uint64_t>(::lseek(file.number(), 0, SEEK_END));
}

// Truncates the file to the size in the journal. Rows beyond it will be rejected again.
base::Status cut(const std::string& path, uint64_t size) {
  if (size == 0) return remove_own_file(path);
  SIBYL_ASSIGN(const base::File file, open_own_file(path, O_WRONLY));
  struct stat status{};
  if (::fstat(file.number(), &status) != 0) return base::fail(base::file_error("resume with", path, errno));
  if (static_cast<uint64_t>(status.st_size) < size)
    return base::fail(
        base::Error(base::ErrorCode::invalid,
                    fmt::format("{} has {} bytes, but the journal expects {}", path, status.st_size, size))
            .with_hint("rejected rows are missing from it; use --restart to start from the beginning"));
  if (::ftruncate(file.number(), static_cast<off_t>(size)) != 0)
    return base::fail(base::file_error("resume with", path, errno));
  return {};
}

// Returns true if the same write may succeed later.
bool is_transient(base::ErrorCode code) {
  switch (code) {
    case base::ErrorCode::overloaded:
    case base::ErrorCode::unavailable:
    case base::ErrorCode::bootstrapping:
    case base::ErrorCode::write_timeout:
    case base::ErrorCode::write_failure:
      return true;
    default:
      return false;
  }
}

std::chrono::milliseconds pause_before(int attempt) {
  return std::chrono::milliseconds(std::min(20 << std::min(attempt, 8), 5'000));
}

}  // namespace

std::string reasons_path(const std::string& rejected) {
  return rejected + ".reasons";
}

// --- ImportState

ImportState::ImportState(const ImportOptions& options, Journal journal, Progress& progress,
                         std::string rejected_path, uint64_t total_bytes)
    : options_(options),
      journal_(std::move(journal)),
      progress_(progress),
      rejected_path_(std::move(rejected_path)),
      total_bytes_(total_bytes) {
  begin_bytes_ = bytes_ = journal_.number("bytes");
  written_ = journal_.number("written");
  rejected_ = journal_.number("rejected");
  for (const auto& [path, fact] : {std::pair(rejected_path_, "rejected_bytes"),
                                   std::pair(reasons_path(rejected_path_), "reasons_bytes")})
    if (const base::Status ready = cut(path, journal_.number(fact)); !ready) error_ = ready.error();
}

bool ImportState::push(PiecePtr piece) {
  const base::MutexLock lock(mutex_);
  while (queue_.size() >= max_queued && !error_) changed_.wait(mutex_);
  if (error_) return false;
  queue_.push_back(std::move(piece));
  changed_.notify_all();
  return true;
}

void ImportState::end_of_file() {
  const base::MutexLock lock(mutex_);
  is_ended_ = true;
  changed_.notify_all();
}

PiecePtr ImportState::pop() {
  const base::MutexLock lock(mutex_);
  while (queue_.empty() && !is_ended_ && !error_) changed_.wait(mutex_);
  if (error_ || queue_.empty()) return nullptr;
  PiecePtr piece = std::move(queue_.front());
  queue_.pop_front();
  changed_.notify_all();
  return piece;
}

void ImportState::finish_piece(PiecePtr piece) {
  // The text is freed now, because the piece may wait long for earlier ones.
  const std::string text = std::exchange(piece->piece.text, {});
  piece->next_line =
      piece->piece.first_line + static_cast<uint64_t>(std::count(text.begin(), text.end(), '\n'));
  base::MutexLock lock(mutex_);
  done_[piece->index] = std::move(piece);
  for (auto next = done_.find(next_); next != done_.end() && !error_; next = done_.find(next_)) {
    keep(*next->second);
    done_.erase(next);
    ++next_;
  }
  if (!error_ && std::chrono::steady_clock::now() >= next_save_)
    if (const auto saved = save(); !saved) error_ = saved.error();
  if (error_) changed_.notify_all();
  const uint64_t done = bytes_, rows = written_, bytes = bytes_ - begin_bytes_;
  lock.unlock();
  progress_.update(done, total_bytes_, rows, bytes);
}

// Handles the next piece in file order: writes its rejected rows to their file.
void ImportState::keep(const PieceWork& piece) {
  written_ += piece.written;
  rejected_ += piece.rejected.size();
  bytes_ = piece.piece.end;
  journal_.set("line", std::to_string(piece.next_line));
  if (piece.rejected.empty()) return;
  std::string records, reasons;
  for (const Rejected& row : piece.rejected) {
    records += row.record;
    if (!records.ends_with('\n')) records += '\n';
    reasons += fmt::format("line {}: {}\n", row.line, row.reason);
  }
  const auto records_size = append(rejected_path_, records);
  const auto reasons_size = append(reasons_path(rejected_path_), reasons);
  if (!records_size || !reasons_size) {
    error_ = !records_size ? records_size.error() : reasons_size.error();
    return;
  }
  journal_.set("rejected_bytes", std::to_string(*records_size));
  journal_.set("reasons_bytes", std::to_string(*reasons_size));
  if (rejected_ > options_.max_errors)
    error_ =
        base::Error(base::ErrorCode::invalid,
                    fmt::format("{} rows were rejected, more than --max-errors; the last, at line {}: {}",
                                rejected_, piece.rejected.back().line, piece.rejected.back().reason))
            .with_hint(fmt::format("the rows are in {}, the reasons in {}", rejected_path_,
                                   reasons_path(rejected_path_)));
}

base::Status ImportState::save() {
  next_save_ = std::chrono::steady_clock::now() + save_pause;
  journal_.set("bytes", std::to_string(bytes_));
  journal_.set("written", std::to_string(written_));
  journal_.set("rejected", std::to_string(rejected_));
  return journal_.save();
}

void ImportState::stop(base::Error error) {
  const base::MutexLock lock(mutex_);
  if (!error_) error_ = std::move(error);
  changed_.notify_all();
}

bool ImportState::is_stopped() const {
  const base::MutexLock lock(mutex_);
  return error_.has_value();
}

std::optional<base::Error> ImportState::finish() {
  const base::MutexLock lock(mutex_);
  if (const auto saved = save(); !saved && !error_) error_ = saved.error();
  return error_;
}

// --- ImportWriter

base::Status ImportWriter::connect() {
  base::Error last(base::ErrorCode::server, "");
  for (int attempt = 0; attempt < max_write_attempts && !state_.is_stopped(); ++attempt) {
    auto connection = client::Connection::connect(server_);
    if (connection) {
      auto prepared = (*connection)->prepare(plan_.statement);
      if (prepared) {
        connection_ = std::move(*connection);
        prepared_ = std::move(*prepared);
        return {};
      }
      last = prepared.error();
      if ((*connection)->is_connected() && !is_transient(last.code())) break;
    } else {
      last = connection.error();
      if (last.code() == base::ErrorCode::bad_credentials) break;
    }
    std::this_thread::sleep_for(pause_before(attempt));
  }
  return base::fail(last);
}

void ImportWriter::run() {
  base::Status status = connect();
  while (status) {
    const PiecePtr piece = state_.pop();
    if (!piece) break;
    const auto records = std::exchange(piece->records, {});
    if (piece->open == 0) state_.finish_piece(piece);
    for (const auto& [line, record] : records) {
      while (status && in_flight_.size() >= window_) status = finish_oldest();
      if (!status) break;
      status = send({piece, line, record, {}, 0});
    }
  }
  while (status && !in_flight_.empty()) status = finish_oldest();
  if (!status) state_.stop(status.error());
}

base::Status ImportWriter::convert(std::string_view record) {
  bytes_.clear();
  values_.clear();
  while (record.ends_with('\n') || record.ends_with('\r')) record.remove_suffix(1);
  if (plan_.dialect.is_json) {
    bytes_.emplace_back(record);
    values_.push_back(types::ValueView::of(bytes_.back()));
    return {};
  }
  SIBYL_ASSIGN(const std::vector<Field> fields, parse_record(plan_.dialect, record));
  if (fields.size() != plan_.columns.size())
    return base::invalid(
        fmt::format("Invalid row length {} should be {}", fields.size(), plan_.columns.size()));
  bytes_.resize(fields.size());
  for (size_t i = 0; i < fields.size(); ++i) {
    const types::Type& type = *prepared_.markers[i].type;
    const bool is_text = type.kind() == types::Kind::text || type.kind() == types::Kind::ascii;
    const bool is_null = (fields[i].text == plan_.dialect.null && !fields[i].is_quoted) ||
                         (fields[i].text.empty() && !is_text);
    if (is_null && plan_.is_key[i])
      return base::invalid(
          fmt::format("Cannot insert null value for primary key column '{}'", plan_.columns[i]));
    if (is_null) {
      values_.push_back(plan_.write_nulls ? types::ValueView::null() : types::ValueView::unset());
      continue;
    }
    auto value = from_text(type, fields[i].text);
    if (!value) return base::invalid(fmt::format("{}: {}", plan_.columns[i], value.error().message()));
    bytes_[i] = std::move(*value);
    values_.push_back(types::ValueView::of(bytes_[i]));
  }
  return {};
}

base::Status ImportWriter::send(InFlightRow row) {
  if (const auto converted = convert(row.record); !converted) {
    complete_row(row, converted.error().message());
    return {};
  }
  client::StatementOptions options;
  if (plan_.first_timestamp)
    options.timestamp_micros = *plan_.first_timestamp + static_cast<int64_t>(row.line);
  auto ticket = connection_->start_execute(prepared_, values_, options);
  if (!ticket) return send_again(std::move(row), ticket.error());
  row.ticket = *ticket;
  in_flight_.push_back(std::move(row));
  return {};
}

base::Status ImportWriter::finish_oldest() {
  InFlightRow row = std::move(in_flight_.front());
  in_flight_.pop_front();
  const auto answer = connection_->finish(row.ticket);
  if (answer) {
    complete_row(row, std::nullopt);
    return {};
  }
  const base::Error& error = answer.error();
  if (!connection_->is_connected() || is_transient(error.code()) ||
      error.code() == base::ErrorCode::unprepared)
    return send_again(std::move(row), error);
  complete_row(row, error.message());
  return {};
}

// Sends a write again. It may have been executed already, but repeating it changes nothing.
base::Status ImportWriter::send_again(InFlightRow row, const base::Error& why) {
  if (++row.attempts > max_write_attempts || state_.is_stopped()) return base::fail(why);
  std::deque<InFlightRow> again;
  if (!connection_->is_connected() || why.code() == base::ErrorCode::unprepared) {
    again = std::exchange(in_flight_, {});  // all rows in flight on that connection
    SIBYL_TRY(connect());
  } else {
    std::this_thread::sleep_for(pause_before(row.attempts));
  }
  again.push_front(std::move(row));
  for (InFlightRow& each : again) SIBYL_TRY(send(std::move(each)));
  return {};
}

void ImportWriter::complete_row(const InFlightRow& row, const std::optional<std::string>& reason) {
  PieceWork& piece = *row.piece;
  if (reason)
    piece.rejected.push_back({row.line, std::string(row.record), *reason});
  else
    ++piece.written;
  if (--piece.open > 0) return;
  std::sort(piece.rejected.begin(), piece.rejected.end(),
            [](const Rejected& a, const Rejected& b) { return a.line < b.line; });
  state_.finish_piece(row.piece);
}

}  // namespace sibyl::cli::copy
