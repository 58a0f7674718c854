#include "cluster/transport/inbox.h"

#include <spdlog/spdlog.h>

#include <boost/asio/post.hpp>
#include <utility>

#include "base/contain.h"

namespace sibyl::cluster {

void Inbox::add(Task task) {
  const base::MutexLock lock(mutex_);
  if (is_closed_) return;
  tasks_.push_back(std::move(task));
  if (std::exchange(is_scheduled_, true)) return;
  boost::asio::post(context_, [self = shared_from_this()] { self->drain(); });
}

void Inbox::close() {
  std::vector<Task> dropped;
  const base::MutexLock lock(mutex_);
  is_closed_ = true;
  dropped.swap(tasks_);
}

void Inbox::drain() {
  for (;;) {
    std::vector<Task> tasks;
    {
      const base::MutexLock lock(mutex_);
      tasks.swap(tasks_);
      if (tasks.empty()) {
        is_scheduled_ = false;
        return;
      }
    }
    for (Task& task : tasks) {
      if (const auto status = base::contain([&] { task(); }); !status)
        spdlog::error("calls between servers: {}", status.error().text());
      task = nullptr;
    }
    for (const std::shared_ptr<Channel>& channel : dirty_) channel->flush();
    dirty_.clear();
  }
}

}  // namespace sibyl::cluster
