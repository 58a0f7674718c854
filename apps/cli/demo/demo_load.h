// The load of `sibyl demo`: a client that writes and reads the examples, about a hundred statements a second.
#pragma once

#include <cstdint>
#include <string>
#include <thread>

#include "base/mutex.h"
#include "base/result.h"

namespace sibyl::cli::demo {

class Load {
 public:
  // Creates the tables and their first rows at 127.0.0.1:port, then starts the thread. Blocks meanwhile.
  static base::Result<std::shared_ptr<Load>> start(uint16_t port);
  // Stops the thread.
  ~Load();
  Load(const Load&) = delete;
  Load& operator=(const Load&) = delete;

 private:
  explicit Load(uint16_t port) : port_(port) {}
  void run();
  // Returns false once the load must stop.
  bool wait();

  const uint16_t port_;
  base::Mutex mutex_;
  base::CondVar stopped_;
  bool is_stopping_ SIBYL_GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

}  // namespace sibyl::cli::demo
