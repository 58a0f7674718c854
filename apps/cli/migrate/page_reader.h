// Reads the rows of a token range page by page. The next page is fetched while the caller works on one.
// Pages that fail because the server is busy, or the connection is lost, are fetched again.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <vector>

#include "cli/migrate/ranges.h"
#include "client/connection.h"

namespace sibyl::cli::migrate {

struct ReaderOptions {
  client::Options server;
  client::Consistency consistency = client::Consistency::local_quorum;
  int32_t page_size = 2000;
  const std::atomic<bool>* stop = nullptr;
};

struct Page {
  std::shared_ptr<client::Result> result;  // owns the bytes of the rows
  std::vector<client::Row> rows;
  std::optional<base::Bytes> paging_state;  // paging state of the next page
  uint64_t bytes = 0;
};

class PageReader {
 public:
  explicit PageReader(ReaderOptions options) : options_(std::move(options)) {}

  // Begins to read the task's range of a part, with the part's select statement.
  base::Status open(const Part& part, const Task& task);
  // Returns the next page, or nullopt after the last.
  base::Result<std::optional<Page>> next();
  // Reads one row by its key (the part's select_one); no rows if there is none.
  base::Result<Page> read_one(const Part& part, const std::vector<types::ValueView>& key);

 private:
  base::Status prepare();
  base::Status start();
  base::Result<client::Result> fetch();

  ReaderOptions options_;
  std::unique_ptr<client::Connection> connection_;
  std::string statement_;
  std::optional<client::Prepared> prepared_;
  std::string one_statement_;
  std::optional<client::Prepared> prepared_one_;
  base::Bytes first_token_, last_token_;
  std::optional<base::Bytes> paging_state_;
  std::optional<client::Connection::Ticket> ticket_;
  int32_t page_size_ = 0;
  bool is_at_end_ = true;
};

// The fraction of the range that lies before a row.
double share_before(const Part& part, const client::Row& row, unsigned range);

}  // namespace sibyl::cli::migrate
