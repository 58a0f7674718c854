#include "cluster/runtime/server_member.h"

#include <optional>
#include <utility>
#include <vector>

#include "cluster/log_collector.h"
#include "cluster/runtime/executor_store.h"
#include "cluster/runtime/thread_executor.h"

namespace sibyl::cluster {
namespace {

// Runs the callbacks of a host, which may come from any thread, on the member's thread.
class PostingHost final : public ShardHost {
 public:
  PostingHost(ShardHost& host, std::shared_ptr<base::Executor> executor)
      : host_(host), executor_(std::move(executor)) {}

  void open(uint32_t shard, uint64_t epoch, const std::vector<LogPart>& logs, Done done) override {
    host_.open(shard, epoch, logs, post(std::move(done)));
  }
  void flush(uint32_t shard, Done done) override { host_.flush(shard, post(std::move(done))); }
  void close(uint32_t shard, Done done) override { host_.close(shard, post(std::move(done))); }
  void drop(uint32_t shard) override { host_.drop(shard); }

 private:
  Done post(Done done) {
    return [executor = executor_, done = std::move(done)](base::Status status) mutable {
      executor->run_after(
          0, [done = std::move(done), status = std::move(status)]() mutable { done(std::move(status)); });
    };
  }

  ShardHost& host_;
  const std::shared_ptr<base::Executor> executor_;  // a callback may come after the member has gone
};

}  // namespace

// Everything but holds_lease() is used on the executor's thread only. Data members are destroyed in reverse
// order, after the thread has stopped, so the membership's watch is destroyed before its store.
class ServerMember::Parts {
 public:
  Parts(std::unique_ptr<storage::objects::ObjectStore> store, Membership::Options options, ShardHost& host,
        Events events, RemoveLog remove_log)
      : events_(std::move(events)),
        store_(std::move(store), *executor_),
        host_(host, executor_),
        membership_(store_, *executor_, std::move(options),
                    {.on_state =
                         [this](const State& state) {
                           ownership_.follow(state);
                           if (collector_) collector_->follow(state);
                           if (events_.on_state) events_.on_state(state);
                         },
                     .on_removed =
                         [this] {
                           ownership_.drop_all();
                           if (events_.on_removed) events_.on_removed();
                         },
                     .on_free = events_.on_free,
                     .on_left =
                         [this] {
                           if (events_.on_left) events_.on_left();
                         }}),
        ownership_(store_, *executor_, membership_, host_),
        remove_log_(std::move(remove_log)) {
    if (remove_log_)
      collector_.emplace(store_, membership_, [this](const MemberId& log, LogCollector::Done done) {
        remove(log, std::move(done));
      });
  }
  ~Parts() {
    remover_.stop();
    executor_->stop();
  }

  void start() {
    executor_->run_after(0, [this] { membership_.start(); });
  }
  void leave() {
    executor_->run_after(0, [this] { membership_.leave(); });
  }
  void finish_leaving() {
    executor_->run_after(0, [this] { membership_.finish_leaving(); });
  }
  void finish_preparing() {
    executor_->run_after(0, [this] { membership_.finish_preparing(); });
  }
  void refresh() { membership_.refresh(); }
  bool holds_lease() const { return membership_.holds_lease(); }

 private:
  void remove(const MemberId& log, LogCollector::Done done) {
    remover_.run_after(0, [this, log, done = std::move(done)]() mutable {
      base::Status status = remove_log_(log);
      executor_->run_after(
          0, [done = std::move(done), status = std::move(status)]() mutable { done(std::move(status)); });
    });
  }

  const Events events_;
  const std::shared_ptr<ThreadExecutor> executor_ = std::make_shared<ThreadExecutor>();
  ExecutorStore store_;
  PostingHost host_;
  Membership membership_;
  Ownership ownership_;
  const RemoveLog remove_log_;
  std::optional<LogCollector> collector_;
  ThreadExecutor remover_;
};

ServerMember::ServerMember(std::unique_ptr<storage::objects::ObjectStore> store, Membership::Options options,
                           ShardHost& host, Events events, RemoveLog remove_log)
    : parts_(std::make_unique<Parts>(std::move(store), std::move(options), host, std::move(events),
                                     std::move(remove_log))) {}

ServerMember::~ServerMember() = default;

void ServerMember::start() {
  parts_->start();
}

void ServerMember::leave() {
  parts_->leave();
}

void ServerMember::finish_leaving() {
  parts_->finish_leaving();
}

void ServerMember::finish_preparing() {
  parts_->finish_preparing();
}

void ServerMember::refresh() {
  parts_->refresh();
}

bool ServerMember::holds_lease() const {
  return parts_->holds_lease();
}

}  // namespace sibyl::cluster
