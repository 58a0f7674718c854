// Sends the writes of rows to the target over one connection, with many rows in flight.
//
// All writes of a row are one statement or one unlogged batch, so that a row is written as a whole. Writes
// that fail because the target is busy, or the connection is lost, are repeated; this has no effect if they
// were executed after all, because their write times are the same. Writes of lists and counters are built
// again before they are repeated, from the target's present data. Not thread-safe.
#pragma once

#include <atomic>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/migrate/row_writes.h"
#include "client/connection.h"

namespace sibyl::cli::migrate {

// The rows that writes were made from, which must live until all of them are acknowledged.
class WriteSource {
 public:
  virtual ~WriteSource() = default;
  // The key of a row, for reports: "shop.orders id = 7".
  virtual std::string describe(size_t row) const = 0;
  // Markers of the target's read statement, for rows whose writes depend on the target's data; otherwise
  // empty.
  virtual std::vector<types::ValueView> target_key(size_t row) const = 0;
  virtual base::Result<RowWrites> make(size_t row, const client::Row& target) const = 0;

  size_t pending =
      0;  // number of rows that were submitted and are neither acknowledged nor rejected; set by the writer
};

struct WriterOptions {
  client::Options server;
  client::Consistency consistency = client::Consistency::local_quorum;
  unsigned window = 512;  // rows in flight
  // Called when a row cannot be written at all. An error ends the run.
  std::function<base::Status(const std::string& row, const std::string& reason)> reject;
  const std::atomic<bool>* stop = nullptr;  // set when another thread has failed; then retries end
};

class TargetWriter {
 public:
  explicit TargetWriter(WriterOptions options) : options_(std::move(options)) {}

  // Chooses the statements for the following rows. REQUIRES: no row is in flight. The arguments must outlive
  // the writes of these rows.
  base::Status use(const std::vector<std::string>& statements, const std::string& read_statement);
  // Reads one row per key with the read statement. Returns an empty row if the target has none.
  struct TargetRow {
    std::vector<std::optional<base::Bytes>> values;
    client::Row view() const { return {values.begin(), values.end()}; }
  };
  base::Result<std::vector<TargetRow>> read(const std::vector<std::vector<types::ValueView>>& keys);
  // Blocks while the window is full. `now_seconds` replaces the target's clock (protocol v5).
  base::Status submit(std::shared_ptr<WriteSource> source, size_t row, RowWrites writes,
                      std::optional<int32_t> now_seconds = std::nullopt);
  // Blocks until every row is acknowledged.
  base::Status drain();

 private:
  struct InFlight {
    std::shared_ptr<WriteSource> source;
    size_t row = 0;
    RowWrites writes;
    std::optional<int32_t> now_seconds;
    client::Connection::Ticket ticket;
    bool is_sent = false;
    int attempts = 0;
  };

  base::Status connect();
  base::Status prepare_all();
  base::Status send(InFlight& request);
  // Sends a row with too many writes for one batch, one batch after another.
  base::Status send_chunks(const InFlight& request);
  base::Result<client::Connection::Ticket> start(const InFlight& request, size_t begin, size_t end);
  base::Status finish_oldest();
  // Sends the oldest row again, after a pause that grows with its attempts.
  base::Status repeat_oldest(const base::Error& why);
  base::Status resend_all();
  base::Status complete_oldest(const std::optional<std::string>& reason);
  base::Result<std::vector<TargetRow>> try_read(const std::vector<std::vector<types::ValueView>>& keys);
  client::StatementOptions statement_options(const InFlight& request) const;

  WriterOptions options_;
  std::unique_ptr<client::Connection> connection_;
  const std::vector<std::string>* statements_ = nullptr;
  const std::string* read_statement_ = nullptr;
  std::vector<client::Prepared> prepared_;
  std::optional<client::Prepared> prepared_read_;
  std::deque<InFlight> in_flight_;
};

// True if the same request may succeed later.
bool is_transient(base::ErrorCode code);
// Sleeps before the next attempt: 20 ms before the first one, twice as long before each further one, at most
// five seconds.
void pause_before_attempt(int attempt);
// The attempts of one request, which together take about two minutes.
inline constexpr int max_attempts = 40;

}  // namespace sibyl::cli::migrate
