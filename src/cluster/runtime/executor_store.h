// An object store whose callbacks are tasks of an executor. In a server they run on its thread. In a
// simulation they wait while the server is paused.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <utility>

#include "base/executor.h"
#include "storage/objects/object_store.h"

namespace sibyl::cluster {

class ExecutorStore final : public storage::objects::ObjectStore {
 public:
  // `executor` must outlive this object. Its tasks must not run any more when this object is destroyed,
  // unless they check that their owner is alive.
  ExecutorStore(std::unique_ptr<storage::objects::ObjectStore> store, base::Executor& executor)
      : store_(std::move(store)), executor_(executor) {}

  ~ExecutorStore() override { *alive_ = false; }

  void mutate(std::string object, storage::objects::Mutation mutation, Done done) override {
    store_->mutate(std::move(object), std::move(mutation), later(std::move(done)));
  }
  void read(std::string object, storage::objects::Read what, ReadDone done) override {
    store_->read(std::move(object), std::move(what), later(std::move(done)));
  }
  void lock(std::string object, storage::objects::Lock lock, Done done) override {
    store_->lock(std::move(object), std::move(lock), later(std::move(done)));
  }
  void unlock(std::string object, std::string name, std::string owner, Done done) override {
    store_->unlock(std::move(object), std::move(name), std::move(owner), later(std::move(done)));
  }
  void read_lock(std::string object, std::string name, LockReadDone done) override {
    store_->read_lock(std::move(object), std::move(name), later(std::move(done)));
  }
  void break_lock(std::string object, std::string name, storage::objects::LockHolder holder,
                  Done done) override {
    store_->break_lock(std::move(object), std::move(name), std::move(holder), later(std::move(done)));
  }
  // A watch whose reply is still on its way outlives this object.
  void watch(std::string object, storage::objects::Watcher watcher, WatchDone done) override {
    store_->watch(
        std::move(object),
        {.on_notify =
             [this, alive = alive_, notify = std::move(watcher.on_notify)](const base::Bytes& message) {
               if (*alive) executor_.run_after(0, [notify, message] { notify(message); });
             },
         .on_error =
             [this, alive = alive_, error = std::move(watcher.on_error)] {
               if (*alive) executor_.run_after(0, error);
             }},
        later(std::move(done)));
  }
  void notify(std::string object, base::Bytes message, Done done) override {
    store_->notify(std::move(object), std::move(message), later(std::move(done)));
  }
  std::string client() const override { return store_->client(); }
  void fence(std::string client, Done done) override {
    store_->fence(std::move(client), later(std::move(done)));
  }
  void space(SpaceDone done) override { store_->space(later(std::move(done))); }

 private:
  template <typename... Values>
  std::move_only_function<void(Values...)> later(std::move_only_function<void(Values...)> done) {
    return [this, done = std::move(done)](Values... values) mutable {
      executor_.run_after(0, [done = std::move(done), ... values = std::move(values)]() mutable {
        done(std::move(values)...);
      });
    };
  }

  std::unique_ptr<storage::objects::ObjectStore> store_;
  base::Executor& executor_;
  std::shared_ptr<std::atomic<bool>> alive_ = std::make_shared<std::atomic<bool>>(true);
};

}  // namespace sibyl::cluster
