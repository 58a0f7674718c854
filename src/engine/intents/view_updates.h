// Renews view rows in the shards of their owners, after their base rows have changed.
//
// The rows that wait for one shard are renewed together, one message after another (view_tickets.h): the
// owner issues a ticket, the base rows are read wherever they are, and the owner puts what follows from them.
// A row may be renewed by any server, at any time, any number of times. Each time it is derived from its base
// row.
//
//  1. A renewal that succeeds has read the base row after it began. So once a change of a base row is durable
//     and its view rows have been renewed, the view shows that change or a later one.
//  2. It runs on threads of this object. They wait for owners. Owners never wait for other servers.
#pragma once

#include <atomic>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <thread>
#include <unordered_map>
#include <vector>

#include "base/mutex.h"
#include "execute/index/view_records.h"
#include "execute/view_row.h"
#include "schema/schema.h"
#include "storage/store.h"

namespace sibyl::engine {

// Thread-safe.
class ViewUpdates {
 public:
  using Rows = std::vector<execute::ViewRow>;
  struct Hooks {
    std::function<schema::SnapshotPtr()> schema;
    std::function<base::Status()> reload;  // the newest schema
    std::function<bool()> may_answer;      // SharedData::may_answer
    // Passes a message (view_messages.h) to the owner of the key's shard, and returns its answer. Blocks.
    std::function<base::Result<base::Bytes>(const base::Bytes& key, const base::Bytes& message)> at_owner;
  };
  // Borrows the store.
  ViewUpdates(const storage::Store& store, Hooks hooks);
  ~ViewUpdates() { stop(); }

  // Never blocks. `done` is called once all rows are renewed. If some cannot be, it is called with an error
  // once all others are renewed.
  void renew(Rows rows, storage::Store::Done done);
  // Like renew() above, but blocks.
  base::Status renew(Rows rows);
  // True if so many renewals wait that no more writes should begin.
  bool is_full() const;

  // Completes renewals that have begun. Waiting ones and later ones end with an error.
  void stop();

 private:
  struct Job;
  struct Item {
    execute::ViewRow row;
    std::shared_ptr<Job> job;
  };
  // The rows that wait until one shard is free.
  struct Line {
    std::deque<Item> waiting;
    bool is_busy = false;
  };
  struct Source {
    schema::TablePtr view, table;
  };
  using Sources = std::unordered_map<uint32_t, Source>;  // base tables, by the storage id of the view
  enum class Found { everything, something_newer };

  void work();
  Line* next_line() SIBYL_REQUIRES(mutex_);
  static void finish(std::vector<Item> items, const base::Status& status);
  base::Status renew_in_one_shard(const std::vector<Item>& items);
  // Returns the rows that have to be renewed again.
  base::Result<Rows> try_renew(const Rows& rows);
  base::Result<Rows> put(const Rows& rows, uint64_t ticket, std::vector<std::optional<base::Bytes>> values);
  Found find(const Rows& rows, std::vector<execute::DerivedRow>& found);
  std::shared_ptr<const Sources> sources_of(const schema::SnapshotPtr& schema);

  const storage::Store& store_;
  const Hooks hooks_;
  std::atomic<size_t> jobs_ = 0;
  mutable base::Mutex mutex_;
  base::CondVar changed_;
  bool is_stopping_ SIBYL_GUARDED_BY(mutex_) = false;
  std::map<int64_t, Line> lines_ SIBYL_GUARDED_BY(mutex_);  // lines, by the token of their run
  int64_t last_line_ SIBYL_GUARDED_BY(mutex_) = 0;
  schema::SnapshotPtr sources_schema_ SIBYL_GUARDED_BY(mutex_);
  std::shared_ptr<const Sources> sources_ SIBYL_GUARDED_BY(mutex_);
  std::vector<std::thread> threads_;
};

}  // namespace sibyl::engine
