// The parts of an import: what is read, who writes it, and what has come of it.
#pragma once

#include <condition_variable>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "client/connection.h"
#include "sibyl/copy.h"
#include "sibyl/copy_csv.h"
#include "sibyl/import.h"

namespace sibyl::copy {

// Where the reasons for the rows in the file `rejected` are kept.
std::string reasons_path(const std::string& rejected);

struct Rejected {
  uint64_t line = 0;
  std::string record;
  std::string reason;
};

// A piece of the file on its way.
struct PieceWork {
  uint64_t index = 0;
  RecordFile::Piece piece;
  uint64_t next_line = 0;                                      // behind it, once it is finished
  std::vector<std::pair<uint64_t, std::string_view>> records;  // line and bytes, until a writer takes them
  size_t open = 0;                                             // records whose fate is not known
  uint64_t written = 0;
  std::vector<Rejected> rejected;
};
using PiecePtr = std::shared_ptr<PieceWork>;

// What the reader and the writers share. Thread-safe.
class ImportState {
 public:
  ImportState(const ImportOptions& options, Journal journal, Progress& progress, std::string rejected_path,
              uint64_t total_bytes);

  // Waits while enough is queued; false when the import has stopped.
  bool push(PiecePtr piece);
  void end_of_file();
  // nullptr when there is nothing more to do.
  PiecePtr pop();
  // Everything of the piece is written or rejected; its text goes.
  void finished(PiecePtr piece);
  void stop(base::Error error);
  bool is_stopped() const;

  // After all writers have ended: what remains is saved. The error that stopped it, if any.
  std::optional<base::Error> conclude();
  uint64_t written() const { return written_; }
  uint64_t rejected() const { return rejected_; }
  Journal& journal() { return journal_; }

 private:
  void keep(const PieceWork& piece);
  base::Status save();

  const ImportOptions& options_;
  Journal journal_;
  Progress& progress_;
  const std::string rejected_path_;
  const uint64_t total_bytes_;

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<PiecePtr> queue_;
  bool is_ended_ = false;
  std::optional<base::Error> error_;
  std::map<uint64_t, PiecePtr> done_;  // those that wait for earlier ones
  uint64_t next_ = 0;                  // the piece up to which everything is done
  uint64_t begin_bytes_ = 0, bytes_ = 0, written_ = 0, rejected_ = 0;
  std::chrono::steady_clock::time_point next_save_;
};

// What turns records into writes.
struct ImportPlan {
  Dialect dialect;
  std::vector<std::string> columns;  // CSV
  std::vector<bool> is_key;          // CSV: of each column
  std::string statement;
  bool write_nulls = false;
  // Of the writes, plus the number of their line: of several rows of one key the last one stays, in whatever
  // order they arrive, and one that is sent again is the same write. Not set: the statement says it.
  std::optional<int64_t> first_timestamp;
};

// Writes pieces over one connection until there are no more.
class ImportWriter {
 public:
  ImportWriter(const client::Options& server, const ImportPlan& plan, unsigned window, ImportState& state)
      : server_(server), plan_(plan), window_(window), state_(state) {}
  void run();

 private:
  struct UnderWay {
    PiecePtr piece;
    uint64_t line = 0;
    std::string_view record;
    client::Connection::Ticket ticket;
    int attempts = 0;
  };

  base::Status connect();
  // The bound values of a record, or why it is rejected.
  base::Status convert(std::string_view record);
  base::Status send(UnderWay row);
  base::Status finish_oldest();
  base::Status send_again(UnderWay row, const base::Error& why);
  void settle(const UnderWay& row, const std::optional<std::string>& reason);

  const client::Options server_;
  const ImportPlan& plan_;
  const unsigned window_;
  ImportState& state_;
  std::unique_ptr<client::Connection> connection_;
  client::Prepared prepared_;
  std::deque<UnderWay> under_way_;
  std::vector<base::Bytes> bytes_;
  std::vector<types::ValueView> values_;
};

}  // namespace sibyl::copy
