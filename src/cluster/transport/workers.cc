#include "cluster/transport/workers.h"

#include <pthread.h>
#include <spdlog/spdlog.h>

#include <utility>

#include "base/contain.h"

namespace sibyl::cluster {
namespace {

constexpr size_t max_waiting_calls = 16'384;  // per method

}  // namespace

class Workers::Crew {
 public:
  Crew(PeerService::Handler handler, size_t threads) : handler_(std::move(handler)) {
    for (size_t i = 0; i < threads; ++i) {
      threads_.emplace_back([this] { loop(); });
      pthread_setname_np(threads_.back().native_handle(), "sibyl-calls");
    }
  }

  bool submit(PeerService::Call call, PeerService::Answer& answer) {
    if (threads_.empty()) return run_here(std::move(call), answer);
    {
      const base::MutexLock lock(mutex_);
      if (is_stopping_ || jobs_.size() >= max_waiting_calls) return false;
      jobs_.push_back({std::move(call), std::move(answer)});
    }
    changed_.notify_one();
    return true;
  }

  // Waits for handlers that run.
  void stop() {
    std::deque<Job> dropped;
    {
      const base::MutexLock lock(mutex_);
      is_stopping_ = true;
      dropped.swap(jobs_);
    }
    changed_.notify_all();
    for (std::thread& thread : threads_) thread.join();
    const base::MutexLock lock(mutex_);
    while (running_here_ > 0) changed_.wait(mutex_);
  }

 private:
  bool run_here(PeerService::Call call, PeerService::Answer& answer) {
    {
      const base::MutexLock lock(mutex_);
      if (is_stopping_) return false;
      ++running_here_;
    }
    run({std::move(call), std::move(answer)});
    const base::MutexLock lock(mutex_);
    if (--running_here_ == 0 && is_stopping_) changed_.notify_all();
    return true;
  }

  void loop() {
    base::MutexLock lock(mutex_);
    while (!is_stopping_) {
      if (jobs_.empty()) {
        changed_.wait(mutex_);
        continue;
      }
      Job job = std::move(jobs_.front());
      jobs_.pop_front();
      lock.unlock();
      run(std::move(job));
      lock.lock();
    }
  }

  void run(Job job) {
    const base::Status status = base::contain([&] { handler_(std::move(job.call), std::move(job.answer)); });
    if (!status) spdlog::error("a call of another server failed: {}", status.error().text());
  }

  const PeerService::Handler handler_;
  base::Mutex mutex_;
  base::CondVar changed_;
  std::deque<Job> jobs_ SIBYL_GUARDED_BY(mutex_);
  bool is_stopping_ SIBYL_GUARDED_BY(mutex_) = false;
  int running_here_ SIBYL_GUARDED_BY(mutex_) = 0;
  std::vector<std::thread> threads_;
};

Workers::~Workers() {
  for (size_t method = 0; method < method_count; ++method) handle(static_cast<Method>(method), {}, 0);
}

void Workers::handle(Method method, PeerService::Handler handler, size_t threads) {
  std::shared_ptr<Crew> crew = handler ? std::make_shared<Crew>(std::move(handler), threads) : nullptr;
  {
    const base::MutexLock lock(mutex_);
    crews_[static_cast<size_t>(method)].swap(crew);
  }
  if (crew) crew->stop();
}

bool Workers::submit(Method method, PeerService::Call call, PeerService::Answer& answer) {
  std::shared_ptr<Crew> crew;
  {
    const base::MutexLock lock(mutex_);
    crew = crews_[static_cast<size_t>(method)];
  }
  return crew && crew->submit(std::move(call), answer);
}

}  // namespace sibyl::cluster
