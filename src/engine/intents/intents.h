// Batches over the shards of several servers, and views whose rows are in other shards than their base rows.
//
// A logged batch is first stored as a whole, as an intent, in one of its shards. Then each part is applied by
// the owner of its shard, and the intent is erased. If servers fail in between, the owner of the intent's
// shard applies all parts again. Parts are merges, so that it does not matter how often they are applied. The
// owner that applies a part also maintains the indexes, because that depends on the stored data.
//
//  1. The timestamp of a batch is above those that the owners of its parts have assigned before, and below
//     those that they assign afterwards.
//  2. A part that is sent again must not bring back data that was deleted in the meantime. So clusters keep
//     deletions for at least an hour (Catalogue), and intents are applied again after seconds.
//  3. Batches wait for owners on threads of this object. Owners apply parts on other threads, which never
//     wait for other servers.
//
// A write to a table with views is committed by the owner of its partition together with an intent that names
// the view rows that may change. Then those are renewed at their owners (view_updates.h), the client is
// answered, and the intent is erased. If servers fail in between, the owner of the intent's shard renews the
// rows again. An intent has no values, so an old one cannot bring anything back.
//
// The record of an intent, under a table id of its own, is in the run of the shard: id · token of the run ·
// no partition key · kind 2 · a random UUID. Its value is a batch (batch_messages.h) or a list of view rows
// (view_messages.h).
#pragma once

#include <atomic>
#include <deque>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <set>
#include <thread>
#include <unordered_map>
#include <vector>

#include "base/mutex.h"
#include "engine/intents/batch_messages.h"
#include "engine/intents/view_tickets.h"
#include "engine/intents/view_updates.h"
#include "engine/write_gate.h"
#include "execute/environment.h"
#include "execute/spread_writes.h"
#include "schema/schema.h"

namespace sibyl::engine {

// An id that no table gets.
inline constexpr uint32_t intents_table_id = std::numeric_limits<uint32_t>::max() - 1;

class Intents final : public execute::SpreadWrites {
 public:
  struct Hooks {
    std::function<schema::SnapshotPtr()> schema;
    std::function<base::Status()> reload;  // the newest schema
    // SharedData::ask_owner
    std::function<base::Result<base::Bytes>(base::BytesView key, base::Bytes message)> ask_owner;
    std::function<bool()> may_answer;  // SharedData::may_answer
  };
  // Borrows the environment and the gate, until it is stopped.
  Intents(execute::Environment& environment, WriteGate& gate, Hooks hooks);
  ~Intents() override { stop(); }

  // Completes the batches that have begun. Incomplete ones remain as intents. Commits of the store may still
  // end afterwards.
  void stop();

  void commit(execute::SpreadBatch batch, storage::Store::Done done) override;
  base::Result<execute::ViewIntent> begin_views(std::vector<execute::ViewRow> rows,
                                                storage::WriteSet& writes) override;
  void renew_views(execute::ViewIntent intent, storage::Store::Done done) override;
  void abandon_views(const execute::ViewIntent& intent) override;
  base::Status renew_views(std::vector<execute::ViewRow> rows) override {
    return views_.renew(std::move(rows));
  }

  // Handles a message of another server's ask_owner. Blocks. If the shard is not here, the error is
  // is_not_here().
  base::Result<base::Bytes> receive(base::BytesView message);

 private:
  struct Job {
    execute::SpreadBatch batch;
    storage::Store::Done done;
  };
  using Parts = std::map<int64_t, BatchPart>;  // parts of a batch, by the token of their run
  using Tables = std::unordered_map<uint32_t, schema::TablePtr>;
  // The view rows that must still be renewed after a part was written. If there are none, nothing is left to
  // do.
  using Applied = base::Result<execute::ViewIntent>;

  void work();
  base::Status write(execute::SpreadBatch batch);
  Parts parts_of(storage::WriteSet merges, int64_t timestamp) const;
  base::Status choose_timestamp(BatchPart& whole);
  base::Status apply(const Parts& parts);
  Applied apply_part(const BatchPart& part);
  base::Status finish_parts(std::vector<execute::ViewIntent> intents);
  base::Result<base::Bytes> at_owner(const base::Bytes& key, const base::Bytes& message);
  Applied apply_here(const BatchPart& part);
  execute::ViewIntent add_intent(std::vector<execute::ViewRow> rows, storage::WriteSet& writes) const;
  std::shared_ptr<const Tables> tables_of(const schema::SnapshotPtr& schema);
  void keep();
  void apply_old_intents();
  void apply_old_intents(const storage::EntryRun& run);
  using OldIntents = std::vector<std::pair<base::Bytes, base::Bytes>>;  // keys and values
  OldIntents old_intents(const storage::EntryRun& run);
  void apply_old_batches(const OldIntents& intents);
  void renew_old_views(const OldIntents& intents);

  execute::Environment& environment_;
  WriteGate& gate_;
  const Hooks hooks_;
  ViewTickets tickets_;

  base::Mutex mutex_;
  base::CondVar changed_;    // for the workers
  base::CondVar is_ending_;  // wakes the keeper, which must not consume a notification for a worker
  bool is_stopping_ SIBYL_GUARDED_BY(mutex_) = false;
  std::deque<Job> jobs_ SIBYL_GUARDED_BY(mutex_);
  std::set<base::Bytes> own_ SIBYL_GUARDED_BY(mutex_);  // keys of intents that this server is applying
  schema::SnapshotPtr tables_schema_ SIBYL_GUARDED_BY(mutex_);
  std::shared_ptr<const Tables> tables_ SIBYL_GUARDED_BY(mutex_);
  // Used by the keeper only: when each intent was first seen.
  std::map<base::Bytes, std::chrono::steady_clock::time_point> seen_;
  std::vector<std::thread> threads_;
  ViewUpdates views_;
};

}  // namespace sibyl::engine
