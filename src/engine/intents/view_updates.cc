#include "engine/intents/view_updates.h"

#include <pthread.h>

#include <algorithm>
#include <chrono>
#include <future>
#include <set>
#include <utility>

#include "base/contain.h"
#include "engine/intents/view_messages.h"
#include "row/record_key.h"

namespace sibyl::engine {
namespace {

using base::Bytes;
using base::BytesView;
using execute::DerivedRow;
using execute::ViewRow;
using SteadyClock = std::chrono::steady_clock;

constexpr size_t max_threads = 32;  // each thread waits for one shard
constexpr size_t max_waiting_jobs = 4096;
constexpr size_t max_rows_per_message = 128, max_put_bytes = 4u << 20;
constexpr std::chrono::seconds renewal_patience{10};
constexpr std::chrono::milliseconds refusal_pause{5};

uint32_t table_of(BytesView key) {
  return base::read_big_endian<uint32_t>(key);
}

base::Error view_rows_not_renewed(const std::string& why) {
  base::ErrorDetails details;
  details.code = base::ErrorCode::write_timeout;
  details.message = "Operation timed out - received only 0 responses.";
  details.hint = "the write is stored, and its rows in materialized views will be written later: " + why;
  return base::Error(std::move(details));
}

}  // namespace

// The rows of one renew() call.
struct ViewUpdates::Job {
  Job(std::atomic<size_t>& jobs, size_t rows, storage::Store::Done then)
      : count(jobs), left(rows), done(std::move(then)) {}

  void complete(size_t rows, const base::Status& status) {
    if (!status) {
      const base::MutexLock lock(mutex);
      if (failure) failure = status;
    }
    if (left.fetch_sub(rows) != rows) return;
    --count;
    base::Status result;
    {
      const base::MutexLock lock(mutex);
      result = std::move(failure);
    }
    done(std::move(result));
  }

