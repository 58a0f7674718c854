// The executor of one simulated server: its clock runs at its own speed, and it can be paused and crashed.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "base/executor.h"

namespace sibyl::cluster::simulation {

class NodeExecutor final : public base::Executor {
 public:
  // `rate`: microseconds by which this clock advances in one microsecond of `world`. `world` must outlive
  // this object.
  NodeExecutor(base::Executor& world, double rate)
      : world_(world), rate_(rate), state_(std::make_shared<State>()) {}
  // Tasks that have not run are dropped: the server has crashed.
  ~NodeExecutor() override { state_->has_crashed = true; }

  // Keeps running during a pause, as CLOCK_BOOTTIME does.
  int64_t now_micros() const override {
    return static_cast<int64_t>(static_cast<double>(world_.now_micros()) * rate_);
  }
  void run_after(int64_t micros, Task task) override {
    const auto world_micros = static_cast<int64_t>(static_cast<double>(micros) / rate_) + 1;
    world_.run_after(world_micros, [state = state_, task = std::move(task)]() mutable {
      if (state->has_crashed) return;
      if (state->is_paused)
        state->held.push_back(std::move(task));
      else
        task();
    });
  }

  void pause() { state_->is_paused = true; }
  void resume() {
    state_->is_paused = false;
    for (Task& task : std::exchange(state_->held, {})) run_after(0, std::move(task));
  }
  bool is_paused() const { return state_->is_paused; }

 private:
  struct State {
    bool has_crashed = false, is_paused = false;
    std::vector<Task> held;
  };
  base::Executor& world_;
  const double rate_;
  std::shared_ptr<State> state_;
};

}  // namespace sibyl::cluster::simulation
