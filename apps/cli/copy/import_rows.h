// Parts of an import: pieces of the file, the state shared by reader and writers, and the writers.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/mutex.h"
#include "cli/copy/copy.h"
#include "cli/copy/csv.h"
#include "cli/copy/import.h"
#include "client/connection.h"

namespace sibyl::cli::copy {

// Returns the path of the file that says why each row in the file `rejected` was rejected.
std::string reasons_path(const std::string& rejected);

struct Rejected {
  uint64_t line = 0;
  std::string record;
  std::string reason;
};

// A piece of the file that is being imported.
struct PieceWork {
  uint64_t index = 0;
  RecordFile::Piece piece;
  uint64_t next_line = 0;  // the line after the piece; set when it is finished
  // Lines and texts of records, until a writer takes them.
  std::vector<std::pair<uint64_t, std::string_view>> records;
  size_t open = 0;  // records that are neither written nor rejected yet
  uint64_t written = 0;
  std::vector<Rejected> rejected;
};
using PiecePtr = std::shared_ptr<PieceWork>;

// State shared by the reader and the writers. Thread-safe.
class ImportState {
 public:
  ImportState(const ImportOptions& options, Journal journal, Progress& progress, std::string rejected_path,
              uint64_t total_bytes);

  // Blocks while the queue is full. Returns false if the import has stopped.
  bool push(PiecePtr piece);
  void end_of_file();
  // Blocks until a piece is available. Returns nullptr if there is no more work.
  PiecePtr pop();
  // Called when every record of the piece has been written or rejected. Frees its text.
  void finish_piece(PiecePtr piece);
  void stop(base::Error error);
  bool is_stopped() const;

  // Saves the final state. REQUIRES: all writers have ended. Returns the error that stopped the import, if
  // any.
  std::optional<base::Error> finish();
  uint64_t written() const { return written_; }
  uint64_t rejected() const { return rejected_; }
  Journal& journal() { return journal_; }

 private:
  void keep(const PieceWork& piece) SIBYL_REQUIRES(mutex_);
  base::Status save() SIBYL_REQUIRES(mutex_);

  const ImportOptions& options_;
  Journal journal_;
  Progress& progress_;
  const std::string rejected_path_;
  const uint64_t total_bytes_;

  mutable base::Mutex mutex_;
  base::CondVar changed_;
  std::deque<PiecePtr> queue_ SIBYL_GUARDED_BY(mutex_);
  bool is_ended_ SIBYL_GUARDED_BY(mutex_) = false;
  std::optional<base::Error> error_ SIBYL_GUARDED_BY(mutex_);
  std::map<uint64_t, PiecePtr> done_ SIBYL_GUARDED_BY(mutex_);  // finished pieces that wait for earlier ones
  // Number of the next piece: all pieces before it are finished.
  uint64_t next_ SIBYL_GUARDED_BY(mutex_) = 0;
  uint64_t begin_bytes_ = 0, bytes_ = 0, written_ = 0, rejected_ = 0;
  std::chrono::steady_clock::time_point next_save_;
};

// The statement that writes a record, and how it is bound.
struct ImportPlan {
  Dialect dialect;
  std::vector<std::string> columns;  // CSV
  std::vector<bool> is_key;          // CSV: true for each column of the primary key
  std::string statement;
  bool write_nulls = false;
  // The write timestamp of a row is this plus its line number. So if several rows have the same key, the last
  // one wins in whatever order they arrive, and a repeated write is identical. Not set: the statement sets
  // the timestamp.
  std::optional<int64_t> first_timestamp;
};

// Writes pieces over one connection until no pieces are left.
class ImportWriter {
 public:
  ImportWriter(const client::Options& server, const ImportPlan& plan, unsigned window, ImportState& state)
      : server_(server), plan_(plan), window_(window), state_(state) {}
  void run();

 private:
  struct InFlightRow {
    PiecePtr piece;
    uint64_t line = 0;
    std::string_view record;
    client::Connection::Ticket ticket;
    int attempts = 0;
  };

  base::Status connect();
  // Computes the bound values of a record, or returns the reason for its rejection.
  base::Status convert(std::string_view record);
  base::Status send(InFlightRow row);
  base::Status finish_oldest();
  base::Status send_again(InFlightRow row, const base::Error& why);
  void complete_row(const InFlightRow& row, const std::optional<std::string>& reason);

  const client::Options server_;
  const ImportPlan& plan_;
  const unsigned window_;
  ImportState& state_;
  std::unique_ptr<client::Connection> connection_;
  client::Prepared prepared_;
  std::deque<InFlightRow> in_flight_;
  std::vector<base::Bytes> bytes_;
  std::vector<types::ValueView> values_;
};

}  // namespace sibyl::cli::copy
