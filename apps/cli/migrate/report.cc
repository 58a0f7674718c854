#include "cli/migrate/report.h"

#include <fmt/format.h>

#include "cli/command_line/text.h"

namespace sibyl::cli::migrate {
namespace {

constexpr size_t max_listed_rows = 20;

}  // namespace

void Report::add_loss(const std::string& what, const std::string& why) {
  const base::MutexLock lock(mutex_);
  losses_.push_back(fmt::format("{}: {}", what, why));
}

void Report::add_note(const std::string& text) {
  const base::MutexLock lock(mutex_);
  notes_.push_back(text);
}

base::Status Report::reject(const std::string& row, const std::string& why) {
  const base::MutexLock lock(mutex_);
  ++rejected_;
  if (rejected_rows_.size() < max_listed_rows) rejected_rows_.push_back(fmt::format("row {}: {}", row, why));
  if (rejected_ <= max_rejected_) return {};
  return base::fail(
      base::ErrorCode::invalid,
      fmt::format("{} rows were rejected, more than --max-errors; the last, {}: {}", rejected_, row, why));
}

void Report::count_only_key() {
  const base::MutexLock lock(mutex_);
  ++only_key_;
}

void Report::count_unknown_times() {
  const base::MutexLock lock(mutex_);
  ++unknown_times_;
}

void Report::count_replaced_list() {
  const base::MutexLock lock(mutex_);
  ++replaced_lists_;
}

bool Report::has_losses() const {
  const base::MutexLock lock(mutex_);
  return !losses_.empty() || rejected_ > 0;
}

std::string Report::text() const {
  const base::MutexLock lock(mutex_);
  std::string text;
  const auto line = [&](const std::string& one) { text += "  " + shell::escape_controls(one) + "\n"; };
  if (!losses_.empty() || rejected_ > 0) text += "Not carried over:\n";
  for (const std::string& one : losses_) line(one);
  for (const std::string& one : rejected_rows_) line(one);
  if (rejected_ > rejected_rows_.size())
    line(fmt::format("and {} more rows", rejected_ - rejected_rows_.size()));
  const size_t before = text.size();
  for (const std::string& one : notes_) line(one);
  if (only_key_ > 0)
    line(
        fmt::format("{} rows have only their key. CQL does not show when they were written or expire, so "
                    "they were copied with the timestamp 1 and without a TTL",
                    only_key_));
  if (unknown_times_ > 0)
    line(
        fmt::format("{} unfrozen collections have the write time of their row's newest cell and no TTL, "
                    "because the source does not return theirs",
                    unknown_times_));
  if (replaced_lists_ > 0)
    line(fmt::format("{} lists differed on the target and were replaced", replaced_lists_));
  if (text.size() > before) text.insert(before, "To know:\n");
  return text;
}

}  // namespace sibyl::cli::migrate
