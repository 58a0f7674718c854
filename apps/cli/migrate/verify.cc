#include "cli/migrate/verify.h"

#include <fmt/format.h>

#include <chrono>
#include <set>
#include <thread>

#include "base/bytes.h"
#include "cli/command_line/text.h"
#include "cli/migrate/row_text.h"
#include "types/elements.h"
#include "types/identifier.h"
#include "types/keys/key.h"
#include "types/keys/murmur3.h"
#include "types/print.h"

namespace sibyl::cli::migrate {
namespace {

constexpr size_t max_listed = 20;
constexpr int row_attempts = 3;
constexpr auto row_pause = std::chrono::milliseconds(200);

void append_value(base::Bytes& out, const std::optional<base::BytesView>& value) {
  out.push_back(value ? '\1' : '\0');
  if (value) base::append_sized(out, *value);
}

// Compares which cells expire, because the TTLs themselves differ with every read.
void append_expiry(base::Bytes& out, const types::Type& type, const std::optional<base::BytesView>& value) {
  out.push_back(value ? '\1' : '\0');
  if (!value || type.kind() != types::Kind::list) return;
  const auto elements = types::split(type, *value);
  if (!elements) return;
  for (const auto& element : *elements) out.push_back(element ? '\1' : '\0');
}

bool has_key(const Part& part, const client::Row& row) {
  for (size_t i = 0; i < part.key.size(); ++i)
    if (!row[i]) return false;
  return true;
}

base::Bytes key_of(const Part& part, const client::Row& row) {
  base::Bytes key;
  for (size_t i = 0; i < part.key.size(); ++i) append_value(key, row[i]);
  return key;
}

base::Bytes values_of(const Part& part, const client::Row& row) {
  base::Bytes bytes = key_of(part, row);
  for (const PartColumn& column : part.columns) append_value(bytes, row[column.position]);
  return bytes;
}

base::Bytes times_of(const PartColumn& column, const Page& page, const client::Row& row) {
  base::Bytes bytes;
  if (!column.has_times) return bytes;
  append_value(bytes, row[column.position + 1]);
  append_expiry(bytes, *page.result->columns[column.position + 2].type, row[column.position + 2]);
  return bytes;
}

base::Bytes all_of(const Part& part, const Page& page, const client::Row& row) {
  base::Bytes bytes = values_of(part, row);
  for (const PartColumn& column : part.columns) bytes += times_of(column, page, row);
  return bytes;
}

uint64_t checksum(base::BytesView bytes) {
  return static_cast<uint64_t>(types::murmur3_token(bytes));
}

// Calls `visit` with every page and row of the range.
template <typename Visit>
base::Status for_each_row(PageReader& reader, const Part& part, const Task& task, Visit visit) {
  SIBYL_TRY(reader.open(part, {task.part, task.range, std::nullopt}));
  while (true) {
    SIBYL_ASSIGN(const std::optional<Page> page, reader.next());
    if (!page) return {};
    for (const client::Row& row : page->rows)
      if (has_key(part, row)) visit(*page, row);
  }
}

// Describes how two versions of a row differ; empty if they are equal.
std::string difference(const Part& part, const Page& source, const Page& target) {
  const auto row_of = [&](const Page& page) -> const client::Row* {
    return page.rows.empty() || !has_key(part, page.rows.front()) ? nullptr : &page.rows.front();
  };
  const client::Row* const left = row_of(source);
  const client::Row* const right = row_of(target);
  if (left == nullptr && right == nullptr) return "";
  if (right == nullptr) return "missing on the target";
  if (left == nullptr) return "only on the target";
  std::string values, times;
  for (const PartColumn& column : part.columns) {
    const std::string name = types::quote_identifier(column.name);
    if ((*left)[column.position] != (*right)[column.position])
      values += (values.empty() ? "" : ", ") + name;
    else if (times_of(column, source, *left) != times_of(column, target, *right))
      times += (times.empty() ? "" : ", ") + name;
  }
  if (!values.empty()) return "different values of " + values;
  return times.empty() ? "" : "different write times or expiry of " + times;
}

base::Result<std::vector<types::ValueView>> decode_row_key(const Part& part, base::BytesView key) {
  std::vector<types::ValueView> values;
  base::Reader reader(key);
  for (size_t i = 0; i < part.key.size(); ++i) {
    base::BytesView flag, value;
    if (!reader.take(1, flag) || !reader.sized(value))
      return base::fail(base::ErrorCode::server, "a malformed key");
    values.push_back(types::ValueView::of(value));
  }
  return values;
}

}  // namespace

void Differences::add(const std::string& row, const std::string& what) {
  const base::MutexLock lock(mutex_);
  ++rows_;
  if (listed_.size() < max_listed) listed_.push_back(fmt::format("{}: {}", row, what));
}

void Differences::count_range(bool is_equal) {
  const base::MutexLock lock(mutex_);
  ++ranges_;
  if (!is_equal) ++different_ranges_;
}

uint64_t Differences::rows() const {
  const base::MutexLock lock(mutex_);
  return rows_;
}

std::string Differences::text() const {
  const base::MutexLock lock(mutex_);
  if (rows_ == 0) return "";
  std::string text = fmt::format("{} rows differ, in {} of {} ranges:\n", rows_, different_ranges_, ranges_);
  for (const std::string& one : listed_) text += "  " + shell::escape_controls(one) + "\n";
  if (rows_ > listed_.size()) text += fmt::format("  and {} more\n", rows_ - listed_.size());
  return text;
}

void Verifier::run() {
  while (const auto task = ranges_.next()) {
    if (const base::Status compared = compare(*task); !compared) return ranges_.stop(compared.error());
  }
}

base::Result<Verifier::Digest> Verifier::digest_of(PageReader& reader, const Part& part, const Task& task) {
  Digest digest;
  SIBYL_TRY(for_each_row(reader, part, task, [&](const Page& page, const client::Row& row) {
    const base::Bytes bytes = all_of(part, page, row);
    digest.sum += checksum(bytes);
    digest.bytes += bytes.size();
    ++digest.rows;
  }));
  return digest;
}

base::Result<Verifier::RowDigests> Verifier::rows_of(PageReader& reader, const Part& part, const Task& task) {
  RowDigests rows;
  SIBYL_TRY(for_each_row(reader, part, task, [&](const Page& page, const client::Row& row) {
    rows[key_of(part, row)] = {checksum(values_of(part, row)), checksum(all_of(part, page, row))};
  }));
  return rows;
}

base::Status Verifier::compare(const Task& task) {
  const Part& part = parts_[task.part];
  base::Result<Digest> source = Digest();
  // Both sides read at the same time.
  std::thread reader([&] { source = digest_of(source_, part, task); });
  const base::Result<Digest> target = digest_of(target_, part, task);
  reader.join();
  if (!source) return base::fail(source.error());
  if (!target) return base::fail(target.error());
  const bool is_equal = source->sum == target->sum && source->rows == target->rows;
  const uint64_t before = differences_.rows();
  if (!is_equal) SIBYL_TRY(compare_rows(task));
  differences_.count_range(is_equal || differences_.rows() == before);
  ranges_.advance(task, std::nullopt, 1, source->rows, source->bytes);
  return {};
}

base::Status Verifier::compare_rows(const Task& task) {
  const Part& part = parts_[task.part];
  SIBYL_ASSIGN(const RowDigests source, rows_of(source_, part, task));
  SIBYL_ASSIGN(const RowDigests target, rows_of(target_, part, task));
  std::set<base::Bytes> suspects;
  const auto compare_with = [&](const RowDigests& from, const RowDigests& other) {
    for (const auto& [key, digest] : from) {
      const auto found = other.find(key);
      if (found == other.end() || found->second.all != digest.all) suspects.insert(key);
    }
  };
  compare_with(source, target);
  compare_with(target, source);
  for (const base::Bytes& key : suspects) SIBYL_TRY(compare_row(part, key));
  return {};
}

base::Status Verifier::compare_row(const Part& part, const base::Bytes& key) {
  SIBYL_ASSIGN(const std::vector<types::ValueView> values, decode_row_key(part, key));
  for (int attempt = 1;; ++attempt) {
    SIBYL_ASSIGN(const Page source, source_.read_one(part, values));
    SIBYL_ASSIGN(const Page target, target_.read_one(part, values));
    const std::string what = difference(part, source, target);
    if (what.empty()) return {};
    if (attempt < row_attempts) {
      std::this_thread::sleep_for(row_pause);  // a client's second write may still be on its way
      continue;
    }
    const Page& shown = source.rows.empty() ? target : source;
    differences_.add(key_text(part, *shown.result, shown.rows.front()), what);
    return {};
  }
}

}  // namespace sibyl::cli::migrate
