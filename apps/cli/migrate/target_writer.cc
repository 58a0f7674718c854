#include "cli/migrate/target_writer.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <thread>

namespace sibyl::cli::migrate {
namespace {

constexpr size_t max_batch_statements = 1000;
constexpr size_t max_batch_bytes = 1 << 20;
constexpr size_t max_reads_in_flight = 256;

size_t size_of(const Write& write) {
  size_t bytes = 0;
  for (const types::ValueView& value : write.values) bytes += value.bytes.size();
  return bytes;
}

// Returns the end of the batch that begins with this write.
size_t batch_end(const std::vector<Write>& writes, size_t begin) {
  size_t bytes = 0, end = begin;
  while (end < writes.size() && end - begin < max_batch_statements) {
    bytes += size_of(writes[end]);
    if (end > begin && bytes > max_batch_bytes) break;
    ++end;
  }
  return end;
}

}  // namespace

bool is_transient(base::ErrorCode code) {
  switch (code) {
    case base::ErrorCode::overloaded:
    case base::ErrorCode::unavailable:
    case base::ErrorCode::bootstrapping:
    case base::ErrorCode::write_timeout:
    case base::ErrorCode::write_failure:
    case base::ErrorCode::read_timeout:
    case base::ErrorCode::read_failure:
    case base::ErrorCode::unprepared:
      return true;
    default:
      return false;
  }
}

void pause_before_attempt(int attempt) {
  std::this_thread::sleep_for(std::chrono::milliseconds(std::min(20 << std::min(attempt, 8), 5'000)));
}

base::Status TargetWriter::use(const std::vector<std::string>& statements,
                               const std::string& read_statement) {
  statements_ = &statements;
  read_statement_ = &read_statement;
  if (connection_ == nullptr || !connection_->is_connected()) return connect();
  return prepare_all();
}

base::Status TargetWriter::prepare_all() {
  prepared_.clear();
  prepared_read_.reset();
  for (const std::string& statement : *statements_) {
    SIBYL_ASSIGN(client::Prepared prepared, connection_->prepare(statement));
    prepared_.push_back(std::move(prepared));
  }
  if (read_statement_->empty()) return {};
  SIBYL_ASSIGN(prepared_read_, connection_->prepare(*read_statement_));
  return {};
}

base::Status TargetWriter::connect() {
  base::Error last(base::ErrorCode::server, "");
  for (int attempt = 0; attempt < max_attempts && !(options_.stop != nullptr && *options_.stop); ++attempt) {
    auto connection = client::Connection::connect(options_.server);
    if (connection) {
      connection_ = std::move(*connection);
      const base::Status prepared = prepare_all();
      if (prepared) return {};
      last = prepared.error();
      if (connection_->is_connected() && !is_transient(last.code())) break;
    } else {
      last = connection.error();
      if (last.code() == base::ErrorCode::bad_credentials) break;
    }
    pause_before_attempt(attempt);
  }
  return base::fail(last);
}

client::StatementOptions TargetWriter::statement_options(const InFlight& request) const {
  client::StatementOptions options;
  options.consistency = options_.consistency;
  options.now_seconds = request.now_seconds;
  return options;
}

base::Result<client::Connection::Ticket> TargetWriter::start(const InFlight& request, size_t begin,
                                                             size_t end) {
  const client::StatementOptions options = statement_options(request);
  const std::vector<Write>& writes = request.writes.writes;
  if (end - begin == 1)
    return connection_->start_execute(prepared_[writes[begin].statement], writes[begin].values, options);
  std::vector<client::BatchStatement> statements;
  for (size_t i = begin; i < end; ++i)
    statements.push_back({{}, &prepared_[writes[i].statement], writes[i].values});
  return connection_->start_batch(protocol::Batch::Kind::unlogged, statements, options);
}

base::Status TargetWriter::send_chunks(const InFlight& request) {
  const size_t count = request.writes.writes.size();
  for (size_t begin = 0; begin < count;) {
    const size_t end = batch_end(request.writes.writes, begin);
    SIBYL_ASSIGN(const client::Connection::Ticket ticket, start(request, begin, end));
    SIBYL_TRY(connection_->finish(ticket));
    begin = end;
  }
  return {};
}

base::Status TargetWriter::send(InFlight& request) {
  const size_t count = request.writes.writes.size();
  request.is_sent = false;
  if (batch_end(request.writes.writes, 0) < count) return send_chunks(request);
  SIBYL_ASSIGN(request.ticket, start(request, 0, count));
  request.is_sent = true;
  return {};
}

base::Status TargetWriter::submit(std::shared_ptr<WriteSource> source, size_t row, RowWrites writes,
                                  std::optional<int32_t> now_seconds) {
  if (writes.writes.empty()) return {};
  while (in_flight_.size() >= options_.window) SIBYL_TRY(finish_oldest());
  // A row that takes several batches is sent alone.
  const bool is_large = batch_end(writes.writes, 0) < writes.writes.size();
  if (is_large) SIBYL_TRY(drain());
  ++source->pending;
  InFlight& request = in_flight_.emplace_back();
  request.source = std::move(source);
  request.row = row;
  request.writes = std::move(writes);
  request.now_seconds = now_seconds;
  if (is_large) return finish_oldest();
  const base::Status sent = send(request);
  if (sent || !connection_->is_connected()) return sent ? sent : resend_all();
  return sent;
}

base::Status TargetWriter::finish_oldest() {
  InFlight& request = in_flight_.front();
  const bool is_whole = batch_end(request.writes.writes, 0) >= request.writes.writes.size();
  base::Status outcome = {};
  if (!is_whole) {
    outcome = send_chunks(request);
  } else if (const auto answer = connection_->finish(request.ticket); !answer) {
    outcome = base::fail(answer.error());
  }
  if (outcome) return complete_oldest(std::nullopt);
  const base::Error error = outcome.error();
  if (!connection_->is_connected() || is_transient(error.code())) return repeat_oldest(error);
  return complete_oldest(error.message());
}

base::Status TargetWriter::complete_oldest(const std::optional<std::string>& reason) {
  const InFlight request = std::move(in_flight_.front());
  in_flight_.pop_front();
  --request.source->pending;
  return reason ? options_.reject(request.source->describe(request.row), *reason) : base::Status();
}

base::Status TargetWriter::repeat_oldest(const base::Error& why) {
  InFlight& request = in_flight_.front();
  if (++request.attempts >= max_attempts || (options_.stop != nullptr && *options_.stop))
    return base::fail(why);
  pause_before_attempt(request.attempts);
  if (!connection_->is_connected()) return resend_all();
  if (why.code() == base::ErrorCode::unprepared) SIBYL_TRY(prepare_all());
  const std::vector<types::ValueView> key = request.source->target_key(request.row);
  if (!key.empty()) {
    SIBYL_ASSIGN(const std::vector<TargetRow> target, try_read({key}));
    SIBYL_ASSIGN(request.writes, request.source->make(request.row, target.front().view()));
    if (request.writes.writes.empty()) return complete_oldest(std::nullopt);
  }
  const base::Status sent = send(request);
  return sent || connection_->is_connected() ? sent : resend_all();
}

// After the connection was lost, any of the rows in flight may or may not have been written.
base::Status TargetWriter::resend_all() {
  for (int attempt = 0; attempt < max_attempts; ++attempt) {
    SIBYL_TRY(connect());
    base::Status sent = {};
    for (size_t i = 0; i < in_flight_.size() && sent;) {
      InFlight& request = in_flight_[i];
      if (const auto key = request.source->target_key(request.row); !key.empty()) {
        const auto target = try_read({key});
        if (!target) {
          sent = base::fail(target.error());
          break;
        }
        SIBYL_ASSIGN(request.writes, request.source->make(request.row, target->front().view()));
      }
      if (request.writes.writes.empty()) {
        --request.source->pending;
        in_flight_.erase(in_flight_.begin() + static_cast<std::ptrdiff_t>(i));
        continue;
      }
      if (batch_end(request.writes.writes, 0) >= request.writes.writes.size()) sent = send(request);
      ++i;
    }
    if (sent) return {};
    if (connection_->is_connected() && !is_transient(sent.error().code())) return sent;
    pause_before_attempt(attempt);
  }
  return base::fail(base::ErrorCode::server, "the target does not stay connected");
}

base::Status TargetWriter::drain() {
  while (!in_flight_.empty()) SIBYL_TRY(finish_oldest());
  return {};
}

base::Result<std::vector<TargetWriter::TargetRow>> TargetWriter::try_read(
    const std::vector<std::vector<types::ValueView>>& keys) {
  std::vector<TargetRow> rows(keys.size());
  client::StatementOptions options;
  options.consistency = options_.consistency;
  std::deque<client::Connection::Ticket> tickets;
  size_t finished = 0;
  const auto finish_one = [&]() -> base::Status {
    SIBYL_ASSIGN(client::Result answer, connection_->finish(tickets.front()));
    tickets.pop_front();
    client::Row row;
    if (answer.next(row)) rows[finished].values.assign(row.begin(), row.end());
    ++finished;
    return {};
  };
  for (const auto& key : keys) {
    if (tickets.size() >= max_reads_in_flight) SIBYL_TRY(finish_one());
    SIBYL_ASSIGN(const client::Connection::Ticket ticket,
                 connection_->start_execute(*prepared_read_, key, options));
    tickets.push_back(ticket);
  }
  while (!tickets.empty()) SIBYL_TRY(finish_one());
  return rows;
}

base::Result<std::vector<TargetWriter::TargetRow>> TargetWriter::read(
    const std::vector<std::vector<types::ValueView>>& keys) {
  // The rows in flight may include the ones to be read.
  SIBYL_TRY(drain());
  for (int attempt = 0;; ++attempt) {
    auto rows = try_read(keys);
    if (rows) return rows;
    const base::Error error = rows.error();
    const bool is_hopeless = connection_->is_connected() && !is_transient(error.code());
    if (is_hopeless || attempt + 1 >= max_attempts || (options_.stop != nullptr && *options_.stop))
      return base::fail(error);
    pause_before_attempt(attempt);
    SIBYL_TRY(connect());
  }
}

}  // namespace sibyl::cli::migrate
