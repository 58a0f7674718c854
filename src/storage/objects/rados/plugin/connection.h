// A connection to a Ceph cluster and pool, and the operations in flight on it.
#pragma once

#include <rados/librados.h>

#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "base/result.h"
#include "storage/objects/rados/open_rados.h"

namespace sibyl::storage::objects::rados {

// Thread-safe. Closing waits for all operations, which end at the timeout at the latest. Their callbacks do
// not run.
class Connection {
 public:
  static base::Result<std::unique_ptr<Connection>> open(const RadosOptions& options);
  ~Connection();
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  rados_t cluster() const { return cluster_; }
  rados_ioctx_t pool() const { return pool_; }
  // "client.NUMBER@ADDRESS", which is needed to break a lock and to fence a client.
  const std::string& name() const { return name_; }

  // Starts an operation: `start` receives the completion to use. `finish` is called once, with the result of
  // the operation or, if `start` failed, with the result of `start`. It is not called if the connection
  // closes first.
  void run(const std::function<int(rados_completion_t)>& start, std::move_only_function<void(int)> finish);
  // Runs a blocking task on a thread of the connection. Dropped if the connection closes first.
  void run_blocking(std::move_only_function<void()> task);
  // Calls `callback` unless the connection is closing.
  void call(const std::function<void()>& callback);

 private:
  struct Pending;
  Connection() = default;
  base::Status connect(const RadosOptions& options);
  static void complete(rados_completion_t completion, void* argument);
  bool enter();
  void leave();
  void work();

  rados_t cluster_ = nullptr;
  rados_ioctx_t pool_ = nullptr;
  std::string name_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool is_closing_ = false;  // guarded by mutex_, like all below
  int in_flight_ = 0;        // operations of librados
  int running_ = 0;          // callbacks
  std::deque<std::move_only_function<void()>> tasks_;
  std::thread worker_;  // for calls that librados has only in a blocking form
};

}  // namespace sibyl::storage::objects::rados