  std::atomic<size_t>& count;
  std::atomic<size_t> left;
  storage::Store::Done done;
  base::Mutex mutex;
  base::Status failure SIBYL_GUARDED_BY(mutex);  // the first
};

ViewUpdates::ViewUpdates(const storage::Store& store, Hooks hooks) : store_(store), hooks_(std::move(hooks)) {
  const size_t count = std::min(max_threads, store_.entry_runs().size());
  for (size_t i = 0; i < count; ++i) {
    threads_.emplace_back([this] { work(); });
    pthread_setname_np(threads_.back().native_handle(), "sibyl-views");
  }
}

void ViewUpdates::stop() {
  {
    const base::MutexLock lock(mutex_);
    is_stopping_ = true;
  }
  changed_.notify_all();
  for (std::thread& thread : std::exchange(threads_, {})) thread.join();
  std::map<int64_t, Line> left;
  {
    const base::MutexLock lock(mutex_);
    left = std::exchange(lines_, {});
  }
  for (auto& [token, line] : left)
    finish({std::make_move_iterator(line.waiting.begin()), std::make_move_iterator(line.waiting.end())},
           base::fail(view_rows_not_renewed("this server is stopping")));
}

bool ViewUpdates::is_full() const {
  return jobs_ >= max_waiting_jobs;
}

void ViewUpdates::renew(Rows rows, storage::Store::Done done) {
  if (rows.empty()) return done({});
  const auto job = std::make_shared<Job>(jobs_, rows.size(), std::move(done));
  ++jobs_;
  {
    const base::MutexLock lock(mutex_);
    row::RecordKey parsed;
    for (ViewRow& row : rows) {
      if (is_stopping_) break;
      const int64_t token = row::parse_record_key(row.key, parsed) ? parsed.token : 0;
      lines_[storage::Store::run_of(store_.entry_runs(), token).token].waiting.push_back(
          {std::move(row), job});
    }
    if (!is_stopping_) return changed_.notify_all();
  }
  job->complete(rows.size(), base::fail(view_rows_not_renewed("this server is stopping")));
}

base::Status ViewUpdates::renew(Rows rows) {
  std::promise<base::Status> promise;
  renew(std::move(rows), [&](base::Status status) { promise.set_value(std::move(status)); });
  return promise.get_future().get();
}

// --- Threads

// Lines take turns.
ViewUpdates::Line* ViewUpdates::next_line() {
  const auto is_ready = [](const auto& entry) {
    return !entry.second.is_busy && !entry.second.waiting.empty();
  };
  const auto middle = lines_.upper_bound(last_line_);
  auto found = std::find_if(middle, lines_.end(), is_ready);
  if (found == lines_.end()) {
    found = std::find_if(lines_.begin(), middle, is_ready);
    if (found == middle) return nullptr;
  }
  last_line_ = found->first;
  return &found->second;
}

void ViewUpdates::work() {
  base::MutexLock lock(mutex_);
  while (!is_stopping_) {
    Line* const line = next_line();
    if (line == nullptr) {
      changed_.wait(mutex_);
      continue;
    }
    std::vector<Item> items;
    for (; !line->waiting.empty() && items.size() < max_rows_per_message; line->waiting.pop_front())
      items.push_back(std::move(line->waiting.front()));
    line->is_busy = true;
    lock.unlock();
    const base::Status status = base::contain([&] { return renew_in_one_shard(items); });
    finish(std::move(items), status);
    lock.lock();
    line->is_busy = false;
    if (!line->waiting.empty()) changed_.notify_all();
  }
}

void ViewUpdates::finish(std::vector<Item> items, const base::Status& status) {
  for (size_t begin = 0; begin < items.size();) {
    size_t end = begin + 1;
    while (end < items.size() && items[end].job == items[begin].job) ++end;
    items[begin].job->complete(end - begin, status);
    begin = end;
  }
}

// --- Renewing

base::Status ViewUpdates::renew_in_one_shard(const std::vector<Item>& items) {
  Rows rows;
  std::set<BytesView> keys;
  for (const Item& item : items)
    if (keys.insert(item.row.key).second) rows.push_back(item.row);
  const auto deadline = SteadyClock::now() + renewal_patience;
  while (true) {
    base::Result<Rows> left = try_renew(rows);
    // The base rows have been written. So the error must be different from that of a failed write.
    if (!left) return base::fail(view_rows_not_renewed(left.error().text()));
    if (left->empty()) return {};
    if (SteadyClock::now() >= deadline)
      return base::fail(view_rows_not_renewed("they could not be renewed in time"));
    std::this_thread::sleep_for(refusal_pause);
    rows = std::move(*left);
  }
}

base::Result<ViewUpdates::Rows> ViewUpdates::try_renew(const Rows& rows) {
  std::vector<DerivedRow> found;
  if (find(rows, found) == Found::something_newer) {
    SIBYL_TRY(hooks_.reload());
    if (find(rows, found) == Found::something_newer) return rows;
  }
  if (found.empty()) return Rows();
  Rows present;
  for (const DerivedRow& row : found) present.push_back(row.row);
  SIBYL_ASSIGN(const Bytes answer, hooks_.at_owner(present[0].key, ticket_message + encode_keys(present)));
  SIBYL_ASSIGN(const uint64_t ticket, decode_ticket(answer));
  SIBYL_ASSIGN(execute::ViewRecords records, execute::view_records(store_, found));
  if (records.needs_newer_schema) {
    SIBYL_TRY(hooks_.reload());
    return present;
  }
  // This is checked after the read, because another server may have changed base rows that were read here.
  if (hooks_.may_answer && !hooks_.may_answer()) return present;
  return put(present, ticket, std::move(records.values));
}

base::Result<ViewUpdates::Rows> ViewUpdates::put(const Rows& rows, uint64_t ticket,
                                                 std::vector<std::optional<Bytes>> values) {
  Rows left;
  for (size_t begin = 0, end = 0; begin < rows.size(); begin = end) {
    std::vector<ViewTickets::Record> records;
    for (size_t bytes = 0; end < rows.size() && bytes < max_put_bytes; ++end) {
      bytes += rows[end].key.size() + (values[end] ? values[end]->size() : 0);
      records.push_back({rows[end].key, std::move(values[end])});
    }
    SIBYL_ASSIGN(const Bytes answer,
                 hooks_.at_owner(records[0].key, put_message + encode_put(ticket, records)));
    SIBYL_ASSIGN(const std::vector<size_t> refused, decode_refused(answer, records.size()));
    for (const size_t place : refused) left.push_back(rows[begin + place]);
  }
  return left;
}

// Rows of dropped and truncated views are left out.
ViewUpdates::Found ViewUpdates::find(const Rows& rows, std::vector<DerivedRow>& found) {
  found.clear();
  const schema::SnapshotPtr schema = hooks_.schema();
  const std::shared_ptr<const Sources> sources = sources_of(schema);
  for (const ViewRow& row : rows) {
    const auto source = sources->find(table_of(row.key));
    if (source == sources->end()) {
      if (table_of(row.key) >= schema->next_storage_id) return Found::something_newer;
    } else if (source->second.table->storage_id == table_of(row.base_key)) {
      found.push_back({row, source->second.view, source->second.table});
    }
  }
  return Found::everything;
}

std::shared_ptr<const ViewUpdates::Sources> ViewUpdates::sources_of(const schema::SnapshotPtr& schema) {
  {
    const base::MutexLock lock(mutex_);
    if (sources_schema_ == schema) return sources_;
  }
  auto sources = std::make_shared<Sources>();
  for (const auto& [name, keyspace] : schema->keyspaces)
    for (const auto& [table_name, table] : keyspace->tables)
      for (const schema::TablePtr& view : table->views)
        sources->emplace(view->storage_id, Source{view, table});
  const base::MutexLock lock(mutex_);
  sources_schema_ = schema;
  sources_ = sources;
  return sources;
}

}  // namespace sibyl::engine
