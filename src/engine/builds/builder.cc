#include "engine/builds/builder.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <set>

#include "base/contain.h"
#include "base/mutex.h"
#include "engine/builds/shard_build.h"
#include "engine/catalogue/catalogue.h"
#include "execute/spread_writes.h"
#include "execute/write/locks.h"
#include "plan/evaluation/keys.h"
#include "row/record_key.h"
#include "types/keys/murmur3.h"
#include "types/uuid.h"
#include "types/value.h"

namespace sibyl::engine {

using base::Bytes;

namespace {

// After a failed step the device may recover. The pause before a retry doubles up to the maximum.
constexpr std::chrono::seconds first_pause{1}, max_pause{60};
constexpr std::chrono::milliseconds waiting_pause{100};
// In a cluster, how often to look for records of complete view builds: shards that arrive may have some.
constexpr std::chrono::seconds keeping_pause{5};
// After this many failed reads in a row the file is considered damaged.
constexpr int max_failed_reads = 3;

void log_left_out(const schema::Table& table, const std::string& view, const execute::LeftOut& left_out) {
  spdlog::warn(
      "building {0}.{1}: {2} of {0}.{3} omitted, the first at token {4}: keys in the view would be longer "
      "than {5} bytes",
      table.keyspace, view, left_out.rows == 1 ? "a row" : fmt::format("{} rows", left_out.rows), table.name,
      types::murmur3_token(left_out.partition_key), plan::max_key_size);
}

}  // namespace

Builder::Builder(execute::Environment environment, Hooks hooks)
    : environment_(environment), hooks_(std::move(hooks)), thread_([this] { run(); }) {}

Builder::~Builder() {
  {
    const base::MutexLock lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void Builder::wake() {
  {
    const base::MutexLock lock(mutex_);
    ++wanted_;
  }
  changed_.notify_all();
}

void Builder::wait(std::chrono::milliseconds timeout) {
  const base::MutexLock lock(mutex_);
  const uint64_t wanted = wanted_;
  const auto end = std::chrono::steady_clock::now() + timeout;
  while (!stopping_ && considered_ < wanted && changed_.wait_until(mutex_, end)) continue;
}

std::optional<Builder::Progress> Builder::progress() const {
  const base::MutexLock lock(mutex_);
  return progress_;
}

std::vector<Builder::Progress> Builder::failures() const {
  std::vector<Progress> failures;
  if (!has_given_up_.load(std::memory_order_relaxed)) return failures;
  const base::MutexLock lock(mutex_);
  for (const auto& [storage_id, progress] : given_up_)
    if (find([&, id = storage_id](uint32_t one) { return one == id; })) failures.push_back(progress);
  return failures;
}

std::optional<std::string> Builder::failure(uint32_t storage_id) const {
  if (!has_given_up_.load(std::memory_order_relaxed)) return std::nullopt;
  const base::MutexLock lock(mutex_);
  const auto found = given_up_.find(storage_id);
  return found == given_up_.end() ? std::nullopt : std::optional(found->second.failure);
}

bool Builder::is_permanent(const Job& job, const base::Error& error) {
  if (!is_reading_) return false;
  return error.code() != base::ErrorCode::read_failure || ++failed_reads_[job.storage_id] >= max_failed_reads;
}

void Builder::give_up(const Job& job, const base::Error& error) {
  spdlog::error(
      "building {}.{} failed: {}. It is retried at the next start, or when it is dropped "
      "and created again",
      job.table->keyspace, job.name, error.text());
  Progress& left = given_up_[job.storage_id];
  left = std::move(*progress_);
  left.failure = error.text();
  has_given_up_.store(true, std::memory_order_relaxed);
}

void Builder::wait_unless_stopping(std::chrono::milliseconds pause) {
  const auto end = std::chrono::steady_clock::now() + pause;
  while (!stopping_ && changed_.wait_until(mutex_, end)) continue;
}

bool Builder::is_stopping() const {
  const base::MutexLock lock(mutex_);
  return stopping_;
}

void Builder::run() {
  std::chrono::seconds pause = first_pause;
  std::set<uint32_t> failed;   // builds that wait for a retry while others proceed
  std::set<uint32_t> waiting;  // builds in which other servers have parts to do
  base::MutexLock lock(mutex_);
  while (!stopping_) {
    if (considered_ == wanted_) {
      if (wait_for_work()) continue;
      lock.unlock();
      (void)base::contain([this] { return erase_old_records(); });
      lock.lock();
      continue;
    }
    const uint64_t wanted = wanted_;
    lock.unlock();
    std::optional<Job> job;
    bool has_thrown = true;
    bool is_waiting = false;
    const base::Status status = base::contain([&]() -> base::Status {
      job = find([&](uint32_t id) {
        return !failed.contains(id) && !waiting.contains(id) && !failure(id).has_value();
      });
      base::Result<bool> built = job ? build(*job) : base::Result<bool>(true);
      has_thrown = false;
      if (!built) return base::fail(built.error());
      is_waiting = !*built;
      return job ? base::Status() : erase_old_records();
    });
    if (has_thrown) is_reading_ = false;  // out of memory is temporary: retry
    lock.lock();
    if (!status && !job) {
      wait_unless_stopping(first_pause);
      continue;
    }
    if (!status && is_permanent(*job, status.error())) {
      give_up(*job, status.error());
    } else if (!status) {
      spdlog::warn("building {}.{} failed and will be retried: {}", job->table->keyspace, job->name,
                   status.error().text());
      failed.insert(job->storage_id);
    } else if (is_waiting) {
      waiting.insert(job->storage_id);
    } else if (job) {
      pause = first_pause;
    } else if (!waiting.empty()) {
      waiting.clear();
      wait_unless_stopping(waiting_pause);
    } else if (failed.empty()) {
      considered_ = wanted;
      changed_.notify_all();
    } else {
      wait_unless_stopping(pause);
      pause = std::min(pause * 2, max_pause);
      failed.clear();
    }
    progress_.reset();
  }
}

// In a cluster, also returns at intervals, with false.
bool Builder::wait_for_work() {
  if (hooks_.is_settled) return changed_.wait_for(mutex_, keeping_pause);
  changed_.wait(mutex_);
  return true;
}

std::optional<Builder::Job> Builder::find(const std::function<bool(uint32_t)>& wanted) const {
  const auto job_of = [](const schema::TablePtr& table, uint32_t storage_id, const std::string& name,
                         const schema::Index* index, const schema::TablePtr& view) {
    Job job;
    job.table = table;
    job.target.index = index;
    job.target.view = view;
    job.storage_id = storage_id;
    job.name = name;
    return job;
  };
  const schema::SnapshotPtr schema = hooks_.schema();
  for (const auto& [keyspace_name, keyspace] : schema->keyspaces) {
    for (const auto& [table_name, table] : keyspace->tables) {
      for (const schema::Index& index : table->indexes)
        if (!index.is_built && wanted(index.storage_id))
          return job_of(table, index.storage_id, index.name, &index, nullptr);
      for (const schema::TablePtr& view : table->views)
        if (!view->view->is_built && wanted(view->storage_id))
          return job_of(table, view->storage_id, view->name, nullptr, view);
    }
  }
  return std::nullopt;
}

base::Result<bool> Builder::build(const Job& job) {
  is_reading_ = false;
  {
    const base::MutexLock lock(mutex_);
    progress_ = Progress{.keyspace = job.table->keyspace,
                         .table = job.table->name,
                         .name = job.name,
                         .is_view = job.target.index == nullptr,
                         .task_id = types::next_time_uuid(environment_.clock.now_micros()),
                         .failure = {}};
  }
  if (hooks_.is_settled) return build_in_cluster(job);
  Bytes position;
  SIBYL_ASSIGN(const bool is_started, environment_.store.get(build_progress_key(job.storage_id), position));
  if (!is_started) SIBYL_TRY(start(job));
  while (!is_stopping()) {
    // Uses the newest definition of the table. If it was dropped, stops building.
    const std::optional<Job> current = find([&](uint32_t id) { return id == job.storage_id; });
    if (!current) {
      SIBYL_TRY(erase_progress(job));
      return true;
    }
    SIBYL_ASSIGN(position, build_step(*current, position));
    if (!position.empty()) continue;
    SIBYL_TRY(hooks_.finish(job.storage_id));
    SIBYL_TRY(erase_progress(job));
    return true;
  }
  return true;
}

base::Result<bool> Builder::build_in_cluster(const Job& job) {
  const storage::Store& store = environment_.store;
  const bool leads = store.hold({}) != nullptr;
  if (!hooks_.is_settled()) {
    if (!leads) return false;
    SIBYL_TRY(hooks_.announce());
  }
  bool is_complete = true;
  for (const storage::EntryRun& run : store.entry_runs()) {
    if (is_stopping()) return true;
    const bool is_here = store.hold(shard_build_key(job.storage_id, run)) != nullptr;
    if (!is_here && !leads) continue;
    SIBYL_ASSIGN(bool built, is_built(job, run));
    if (built) continue;
    if (is_here) {
      SIBYL_ASSIGN(built, is_spread(job) ? build_view_of_shard(job, run) : build_shard(job, run));
    }
    is_complete &= built;
  }
  if (!leads) return false;
  // A server that has joined in the meantime does not know yet that it may begin.
  if (!is_complete) SIBYL_TRY(hooks_.announce());
  if (is_complete) SIBYL_TRY(hooks_.finish(job.storage_id));
  return is_complete;
}

base::Result<bool> Builder::build_shard(const Job& job, const storage::EntryRun& run) {
  const storage::Store& store = environment_.store;
  const Bytes key = shard_build_key(job.storage_id, run);
  const Bytes attempt = types::random_uuid();
  {
    execute::PartitionLocks::Held held = environment_.locks.acquire_all();
    SIBYL_TRY(environment_.store.commit(begin_shard_build(job.storage_id, run, attempt)));
  }
  Bytes position = row::token_begin(job.table->storage_id, run.first);
  const Bytes end = row::token_end(job.table->storage_id, run.last);
  while (!is_stopping()) {
    const std::optional<Job> current = find([&](uint32_t id) { return id == job.storage_id; });
    // A truncated table has other storage ids.
    if (!current || current->table->storage_id != job.table->storage_id) return true;
    // The shard stays here while a step reads and writes.
    const auto hold = store.hold(key);
    if (!hold) return false;
    SIBYL_ASSIGN(const bool goes_on, is_shard_build(store, job.storage_id, run, attempt));
    if (!goes_on) return false;
    is_reading_ = true;
    SIBYL_ASSIGN(const execute::BuildStep step, execute::next_build_step(store, position, end));
    storage::WriteSet also;
    if (step.next.empty()) also = end_shard_build(job.storage_id, run);
    SIBYL_TRY(add_entries(*current, step, std::move(also)));
    if (step.next.empty()) return true;
    position = step.next;
  }
  return false;
}

bool Builder::is_spread(const Job& job) const {
  return job.target.view && execute::has_views_elsewhere(environment_.spread, environment_.store);
}

base::Result<bool> Builder::is_built(const Job& job, const storage::EntryRun& run) const {
  if (!is_spread(job)) return is_shard_built(environment_.store, job.storage_id, run);
  Bytes value;
  return environment_.store.get(view_build_key(job.storage_id, run), value);
}

// A shard that moves meanwhile is built again by its new owner.
base::Result<bool> Builder::build_view_of_shard(const Job& job, const storage::EntryRun& run) {
  storage::Store& store = environment_.store;
  const Bytes key = view_build_key(job.storage_id, run);
  // Writes with an older schema have been passed to the store. So they become visible before this commit
  // does.
  storage::WriteSet nothing_done;
  nothing_done.erase(key);
  SIBYL_TRY(store.commit(std::move(nothing_done)));
  Bytes position = row::token_begin(job.table->storage_id, run.first);
  const Bytes end = row::token_end(job.table->storage_id, run.last);
  while (!is_stopping()) {
    const std::optional<Job> current = find([&](uint32_t id) { return id == job.storage_id; });
    // A truncated table has other storage ids.
    if (!current || current->table->storage_id != job.table->storage_id) return true;
    if (!store.hold(key)) return false;
    is_reading_ = true;
    SIBYL_ASSIGN(const execute::BuildStep step, execute::next_build_step(store, position, end));
    SIBYL_TRY(renew_view_rows(*current, step));
    position = step.next;
    if (!position.empty()) continue;
    storage::WriteSet done;
    done.put(key, {});
    SIBYL_TRY(store.commit(std::move(done)));
    return true;
  }
  return false;
}

// Rows that are written meanwhile are renewed by their writes as well. So the partitions are not locked.
base::Status Builder::renew_view_rows(const Job& job, const execute::BuildStep& step) {
  if (step.partitions.empty()) return {};
  std::vector<execute::ViewRow> rows;
  SIBYL_ASSIGN(const execute::LeftOut left_out,
               execute::add_existing_view_rows(*job.table, job.target.view, environment_.store, step, rows));
  failed_reads_.erase(job.storage_id);
  is_reading_ = false;
  SIBYL_TRY(environment_.spread->renew_views(std::move(rows)));
  if (left_out.rows != 0) log_left_out(*job.table, job.name, left_out);
  note_step(step);
  return {};
}

base::Status Builder::erase_old_records() {
  if (!hooks_.is_settled) return {};
  const storage::Store& store = environment_.store;
  for (const storage::EntryRun& run : store.entry_runs()) {
    if (!store.hold(view_build_key(0, run))) continue;
    SIBYL_ASSIGN(const std::vector<uint32_t> recorded, recorded_view_builds(store, run));
    const uint32_t next_id = hooks_.schema()->next_storage_id;
    storage::WriteSet writes;
    for (const uint32_t view : recorded)
      if (view < next_id && !find([&](uint32_t id) { return id == view; }))
        writes.erase(view_build_key(view, run));
    if (!writes.empty()) SIBYL_TRY(environment_.store.commit(std::move(writes)));
  }
  return {};
}

base::Status Builder::erase_progress(const Job& job) {
  storage::WriteSet writes;
  writes.erase(build_progress_key(job.storage_id));
  return environment_.store.commit(std::move(writes));
}

base::Status Builder::start(const Job& job) {
  hooks_.wait_for_writers();
  // Before this point, writes that knew the definition and writes that did not may have run concurrently. So
  // the existing entries are not reliable. They are erased while no write holds a lock.
  execute::PartitionLocks::Held held = environment_.locks.acquire_all();
  storage::WriteSet writes;
  writes.erase_range(row::table_begin(job.storage_id), row::table_end(job.storage_id));
  writes.put(build_progress_key(job.storage_id), {});
  return environment_.store.commit(std::move(writes));
}

base::Result<Bytes> Builder::build_step(const Job& job, const Bytes& position) {
  is_reading_ = true;
  SIBYL_ASSIGN(execute::BuildStep step, execute::next_build_step(*job.table, environment_.store, position));
  storage::WriteSet progress;
  if (!step.next.empty()) progress.put(build_progress_key(job.storage_id), step.next);
  SIBYL_TRY(add_entries(job, step, std::move(progress)));
  return step.next;
}

base::Status Builder::add_entries(const Job& job, const execute::BuildStep& step, storage::WriteSet also) {
  execute::PartitionLocks::Held held;
  storage::WriteSet writes;
  execute::LeftOut left_out;
  if (!step.partitions.empty()) {
    held = environment_.locks.acquire(step.partitions);
    SIBYL_ASSIGN(left_out, execute::add_existing(*job.table, job.target, environment_.store, step, writes));
    failed_reads_.erase(job.storage_id);
  }
  is_reading_ = false;
  writes.append(std::move(also));
  if (!writes.empty()) SIBYL_TRY(environment_.store.commit(std::move(writes)));
  held.release();
  if (step.partitions.empty()) return {};
  if (left_out.rows != 0) log_left_out(*job.table, job.name, left_out);
  note_step(step);
  return {};
}

void Builder::note_step(const execute::BuildStep& step) {
  row::RecordKey last;
  const base::MutexLock lock(mutex_);
  progress_->partitions += step.partitions.size();
  if (row::parse_record_key(row::partition_record_key(step.partitions.back()), last))
    progress_->last_token = last.token;
}

schema::SnapshotPtr with_built(const schema::Snapshot& schema, uint32_t storage_id) {
  for (const auto& [name, keyspace] : schema.keyspaces) {
    for (const auto& [table_name, table] : keyspace->tables) {
      const auto index = std::find_if(table->indexes.begin(), table->indexes.end(),
                                      [&](const auto& one) { return one.storage_id == storage_id; });
      const auto view = std::find_if(table->views.begin(), table->views.end(),
                                     [&](const auto& one) { return one->storage_id == storage_id; });
      if (index == table->indexes.end() && view == table->views.end()) continue;
      auto changed = std::make_shared<schema::Keyspace>(*keyspace);
      if (view != table->views.end()) {
        auto built = std::make_shared<schema::Table>(**view);
        auto definition = std::make_shared<schema::ViewDefinition>(*built->view);
        definition->is_built = true;
        built->view = std::move(definition);
        changed->put_view(std::move(built));
      } else {
        auto built = std::make_shared<schema::Table>(*table);
        built->indexes[static_cast<size_t>(index - table->indexes.begin())].is_built = true;
        changed->tables.insert_or_assign(table_name, std::move(built));
      }
      auto next = std::make_shared<schema::Snapshot>(schema);
      next->keyspaces.insert_or_assign(name, std::move(changed));
      return next;
    }
  }
  return nullptr;
}

}  // namespace sibyl::engine
