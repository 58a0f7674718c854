// Brings work from any thread to the thread of the connections, many pieces at a time.
#pragma once

#include <boost/asio/io_context.hpp>
#include <functional>
#include <memory>
#include <thread>
#include <vector>

#include "base/mutex.h"
#include "cluster/transport/channel.h"

namespace sibyl::cluster {

// Shared by its users, because an answer may be given after the connections have been closed.
class Inbox : public std::enable_shared_from_this<Inbox> {
 public:
  using Task = std::move_only_function<void()>;

  // `context` must outlive the calls of add() that precede close().
  explicit Inbox(boost::asio::io_context& context) : context_(context) {}

  // Thread-safe. The task is destroyed without running if the inbox is closed.
  void add(Task task);
  // Thread-safe. Afterwards no task runs, and the context is not used any more.
  void close();

  // --- On the thread of the context.

  // Call it once, before the other methods.
  void set_thread() { thread_ = std::this_thread::get_id(); }
  bool is_here() const { return std::this_thread::get_id() == thread_; }
  // Called by tasks. Flushes the channel after all waiting tasks have run.
  void flush_later(std::shared_ptr<Channel> channel) { dirty_.push_back(std::move(channel)); }

 private:
  void drain();

  boost::asio::io_context& context_;
  std::thread::id thread_;
  std::vector<std::shared_ptr<Channel>> dirty_;
  base::Mutex mutex_;
  std::vector<Task> tasks_ SIBYL_GUARDED_BY(mutex_);
  bool is_scheduled_ SIBYL_GUARDED_BY(mutex_) = false;
  bool is_closed_ SIBYL_GUARDED_BY(mutex_) = false;
};

}  // namespace sibyl::cluster
