#include "cli/migrate/page_reader.h"

#include <fmt/format.h>

#include <algorithm>

#include "cli/migrate/target_writer.h"
#include "types/keys/key.h"
#include "types/keys/murmur3.h"
#include "types/value.h"

namespace sibyl::cli::migrate {
namespace {

constexpr int32_t min_page_size = 10;

Page take_page(client::Result result) {
  Page page;
  page.paging_state = result.paging_state;
  page.result = std::make_shared<client::Result>(std::move(result));
  page.rows.reserve(page.result->row_count());
  for (client::Row row; page.result->next(row);) {
    for (const auto& value : row) page.bytes += value ? value->size() : 0;
    page.rows.push_back(row);
  }
  return page;
}

}  // namespace

base::Status PageReader::open(const Part& part, const Task& task) {
  if (statement_ != part.select) {
    statement_ = part.select;
    prepared_.reset();
  }
  const auto [first, last] = range_of(task.range);
  first_token_ = types::encode_int64(first);
  last_token_ = types::encode_int64(last);
  paging_state_ = task.paging_state;
  page_size_ = options_.page_size;
  ticket_.reset();
  is_at_end_ = false;
  return {};
}

base::Status PageReader::prepare() {
  if (connection_ == nullptr || !connection_->is_connected()) {
    prepared_.reset();
    prepared_one_.reset();
    ticket_.reset();
    SIBYL_ASSIGN(connection_, client::Connection::connect(options_.server));
  }
  if (prepared_ || statement_.empty()) return {};
  SIBYL_ASSIGN(prepared_, connection_->prepare(statement_));
  return {};
}

base::Status PageReader::start() {
  SIBYL_TRY(prepare());
  const types::ValueView values[] = {types::ValueView::of(first_token_), types::ValueView::of(last_token_)};
  client::StatementOptions options;
  options.consistency = options_.consistency;
  options.page_size = page_size_;
  options.paging_state = paging_state_;
  SIBYL_ASSIGN(ticket_, connection_->start_execute(*prepared_, values, options));
  return {};
}

base::Result<client::Result> PageReader::fetch() {
  if (!ticket_) SIBYL_TRY(start());
  const client::Connection::Ticket ticket = *ticket_;
  ticket_.reset();
  return connection_->finish(ticket);
}

base::Result<std::optional<Page>> PageReader::next() {
  if (is_at_end_) return std::nullopt;
  for (int attempt = 0;; ++attempt) {
    auto result = fetch();
    if (result) {
      Page page = take_page(std::move(*result));
      is_at_end_ = !page.paging_state;
      paging_state_ = page.paging_state;
      if (!is_at_end_)
        if (const base::Status started = start(); !started && connection_ && connection_->is_connected())
          return base::fail(started.error());
      return page;
    }
    const base::Error error = result.error();
    const bool is_lost = connection_ == nullptr || !connection_->is_connected();
    if (error.code() == base::ErrorCode::bad_credentials || (!is_lost && !is_transient(error.code())) ||
        attempt + 1 >= max_attempts || (options_.stop != nullptr && *options_.stop))
      return base::fail(error);
    // Rows may be large. The server may answer in time with smaller pages.
    if (error.code() == base::ErrorCode::read_timeout) page_size_ = std::max(page_size_ / 2, min_page_size);
    if (error.code() == base::ErrorCode::unprepared) prepared_.reset();
    pause_before_attempt(attempt);
  }
}

base::Result<Page> PageReader::read_one(const Part& part, const std::vector<types::ValueView>& key) {
  SIBYL_TRY(prepare());
  const std::string statement = select_one(part);
  if (one_statement_ != statement || !prepared_one_) {
    SIBYL_ASSIGN(prepared_one_, connection_->prepare(statement));
    one_statement_ = statement;
  }
  client::StatementOptions options;
  options.consistency = options_.consistency;
  SIBYL_ASSIGN(client::Result result, connection_->execute(*prepared_one_, key, options));
  return take_page(std::move(result));
}

double share_before(const Part& part, const client::Row& row, unsigned range) {
  std::vector<base::BytesView> key;
  for (size_t i = 0; i < part.partition_key.size() && i < row.size(); ++i) key.push_back(row[i].value_or(""));
  const int64_t token = types::murmur3_token(types::serialise_partition_key(key));
  const auto [first, last] = range_of(range);
  const auto passed = static_cast<double>(static_cast<uint64_t>(token) - static_cast<uint64_t>(first));
  return std::clamp(passed / static_cast<double>(static_cast<uint64_t>(last) - static_cast<uint64_t>(first)),
                    0.0, 1.0);
}

}  // namespace sibyl::cli::migrate
