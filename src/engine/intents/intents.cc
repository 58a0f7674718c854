#include "engine/intents/intents.h"

#include <fmt/format.h>
#include <pthread.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <chrono>
#include <span>
#include <utility>

#include "base/contain.h"
#include "engine/intents/view_messages.h"
#include "execute/index/maintenance.h"
#include "execute/write/locks.h"
#include "row/record_key.h"
#include "storage/sharded_store.h"
#include "types/uuid.h"

namespace sibyl::engine {
namespace {

using base::Bytes;
using base::BytesView;
using execute::SpreadBatch;
using execute::ViewIntent;
using execute::ViewRow;
using storage::EntryRun;
using storage::Store;
using storage::WriteSet;
using SteadyClock = std::chrono::steady_clock;

constexpr size_t worker_count = 4;
constexpr size_t max_waiting_batches = 4096;
constexpr std::chrono::milliseconds keeping_interval{500};
// The server that made a younger intent may still be applying it.
constexpr std::chrono::seconds min_intent_age{3};
constexpr std::chrono::seconds patience{10};
constexpr std::chrono::milliseconds retry_pause{20};
constexpr size_t max_old_intent_bytes = 16u << 20;  // the limit for intents that are applied at a time

// The first byte of a message to an owner:
//   t  the answer is its highest timestamp, i64
//   a  a part follows, which it applies
//   i  the sized key of an intent and its value follow, which it stores
//   e  the key of an intent follows, which it erases
//   v, w  about view rows: view_messages.h
//
// The answer to a part is empty, or the sized key of an intent to renew view rows, followed by these rows.
constexpr char ask_timestamp = 't', apply_message = 'a', store_intent = 'i', erase_intent = 'e';

Bytes intents_begin(const EntryRun& run) {
  return row::row_record_key(row::partition_prefix(intents_table_id, run.token, {}), {});
}

base::Error unknown_outcome() {
  base::ErrorDetails details;
  details.code = base::ErrorCode::write_timeout;
  details.message = "Operation timed out - received only 0 responses.";
  details.hint = "the owner of a shard does not answer; a logged batch is applied when it does";
  return base::Error(std::move(details));
}

int64_t token_of(const Bytes& key) {
  row::RecordKey parsed;
  return row::parse_record_key(key, parsed) ? parsed.token : 0;
}

Bytes encode_applied(const ViewIntent& intent) {
  Bytes answer;
  if (intent.rows.empty()) return answer;
  base::append_sized(answer, intent.key);
  return answer + encode_view_rows(intent.rows);
}

base::Result<ViewIntent> decode_applied(BytesView answer) {
  if (answer.empty()) return ViewIntent();
  base::Reader reader(answer);
  BytesView key;
  if (!reader.sized(key))
    return base::fail(base::ErrorCode::server, "An answer of another server cannot be read");
  SIBYL_ASSIGN(std::vector<ViewRow> rows, decode_view_rows(reader.rest()));
  return ViewIntent{Bytes(key), std::move(rows)};
}

}  // namespace

Intents::Intents(execute::Environment& environment, WriteGate& gate, Hooks hooks)
    : environment_(environment),
      gate_(gate),
      hooks_(std::move(hooks)),
      tickets_(environment.store),
      views_(environment.store, {.schema = hooks_.schema,
                                 .reload = hooks_.reload,
                                 .may_answer = hooks_.may_answer,
                                 .at_owner = [this](const Bytes& key, const Bytes& message) {
                                   return at_owner(key, message);
                                 }}) {
  for (size_t i = 0; i < worker_count; ++i) threads_.emplace_back([this] { work(); });
  threads_.emplace_back([this] { keep(); });
  for (std::thread& thread : threads_) pthread_setname_np(thread.native_handle(), "sibyl-batches");
}

void Intents::stop() {
  {
    const base::MutexLock lock(mutex_);
    is_stopping_ = true;
  }
  changed_.notify_all();
  is_ending_.notify_all();
  for (std::thread& thread : std::exchange(threads_, {})) thread.join();
  views_.stop();
}

void Intents::commit(SpreadBatch batch, Store::Done done) {
  {
    const base::MutexLock lock(mutex_);
    if (jobs_.size() < max_waiting_batches && !is_stopping_) {
      jobs_.push_back({std::move(batch), std::move(done)});
      changed_.notify_one();
      return;
    }
  }
  done(base::fail(base::ErrorCode::overloaded, "Too many batches wait for other servers"));
}

void Intents::work() {
  base::MutexLock lock(mutex_);
  while (true) {
    if (jobs_.empty()) {
      if (is_stopping_) return;
      changed_.wait(mutex_);
      continue;
    }
    Job job = std::move(jobs_.front());
    jobs_.pop_front();
    lock.unlock();
    job.done(base::contain([&] { return write(std::move(job.batch)); }));
    lock.lock();
  }
}

// --- A batch

base::Status Intents::write(SpreadBatch batch) {
  BatchPart whole{batch.timestamp, std::move(batch.merges)};
  SIBYL_TRY(choose_timestamp(whole));
  if (!batch.is_logged) return apply(parts_of(std::move(whole.merges), whole.timestamp));
  const Bytes stored = whole.encode();
  const Parts parts = parts_of(std::move(whole.merges), whole.timestamp);
  if (parts.empty()) return {};
  // The intent may be in any of the batch's shards. A shard on this server is nearest.
  auto home = std::ranges::find_if(parts, [&](const auto& part) {
    return environment_.store.hold(part.second.merges.operations()[0].key) != nullptr;
  });
  if (home == parts.end()) home = parts.begin();
  const EntryRun& run = Store::run_of(environment_.store.entry_runs(), home->first);
  const Bytes key = intents_begin(run) + types::random_uuid();
  {
    const base::MutexLock lock(mutex_);
    own_.insert(key);
  }
  Bytes intent(1, store_intent);
  base::append_sized(intent, key);
  const base::Result<Bytes> is_stored = at_owner(key, intent + stored);
  const base::Status status = is_stored ? apply(parts) : base::fail(is_stored.error());
  // If there was an error, the owner of the intent applies it again and then erases it.
  if (status) (void)at_owner(key, erase_intent + key);
  const base::MutexLock lock(mutex_);
  own_.erase(key);
  return status;
}

Intents::Parts Intents::parts_of(WriteSet merges, int64_t timestamp) const {
  Parts parts;
  const auto runs = environment_.store.entry_runs();
  for (WriteSet::Operation& operation : std::move(merges).take()) {
    BatchPart& part = parts[Store::run_of(runs, token_of(operation.key)).token];
    part.timestamp = timestamp;
    part.merges.merge(std::move(operation.key), std::move(operation.value));
  }
  return parts;
}

// Applies rule 1: the clocks of servers differ, but a partition needs the order of its owner's clock.
base::Status Intents::choose_timestamp(BatchPart& whole) {
  int64_t highest = 0;
  std::set<int64_t> asked;
  for (const WriteSet::Operation& operation : whole.merges.operations()) {
    const EntryRun& run = Store::run_of(environment_.store.entry_runs(), token_of(operation.key));
    if (!asked.insert(run.token).second || environment_.store.hold(operation.key)) continue;
    SIBYL_ASSIGN(const Bytes answer, hooks_.ask_owner(operation.key, Bytes(1, ask_timestamp)));
    base::Reader reader(answer);
    uint64_t timestamp = 0;
    if (!reader.big_endian(timestamp))
      return base::fail(base::ErrorCode::server, "An answer of another server cannot be read");
    highest = std::max(highest, static_cast<int64_t>(timestamp));
  }
  if (highest < whole.timestamp) return {};
  environment_.timestamps.start_above(highest);
  return change_timestamp(whole, environment_.timestamps.next());
}

base::Status Intents::apply(const Parts& parts) {
  base::Status status;
  std::vector<ViewIntent> intents;
  for (const auto& [token, part] : parts) {
    Applied applied = apply_part(part);
    if (!applied) {
      if (status) status = base::fail(applied.error());
    } else if (!applied->rows.empty()) {
      intents.push_back(std::move(*applied));
    }
  }
  base::Status finished = finish_parts(std::move(intents));
  return status ? std::move(finished) : std::move(status);
}

Intents::Applied Intents::apply_part(const BatchPart& part) {
  const Bytes& key = part.merges.operations()[0].key;
  Applied here = apply_here(part);
  if (here || !storage::is_not_here(here.error())) return here;
  SIBYL_ASSIGN(const Bytes answer, at_owner(key, apply_message + part.encode()));
  return decode_applied(answer);
}

// The owners of the parts do not wait for other servers, so this server renews the view rows.
base::Status Intents::finish_parts(std::vector<ViewIntent> intents) {
  std::vector<ViewRow> rows;
  for (ViewIntent& intent : intents)
    rows.insert(rows.end(), std::make_move_iterator(intent.rows.begin()),
                std::make_move_iterator(intent.rows.end()));
  SIBYL_TRY(views_.renew(std::move(rows)));
  // If this fails, the owner of the intent renews the rows.
  for (const ViewIntent& intent : intents) (void)at_owner(intent.key, erase_intent + intent.key);
  return {};
}

// Passes the message to the owner of the shard, which may be this server.
base::Result<Bytes> Intents::at_owner(const Bytes& key, const Bytes& message) {
  const auto deadline = SteadyClock::now() + patience;
  while (true) {
    base::Result<Bytes> here = base::fail(storage::not_here(0));
    if (environment_.store.hold(key)) here = receive(message);
    if (here || !storage::is_not_here(here.error())) return here;
    base::Result<Bytes> elsewhere = hooks_.ask_owner(key, message);
    if (elsewhere || !storage::is_not_here(elsewhere.error())) return elsewhere;
    if (SteadyClock::now() >= deadline) return base::fail(unknown_outcome());
    std::this_thread::sleep_for(retry_pause);  // the shard is moving to this server
  }
}

// --- Views

ViewIntent Intents::add_intent(std::vector<ViewRow> rows, WriteSet& writes) const {
  const EntryRun& run = Store::run_of(environment_.store.entry_runs(), token_of(rows[0].base_key));
  ViewIntent intent{intents_begin(run) + types::random_uuid(), std::move(rows)};
  writes.put(intent.key, encode_view_rows(intent.rows));
  return intent;
}

base::Result<ViewIntent> Intents::begin_views(std::vector<ViewRow> rows, WriteSet& writes) {
  if (views_.is_full())
    return base::fail(base::ErrorCode::overloaded,
                      "Too many writes wait for other servers to renew materialized views");
  ViewIntent intent = add_intent(std::move(rows), writes);
  const base::MutexLock lock(mutex_);
  own_.insert(intent.key);
  return intent;
}

void Intents::renew_views(ViewIntent intent, Store::Done done) {
  views_.renew(std::move(intent.rows),
               [this, key = std::move(intent.key), done = std::move(done)](base::Status status) mutable {
                 // If the shard has moved meanwhile, its new owner renews the rows once more.
                 if (status) {
                   WriteSet writes;
                   writes.erase(key);
                   environment_.store.commit(std::move(writes), [](const base::Status&) {});
                 }
                 {
                   const base::MutexLock lock(mutex_);
                   own_.erase(key);
                 }
                 done(std::move(status));
               });
}

void Intents::abandon_views(const ViewIntent& intent) {
  const base::MutexLock lock(mutex_);
  own_.erase(intent.key);
}

// --- At the owner

base::Result<Bytes> Intents::receive(BytesView message) {
  if (message.empty()) return base::fail(base::ErrorCode::server, "A message of another server is empty");
  Bytes answer;
  if (message[0] == ask_timestamp) {
    base::append_big_endian(answer, static_cast<uint64_t>(environment_.timestamps.last()));
    return answer;
  }
  if (message[0] == apply_message) {
    SIBYL_ASSIGN(const BatchPart part, BatchPart::decode(message.substr(1)));
    SIBYL_ASSIGN(const ViewIntent intent, apply_here(part));
    return encode_applied(intent);
  }
  if (message[0] == ticket_message) return answer_ticket(tickets_, message.substr(1));
  if (message[0] == put_message) return answer_put(tickets_, message.substr(1));
  WriteSet writes;
  BytesView key;
  base::Reader reader(message.substr(1));
  if (message[0] == erase_intent) {
    writes.erase(Bytes(reader.rest()));
  } else if (message[0] == store_intent && reader.sized(key)) {
    writes.put(Bytes(key), Bytes(reader.rest()));
  } else {
    return base::fail(base::ErrorCode::server, "A message of another server cannot be read");
  }
  SIBYL_TRY(environment_.store.commit(std::move(writes)));
  return answer;
}

Intents::Applied Intents::apply_here(const BatchPart& part) {
  if (part.merges.empty()) return ViewIntent();
  // This is held until the commit is done, so that the shard cannot move between the read and the write.
  const auto hold = environment_.store.hold(part.merges.operations()[0].key);
  if (!hold) return base::fail(storage::not_here(0));
  environment_.timestamps.start_above(part.timestamp);
  std::set<Bytes> prefixes;
  row::RecordKey parsed;
  for (const WriteSet::Operation& operation : part.merges.operations())
    if (row::parse_record_key(operation.key, parsed)) prefixes.insert(Bytes(parsed.prefix(operation.key)));
  execute::PartitionLocks::Held locks =
      environment_.locks.acquire(std::vector<Bytes>(prefixes.begin(), prefixes.end()));
  const uint32_t next_id = hooks_.schema()->next_storage_id;
  const bool is_of_newer_schema = std::ranges::any_of(part.merges.operations(), [&](const auto& operation) {
    return base::read_big_endian<uint32_t>(BytesView(operation.key)) >= next_id;
  });
  if (is_of_newer_schema) SIBYL_TRY(hooks_.reload());
  const WriteGate::Pass pass = gate_.enter();
  const std::shared_ptr<const Tables> tables = tables_of(hooks_.schema());
  WriteSet writes;
  std::set<const schema::Table*> written;
  for (const WriteSet::Operation& operation : part.merges.operations()) {
    const auto table = tables->find(base::read_big_endian<uint32_t>(BytesView(operation.key)));
    if (table == tables->end()) continue;  // dropped or truncated in the meantime
    written.insert(table->second.get());
    writes.merge(operation.key, operation.value);
  }
  const std::vector<const schema::Table*> of(written.begin(), written.end());
  // The batch has been accepted, so it is too late to refuse it for a key.
  execute::ViewRows views{.rows = {}, .leaves_out_long_keys = true};
  const bool are_elsewhere = execute::has_views_elsewhere(this, environment_.store);
  SIBYL_TRY(execute::add_index_maintenance(of, environment_.store, writes, nullptr,
                                           are_elsewhere ? &views : nullptr));
  ViewIntent intent;
  if (!views.rows.empty()) intent = add_intent(std::move(views.rows), writes);
  if (!writes.empty()) SIBYL_TRY(environment_.store.commit(std::move(writes)));
  return intent;
}

std::shared_ptr<const Intents::Tables> Intents::tables_of(const schema::SnapshotPtr& schema) {
  {
    const base::MutexLock lock(mutex_);
    if (tables_schema_ == schema) return tables_;
  }
  auto tables = std::make_shared<Tables>();
  for (const auto& [name, keyspace] : schema->keyspaces)
    for (const auto& [table_name, table] : keyspace->tables) tables->emplace(table->storage_id, table);
  const base::MutexLock lock(mutex_);
  tables_schema_ = schema;
  tables_ = tables;
  return tables;
}

// --- Intents that failed servers have left

void Intents::keep() {
  base::MutexLock lock(mutex_);
  while (!is_stopping_) {
    (void)is_ending_.wait_for(mutex_, keeping_interval);
    if (is_stopping_) return;
    lock.unlock();
    (void)base::contain([this] { apply_old_intents(); });
    lock.lock();
  }
}

void Intents::apply_old_intents() {
  for (const EntryRun& run : environment_.store.entry_runs()) {
    if (environment_.store.hold(intents_begin(run))) apply_old_intents(run);
    const base::MutexLock lock(mutex_);
    if (is_stopping_) return;
  }
  std::erase_if(seen_, [](const auto& entry) { return SteadyClock::now() - entry.second > 10 * patience; });
}

// An iterator would keep the shard open while other servers are asked.
Intents::OldIntents Intents::old_intents(const EntryRun& run) {
  OldIntents old;
  size_t bytes = 0;
  const Bytes begin = intents_begin(run);
  const auto records = environment_.store.iterate(begin, row::after(begin).value_or(Bytes()));
  for (records->seek_to_first(); records->valid(); records->next()) {
    const Bytes key(records->key());
    {
      const base::MutexLock lock(mutex_);
      if (own_.contains(key)) continue;
    }
    const auto first_seen = seen_.try_emplace(key, SteadyClock::now()).first->second;
    if (SteadyClock::now() - first_seen < min_intent_age) continue;
    old.emplace_back(key, records->value());
    bytes += records->value().size();
    if (bytes >= max_old_intent_bytes) break;
  }
  return old;
}

void Intents::apply_old_intents(const EntryRun& run) {
  OldIntents batches, views;
  for (auto& intent : old_intents(run))
    (is_of_view_rows(intent.second) ? views : batches).push_back(std::move(intent));
  apply_old_batches(batches);
  if (!views.empty()) renew_old_views(views);
}

void Intents::renew_old_views(const OldIntents& intents) {
  std::vector<ViewRow> rows;
  WriteSet done;
  for (const auto& [key, value] : intents) {
    auto of_intent = decode_view_rows(value);
    if (!of_intent) {
      spdlog::error("an intent of view rows cannot be read: {}", of_intent.error().text());
      continue;
    }
    std::ranges::move(*of_intent, std::back_inserter(rows));
    done.erase(key);
  }
  base::Status renewed = views_.renew(std::move(rows));
  if (renewed && !done.empty()) renewed = environment_.store.commit(std::move(done));
  if (!renewed) {
    spdlog::warn("view rows of writes that another server had begun cannot be renewed yet: {}",
                 renewed.error().text());
    return;
  }
  for (const auto& [key, value] : intents) seen_.erase(key);
  spdlog::info("the view rows of {} writes that another server had begun were renewed", intents.size());
}

void Intents::apply_old_batches(const OldIntents& intents) {
  for (const auto& [key, value] : intents) {
    auto whole = BatchPart::decode(value);
    base::Status applied =
        whole ? apply(parts_of(std::move(whole->merges), whole->timestamp)) : base::fail(whole.error());
    WriteSet done;
    done.erase(key);
    if (applied) applied = environment_.store.commit(std::move(done));
    if (applied) {
      seen_.erase(key);
      spdlog::info("a batch that another server had begun was completed");
    } else {
      spdlog::warn("a batch that another server had begun cannot be completed yet: {}",
                   applied.error().text());
    }
  }
}

}  // namespace sibyl::engine
