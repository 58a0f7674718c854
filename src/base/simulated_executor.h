// An executor for simulations: one thread, simulated time, and an order that depends only on the seed.
//
// Time passes only between tasks: it jumps to the moment of the next one. Tasks that are due at the same
// moment run in a random order, because nothing may depend on their order. The same seed gives the same run.
#pragma once

#include <cstdint>
#include <map>
#include <random>
#include <utility>

#include "base/executor.h"

namespace sibyl::base {

// Must be used by one thread.
class SimulatedExecutor final : public Executor {
 public:
  explicit SimulatedExecutor(uint64_t seed) : random_(seed) {}

  int64_t now_micros() const override { return now_; }
  void run_after(int64_t micros, Task task) override {
    const Moment moment{now_ + (micros > 0 ? micros : 0), random_(), next_number_++};
    tasks_.emplace(moment, std::move(task));
  }

  // Runs the next task. Returns false if there is none.
  bool run_one() {
    if (tasks_.empty()) return false;
    auto next = tasks_.extract(tasks_.begin());
    now_ = next.key().micros;
    next.mapped()();
    return true;
  }
  // Runs all tasks that are due until then, and then sets the time to `micros`.
  void run_until(int64_t micros) {
    while (!tasks_.empty() && tasks_.begin()->first.micros <= micros) run_one();
    if (now_ < micros) now_ = micros;
  }
  void run_for(int64_t micros) { run_until(now_ + micros); }
  // Runs tasks until there are none or `max_tasks` have run. Returns true if there are none.
  bool run_until_idle(uint64_t max_tasks = UINT64_MAX) {
    for (uint64_t i = 0; i < max_tasks && run_one(); ++i) {
    }
    return tasks_.empty();
  }
  size_t pending() const { return tasks_.size(); }

 private:
  struct Moment {
    int64_t micros = 0;
    uint64_t order = 0;   // random among the tasks of one moment
    uint64_t number = 0;  // distinguishes tasks with equal `order`
    auto operator<=>(const Moment&) const = default;
  };

  std::mt19937_64 random_;
  int64_t now_ = 0;
  uint64_t next_number_ = 0;
  std::map<Moment, Task> tasks_;
};

}  // namespace sibyl::base
